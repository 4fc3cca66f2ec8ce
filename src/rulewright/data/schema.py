"""The schema of a table: names, kinds and labels of its columns."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rulewright.data.choices import CHOICES, NO_CHOICES, Choices
from rulewright.data.column_schema import ColumnSchema, column_part
from rulewright.data.derivation import Derivation, read_derivation
from rulewright.data.errors import DataError, DataTypeError
from rulewright.data.json_fields import FLAG, OBJECT, Fields, define, described

_SURROGATE = re.compile("[\ud800-\udfff]")
BOOLEAN_LABELS = ("false", "true")


def label_of(value: object) -> str:
    """Return the label of a known value: text as it is, ``true``/``false``, ``3`` for 3 and 3.0."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | np.bool_):
        return BOOLEAN_LABELS[int(value)]
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating | Decimal | Fraction):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    raise DataTypeError(
        f"A label must be a string, a boolean or a number, not {type(value).__name__!r}."
    )


@dataclass(frozen=True)
class Schema:
    """The columns of a table in order."""

    columns: tuple[ColumnSchema, ...]
    named: bool  # False when the input had no column names; the names are then x0, x1, ...
    choices: Choices = NO_CHOICES  # of the person who read the table, for later ones
    recipe: Derivation | None = None  # of the columns that are derived from related tables

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return the position of a column."""
        try:
            return self._positions[name]
        except KeyError:
            raise DataError(f"There is no column {name!r} in the schema.") from None

    def __getitem__(self, name: str) -> ColumnSchema:
        return self.columns[self.index(name)]

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __iter__(self) -> Iterator[ColumnSchema]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __str__(self) -> str:
        width = max(len(name) for name in ("column", *self.names))
        rows = [("column", "kind", "labels")]
        rows += [(c.name, c.kind, write_labels(c.labels, most=8)) for c in self.columns]
        return "\n".join(f"{name:{width}}  {kind:7}  {text}".rstrip() for name, kind, text in rows)

    def to_json(self) -> dict[str, Any]:
        """Return the schema as plain data."""
        content = {"named": self.named, "columns": [column.to_json() for column in self.columns]}
        if self.choices != NO_CHOICES:
            content["choices"] = self.choices.to_json()
        if self.recipe is not None:
            content["recipe"] = self.recipe.to_json()
        return content

    @classmethod
    def from_json(cls, obj: object) -> "Schema":
        """Read what `to_json` wrote; anything else is a DataError."""
        if not _FIELDS.fit(obj):
            raise DataError("A schema must be an object with the fields 'named' and 'columns'.")
        if not isinstance(obj["named"], bool) or not isinstance(obj["columns"], list):
            raise DataError("A schema needs a boolean 'named' and a list 'columns'.")
        columns = tuple(ColumnSchema.from_json(column) for column in obj["columns"])
        if not columns:
            raise DataError("A schema needs at least one column.")
        check_distinct(column.name for column in columns)
        choices = Choices.from_json(obj["choices"]) if "choices" in obj else NO_CHOICES
        recipe = read_derivation("recipe", obj["recipe"]) if "recipe" in obj else None
        if recipe is not None and (strange := recipe.names - {column.name for column in columns}):
            raise DataError(f"The recipe makes {min(strange)!r}, which is no column of the schema.")
        return cls(columns, obj["named"], choices, recipe)


_FIELDS = Fields(
    {
        "named": described("False if the columns had no names; they are then x0, x1, ...", FLAG),
        "columns": {"type": "array", "items": column_part, "minItems": 1},
    },
    {
        "choices": CHOICES.part,
        "recipe": described("How columns are derived from related tables.", OBJECT),
    },
    "The columns that the model was learned from, in order.",
)
COLUMNS = define("columns", _FIELDS.part)


def check_distinct(names: Iterable[str]) -> None:
    """Refuse column names that occur twice."""
    repeated = [repr(name) for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"Duplicate column names: {', '.join(repeated)}. Rename the columns.")


def check_encodable(texts: Sequence[str], what: str) -> None:
    """Refuse text with lone surrogates (halves of a character), which no file can hold."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(text for text in texts if _SURROGATE.search(text))
        raise DataError(
            f"The {what} {wrong!a:.80} holds a lone surrogate, which is no character. Correct the "
            "encoding of the text."
        ) from None


def write_labels(labels: Sequence[str], most: int, write: Callable[[str], str] = str) -> str:
    """Write the first labels, and how many there are if they are more."""
    listed = ", ".join(map(write, labels[:most]))
    return listed if len(labels) <= most else f"{listed}, ... ({len(labels)} labels)"
