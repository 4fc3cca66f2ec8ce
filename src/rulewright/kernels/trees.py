"""Native trees, and the records passed to and from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.kernels import _core
from rulewright.kernels.structs import ByteArray, IntArray, Limits, Op, RowArray, StatArray, Struct

if TYPE_CHECKING:
    from rulewright.kernels.growth import CodeColumns


@dataclass(frozen=True, kw_only=True)
class TreeShape(Struct):
    """The form of a tree, besides the limits on its rules.

    Scores of splits on columns that the path already uses are multiplied by `reuse`. A nominal
    column is split into two sets of labels or, with `onehot`, into one label and the others.
    """

    max_leaves: int
    reuse: float = 1.0
    onehot: bool = False


class GrownSplit(NamedTuple):
    """A split: the left child has codes up to ``codes[0]``, or the codes in `codes`.

    `op` is the operator of the left child: LESS_EQUAL, EQUAL (one of the labels) or MISSING.
    """

    node: int
    column: int
    op: int
    codes: list[int]


class GrownTree(NamedTuple):
    """Splits in the order of growth; split i creates the nodes 2 i + 1 (left) and 2 i + 2 (right).

    `sums` has the sums of the statistics of each node, node 0 being the root.
    """

    splits: list[GrownSplit]
    sums: StatArray


class Routes(NamedTuple):
    """A tree for routing rows.

    `children` has the left child of each node (the right one follows it), 0 for a leaf; `columns`
    the column that a node tests; `sides`, from `starts[node]` on, the side of each code: 1 left, 2
    right, 0 neither.
    """

    children: IntArray
    columns: IntArray
    starts: IntArray
    sides: ByteArray


@dataclass(frozen=True, kw_only=True, eq=False)
class BranchLimits(Struct):
    """Settings for choosing a test of a C4.5 tree (see `native/search/branching.hpp`).

    `unit` is the weight of one step of the fixed-point weights, `min_cases` the weight that two
    branches need; `many` flags the columns with too many values to enter the average gain.
    """

    n_classes: int
    unit: float
    min_cases: float
    many: ByteArray


class Branching(NamedTuple):
    """A test on the labels of a column or, if `code` is at least 0, a cut between two codes.

    There is no admissible test if the column is -1.
    """

    column: int
    code: int
    beyond: int
    gain: float
    ratio: float


def choose_branching(
    columns: CodeColumns,
    rows: RowArray,
    weights: StatArray,
    labels: IntArray,
    limits: BranchLimits,
    n_threads: int = 1,
) -> Branching:
    """Choose the test of a C4.5 tree on some rows with weights above 0 and the classes of all."""
    return Branching(
        *_core.choose_branching(columns.native, rows, weights, labels, limits.native, n_threads)
    )


def grow_tree(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    shape: TreeShape,
    limits: Limits,
    n_threads: int = 1,
) -> GrownTree:
    """Grow a least-squares regression tree best-first (see `native/search/tree.hpp`).

    The lanes of `stats` are the weight of a row, above 0, and its weighted residuals.
    """
    splits, sums = _core.grow_tree(
        columns.native, rows, stats, shape.native, limits.native, n_threads
    )
    return GrownTree([GrownSplit(*split) for split in splits], sums.reshape(-1, stats.shape[1]))


def route_rows(columns: CodeColumns, routes: Routes, n_threads: int = 1) -> IntArray:
    """Find the deepest node that every row reaches."""
    return _core.route_rows(columns.native, *routes, n_threads)


def side_of_codes(split: GrownSplit, n_bins: int) -> ByteArray:
    """Return for each code of the column its side: 1 left, 2 right, 0 neither."""
    sides = np.full(n_bins + 1, 2, dtype=np.uint8)
    sides[-1] = 0
    left = slice(split.codes[0] + 1) if split.op == Op.LESS_EQUAL else split.codes
    sides[left] = 1
    return sides
