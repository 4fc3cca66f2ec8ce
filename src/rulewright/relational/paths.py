"""Join paths from an instance to other tables, and statistics of the rows along them.

Frequent labels, quantiles and digits are computed on the rows that training instances reach before
their cutoffs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import Column, DataError, short_between
from rulewright.kernels import FloatArray, value_facts
from rulewright.relational.derived import Step
from rulewright.relational.grouping import Paths, doubles, in_threads, instances_by_label
from rulewright.relational.statements import BITS, DIGITS, SQUARED_BITS, factor_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rulewright.relational.keys import Link
    from rulewright.relational.reaching import ReachedRows
    from rulewright.relational.recipe import Recipe


Path = tuple[Step, ...]


def join_paths(links: Sequence[Link], instances: str, max_depth: int) -> list[Path]:
    """Return all paths up to a number of steps; no path visits a table twice."""
    found: list[Path] = []
    level: list[Path] = [()]
    for _ in range(max_depth):
        level = [(*path, step) for path in level for step in _steps(links, instances, path)]
        found += level
    return found


def leads_to_one(links: Sequence[Link], instances: str, path: Path) -> bool:
    """Return whether each instance has at most one row: all steps go from child to parent."""
    tables = [instances, *(step.table for step in path)]
    upwards = {(link.child, link.parent) for link in links}
    return all(
        ((before, step.here), (step.table, step.there)) in upwards
        for before, step in zip(tables, path, strict=False)
    )


def read_paths(
    names: Sequence[str], links: Sequence[Link], instances: str, max_depth: int
) -> list[Path]:
    """Parse paths as in the names of columns: ``orders -> items``."""
    known = {write_path(path): path for path in join_paths(links, instances, max_depth)}
    found = []
    for name in names:
        text = " -> ".join(part.strip() for part in name.split("->"))
        tables = [instances, *(part.partition("[")[0] for part in text.split(" -> "))]
        if twice := [table for table in tables if tables.count(table) > 1]:
            raise DataError(
                f"The join path {name!r} is cyclic: it visits table {twice[0]!r} twice, "
                f"starting from {instances!r}. Remove the second visit."
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
    # The key that distinguishes paths belongs to the child.
    ends = [(link.child, link.parent, link.child.column) for link in links]
    ends += [(link.parent, link.child, link.child.column) for link in links]
    ways = [(a, b, key) for a, b, key in ends if a.table == here and b.table not in visited]
    reached = [b.table for _, b, _ in ways]
    for a, b, key in ways:
        yield Step(b.table, a.column, b.column, key if reached.count(b.table) > 1 else None)


@dataclass(frozen=True)
class PathNumbers:
    """Statistics of a numeric column along a path."""

    factor: float
    squared_factor: float
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class PathValues:
    """Statistics of the rows that training instances reach along a path."""

    path: Path
    to_one: bool
    numbers: Mapping[str, PathNumbers]
    labels: Mapping[str, tuple[str, ...]]  # most frequent first


@dataclass(frozen=True)
class ScanLimits:
    """Limits of the statistics: minimum instances per label, number of thresholds."""

    max_labels: int
    n_thresholds: int
    least: int


class PathScan:
    """Computes statistics of the rows that training instances reach, path by path."""

    def __init__(self, paths: Paths, draft: Recipe, limits: ScanLimits) -> None:
        self._paths, self._draft, self._limits = paths, draft, limits

    def scan_path(self, path: Path, to_one: bool) -> PathValues:
        """Return the statistics along a path."""
        reached, described = self._paths[path], self._draft[path[-1].table]
        read = self._paths.tables[described.name].like(described.columns)
        numeric = [column for column in read if column.schema.kind == "numeric"]
        nominal = [column for column in read if column.schema.kind == "nominal"]
        numbers = in_threads([partial(self._numbers, reached, column) for column in numeric])
        labels = in_threads([partial(self._labels, reached, column) for column in nominal])
        known = {c.schema.name: one for c, one in zip(numeric, numbers, strict=True) if one}
        named = (column.schema.name for column in nominal)
        return PathValues(path, to_one, known, dict(zip(named, labels, strict=True)))

    def _labels(self, reached: ReachedRows, column: Column) -> tuple[str, ...]:
        """Return the most frequent labels, by instances."""
        if self._limits.max_labels == 0:
            return ()
        labels, counts = column.schema.labels, instances_by_label(reached, column)
        enough = np.flatnonzero(counts >= self._limits.least)
        counted = sorted((-int(counts[code]), labels[code]) for code in enough)
        return tuple(label for _, label in counted[: self._limits.max_labels])

    def _numbers(self, reached: ReachedRows, column: Column) -> PathNumbers | None:
        x = doubles(column)
        facts = value_facts(reached.entries.rows, x, DIGITS)
        if facts.size < 0:  # no known value
            return None
        factor = factor_of(facts.size, facts.digits, BITS)
        squared = factor_of(facts.size, facts.digits, SQUARED_BITS)
        if not self._limits.n_thresholds:
            return PathNumbers(factor, squared, ())
        known = reached.of_entries(x)
        cuts = _thresholds(known[~np.isnan(known)], self._limits.n_thresholds)
        return PathNumbers(factor, squared, cuts)


def _thresholds(values: FloatArray, n: int) -> tuple[float, ...]:
    """Return short numbers at quantiles, each above the next smaller value, if there is one."""
    places = [max(0, -(-len(values) * (i + 1) // (n + 1)) - 1) for i in range(n)]
    parted = np.partition(values, places)
    found = {}
    for place in places:
        cut, smaller = parted[place], parted[:place]
        below = smaller[smaller < cut]
        if len(below):
            found[cut] = short_between(float(below.max()), math.nextafter(cut, math.inf))
    return tuple(found[cut] for cut in sorted(found))
