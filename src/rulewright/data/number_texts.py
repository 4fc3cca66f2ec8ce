"""Numbers written as text: thousands separators, decimal commas, currencies and per cent."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.findings import Finding, format_count, of_values, quote_examples
from rulewright.data.schema import How
from rulewright.data.source import as_objects
from rulewright.data.values import text_to_number

MISSING_CODES = frozenset(
    {"", "-", "--", ".", "..", "?", "n/a", "na", "nan", "none", "null", "#n/a"}
)
"""Read as missing among numbers, in any case and with surrounding blanks; labels are unchanged."""

_LONGEST = 64  # longer texts are not numbers
_CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF|JPY|INR)"
_PARTS = re.compile(
    rf"(?P<sign>[-+\u2212]?)\s*(?P<before>{_CURRENCY}?)\s*(?P<inner>[-+\u2212]?)"
    rf"(?P<body>[.,]?\d[\d.,'\u2019\s]*?(?:e[-+]?\d+)?)\s*(?P<after>{_CURRENCY}|%|)",
    re.IGNORECASE,
)
_GROUPS = "\\d{{1,3}}(?P<mark>[{0}'\u2019 \u00a0\u202f])\\d{{3}}(?:(?P=mark)\\d{{3}})*"
_PLAIN = r"(?:\d+(?:{0}\d*)?|{0}\d+)(?:e[-+]?\d+)?"
_BODIES = {
    ".": re.compile(rf"{_GROUPS.format(',')}(?:\.\d+)?|{_PLAIN.format('[.]')}", re.ASCII | re.I),
    ",": re.compile(rf"{_GROUPS.format('.')}(?:,\d+)?|{_PLAIN.format(',')}", re.ASCII | re.I),
}


@dataclass(frozen=True)
class _Cell:
    """A text that may be a number."""

    sign: float
    body: str
    unit: str

    def fits(self, decimal: str) -> bool:
        return _BODIES[decimal].fullmatch(self.body) is not None

    def number(self, decimal: str) -> float:
        digits = re.sub(r"['\u2019\s]", "", self.body)
        if decimal == ".":
            return self.sign * float(digits.replace(",", ""))
        return self.sign * float(digits.replace(".", "").replace(",", "."))


@dataclass(frozen=True)
class TextTraits:
    """Number formats in the texts of a column; the traits of parts can be added."""

    votes: Mapping[str, int]  # rows that require this decimal mark
    units: Mapping[str, frozenset[str]]  # units of the numbers with this decimal mark
    signs: Mapping[str, frozenset[str]]  # separators in numbers that are not plain
    refused: frozenset[str] = frozenset()  # decimal marks that do not fit all texts
    plain: bool = True  # whether all texts are plain numbers

    @classmethod
    def of(cls, cells: Mapping[str, _Cell | None], counts: Mapping[str, int]) -> "TextTraits":
        """Analyse texts that are not codes; `cells` has None for texts that are not numbers."""
        votes: Counter[str] = Counter()
        units: dict[str, set[str]] = {mark: set() for mark in _BODIES}
        signs: dict[str, set[str]] = {mark: set() for mark in _BODIES}
        refused: set[str] = set()
        for text, cell in cells.items():
            fits = {mark: cell for mark in _BODIES if cell is not None and cell.fits(mark)}
            refused |= _BODIES.keys() - fits.keys()
            for mark, fitting in fits.items():
                units[mark].add(fitting.unit)
                signs[mark].update(() if _is_plain(text) else fitting.body)
                votes[mark] += counts[text] if len(fits) == 1 else 0
        plain = len(cells) == len(counts) and all(map(_is_plain, cells))
        by_mark, between = ({m: frozenset(of[m]) for m in of} for of in (units, signs))
        return cls(votes, by_mark, between, frozenset(refused), plain)

    def __add__(self, other: "TextTraits") -> "TextTraits":
        return TextTraits(
            Counter(self.votes) + Counter(other.votes),
            {mark: self.units[mark] | other.units[mark] for mark in _BODIES},
            {mark: self.signs[mark] | other.signs[mark] for mark in _BODIES},
            self.refused | other.refused,
            self.plain and other.plain,
        )

    def decimal(self, how: How | None) -> str:
        """Return the decimal mark: a comma if more rows require it, else a point."""
        if how in ("thousands", "comma"):
            return "." if how == "thousands" else ","
        return max(_BODIES, key=lambda mark: self.votes.get(mark, 0))


class NumberTexts:
    """The texts of a column, or of some of its rows, and the numbers they represent.

    `counts` gives the rows of each text in place of the column, `marks` what is known of the whole.
    """

    def __init__(
        self,
        texts: NDArray[Any] | None = None,
        how: How | None = None,
        counts: Mapping[str, int] | None = None,
        marks: TextTraits | None = None,
    ) -> None:
        self._texts = as_objects(()) if texts is None else texts
        self._counts = counts or Counter(text for text in self._texts if text is not None)
        known = {text: _cell(text) for text in self._counts if not is_code(text)}
        self.marks = marks or TextTraits.of(known, self._counts)
        self.decimal = self.marks.decimal(how)
        self._cells = {
            text: cell for text, cell in known.items() if cell and cell.fits(self.decimal)
        }
        self.others = [text for text in known if text not in self._cells]
        self.codes = [text for text in self._counts if text not in known]

    @property
    def units(self) -> set[str]:
        """Currencies and per cent signs; "" for numbers without a unit if others have per cent."""
        found = set(self.marks.units[self.decimal])
        return found if "%" in found else found - {""}

    @property
    def share(self) -> float:
        """Numeric share of the rows that are not missing."""
        numbers, others = self._rows(self._cells), self._rows(self.others)
        return numbers / max(numbers + others, 1)

    @property
    def is_numeric(self) -> bool:
        """Whether all known values are numbers with one unit."""
        read = bool(self.marks.units[self.decimal]) and self.decimal not in self.marks.refused
        return read and len(self.units) <= 1

    @property
    def is_plain(self) -> bool:
        """Whether the texts are plain numbers, without codes."""
        return self.marks.plain

    def numbers(self) -> NDArray[np.float64]:
        """Return the numbers; NaN for other texts."""
        read: dict[Any, float] = {
            text: cell.number(self.decimal) for text, cell in self._cells.items()
        }
        found = (read.get(text, math.nan) for text in self._texts)
        return np.fromiter(found, dtype=np.float64, count=len(self._texts))

    def decisions(self, name: str) -> list[Finding]:
        """Return the findings about reading the texts as numbers."""
        found, otherwise = [], f"--nominal {quote(name)} takes the column as labels"
        marked = [text for text in self._cells if not _is_plain(text)]
        if marked:
            number = self._cells[marked[0]].number(self.decimal)
            text = f"numbers with {self._marks()}: {marked[0]!r} is read as {number:.15g}"
            if "," in self.marks.signs[self.decimal]:
                other = "thousands" if self.decimal == "," else "comma"
                means = "thousands separators" if other == "thousands" else "decimal marks"
                otherwise = f"--numeric {quote(f'{name}:{other}')} takes commas as {means}"
            found.append(Finding("written number", name, text, otherwise))
        if self.codes:
            n_codes = self._rows(self.codes)
            otherwise = f"--nominal {quote(name)} takes the column as labels"
            found.append(
                of_values("missing code", name, self.codes, n_codes, "read as missing", otherwise)
            )
        if self.others:
            n_others, said = self._rows(self.others), "read as missing, as requested"
            found.append(of_values("coerced", name, self.others, n_others, said))
        return found

    @property
    def summary(self) -> str:
        """Numeric share of the texts, and examples of other texts."""
        if self.others:
            others = format_count(self._rows(self.others), "other value")
            listed = f"{others} such as {quote_examples(self.others)}"
            return f"{math.floor(100 * self.share)} % numbers, {listed}"
        units = ", ".join(repr(unit) if unit else "none" for unit in sorted(self.units))
        return f"numbers of several units ({units})" if len(self.units) > 1 else "all numbers"

    def near_miss(self, name: str) -> Finding:
        """Report a column with numbers that is read as labels."""
        remedy = "reads them as missing" if self.others else "drops the units"
        remedy = f"--numeric {quote(f'{name}:coerce')} {remedy}"
        return Finding("nearly numeric", name, self.summary, remedy)

    def _marks(self) -> str:
        signs = self.marks.signs[self.decimal]
        marks = [repr(unit) for unit in sorted(self.units - {""})]
        if self.decimal == ",":
            marks.append("decimal commas")
        separators = {",": "commas", "'": "apostrophes", "\u2019": "apostrophes", " ": "blanks"}
        separators |= {"\u00a0": "blanks", "\u202f": "blanks"}
        if self.decimal == ",":
            separators[","], separators["."] = "", "points"
        between = dict.fromkeys(word for mark, word in separators.items() if word and mark in signs)
        marks += [f"{word} between thousands" for word in between]
        return " and ".join(marks) or "unusual signs"

    def _rows(self, texts: Any) -> int:
        return sum(self._counts[text] for text in texts)


def may_be_numbers(texts: NDArray[Any]) -> bool:
    """Return whether the first known text is a number: a quick check for most columns."""
    first = next((text for text in texts if text is not None and not is_code(text)), None)
    return first is not None and _cell(first) is not None


def is_code(text: str) -> bool:
    """Return whether a text stands for a missing value among numbers or dates."""
    return text.strip().casefold() in MISSING_CODES


def _is_plain(text: str) -> bool:
    try:
        text_to_number(text)
    except ValueError:
        return False
    return True


def _cell(text: str) -> _Cell | None:
    if len(text) > _LONGEST:
        return None
    match = _PARTS.fullmatch(text.strip())
    if match is None or (match["sign"] and match["inner"]) or (match["before"] and match["after"]):
        return None
    sign = -1.0 if (match["sign"] + match["inner"]) in ("-", "\u2212") else 1.0
    return _Cell(sign, match["body"], (match["before"] + match["after"]).upper())
