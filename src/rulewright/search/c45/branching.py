"""Nodes of C4.5 trees, and the branching of rows.

A row with a missing value follows all branches; its weight is divided in proportion to the known
rows of each branch. Weights are integers that sum to at most 52 bits, so that sums are exact as
integers and as floats.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW, STAT, BranchLimits, CodeColumns, Op
from rulewright.rules import Conjunction, Presence, Range
from rulewright.search.trees import fixed_point_unit
from rulewright.stopping import predicted_errors

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.encoding import BinnedColumns, Test
    from rulewright.kernels import BoolArray, Branching, FloatArray, IntArray, RowArray, StatArray
    from rulewright.rules import Condition

MANY_VALUES = 0.3
"""A nominal column with this share of the rows as labels is excluded from the average gain."""

SMALLEST_PART = 1e-6
"""Smaller parts of a row are dropped."""


class Cases(NamedTuple):
    """Rows, and the weight of each in steps."""

    rows: RowArray
    steps: StatArray


@dataclass(eq=False)
class TreeNode:
    """A node: class weights, the heaviest class, and a child for each test on codes."""

    weights: FloatArray
    head: int
    branches: list[tuple[Test, TreeNode]] = field(default_factory=list)

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return float(self.weights.sum())

    @property
    def errors(self) -> float:
        """Weight of the rows of other classes."""
        return float(self.weights.sum() - self.weights[self.head])

    def predicted_errors(self, confidence: float) -> float:
        """Pessimistic errors as a leaf."""
        return predicted_errors(self.total, self.errors, confidence)


class Brancher:
    """Splits training rows by the tests of C4.5.

    Parameters
    ----------
    binned : BinnedColumns
        The columns, one bin per value.
    rows : TrainingSet
        Classes and weights of the same rows.
    min_cases : float
        Minimum weight in at least two branches of a test.
    n_threads : int
        Number of threads; does not change the result.
    missing_labels : bool
        Whether "missing" is a label of nominal columns, instead of being divided.
    """

    def __init__(
        self,
        binned: BinnedColumns,
        rows: TrainingSet,
        min_cases: float,
        n_threads: int = 1,
        *,
        missing_labels: bool = False,
    ) -> None:
        self.binned, self.labels, self.n_threads = binned, rows.labels, n_threads
        known = binned.codes
        n_bins = known.n_bins + (known.nominal > 0) if missing_labels else known.n_bins
        self.columns = CodeColumns(known.codes, n_bins.astype(np.int32), known.nominal)
        self.min_cases, self.n_classes = min_cases, len(rows.classes)
        self.unit = fixed_point_unit(rows.total_weight) * 2.0**9  # of 61 bits
        self.steps = np.maximum(np.rint(rows.weights / self.unit), 1).astype(STAT)
        self.weights: FloatArray = self.steps.astype(np.float64) * self.unit
        self.class_weights = self.weights_of(self.all_cases)
        self.n_values = present_values(self.columns)
        many = (binned.codes.nominal > 0) & (self.n_values >= MANY_VALUES * rows.total_weight)
        self._limits = BranchLimits(
            n_classes=self.n_classes,
            unit=self.unit,
            min_cases=float(min_cases),
            many=many.astype(np.uint8),
        )

    @property
    def all_cases(self) -> Cases:
        """All rows, each with its whole weight."""
        return Cases(np.arange(len(self.steps), dtype=ROW), self.steps)

    def weights_of(self, cases: Cases) -> FloatArray:
        """Return the weight of each class."""
        sums = np.bincount(self.labels[cases.rows], cases.steps, minlength=self.n_classes)
        return sums.astype(np.float64) * self.unit

    def whole_weight(self, cases: Cases) -> float:
        """Return the weight of the rows that are present undivided."""
        whole = cases.steps == self.steps[cases.rows]
        return float(cases.steps[whole].sum()) * self.unit

    def node(self, cases: Cases) -> TreeNode:
        """Create a leaf; ties between classes go to the one with more training rows."""
        weights = self.weights_of(cases)
        return TreeNode(weights, heaviest(weights, self.class_weights))

    def branches(self, node: TreeNode, cases: Cases) -> list[tuple[Test, Cases]]:
        """Return the branches of the best test of a node; none if it should be a leaf."""
        if node.total < 2 * self.min_cases or np.count_nonzero(node.weights) < 2:
            return []
        found = kernels.choose_branching(
            self.columns, *cases, self.labels, self._limits, self.n_threads
        )
        return self.divide(cases, self._tests(found, cases)) if found.column >= 0 else []

    def divide(self, cases: Cases, tests: list[Test]) -> list[tuple[Test, Cases]]:
        """Split rows by tests on one column; rows with a missing value are divided."""
        n, n_bins = len(tests), int(self.columns.n_bins[tests[0][0]])
        branch_of = np.full(n_bins + 1, n + 1, dtype=np.uint16)  # per code; n + 1: no branch
        for branch, (_, low, high, _) in enumerate(tests):
            branch_of[low : high + 1] = branch
        branch_of[n_bins] = n
        branches = branch_of[self.codes(tests[0][0], cases.rows)]
        order = np.argsort(branches, kind="stable")  # small integers: counting sort
        ends = np.cumsum(np.bincount(branches, minlength=n + 2))
        *parts, missing, _ = (
            Cases(cases.rows[places], cases.steps[places]) for places in np.split(order, ends[:-1])
        )
        known = [float(part.steps.sum()) for part in parts]
        if len(missing.rows) and any(known):
            shares = np.array(known) / sum(known)
            parts = [self._join_cases(*pair) for pair in zip(parts, repeat(missing), shares)]
        return list(zip(tests, parts, strict=True))

    def _join_cases(self, part: Cases, missing: Cases, share: float) -> Cases:
        """Add to a branch its share of the rows with a missing value."""
        steps = np.rint(missing.steps * share).astype(STAT)
        kept = steps >= np.maximum(SMALLEST_PART * self.steps[missing.rows], 1)
        return Cases(
            np.concatenate([part.rows, missing.rows[kept]]),
            np.concatenate([part.steps, steps[kept]]),
        )

    def _tests(self, found: Branching, cases: Cases) -> list[Test]:
        """Return the tests on codes: two sides of a cut, or the labels that occur."""
        j, bins = found.column, self.binned.bins[found.column]
        if found.code < 0:
            present = np.flatnonzero(np.bincount(self.codes(j, cases.rows)))
            return [(j, c, c, -1) for c in present.tolist() if c < self.columns.n_bins[j]]
        # The cut is the largest training value up to the midpoint of the two values.
        last = bins.last_below(found.code, found.beyond, Op.LESS_EQUAL, "midpoint")
        return [(j, 0, last, -1), (j, last + 1, len(bins) - 1, -1)]

    def codes(self, column: int, rows: RowArray | slice) -> NDArray[np.integer]:
        """Return the codes of some rows in one column."""
        return _column(self.columns, column)[rows]

    def holds(self, tests: Iterable[Test], rows: RowArray | slice = slice(None)) -> BoolArray:
        """Return which rows satisfy each test: (tests, rows)."""
        lines = []
        for column, low, high, _ in tests:
            codes = self.codes(column, rows)
            lines.append((codes >= low) & (codes <= high))
        return np.array(lines, dtype=np.bool_)

    def conjunction(self, tests: Iterable[Test]) -> Conjunction:
        """Convert tests on codes to conditions on values, one per column."""
        return Conjunction.of(self._condition(test) for test in tests)

    def _condition(self, test: Test) -> Condition:
        column, low, high, _ = test
        bins = self.binned.bins[column]
        name, kind = bins.schema.name, bins.schema.kind
        if not bins.schema.type.ordered:
            is_label = low < len(bins)
            return bins.labels_from(low, high) if is_label else Presence(name, True)
        if low == 0:
            return Range(name, high=float(bins.high[high]), kind=kind)
        return Range(name, low=float(bins.high[low - 1]), low_open=True, kind=kind)


def heaviest(weights: FloatArray, prior: FloatArray) -> int:
    """Return the heaviest class; ties go to the heavier one in `prior`, then to the first."""
    top = np.flatnonzero(weights >= weights.max() * (1 - 1e-12))
    return int(top[np.argmax(prior[top])])


def present_values(columns: CodeColumns) -> IntArray:
    """Count the values of each column that occur in training rows."""
    counts = [
        np.count_nonzero(np.bincount(_column(columns, j), minlength=n + 1)[:n])
        for j, n in enumerate(columns.n_bins.tolist())
    ]
    return np.array(counts, dtype=np.int32)


def _column(columns: CodeColumns, column: int) -> NDArray[np.integer]:
    group, place = divmod(column, kernels.GROUP)
    return columns.codes[group, :, place]
