"""What training instances see of related tables: frequent labels, quantiles, digits.

All of it is counted on the rows that these instances reach before their cutoffs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import short_between
from rulewright.kernels import value_facts
from rulewright.relational.aggregates import DIGITS, factor_of
from rulewright.relational.grouping import doubles, in_threads, instances_by_label

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.data import Column
    from rulewright.kernels import FloatArray
    from rulewright.relational.grouping import Paths
    from rulewright.relational.paths import Path
    from rulewright.relational.reaching import ReachedRows
    from rulewright.relational.recipe import Recipe


@dataclass(frozen=True)
class PathNumbers:
    """What is known of a numeric column along a path."""

    factor: float
    thresholds: tuple[float, ...]


@dataclass(frozen=True)
class PathValues:
    """What training instances see along a path."""

    path: Path
    to_one: bool
    numbers: Mapping[str, PathNumbers]
    labels: Mapping[str, tuple[str, ...]]  # most frequent first


@dataclass(frozen=True)
class ScanLimits:
    """How much is looked for: labels of at least some instances, and thresholds of numbers."""

    max_labels: int
    n_thresholds: int
    least: int


class PathScan:
    """Looks at the rows that training instances reach, along one path after the other."""

    def __init__(self, paths: Paths, draft: Recipe, limits: ScanLimits) -> None:
        self._paths, self._draft, self._limits = paths, draft, limits

    def scan_path(self, path: Path, to_one: bool) -> PathValues:
        """Tell what is seen along a path."""
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
        """Return the labels that most instances see."""
        if self._limits.max_labels == 0:
            return ()
        labels, counts = column.schema.labels, instances_by_label(reached, column)
        enough = np.flatnonzero(counts >= self._limits.least)
        counted = sorted((-int(counts[code]), labels[code]) for code in enough)
        return tuple(label for _, label in counted[: self._limits.max_labels])

    def _numbers(self, reached: ReachedRows, column: Column) -> PathNumbers | None:
        x = doubles(column)
        facts = value_facts(reached.entries.rows, x, DIGITS)
        if facts.size < 0:  # no value is known
            return None
        factor = factor_of(facts.size, facts.digits)
        if not self._limits.n_thresholds:
            return PathNumbers(factor, ())
        known = reached.of_entries(x)
        return PathNumbers(factor, _thresholds(known[~np.isnan(known)], self._limits.n_thresholds))


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
