"""Twin of `native/search/tree.hpp`: least-squares regression trees on codes, grown best-first."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reference.search import column_codes, count_histogram
from rulewright.kernels.structs import IntArray, Limits, Op, RowArray, StatArray
from rulewright.kernels.trees import GrownSplit, GrownTree, Routes, TreeShape, side_of_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns

Sides = tuple[Op, list[int], StatArray, StatArray]
"""Operator and codes of the left side, sums of the left and of the right side."""


class Leaf(NamedTuple):
    """A node that may be split: its rows, the columns of its path, and its best split."""

    rows: RowArray
    path: tuple[int, ...]
    score: float
    split: GrownSplit | None
    sums: tuple[StatArray, ...]


def gain(left: StatArray, right: StatArray) -> float:
    """Return by how much two means fit better than their common one, summed over the outputs.

    It equals ``G_L^2 / W_L + G_R^2 / W_R - G^2 / W`` without the cancellation.
    """
    (w_left, *g_left), (w_right, *g_right) = (map(float, side) for side in (left, right))
    squares = 0.0
    for one, other in zip(g_left, g_right, strict=True):
        difference = one * (1 / w_left) - other * (1 / w_right)
        squares += difference * difference
    return w_left * w_right / (w_left + w_right) * squares


def widest_output(sums: StatArray) -> int:
    """Return the lane whose label means have the largest weighted spread, the first of equals."""
    total = sums.sum(axis=0).astype(float).tolist()
    spreads = []
    for lane in range(1, sums.shape[1]):
        mean, spread = total[lane] / total[0], 0.0
        for weight, g in sums[:, [0, lane]].astype(float).tolist():
            spread += weight * (g / weight - mean) * (g / weight - mean)
        spreads.append(spread)
    return 1 + int(np.argmax(spreads))


def label_sides(known: StatArray, onehot: bool) -> Iterator[Sides]:
    """Yield the splits of a nominal column; the smaller set of labels is the left side."""
    total, present = known.sum(axis=0), np.flatnonzero(known[:, 0]).tolist()
    if len(present) < 2:
        return
    if onehot:
        yield from ((Op.EQUAL, [c], known[c], total - known[c]) for c in present)
        return
    lane = widest_output(known[present])
    means = {c: float(known[c, lane]) / float(known[c, 0]) for c in present}
    order = sorted(present, key=lambda c: (means[c], c))
    for n in range(1, len(order)):
        smaller = order[:n] if 2 * n <= len(order) else order[n:]
        left = known[smaller].sum(axis=0)
        yield Op.EQUAL, sorted(smaller), left, total - left


def column_sides(sums: StatArray, nominal: bool, operators: int, onehot: bool) -> Iterator[Sides]:
    """Yield the splits of a node on one column in the order in which ties are broken."""

    def is_open(*both: Op) -> bool:
        return all(operators >> op & 1 for op in both)

    known, n_bins = sums[:-1], len(sums) - 1
    total, present = known.sum(axis=0), np.flatnonzero(known[:, 0]).tolist()
    if nominal and is_open(Op.EQUAL, Op.NOT_EQUAL):
        yield from label_sides(known, onehot)
    if not nominal and is_open(Op.LESS_EQUAL, Op.GREATER_EQUAL):
        below = known.cumsum(axis=0)
        for a, b in itertools.pairwise(present):
            # Half of the empty bins between goes to either side, whatever values they stand for.
            yield Op.LESS_EQUAL, [(a + b - 1) // 2], below[a], total - below[a]
    if present and sums[-1, 0] and is_open(Op.MISSING, Op.KNOWN):
        yield Op.MISSING, [n_bins], sums[-1], total


def best_leaf(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    path: tuple[int, ...],
    node: int,
    shape: TreeShape,
    limits: Limits,
) -> Leaf:
    """Find the best split of a node; the first of equals wins."""
    best = Leaf(rows, path, 0.0, None, ())
    if len(path) == limits.max_conditions:
        return best
    groups = np.bitwise_and.reduce(limits.groups[list(path)]) if path else ~np.uint64(0)
    starts = np.concatenate([[0], np.cumsum(columns.n_bins + 1)])
    histogram = count_histogram(columns, rows, stats)
    for j, nominal in enumerate(columns.nominal.tolist()):
        if not limits.groups[j] & groups:
            continue
        operators = int(limits.up_operators[j] | limits.down_operators[j])
        sums = histogram[starts[j] : starts[j + 1]]
        for op, codes, *sides in column_sides(sums, bool(nominal), operators, shape.onehot):
            if min(side[0] for side in sides) < limits.min_weight:
                continue
            found = gain(*sides)
            score = found * (shape.reuse if j in path else 1.0)
            if found > limits.tolerance and score > best.score:
                split = GrownSplit(node, j, int(op), codes)
                best = Leaf(rows, path, score, split, tuple(sides))
    return best


def grow_tree(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    shape: TreeShape,
    limits: Limits,
    n_threads: int = 1,
) -> GrownTree:
    """Split the leaf with the best score until there are enough or no split helps."""
    tree = GrownTree([], stats[rows].sum(axis=0, keepdims=True))
    leaves = {0: best_leaf(columns, rows, stats, (), 0, shape, limits)}
    while len(leaves) < shape.max_leaves:
        node = max(leaves, key=lambda leaf: (leaves[leaf].score, -leaf))
        leaf = leaves.pop(node)
        if leaf.split is None:
            break
        j = leaf.split.column
        sides = side_of_codes(leaf.split, int(columns.n_bins[j]))[column_codes(columns, j)]
        for side in (1, 2):
            kept = leaf.rows[sides[leaf.rows] == side]
            child = 2 * len(tree.splits) + side
            leaves[child] = best_leaf(columns, kept, stats, (*leaf.path, j), child, shape, limits)
        tree = GrownTree([*tree.splits, leaf.split], np.vstack([tree.sums, *leaf.sums]))
    return tree


def route_rows(columns: CodeColumns, routes: Routes, n_threads: int = 1) -> IntArray:
    """Find the deepest node that every row reaches; children come after their parents."""
    reached = np.zeros(columns.n_rows, dtype=np.int32)
    for node, (child, column, start) in enumerate(zip(*routes[:3], strict=True)):
        if child:
            here = np.flatnonzero(reached == node)
            side = routes.sides[start + column_codes(columns, int(column))[here]]
            reached[here] = np.where(side > 0, child + side.astype(np.int32) - 1, node)
    return reached
