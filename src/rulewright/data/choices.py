"""Choices: what a person says of the values of a table, kept with its schema for later tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rulewright.data.errors import DataError
from rulewright.data.json_fields import OBJECT, TEXT, Fields, described, list_of
from rulewright.data.moments import Order

How = Literal["coerce", "thousands", "comma"]
"""
What a person says of a column of written numbers.

coerce     what is no number is missing
thousands  commas separate thousands
comma      commas are decimal marks
"""


@dataclass(frozen=True)
class Choices:
    """Codes of missing values, and columns whose text writes numbers or dates."""

    missing: tuple[str, ...] = ()  # CODE, or COL:CODE for one column
    numeric: tuple[tuple[str, How], ...] = ()
    dates: tuple[tuple[str, Order], ...] = ()

    def codes(self, names: Iterable[str]) -> dict[str, set[str]]:
        """Return the codes of each column."""
        codes: dict[str, set[str]] = {name: set() for name in names}
        for code in self.missing:
            name, colon, one = code.partition(":")
            if colon and name in codes:
                codes[name].add(one)
            else:
                for found in codes.values():
                    found.add(code)
        return codes

    def to_json(self) -> dict[str, Any]:
        """Return the choices as plain data."""
        return {
            "missing": list(self.missing),
            "numeric": dict(self.numeric),
            "dates": dict(self.dates),
        }

    @classmethod
    def from_json(cls, obj: object) -> "Choices":
        """Read what `to_json` wrote; anything else is a DataError."""
        words = {"numeric": get_args(How), "dates": get_args(Order)}
        if not CHOICES.fit(obj):
            raise DataError("The choices of a schema must be missing, numeric and dates.")
        codes = obj["missing"]
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise DataError("The choices of a schema: missing must be a list of strings.")
        for option, known in words.items():
            found = obj[option]
            if not isinstance(found, dict) or not all(word in known for word in found.values()):
                raise DataError(
                    f"The choices of a schema: {option} must give {' or '.join(known)} by column."
                )
        return cls(tuple(codes), tuple(obj["numeric"].items()), tuple(obj["dates"].items()))


CHOICES = Fields(
    {
        "missing": described("Codes of missing values: CODE, or COLUMN:CODE.", list_of(TEXT)),
        "numeric": {**OBJECT, "additionalProperties": {"enum": get_args(How)}},
        "dates": {**OBJECT, "additionalProperties": {"enum": get_args(Order)}},
    }
)

NO_CHOICES = Choices()

WORDS: dict[str, tuple[str, ...]] = {"numeric": get_args(How), "date": get_args(Order)}
"""What may be said of a column, by the option that says it."""


def column_and_word(text: str, names: Iterable[str], option: str) -> tuple[str, Any]:
    """Split ``COL:WORD``, unless the whole text is the name of a column; None without a word."""
    name, colon, word = text.rpartition(":")
    if not colon or text in names:
        return text, None
    if word not in WORDS[option]:
        raise DataError(
            f"{option}={text!r}: there is no such column, and {word!r} is not one of "
            f"{', '.join(WORDS[option])}."
        )
    return name, word
