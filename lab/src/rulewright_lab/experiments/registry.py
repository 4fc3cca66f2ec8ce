"""The papers' data sets: sizes, other names and where to get them."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from rulewright.data import Table
from rulewright_lab.experiments import generators


class DatasetUnavailableError(RuntimeError):
    """A data set that cannot be had from any source."""


@dataclass(frozen=True)
class DatasetInfo:
    """What is known of a data set before it is loaded.

    Names are those of Weka's collection if it has the set, `aliases` other names in the papers.
    `numeric` and `nominal` count the attributes, `classes` those that occur, `missing` the missing
    values of attributes. `openml` is OpenML's identifier of the same data; `generator` returns
    exactly this set without any file.
    """

    name: str
    rows: int
    numeric: int
    nominal: int
    classes: int
    missing: int = 0
    openml: int | None = None
    aliases: tuple[str, ...] = ()
    generator: Callable[[], Table] | None = None


# Types are those of Weka's ARFF files. OpenML's 2, although called anneal, is Weka's anneal.ORIG;
# its vowel and zoo lack columns of Weka's.
_SETS = """
name                 rows  numeric  nominal  classes  missing  openml  aliases
haberman              306        2        1        2        0      43
breast-c              286        0        9        2        9      13  breast-cancer
diabetes              768        8        0        2        0      37  pima,pima-indians
credit-g             1000        7       13        2        0      31  german
credit-a              690        6        9        2       67      29  crx,australian,credit
ionosphere            351       34        0        2        0      59  ion
colic                 368        7       15        2     1927      27  horse-colic
hepatitis             155        6       13        2      167      55
sonar                 208       60        0        2        0      40
heart-statlog         270       13        0        2        0      53
vote                  435        0       16        2      392      56
heart-c               303        6        7        2        7      49
heart-h               294        6        7        2      782      51  heart-hungarian
breast-w              699        9        0        2       16      15  breast-wisc
sick                 3772        7       22        2     6064      38
tic-tac-toe           958        0        9        2        0      50
spambase             4601       57        0        2        0      44
cylinder-bands        540       18       21        2      999    6332  bands
kr-vs-kp             3196        0       36        2        0       3  chess
anneal                898        6       32        5        0       -  annealing
anneal-orig           898        6       32        5    22175       2
balance-scale         625        4        0        3        0      11
ecoli                 336        7        0        8        0      39
glass                 214        9        0        6        0      41
iris                  150        4        0        3        0      61
letter              20000       16        0       26        0       6
segment              2310       19        0        7        0      36
soybean               683        0       35       19     2337      42
vehicle               846       18        0        4        0      54
vowel                 990       10        3       11        0       -
car                  1728        0        6        4        0   40975
cmc                  1473        2        7        3        0      23
dermatology           366        1       33        6        8      35
optdigits            5620       64        0       10        0      28
pendigits           10992       16        0       10        0      32
labor                  57        8        8        2      326       4
mushroom             8124        0       22        2     2480      24
audiology             226        0       69       24      317       7
autos                 205       15       10        6       59       9
lymph                 148        3       15        4        0      10
primary-tumor         339        0       17       21      225     171
hypothyroid          3772        7       22        4     6064      57
splice               3190        0       60        3        0      46  splice-junction
splice-weka          3190        0       61        3        0       -
zoo                   101        1       15        7        0      62
zoo-weka              101        1       16        7        0       -
waveform-5000        5000       40        0        3        0      60
bridges               102        4        3        2       36       -
bridges-type          105        4        7        6       61       -
glass-g2              163        9        0        2        0       -  glass(G2),glassg2
liver-disorders       345        6        0        2        0       8  bupa,liver
phoneme              5404        5        0        2        0    1489
waveform-21          5000       21        0        3        0       -  waveform
shuttle-train       43500        9        0        7        0       -
shuttle-test        14500        9        0        7        0       -
shuttle             58000        9        0        7        0   40685
adult               48842        6        8        2     6465    1590
adult-train         32561        6        8        2     4262       -
adult-test          16281        6        8        2     2203       -
echocardiogram         74        8        4        2       23       -
promoters             106        0       57        2        0     164
hypothyroid-3163     3163        7       18        2     5329       -
horse-colic-300       300        7       16        2     1605       -
australian-statlog    690        6        8        2        0   40981
monks-1               432        0        6        2        0       -
monks-2               432        0        6        2        0       -
monks-3               432        0        6        2        0       -
"""

_GENERATORS: dict[str, Callable[[], Table]] = {
    "tic-tac-toe": generators.tic_tac_toe,
    "balance-scale": generators.balance_scale,
    "iris": generators.iris,
    "monks-1": lambda: generators.monks(1),
    "monks-2": lambda: generators.monks(2),
    "monks-3": lambda: generators.monks(3),
}


def dataset_names() -> list[str]:
    """Return the names of all data sets."""
    return list(_registry())


def find_dataset(name: str) -> DatasetInfo:
    """Return the entry of a data set by its name or an alias, in upper or lower case."""
    index, key = _index(), name.strip().lower()
    if key not in index:
        near = difflib.get_close_matches(key, index, n=3, cutoff=0.5)
        remedy = f"Did you mean {' or '.join(near)}?" if near else f"Known are: {', '.join(index)}."
        raise ValueError(f"There is no data set {name!r}. {remedy}")
    return index[key]


@cache
def _registry() -> dict[str, DatasetInfo]:
    lines = _SETS.strip().splitlines()[1:]
    return {info.name: info for info in map(_parse_info, lines)}


@cache
def _index() -> dict[str, DatasetInfo]:
    sets = _registry().values()
    return {name.lower(): info for info in sets for name in (info.name, *info.aliases)}


def _parse_info(line: str) -> DatasetInfo:
    name, *cells = line.split()
    rows, numeric, nominal, classes, missing = map(int, cells[:5])
    openml = None if cells[5] == "-" else int(cells[5])
    aliases = tuple(cells[6].split(",")) if cells[6:] else ()
    sizes = rows, numeric, nominal, classes, missing
    return DatasetInfo(name, *sizes, openml, aliases, _GENERATORS.get(name))
