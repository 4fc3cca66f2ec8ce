"""Choices: what a person says of the values of a table, kept with its schema for later tables."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rulewright.data.errors import DataError

How = Literal["coerce", "thousands", "comma"]
"""
What a person says of a column of written numbers.

coerce     what is no number is missing
thousands  commas separate thousands
comma      commas are decimal marks
"""


@dataclass(frozen=True)
class Choices:
    """Codes of missing values, and columns whose text writes numbers."""

    missing: tuple[str, ...] = ()  # CODE, or COL:CODE for one column
    numeric: tuple[tuple[str, How], ...] = ()

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
        return {"missing": list(self.missing), "numeric": dict(self.numeric)}

    @classmethod
    def from_json(cls, obj: object) -> "Choices":
        """Read what `to_json` wrote; anything else is a DataError."""
        wrong = DataError("The choices of a schema must be 'missing' codes and 'numeric' columns.")
        if not isinstance(obj, dict) or obj.keys() != {"missing", "numeric"}:
            raise wrong
        missing, numeric = obj["missing"], obj["numeric"]
        if not isinstance(missing, list) or not all(isinstance(code, str) for code in missing):
            raise wrong
        if not isinstance(numeric, dict) or not set(numeric.values()) <= set(get_args(How)):
            raise wrong
        return cls(tuple(missing), tuple(numeric.items()))


NO_CHOICES = Choices()


def column_and_how(text: str, names: Iterable[str]) -> tuple[str, How | None]:
    """Split ``COL:HOW``, unless the whole text is the name of a column."""
    name, colon, how = text.rpartition(":")
    if not colon or text in names:
        return text, None
    if how not in get_args(How):
        raise DataError(
            f"numeric={text!r}: there is no such column, and {how!r} is not one of "
            f"{', '.join(get_args(How))}."
        )
    return name, how  # type: ignore[return-value]
