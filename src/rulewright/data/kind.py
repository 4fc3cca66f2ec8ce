"""The kind of a column: all that differs between numbers, labels and kinds to come.

A new kind is one file in ``data/kinds/`` and one line in ``data/kinds/__init__.py``.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from rulewright.data.schema import ColumnSchema
    from rulewright.data.source import Raw, Wanted
    from rulewright.data.table import Column


class SqlWords(Protocol):
    """How one database writes values."""

    @property
    def name(self) -> str:
        """Name of the dialect."""

    def number(self, value: float) -> str:
        """Write a finite number exactly."""

    def text(self, value: str) -> str:
        """Write a string."""

    def boolean(self, value: bool) -> str:
        """Write a truth value."""

    def double(self, expression: str) -> str:
        """Write the conversion of an expression to a double, with NaN as NULL."""


class Kind(ABC):
    """
    What a kind of columns does; a kind has no state.

    Attributes
    ----------
    name : str
        Name in schemas and messages.
    ordered : bool
        True: values are float64, NaN is missing, and ``Range`` fits. False: values are int32
        codes of labels, -1 is missing, and ``Labels`` fits. ``Presence`` fits all kinds.
    fields : tuple of str
        Fields of the JSON form of a column beside ``name`` and ``kind``.
    operators : tuple of str
        Operators of conditions that fit.
    reader : str
        Name of the function that reads a value in exported Python and JavaScript.
    literal : pattern
        A threshold in the text of a rule; labels are words.
    """

    name: ClassVar[str]
    ordered: ClassVar[bool]
    fields: ClassVar[tuple[str, ...]] = ()
    operators: ClassVar[tuple[str, ...]]
    reader: ClassVar[str]
    literal: ClassVar[re.Pattern[str]] = re.compile(r"(?!)")

    def claims(self, raw: Raw) -> bool:
        """Tell whether a column whose kind nobody named is of this kind.

        Kinds are asked in the order of `KINDS`, with values of any type. Objects that no kind
        claims are numeric if all of them are numbers, else nominal.
        """
        return False

    def wanted(self, schema: ColumnSchema | None) -> Wanted:
        """Tell in which form a reader should load a column, of a known schema or a new one."""
        return "any"

    @abstractmethod
    def read(self, name: str, raw: Raw) -> Column:
        """Check the values of a new column and find its schema."""

    @abstractmethod
    def read_like(self, schema: ColumnSchema, raw: Raw) -> Column:
        """Check the values of a column whose schema is known."""

    @abstractmethod
    def recode(self, column: Column, schema: ColumnSchema) -> Column:
        """Bring a column of this kind to another schema of this kind."""

    @abstractmethod
    def raw(self, column: Column) -> Raw:
        """Return the values of a column as a container would hold them, for another kind."""

    @abstractmethod
    def is_missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell which stored values are missing."""

    def to_json(self, schema: ColumnSchema) -> dict[str, Any]:
        """Return the `fields` of a column as plain data."""
        return {}

    @abstractmethod
    def from_json(self, name: str, fields: dict[str, Any]) -> ColumnSchema:
        """Check the `fields` of a column and make its schema."""

    def write(self, value: Any) -> str:
        """Write a threshold such that `parse` returns it, or a label."""
        return str(value)

    def parse(self, text: str) -> Any:
        """Read a threshold that matches `literal`, or a label."""
        return text

    @abstractmethod
    def describe(self, column: Column, write_label: Callable[[str], str] = str) -> str:
        """Describe the values of a column in one line.

        Parameters
        ----------
        column : Column
            The column.
        write_label : callable
            Makes a label fit for the place where it is shown.
        """

    @abstractmethod
    def sql_value(self, schema: ColumnSchema, expression: str, sql: SqlWords) -> str:
        """Write how SQL reads a column, given by an expression, as the model does."""

    @abstractmethod
    def sql_literal(self, schema: ColumnSchema, value: Any, sql: SqlWords) -> str:
        """Write a threshold or label to compare with `sql_value`."""


KINDS: dict[str, Kind] = {}
"""All kinds by name; a column whose kind is not named belongs to the first that claims it."""


def register(kind: Kind) -> None:
    """Add a kind."""
    KINDS[kind.name] = kind
