"""Join paths: how the rows of other tables are reached from an instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.data import DataError
from rulewright.relational.derived import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.relational.keys import Link

Path = tuple[Step, ...]


def join_paths(links: Sequence[Link], instances: str, max_depth: int) -> list[Path]:
    """Return all paths of at most some steps; no path comes to a table twice."""
    found: list[Path] = []
    level: list[Path] = [()]
    for _ in range(max_depth):
        level = [(*path, step) for path in level for step in _steps(links, instances, path)]
        found += level
    return found


def leads_to_one(links: Sequence[Link], instances: str, path: Path) -> bool:
    """Tell whether each instance has at most one row: all steps go from child to parent."""
    tables = [instances, *(step.table for step in path)]
    upwards = {(link.child, link.parent) for link in links}
    return all(
        ((before, step.here), (step.table, step.there)) in upwards
        for before, step in zip(tables, path, strict=False)
    )


def read_paths(
    names: Sequence[str], links: Sequence[Link], instances: str, max_depth: int
) -> list[Path]:
    """Read paths as they are written in the names of columns: ``orders -> items``."""
    known = {write_path(path): path for path in join_paths(links, instances, max_depth)}
    found = []
    for name in names:
        text = " -> ".join(part.strip() for part in name.split("->"))
        tables = [instances, *(part.partition("[")[0] for part in text.split(" -> "))]
        if twice := [table for table in tables if tables.count(table) > 1]:
            raise DataError(
                f"The join path {name!r} is cyclic: it comes to table {twice[0]!r} twice, and "
                f"starts at {instances!r}. Leave the second part out."
            )
        if text not in known:
            raise DataError(
                f"There is no join path {name!r} of at most {max_depth} steps. The paths are: "
                f"{', '.join(map(repr, known)) or 'none'}."
            )
        found.append(known[text])
    return found


def write_path(path: Path) -> str:
    """Write a path."""
    return " -> ".join(map(str, path))


def _steps(links: Sequence[Link], instances: str, path: Path) -> Iterator[Step]:
    here = path[-1].table if path else instances
    visited = {instances, *(step.table for step in path)}
    # the key that tells ways apart is the one of the child
    ends = [(link.child, link.parent, link.child.column) for link in links]
    ends += [(link.parent, link.child, link.child.column) for link in links]
    ways = [(a, b, key) for a, b, key in ends if a.table == here and b.table not in visited]
    reached = [b.table for _, b, _ in ways]
    for a, b, key in ways:
        yield Step(b.table, a.column, b.column, key if reached.count(b.table) > 1 else None)
