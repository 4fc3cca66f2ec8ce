"""Proposals of keys: columns whose values are found in a column that identifies other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rulewright.data import DataError
from rulewright.relational.keys import ColumnPlace, KeyValues, Link, read_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import Source

_LEAST_COVERED = 0.5
_EVERYWHERE = {"id", "key", "no", "nr", "number", "code", "name"}
"""Names of columns that say nothing of a table."""


@dataclass(frozen=True)
class Proposal:
    """A foreign key that the values allow; nothing uses it until it is declared."""

    link: Link
    covered: float  # share of the known values that the other column has
    n_values: int  # different known values
    named: bool  # whether the name of the column speaks of the other table or column

    def __str__(self) -> str:
        names = ", names agree" if self.named else ""
        return f"{self.link}: {self.covered:.1%} of {self.n_values} values found{names}"


class Proposals(tuple[Proposal, ...]):
    """Proposals, the most plausible first."""

    __slots__ = ()

    def __str__(self) -> str:
        lines = [f"  {proposal}" for proposal in self]
        return "\n".join(["proposed keys; declare those that are right:", *lines])

    __repr__ = __str__


def propose(sources: Mapping[str, Source]) -> Proposals:
    """Compare the values of all columns that may be keys."""
    keys = {
        ColumnPlace(table, column): key
        for table, source in sources.items()
        for at, column in enumerate(source.names)
        if (key := _as_key(source, at, f"{table}.{column}")) is not None
    }
    distinct = {place: key.distinct for place, key in keys.items()}
    parents = [
        place
        for place, key in keys.items()
        if len(distinct[place]) == len(key.values) > 0 and not key.missing.any()
    ]
    found = []
    for child, key in keys.items():
        for parent in parents:
            if child.table == parent.table or key.kind != keys[parent].kind:
                continue
            covered = len(distinct[child] & distinct[parent]) / max(len(distinct[child]), 1)
            named = _names_agree(child, parent)
            # whole numbers of any column are found among the numbers of rows
            if covered >= _LEAST_COVERED and (named or key.kind == "text"):
                link = Link(child, parent)
                found.append(Proposal(link, covered, len(distinct[child]), named))
    return Proposals(sorted(found, key=lambda one: (not one.named, -one.covered)))


def _as_key(source: Source, at: int, where: str) -> KeyValues | None:
    try:
        key = read_key(where, source.load(at, "labels"))
    except DataError:  # numbers with fractions, Booleans, dates
        return None
    return None if key.kind is None else key


def _names_agree(child: ColumnPlace, parent: ColumnPlace) -> bool:
    column, table = child.column.lower(), parent.table.lower()
    if column == parent.column.lower() and column not in _EVERYWHERE:
        return True
    return any(len(word) > 1 and word in column for word in (table, table.removesuffix("s")))
