"""The bias files of RUMBLE (Figure 6.1 of Rückert's thesis), read as statements of today.

::

    require <FreeTreePlugin>
    target Term yoshida.Class
    refine FreeTree MinFreq yoshida.SMILES: 0.2 SortedBySize 200
    refine Term NewFeature yoshida.Logp:bin1of5
    refine Meta CombineMostUncorrelated [1-201] or 50
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from rulewright.search import BiasError, BiasTarget, offer_names

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_STATEMENT = re.compile(r"\s*(require|target|refine)\s+[^=\s]")
_REF = re.compile(r"(?P<table>[^\s.:]+)\.(?P<column>[^\s:]+)(?P<colon>:)?(?P<modifier>.*)")
_BIN = re.compile(r"bin\s*(-?\d+)\s*of\s*(-?\d+)")
_RANGE = re.compile(r"\[\s*(\d+)\s*-\s*(\d+)\s*\]")
_TOKEN = re.compile(r"\[[^\]]*\]|\S+:bin\s+-?\d+\s+of\s+-?\d+|\S+")
_ORDERS = {
    "SortedBySize": "size",
    "SortedByBalance": "balance",
    "SortedByCorrelation": "correlation",
    "SortedByChi2": "chi2",
}
_HOWS = ("or", "and", "andnot")


class Parsed(NamedTuple):
    """Statements with their lines, the target, and the data they are about."""

    statements: list[tuple[dict[str, Any], int | None]]
    target: BiasTarget | None
    data: Mapping[str, Any]


def is_legacy(text: str) -> bool:
    """Return whether a text is in this grammar, by its first statement."""
    for line in text.splitlines():
        bare = line.partition("#")[0]
        if bare.strip():
            return _STATEMENT.match(bare) is not None
    return False


def parse_legacy(text: str, name: str) -> Parsed:
    """Read a text; errors name file, line and statement."""
    reader = _Reader(name)
    for number, line in enumerate(text.splitlines(), 1):
        words = _TOKEN.findall(line.partition("#")[0])
        if words:
            reader.read(number, words)
    if reader.target is None:
        raise BiasError(name, "there is no target statement")
    engine = "molecules" if reader.has_graphs else "memory"
    data = {"engine": engine, "instances": reader.table}
    return Parsed(reader.statements, reader.target, data)


class _Reader:
    """Reads one line after the other."""

    def __init__(self, name: str) -> None:
        self._name, self._at = name, name
        self._required: set[str] = set()
        self.statements: list[tuple[dict[str, Any], int | None]] = []
        self.target: BiasTarget | None = None
        self.table: str = ""
        self.has_graphs = False
        self._most: list[int | None] = []  # rules that statements make at most

    def read(self, line: int, words: list[str]) -> None:
        """Read a statement."""
        self._at = f"{self._name}, line {line}, statement {len(self.statements) + 1}"
        keyword = words[0]
        if keyword == "require":
            self._require(words)
        elif keyword == "target":
            self._read_target(words)
        elif keyword == "refine":
            self._refine(line, words)
        else:
            known = ("require", "target", "refine")
            self._fail(f"unknown statement {keyword!r}. {offer_names(keyword, known)}")

    def _require(self, words: list[str]) -> None:
        found = re.fullmatch(r"<(\w+)>", " ".join(words[1:]))
        if found is None:
            self._fail("require takes a plugin, such as <TermPlugin>")
        self._required.add(self._plugin(found[1].removesuffix("Plugin")))

    def _read_target(self, words: list[str]) -> None:
        if len(words) != 3:
            self._fail("target takes a plugin and a column, such as: target Term data.Class")
        self._plugin(words[1])
        _, column, modifier = self._ref(words[2])
        if modifier:
            self._fail(f"a target has no modifier {modifier!r}")
        self.target = BiasTarget(column)

    def _refine(self, line: int, words: list[str]) -> None:
        if len(words) < 3:
            self._fail("refine takes a plugin and an operator, such as: refine Term NewFeature a.b")
        plugin, op, args = self._plugin(words[1]), words[2], words[3:]
        if plugin not in self._required:
            self._fail(f"plugin {words[1]} is used without: require <{words[1]}Plugin>")
        operators = _OPERATORS[plugin]
        if op not in operators:
            self._fail(f"plugin {words[1]} has no operator {op!r}. {offer_names(op, [*operators])}")
        pairs, most = operators[op](self, args)
        statement = {"id": f"rule_{len(self.statements) + 1}", **pairs}
        self.statements.append((statement, line))
        self._most.append(most)

    def graphs(self, op: str, args: list[str]) -> tuple[dict[str, Any], int | None]:
        """Read ``MinFreq ref share [order] [limit]``."""
        if len(args) < 2:
            self._fail("MinFreq takes a column and a share, such as: MinFreq a.SMILES: 0.2")
        self.has_graphs = True
        _, column, _ = self._ref(args[0])
        pairs: dict[str, Any] = {"op": op, "column": column, "min_support": self._number(args[1])}
        limit = None
        for word in args[2:]:
            if word in _ORDERS:
                pairs["order"] = _ORDERS[word]
            elif word.isdigit() and limit is None:
                pairs["limit"] = limit = int(word)
            else:
                self._fail(f"{word!r} is no order ({', '.join(_ORDERS)}) and no number of rules")
        return pairs, limit

    def sls(self, args: list[str]) -> tuple[dict[str, Any], int | None]:
        """Read ``SLS ref number``."""
        if len(args) != 2 or not args[1].isdigit():
            self._fail("SLS takes a column and a number of rules, such as: SLS a.SMILES: 100")
        self.has_graphs = True
        pairs = {"plugin": "dispersion", "op": "sls", "column": self._ref(args[0])[1]}
        return {**pairs, "k": int(args[1])}, int(args[1])

    def feature(self, args: list[str]) -> tuple[dict[str, Any], int | None]:
        """Read ``NewFeature ref``, of a bin or of all labels and intervals."""
        _, column, modifier = self._ref(" ".join(args))
        if not modifier:
            return {"plugin": "term", "op": "base", "column": column}, None
        found = _BIN.fullmatch(modifier)
        if found is None:
            self._fail(f"the modifier {modifier!r} must be such as bin1of5")
        place, k = int(found[1]), int(found[2])
        if k < 2 or not 1 <= place <= k:
            self._fail(f"bin {place} of {k}: there must be two bins or more, and this one of them")
        return {"plugin": "term", "op": "bins", "column": column, "k": k, "only": [place]}, 1

    def combine(self, choose: str | None, args: list[str]) -> tuple[dict[str, Any], int | None]:
        """Read ``Combine [1-10] or [limit]``."""
        found = _RANGE.fullmatch(args[0]) if args else None
        if found is None or len(args) not in (2, 3) or args[1] not in _HOWS:
            self._fail("takes a range, or/and/andnot and a number, such as: [1-205] or 50")
        first, last = int(found[1]), int(found[2])
        pairs = {"plugin": "meta", "op": "combine", "how": args[1], **self._over(first, last)}
        if choose is not None:
            pairs["choose"] = choose
        if len(args) == 3:
            pairs["limit"] = int(self._number(args[2]))
        return pairs, pairs.get("limit")

    def _over(self, first: int, last: int) -> dict[str, Any]:
        """Return the statements whose rules are in a range, and the places among their rules."""
        if not 1 <= first <= last:
            self._fail(f"the range [{first}-{last}] must go up from 1")
        ids = [statement["id"] for statement, _ in self.statements]
        known = None not in self._most
        total = sum(most or 0 for most in self._most)
        if not ids or (known and last > total):
            self._fail(f"the range [{first}-{last}] is beyond the {total} rules generated so far")
        return {"over": ids, "span": [first, last]}

    def _ref(self, text: str) -> tuple[str, str, str]:
        found = _REF.fullmatch(text)
        if found is None or (found["modifier"] and not found["colon"]):
            self._fail(f"{text!r} is no column, such as table.column")
        if self.table and found["table"] != self.table:
            self._fail(f"{text!r} is of another table than {self.table!r}")
        self.table = found["table"]
        return found["table"], found["column"], found["modifier"].strip()

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            self._fail(f"{text!r} is no number")

    def _plugin(self, name: str) -> str:
        if name.lower() not in _OPERATORS:
            known = ["Term", "FreeTree", "Dispersion", "Meta"]
            self._fail(f"unknown plugin {name!r}. {offer_names(name, known)}")
        return name.lower()

    def _fail(self, reason: str) -> NoReturn:
        raise BiasError(self._at, reason)


def _read_mined(plugin: str) -> Callable[[_Reader, list[str]], tuple[dict[str, Any], int | None]]:
    def read(reader: _Reader, args: list[str]) -> tuple[dict[str, Any], int | None]:
        pairs, most = reader.graphs("min_freq", args)
        return {"plugin": plugin, **pairs}, most

    return read


_OPERATORS: dict[str, dict[str, Any]] = {
    "term": {"NewFeature": lambda reader, args: reader.feature(args)},
    "freetree": {"MinFreq": _read_mined("freetree")},
    "dispersion": {
        "MinFreq": _read_mined("dispersion"),
        "SLS": lambda reader, args: reader.sls(args),
    },
    "meta": {
        "Combine": lambda reader, args: reader.combine(None, args),
        "CombineMostUncorrelated": lambda reader, args: reader.combine(
            "lowest_mutual_information", args
        ),
    },
}
