"""The schema of a table: names, kinds and labels of its columns, and the choices for reading them.

Other packages can define derived columns. A derivation is part of the schema, and thus of a saved
model. An entry point of the group ``rulewright.derivations`` registers its class under the schema
field that holds it: ``recipe = "rulewright.relational.recipe:Recipe"``.
"""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from importlib.metadata import entry_points
from typing import Any, Literal, Protocol, Self, cast, get_args

import numpy as np

from rulewright.data.errors import DataError, DataTypeError, offer_names
from rulewright.data.json_fields import FLAG, OBJECT, TEXT, Fields, Part, define, described, list_of
from rulewright.data.kind import KINDS, Kind, SqlWords
from rulewright.data.moments import WEEKDAYS, DatePart, Order, Unit
from rulewright.data.source import LabelType

_SURROGATE = re.compile("[\ud800-\udfff]")
BOOLEAN_LABELS = ("false", "true")


def label_of(value: object) -> str:
    """Return the label of a known value: text itself, ``true``/``false``, ``3`` for 3 and 3.0."""
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


How = Literal["coerce", "thousands", "comma"]
"""
User choices for a numeric column that is written as text.

coerce     other text is missing
thousands  commas separate thousands
comma      commas are decimal marks
"""


@dataclass(frozen=True)
class Choices:
    """Codes of missing values, and columns whose text represents numbers or dates."""

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
    def from_json(cls, obj: object) -> Self:
        """Parse the output of `to_json`; raise a DataError for anything else."""
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

WORDS: dict[str, tuple[str, ...]] = {
    "numeric": get_args(How),
    "date": get_args(Order),
    "date_parts": get_args(Unit),
}
"""Possible choices for a column, by option."""


def column_and_word(text: str, names: Iterable[str], option: str) -> tuple[str, Any]:
    """Split ``COL:WORD``, unless the whole text is a column name; None without a word."""
    name, colon, word = text.rpartition(":")
    if not colon or text in names:
        return text, None
    if word not in WORDS[option]:
        raise DataError(
            f"{option}={text!r}: there is no such column, and {word!r} is not one of "
            f"{', '.join(WORDS[option])}."
        )
    return name, word


GROUP = "rulewright.derivations"
"""Group of the entry points."""


class Derivation(Protocol):
    """How some columns of a schema are derived, as plain data."""

    @property
    def names(self) -> Set[str]:
        """Names of the derived columns."""

    def to_json(self) -> dict[str, Any]:
        """Return the derivation as plain data."""

    @classmethod
    def from_json(cls, obj: object) -> Self:
        """Parse the output of `to_json`; raise a DataError for anything else."""


class Derivable(ABC):
    """Tables from which the columns of a schema can be derived."""

    @abstractmethod
    def derive(self, schema: Any, needed: Collection[str] | None = None) -> Any:
        """Return the table with the columns of a schema, or with the needed ones."""


def read_derivation(field: str, obj: object) -> Derivation:
    """Parse the derivation in a field of a schema, by the class registered for it."""
    for point in entry_points(group=GROUP, name=field):
        return cast("type[Derivation]", point.load()).from_json(obj)
    raise DataError(f"The schema has {field!r}, which no installed package can read.")


@dataclass(frozen=True)
class ColumnSchema:
    """One column: its name, its kind and, if nominal, its labels."""

    name: str
    kind: str  # a key of KINDS
    labels: tuple[str, ...] = ()  # in the order of the codes, including declared but unused ones
    label_type: LabelType = "string"  # type of the labels before conversion to text
    ranked: bool = field(default=False, compare=False)  # labels ascend; a saved model has sets
    part: DatePart | None = None  # of which dates the values are a part

    @classmethod
    def of_part(cls, part: DatePart) -> Self:
        """Return the column of a part of dates: weekdays are labels, other parts are numbers."""
        if part.unit == "weekday":
            return cls(part.name, "nominal", WEEKDAYS, ranked=True, part=part)
        return cls(part.name, "numeric", part=part)

    @property
    def source(self) -> str:
        """Name of the column of the data from which the values are read."""
        return self.name if self.part is None else self.part.of

    @property
    def reader(self) -> str:
        """Name of the function that reads a value in exported Python and JavaScript."""
        return self.type.reader(self) if self.part is None else self.part.unit

    def sql_value(self, expression: str, sql: SqlWords) -> str:
        """Write how SQL reads the source, given by an expression, as in the model."""
        if self.part is None:
            return self.type.sql_value(self, expression, sql)
        return sql.date_part(self.part.unit, sql.moment(self.source, expression))

    def __post_init__(self) -> None:
        vars(self)["name"] = str(self.name)  # NumPy's strings print otherwise

    @property
    def has_order(self) -> bool:
        """Whether rules that are learned may divide the values at thresholds."""
        return self.type.ordered or self.ranked

    @property
    def type(self) -> Kind:
        """The kind of the column, which reads, writes and codes its values."""
        return KINDS[self.kind]

    @cached_property
    def label_index(self) -> dict[str, int]:
        """Code of each label."""
        return {label: code for code, label in enumerate(self.labels)}

    def to_json(self) -> dict[str, Any]:
        """Return the column as plain data."""
        content = {"name": self.name, "kind": self.kind, **self.type.to_json(self)}
        return content if self.part is None else {**content, "part": self.part._asdict()}

    @classmethod
    def from_json(cls, obj: object) -> Self:
        """Parse the output of `to_json`; raise a DataError for anything else."""
        if not isinstance(obj, dict) or not isinstance(obj.get("name"), str):
            raise DataError(f"A column of the schema must be an object with a name, got {obj!r}.")
        name, kind = obj["name"], obj.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise DataError(f"Column {name!r}: kind must be {' or '.join(KINDS)}, got {kind!r}.")
        fields = KINDS[kind].fields
        if not (expected := _fields([kind])).fit(obj):
            raise DataError(f"Column {name!r}: expected the fields {sorted(expected.needed)}.")
        checked = KINDS[kind].from_json(name, {field: obj[field] for field in fields})
        column = cls(name, kind, **checked)
        return column if "part" not in obj else cls._checked_part(column, obj["part"])

    @classmethod
    def _checked_part(cls, column: Self, part: object) -> Self:
        known = _PART.fit(part) and part["unit"] in get_args(Unit) and isinstance(part["of"], str)
        of_part = cls.of_part(DatePart(**part)) if known else None  # type: ignore[arg-type]
        if of_part is None or replace(of_part, part=None) != column:
            raise DataError(f"Column {column.name!r}: it is not the part {part!r:.80} of dates.")
        return of_part


def column_part() -> Part:
    """Return a column as part of the schema of model files; kinds with equal fields are merged."""
    alike: dict[tuple[str, ...], list[str]] = {}
    for name, kind in KINDS.items():
        alike.setdefault(tuple(kind.fields), []).append(name)
    return {"oneOf": [_fields(kinds).part for kinds in alike.values()]}


def _fields(kinds: list[str]) -> Fields:
    kind: Part = {"const": kinds[0]} if len(kinds) == 1 else {"enum": kinds}
    part = described("The part of the dates in another column that this column has.", _PART.part)
    return Fields({"name": TEXT, "kind": kind, **KINDS[kinds[0]].fields}, {"part": part})


_PART = Fields({"unit": {"enum": get_args(Unit)}, "of": TEXT})


@dataclass(frozen=True)
class Schema:
    """The columns of a table in order."""

    columns: tuple[ColumnSchema, ...]
    named: bool  # False when the input had no column names; the names are then x0, x1, ...
    choices: Choices = NO_CHOICES  # the user's choices, applied to later tables
    recipe: Derivation | None = None  # derivation of columns from related tables

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns in order."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def given(self) -> tuple[ColumnSchema, ...]:
        """The columns that the data must have for all columns: parts of dates need the dates."""
        return self.sources_of(self.columns)

    def sources_of(self, columns: Iterable[ColumnSchema]) -> tuple[ColumnSchema, ...]:
        """Return the columns that the data must have for some columns, each once."""
        found: dict[str, ColumnSchema] = {}
        for column in columns:
            dates = ColumnSchema(column.source, "date")  # of parts; may be no column of its own
            own = column if column.part is None else dates
            found.setdefault(own.name, own)
        return tuple(found.values())

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: position for position, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return the position of a column."""
        try:
            return self._positions[name]
        except KeyError:
            offer = offer_names(str(name), self.names)
            raise DataError(f"There is no column {name!r} in the schema. {offer}") from None

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
    def from_json(cls, obj: object) -> Self:
        """Parse the output of `to_json`; raise a DataError for anything else."""
        if not _FIELDS.fit(obj):
            raise DataError("A schema must be an object with the fields 'named' and 'columns'.")
        if not isinstance(obj["named"], bool) or not isinstance(obj["columns"], list):
            raise DataError("A schema needs a boolean 'named' and a list 'columns'.")
        columns = tuple(ColumnSchema.from_json(column) for column in obj["columns"])
        if not columns:
            raise DataError("A schema needs at least one column.")
        check_distinct(column.name for column in columns)
        others = {column.name for column in columns if column.kind != "date"}
        for column in columns:
            if column.part is not None and column.source in others:
                raise DataError(f"Column {column.name!r} needs {column.source!r}, a date column.")
        choices = Choices.from_json(obj["choices"]) if "choices" in obj else NO_CHOICES
        recipe = read_derivation("recipe", obj["recipe"]) if "recipe" in obj else None
        if recipe is not None and (strange := recipe.names - {column.name for column in columns}):
            raise DataError(
                f"The recipe derives {min(strange)!r}, which is not a column of the schema."
            )
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
    """Reject duplicate column names."""
    repeated = [repr(name) for name, times in Counter(names).items() if times > 1]
    if repeated:
        raise DataError(f"Duplicate column names: {', '.join(repeated)}. Rename the columns.")


def check_encodable(texts: Sequence[str], what: str) -> None:
    """Reject text with lone surrogates (half characters), which no file can store."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        wrong = next(text for text in texts if _SURROGATE.search(text))
        raise DataError(
            f"The {what} {wrong!a:.80} contains a lone surrogate, which is invalid. Correct the "
            "encoding of the text."
        ) from None


def write_labels(labels: Sequence[str], most: int, write: Callable[[str], str] = str) -> str:
    """Format the first labels, and the total number if there are more."""
    listed = ", ".join(map(write, labels[:most]))
    return listed if len(labels) <= most else f"{listed}, ... ({len(labels)} labels)"
