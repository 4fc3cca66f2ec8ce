"""The nodes of nearest rules, and their evaluation with the native kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.programs.distances import Distance, LabelDistance, NumberDistance
from rulewright.programs.nodes import Node
from rulewright.rules import Condition, Conjunction, Formula, Range

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema, Table


class Gap(NamedTuple):
    """One condition of a rule: its column, and its scaled bounds (of labels the group, twice)."""

    distance: Distance
    low: float
    high: float

    @property
    def label_key(self) -> tuple[str, int]:
        """What conditions on labels with the same distances have in common."""
        return self.distance.column, int(self.low)


@dataclass(frozen=True, eq=False)
class Nearest(Node):
    """The place of the rule with the least distance to a row, of equal ones the first.

    The distance of a rule is the sum of the squared distances of its conditions, added up in the
    order of `distances`.
    """

    schema: Schema
    rules: tuple[Conjunction, ...]
    distances: tuple[Distance, ...]

    @cached_property
    def columns(self) -> frozenset[str]:
        """The columns of the conditions."""
        return frozenset(name for rule in self.rules for name in rule.columns)

    @cached_property
    def marked(self) -> tuple[Formula, ...]:
        """The rules, whose thresholds and labels matter."""
        return self.rules

    @cached_property
    def used(self) -> tuple[Distance, ...]:
        """The distances of the columns of the conditions."""
        return tuple(distance for distance in self.distances if distance.column in self.columns)

    @cached_property
    def gaps(self) -> tuple[tuple[Gap, ...], ...]:
        """The conditions of each rule, in the order in which their distances are added up."""
        place = {distance.column: i for i, distance in enumerate(self.used)}
        return tuple(
            tuple(
                self._gap(self.used[place[condition.column]], condition)
                for condition in sorted(rule.conditions, key=lambda c: place[c.column])
            )
            for rule in self.rules
        )

    def _gap(self, distance: Distance, condition: Condition) -> Gap:
        if isinstance(distance, NumberDistance):
            assert isinstance(condition, Range)
            return Gap(distance, condition.low * distance.scale, condition.high * distance.scale)
        group = float(distance.group(condition, self.schema[distance.column]))
        return Gap(distance, group, group)

    @cached_property
    def label_gaps(self) -> dict[tuple[str, int], Gap]:
        """The conditions on labels, each once if their distances are the same."""
        gaps = (gap for rule in self.gaps for gap in rule)
        return {gap.label_key: gap for gap in gaps if isinstance(gap.distance, LabelDistance)}

    @cached_property
    def compiled(self) -> tuple[kernels.DistanceColumns, kernels.Boxes]:
        """What the kernel reads."""
        return distance_columns(self.used), _boxes(self)

    def evaluate(
        self, table: Table, n_threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the nearest rule of each row, and its distance."""
        values = np.empty((len(table), len(self.used)))
        for j, distance in enumerate(self.used):
            values[:, j] = distance.values(table[distance.column].values)
        return kernels.nearest_rules(values, *self.compiled, n_threads)


@dataclass(frozen=True, eq=False)
class Lookup(Node):
    """The vector at a place of a list."""

    place: Node
    vectors: tuple[tuple[float, ...], ...]

    @cached_property
    def is_vector(self) -> bool:
        """Whether there is a number for each class."""
        return True

    @cached_property
    def array(self) -> NDArray[np.float64]:
        """All vectors."""
        return np.array(self.vectors)


def squared_labels(gap: Gap, schema: Schema) -> Iterator[tuple[str | None, float]]:
    """Return the squared distance of each label to a condition, and of a missing value (None).

    Labels that are as far as one never seen are left out.
    """
    distance = gap.distance
    assert isinstance(distance, LabelDistance)
    line = distance.squares[int(gap.low)].tolist()
    labels: list[str | None] = [None, *schema[distance.column].labels]
    for label, group in zip(labels, (distance.missing, *distance.groups), strict=True):
        if label is None or line[group] != line[distance.unseen]:
            yield label, line[group]


def squared_unseen(gap: Gap) -> float:
    """Return the squared distance of a label never seen to a condition."""
    assert isinstance(gap.distance, LabelDistance)
    return float(gap.distance.squares[int(gap.low), gap.distance.unseen])


def distance_columns(
    distances: Sequence[Distance], *, by_label: bool = False
) -> kernels.DistanceColumns:
    """Lay out distances for the kernels, which then read labels as their groups.

    With `by_label` they are the codes of labels, then of unseen ones and of missing values.
    """
    groups, tables = [], []
    for d in distances:
        if isinstance(d, NumberDistance):
            groups.append(np.zeros(0, np.int32))
            tables.append(np.zeros(0))
            continue
        codes = (*d.groups, d.unseen, d.missing) if by_label else range(len(d.table))
        groups.append(np.array(codes, dtype=np.int32))
        tables.append(d.squares.ravel())
    widths = [d.width if isinstance(d, NumberDistance) else 0.0 for d in distances]
    return kernels.DistanceColumns(
        np.array(widths, dtype=np.float64),
        _starts([len(part) for part in groups]),
        np.concatenate([np.zeros(0, np.int32), *groups]),
        _starts([len(part) for part in tables]),
        np.concatenate([np.zeros(0), *tables]),
    )


def _boxes(node: Nearest) -> kernels.Boxes:
    place = {distance.column: j for j, distance in enumerate(node.used)}
    gaps = [gap for rule in node.gaps for gap in rule]
    return kernels.Boxes(
        _starts([len(rule) for rule in node.gaps]),
        np.array([place[gap.distance.column] for gap in gaps], dtype=np.int32),
        np.array([gap.low for gap in gaps], dtype=np.float64),
        np.array([gap.high for gap in gaps], dtype=np.float64),
    )


def _starts(sizes: list[int]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int32)
