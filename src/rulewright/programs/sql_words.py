"""What one database is to the writer of SQL: its words, and how it reads columns, safely."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from rulewright.data import WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rulewright.data import Unit

LARGEST_EXACT = 2**53
"""Integers up to here are exact as doubles."""
OTHER_NUMBER = float(2**54)
"""Stands for integers beyond the precision of doubles; no label in SQL is as large."""
STRICT = (
    "Numbers must be finite and of a numeric type: text is an error, so cast it. Labels may be "
    "text or integers, Booleans also 1, 0 and text."
)
NOT_RUN = (
    "The syntax is checked with a parser; the statement was never run on {0}. Scores equal the "
    "scores of the model if {0} reads decimals as the nearest double; probabilities may differ in "
    "the last digits."
)

_TRUTHS = {"true": 1, "1": 1, "false": 0, "0": 0}


class Dialect(ABC):
    """One database.

    It writes names, labels and numbers exactly, and expressions that read a column, which is given
    by its name (for messages) and by an expression.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    parser: ClassVar[str]
    """What sqlglot calls it."""
    double_type: ClassVar[str]
    text_type: ClassVar[str]
    promise: ClassVar[str] = "Scores equal the scores of the model to the last bit."
    """How exactly the answers equal the answers of the model."""
    input_rules: ClassVar[str] = STRICT
    """What columns must hold."""
    as_step: ClassVar[str] = "AS"
    quotes: ClassVar[tuple[str, str]] = ('"', '"')
    escapes: ClassVar[Mapping[str, str]] = {"'": "''"}
    """How letters are written in a string."""
    least, greatest = "LEAST", "GREATEST"
    ignores_case: ClassVar[bool] = True
    has_booleans: ClassVar[bool] = True
    has_nan: ClassVar[bool] = True
    refuses_underflow: ClassVar[bool] = False
    month, hour = "EXTRACT(MONTH FROM {})", "EXTRACT(HOUR FROM {})"
    weekday, weekdays = "EXTRACT(ISODOW FROM {})", (1, 2, 3, 4, 5, 6, 7)
    """Parts of a moment that was read, and the numbers of the days from Monday to Sunday."""

    def quote(self, name: str) -> str:
        """Write the name of a column or table, or raise a ValueError if SQL cannot hold it."""
        if not isinstance(name, str) or not name:
            raise ValueError(f"SQL cannot hold the empty name {name!r}; rename the column or table")
        first, last = self.quotes
        return first + _check_text(name, "name").replace(last, last * 2) + last

    def can_hold(self, name: str) -> bool:
        """Return whether SQL can hold the name of a column."""
        try:
            self.quote(name)
        except ValueError:
            return False
        return True

    def text(self, value: str) -> str:
        """Write a string in the form of the labels that are read."""
        return self.string(value)

    def string(self, value: str) -> str:
        """Write a string, or raise a ValueError if SQL cannot hold it."""
        letters = (self.escapes.get(letter, letter) for letter in _check_text(value, "label"))
        return f"'{''.join(letters)}'"

    @abstractmethod
    def number(self, value: float) -> str:
        """Write a finite number such that the database reads exactly this double."""

    def boolean(self, value: bool) -> str:
        """Write a truth value."""
        return str(value).upper()

    def column(self, name: str, alias: str) -> str:
        """Write a column of a table such that it is an error if the table has no such column."""
        return f"{alias}.{self.quote(name)}"

    def rows(self, table: Sequence[str], alias: str) -> str:
        """Write a table, given by the parts of its name, for a FROM."""
        return f"{'.'.join(map(self.quote, table))} AS {alias}"

    def check_distinct(self, names: Iterable[str]) -> None:
        """Reject columns that the database would take for one, because it ignores case."""
        seen: dict[bytes, str] = {}
        for name in names if self.ignores_case else ():
            other = seen.setdefault(name.encode().lower(), name)
            if other != name:
                raise ValueError(
                    f"columns {other!r} and {name!r} are one column for {self.name}, which ignores "
                    "upper and lower case; rename one of them"
                )

    @abstractmethod
    def double(self, column: str, x: str) -> str:
        """Read finite numbers as doubles, NaN as NULL."""

    @abstractmethod
    def label_number(self, column: str, x: str) -> str:
        """Read labels that are numbers as doubles, NaN as NULL; large integers stay apart."""

    @abstractmethod
    def label(self, column: str, x: str) -> str:
        """Read labels as text."""

    @abstractmethod
    def moment(self, column: str, x: str) -> str:
        """Read dates and date-times to the millisecond."""

    @abstractmethod
    def moment_number(self, value: str) -> str:
        """Write the milliseconds since 1970 of a moment that was read."""

    def moment_literal(self, short: str, full: str) -> str:
        """Write a moment; the shorter form is a date if it has no time."""
        return f"{'TIMESTAMP' if ' ' in short else 'DATE'} '{short}'"

    def date_part(self, unit: Unit, moment: str) -> str:
        """Write a part of a moment that was read: a number as a double, a weekday as text."""
        if unit != "weekday":
            return f"CAST({getattr(self, unit).format(moment)} AS {self.double_type})"
        days = zip(self.weekdays, map(self.text, WEEKDAYS), strict=True)
        whens = " ".join(f"WHEN {number} THEN {name}" for number, name in days)
        return f"CASE {self.weekday.format(moment)} {whens} END"

    def truth(self, column: str, x: str) -> str:
        """Read Booleans, which may be numbers or text, as 1 and 0, and other values as 2."""
        words = " ".join(f"WHEN {self.text(word)} THEN {k}" for word, k in _TRUTHS.items())
        code = f"CASE LOWER({self.label(column, x)}) {words} ELSE 2 END"
        return case([(f"{x} IS NULL", "NULL")], code)

    def message(self, column: str, expected: str) -> str:
        """Begin the message of an error, before the value."""
        return self.string(f'column "{column}" must hold {expected}, not ')


def quoted_name(name: str) -> str:
    """Write the name of a column or table in standard SQL."""
    if not isinstance(name, str) or not name:
        raise ValueError(f"SQL cannot hold the empty name {name!r}; rename the column or table")
    return '"' + _check_text(name, "name").replace('"', '""') + '"'


def write_comment(line: str) -> str:
    """Write a comment whose quotes are closed.

    DuckDB minds quotes in comments where it replaces unusual spaces outside of quotes: after an
    open one it would change names and labels.
    """
    quote = ""
    for character in line:
        if quote in ("", character) and character in "'\"":
            quote = "" if quote else character
    return f"/* {line}{quote} */"


def unused_prefix(names: Iterable[str]) -> str:
    """Return a prefix of internal names that no column or table begins with."""
    prefix, listed = "rw_", [name.lower() for name in names]
    while any(name.startswith(prefix) for name in listed):
        prefix = "_" + prefix
    return prefix


def case(cases: Iterable[tuple[str, str]], otherwise: str) -> str:
    """Write the value of the first test that is true."""
    whens = " ".join(f"WHEN {test} THEN {value}" for test, value in cases)
    return f"CASE {whens} ELSE {otherwise} END"


def is_large(x: str) -> str:
    """Test whether a number is beyond the integers that doubles hold exactly."""
    return f"{x} > {LARGEST_EXACT} OR {x} < -{LARGEST_EXACT}"


def with_exponent(value: float) -> str:
    """Write the shortest decimal of a double, with an exponent."""
    text = repr(float(value)).removesuffix(".0")
    return text if "e" in text else text + "e0"


def _check_text(text: str, what: str) -> str:
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the {what} {text!r} with a NUL character; rename it")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"SQL cannot hold the {what} {text!r}: not valid Unicode") from None
    return text
