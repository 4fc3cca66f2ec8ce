"""Derived columns, which other rooms and packages define: what a schema must know of them.

A derivation is a part of the schema, hence of a saved model. An entry point of the group
``rulewright.derivations`` names its class, under the field of the schema that it is written to:
``recipe = "rulewright.relational.recipe:Recipe"``.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Set
from importlib.metadata import entry_points
from typing import Any, Protocol, Self, cast

from rulewright.data.errors import DataError

GROUP = "rulewright.derivations"
"""Group of entry points."""


class Derivation(Protocol):
    """How some columns of a schema are made, as plain data."""

    @property
    def names(self) -> Set[str]:
        """Names of the derived columns."""

    def to_json(self) -> dict[str, Any]:
        """Return the derivation as plain data."""

    @classmethod
    def from_json(cls, obj: object) -> Self:
        """Read what `to_json` wrote; anything else is a DataError."""


class Derivable(ABC):
    """Tables from which the columns of a schema can be made."""

    @abstractmethod
    def derive(self, schema: Any, needed: Collection[str] | None = None) -> Any:
        """Return the table of the columns of a schema, or of those that are needed."""


def read_derivation(field: str, obj: object) -> Derivation:
    """Read the derivation in a field of a schema, by the class that is registered for it."""
    for point in entry_points(group=GROUP, name=field):
        return cast("type[Derivation]", point.load()).from_json(obj)
    raise DataError(f"The schema has {field!r}, which no installed package can read.")
