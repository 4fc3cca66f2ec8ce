"""Least-squares trees on codes: equal to the twin, best at every step, and they partition."""

import itertools
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS, free_limits, packed_columns, random_columns, random_limits
from rulewright import kernels
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    CodeColumns,
    GrownSplit,
    Limits,
    Op,
    Routes,
    TreeShape,
    side_of_codes,
)

pytestmark = pytest.mark.native

REFUSED = (ValueError, TypeError)


class Growth(NamedTuple):
    """The arguments of `grow_tree`."""

    columns: CodeColumns
    rows: np.ndarray
    stats: np.ndarray
    shape: TreeShape
    limits: Limits


def tree_stats(rng, n_rows, n_outputs, tied):
    """Make weights above 0 and weighted residuals; small ones make ties."""
    largest = 3 if tied else 2**50
    stats = rng.integers(-largest, largest + 1, (n_rows, n_outputs + 1), dtype=STAT)
    stats[:, 0] = rng.integers(1, largest + 1, n_rows)
    return stats


@st.composite
def growths(draw):
    """Draw a tree to grow: any columns, outputs, row subsets, shapes and limits."""
    rng = np.random.default_rng(draw(SEEDS))
    n_rows, n_columns = draw(st.integers(0, 60)), draw(st.integers(1, GROUP + 3))
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    rows = np.flatnonzero(rng.random(n_rows) < draw(st.sampled_from([0.5, 1.0]))).astype(ROW)
    tied = draw(st.booleans())
    shape = TreeShape(
        max_leaves=draw(st.integers(1, 9)),
        reuse=draw(st.sampled_from([1.0, 1.0, 3.0])),
        onehot=draw(st.booleans()),
    )
    limits = random_limits(rng, n_columns)
    return Growth(
        random_columns(rng, n_rows, n_columns, draw(st.sampled_from([3, 9])), dtype),
        rows,
        tree_stats(rng, n_rows, draw(st.sampled_from([1, 1, 2, 4])), tied),
        shape,
        replace(limits, max_conditions=max(-1, limits.max_conditions * 2), tolerance=0.0),
    )


def assert_same(tree, twin):
    assert tree.splits == twin.splits
    np.testing.assert_array_equal(tree.sums, twin.sums)


@examples(500)
@given(growths())
def test_trees_equal_the_twin(growth):
    """Splits and sums are those of the twin, to the bit, on one thread and on two."""
    twin = reference.grow_tree(*growth)
    assert_same(kernels.grow_tree(*growth), twin)
    assert_same(kernels.grow_tree(*growth, n_threads=2), twin)


def routes_of(tree, columns):
    """Make the routes of a grown tree."""
    nodes = [split.node for split in tree.splits]
    children, looked_at, starts = np.zeros((3, len(tree.sums)), dtype=np.int32)
    sides = [side_of_codes(split, columns.n_bins[split.column]) for split in tree.splits]
    children[nodes] = 2 * np.arange(len(nodes)) + 1
    looked_at[nodes] = [split.column for split in tree.splits]
    starts[nodes] = np.cumsum([0, *map(len, sides)])[:-1]
    return Routes(children, looked_at, starts, np.concatenate([*sides, [0]]).astype(np.uint8))


@examples(200)
@given(growths())
def test_routes_equal_the_twin_and_reach_the_nodes(growth):
    """Rows end where the twin says, and sums over the rows of every node are its own."""
    columns, rows, stats, *_ = growth
    tree = kernels.grow_tree(*growth)
    routes = routes_of(tree, columns)
    reached = kernels.route_rows(columns, routes, n_threads=2)
    np.testing.assert_array_equal(reached, reference.route_rows(columns, routes))
    sums = np.zeros_like(tree.sums)
    np.add.at(sums, reached[rows], stats[rows])
    for split, left in reversed([*zip(tree.splits, itertools.count(1, 2), strict=False)]):
        sums[split.node] += sums[left] + sums[left + 1]
    np.testing.assert_array_equal(sums, tree.sums)


def error_of(stats, rows):
    """Sum the weighted squared deviations of the residuals from their means."""
    w = stats[rows, :1].astype(float)
    r = stats[rows, 1:] / w
    return float((w * (r - (w * r).sum(axis=0) / w.sum()) ** 2).sum()) if len(rows) else 0.0


@examples(150)
@given(growths())
def test_no_cut_reduces_the_error_more(growth):
    """The first split of numeric columns lowers the error most of all cuts, by brute force."""
    columns, rows, stats, _, _ = growth
    numeric = CodeColumns(columns.codes.copy(), columns.n_bins, np.zeros_like(columns.nominal))
    limits, shape = free_limits(len(columns.n_bins)), TreeShape(max_leaves=2)
    cuts = np.full(len(columns.n_bins), 1 << Op.LESS_EQUAL | 1 << Op.GREATER_EQUAL, np.uint8)
    tree = kernels.grow_tree(
        numeric, rows, stats, shape, replace(limits, up_operators=cuts, down_operators=cuts)
    )
    falls = {}
    for j, n_bins in enumerate(columns.n_bins.tolist()):
        codes = reference.column_codes(columns, j)[rows]
        known = codes < n_bins
        for code in np.unique(codes[known])[:-1].tolist():
            parts = rows[known & (codes <= code)], rows[known & (codes > code)]
            fall = error_of(stats, rows[known]) - sum(error_of(stats, part) for part in parts)
            falls[j, code] = fall
    size = max(error_of(stats, rows), 1e-300)
    if not tree.splits:
        assert all(fall < 1e-9 * size for fall in falls.values())
        return
    (split,) = tree.splits
    codes = reference.column_codes(columns, split.column)[rows]
    found = falls[split.column, int(codes[codes <= split.codes[0]].max())]
    assert found >= max(falls.values()) - 1e-9 * size


def test_no_set_of_labels_reduces_the_error_more():
    """With one output the split of the ordered labels is the best of all sets of labels."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        columns = packed_columns(rng.integers(0, 7, (40, 1)), [6], [1])
        rows, stats = np.arange(40, dtype=ROW), tree_stats(rng, 40, 1, tied=False)
        tree = kernels.grow_tree(columns, rows, stats, TreeShape(max_leaves=2), free_limits(1))
        codes = reference.column_codes(columns, 0)
        known = rows[codes < 6]
        fall = -np.inf
        for labels in itertools.product([False, True], repeat=6):
            inside = np.array([*labels, False])[codes[known]]
            parts = error_of(stats, known[inside]) + error_of(stats, known[~inside])
            fall = max(fall, error_of(stats, known) - parts)
        inside = np.isin(codes[known], tree.splits[0].codes)
        parts = error_of(stats, known[inside]) + error_of(stats, known[~inside])
        assert tree.splits[0].op in (Op.EQUAL, Op.MISSING)
        if tree.splits[0].op == Op.EQUAL:
            assert error_of(stats, known) - parts == pytest.approx(fall)
            assert len(tree.splits[0].codes) <= 3


@examples(150)
@given(growths())
def test_the_best_leaf_is_split_first(growth):
    """A larger tree starts with the splits of the smaller one, and its limits hold."""
    tree = kernels.grow_tree(*growth)
    smaller = replace(growth.shape, max_leaves=max(1, growth.shape.max_leaves - 1))
    fewer = kernels.grow_tree(*growth._replace(shape=smaller))
    assert tree.splits[: len(fewer.splits)] == fewer.splits
    assert len(tree.sums) == 2 * len(tree.splits) + 1 <= 2 * growth.shape.max_leaves - 1
    assert (tree.sums[1:, 0] >= growth.limits.min_weight).all()
    paths = {0: ()}
    for i, split in enumerate(tree.splits):
        paths[2 * i + 1] = paths[2 * i + 2] = (*paths[split.node], split.column)
    for path in paths.values():
        assert growth.limits.max_conditions < 0 or len(path) <= growth.limits.max_conditions
        assert not path or np.bitwise_and.reduce(growth.limits.groups[list(path)]) > 0


def grow_small(codes, nominal, residuals, max_leaves=2, bins=4, reuse=1.0, onehot=False):
    """Grow a tree on rows of weight 1."""
    codes, residuals = np.array(codes), np.array(residuals).reshape(len(codes), -1)
    columns = packed_columns(codes, [bins] * codes.shape[1], [nominal] * codes.shape[1])
    stats = np.hstack([np.ones((len(codes), 1), int), residuals]).astype(STAT)
    shape = TreeShape(max_leaves=max_leaves, reuse=reuse, onehot=onehot)
    operators = np.full(codes.shape[1], 0b1111, np.uint8)
    limits = free_limits(codes.shape[1], up_operators=operators, down_operators=operators)
    return kernels.grow_tree(columns, np.arange(len(codes), dtype=ROW), stats, shape, limits)


def test_a_tree_by_hand():
    """The root is cut at the large step, then the child that still differs."""
    tree = grow_small([[0], [1], [2], [3]], 0, [0, 0, 6, 8], max_leaves=9)
    assert tree.splits == [
        GrownSplit(0, 0, Op.LESS_EQUAL, [1]),
        GrownSplit(2, 0, Op.LESS_EQUAL, [2]),
    ]
    assert tree.sums.tolist() == [[4, 14], [2, 0], [2, 14], [1, 6], [1, 8]]


def test_empty_bins_are_shared():
    """Of three empty bins one goes to the left and two to the right, whatever their values."""
    assert grow_small([[0], [4]], 0, [0, 1], bins=5).splits[0].codes == [1]


def test_ties_go_to_the_lower_column_and_the_smaller_threshold():
    """Of equal columns the first is used, and of equal cuts the lower."""
    tree = grow_small([[0, 0], [1, 1], [2, 2]], 0, [1, 0, 1])
    assert tree.splits == [GrownSplit(0, 0, Op.LESS_EQUAL, [0])]


def test_labels_are_ordered_by_their_means():
    """Labels 0 and 2 have low means; the smaller set is on the left, of equals the lower."""
    tree = grow_small([[0], [1], [2], [3]], 1, [0, 9, 1, 8])
    assert tree.splits == [GrownSplit(0, 0, Op.EQUAL, [0, 2])]
    tree = grow_small([[0], [1], [2]], 1, [0, 9, 1])
    assert tree.splits == [GrownSplit(0, 0, Op.EQUAL, [1])]
    assert tree.sums.tolist() == [[3, 10], [1, 9], [2, 1]]


def test_onehot_splits_off_one_label():
    """With one label a side, the best is the farthest from the others."""
    tree = grow_small([[0], [1], [2], [3]], 1, [0, 9, 1, 12], onehot=True)
    assert tree.splits == [GrownSplit(0, 0, Op.EQUAL, [3])]


def test_the_output_with_the_largest_spread_orders_labels():
    """The second output spreads more, so its order decides."""
    tree = grow_small([[0], [1], [2], [3]], 1, [[0, 0], [1, 90], [2, 10], [3, 80]])
    assert tree.splits == [GrownSplit(0, 0, Op.EQUAL, [0, 2])]


def test_missing_rows_stay():
    """A row whose value is missing is in neither child, and counts for no cut."""
    tree = grow_small([[0], [1], [4]], 0, [0, 1, 100])
    assert tree.sums.tolist() == [[3, 101], [1, 0], [1, 1]]


def test_missing_rows_may_be_split_off():
    """With `is missing` allowed, missing rows are the left child."""
    columns = packed_columns(np.array([[0], [1], [4]]), [4], [0])
    stats = np.array([[1, 0], [1, 1], [1, 100]], dtype=STAT)
    tree = kernels.grow_tree(
        columns, np.arange(3, dtype=ROW), stats, TreeShape(max_leaves=2), free_limits(1)
    )
    assert tree.splits == [GrownSplit(0, 0, Op.MISSING, [4])]
    assert tree.sums.tolist() == [[3, 101], [1, 100], [2, 1]]


def test_reuse_favours_columns_of_the_path():
    """After column 0, its own second cut beats a slightly better one of column 1."""
    codes = [[0, 0], [0, 0], [1, 0], [2, 0], [2, 1], [2, 1]]
    residuals = [0, 0, 50, 53, 56, 56]
    plain = grow_small(codes, 0, residuals, max_leaves=3)
    reused = grow_small(codes, 0, residuals, max_leaves=3, reuse=3.0)
    assert [split.column for split in plain.splits] == [0, 1]
    assert [split.column for split in reused.splits] == [0, 0]


def test_equal_residuals_are_not_split():
    """No split helps, so there is none."""
    tree = grow_small([[0], [1], [2]], 0, [5, 5, 5])
    assert tree.splits == []
    assert tree.sums.tolist() == [[3, 15]]


FAULTS = {
    "row beyond the table": {"rows": np.array([0, 9], dtype=ROW)},
    "a row without weight": {"stats": np.zeros((3, 2), dtype=STAT)},
    "a negative weight": {"stats": np.full((3, 2), -1, dtype=STAT)},
    "one lane": {"stats": np.ones((3, 1), dtype=STAT)},
    "sums that overflow": {"stats": np.full((3, 2), 2**62, dtype=STAT)},
    "statistics too short": {"stats": np.ones((2, 2), dtype=STAT)},
    "statistics as floats": {"stats": np.ones((3, 2))},
    "no leaf": {"shape": TreeShape(max_leaves=0)},
    "reuse below 1": {"shape": TreeShape(max_leaves=2, reuse=0.5)},
    "reuse that is no number": {"shape": TreeShape(max_leaves=2, reuse=float("nan"))},
    "tolerance that is no number": {"limits": free_limits(1, tolerance=float("nan"))},
    "operators of other columns": {"limits": free_limits(2)},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_bad_growth_is_refused(fault):
    """Bad arguments are errors; the good call is good."""
    good = {
        "columns": packed_columns(np.array([[0], [1], [2]]), [3], [0]),
        "rows": np.arange(3, dtype=ROW),
        "stats": np.array([[1, 0], [1, 1], [1, 5]], dtype=STAT),
        "shape": TreeShape(max_leaves=2),
        "limits": free_limits(1),
    }
    assert kernels.grow_tree(**good).splits
    with pytest.raises(REFUSED):
        kernels.grow_tree(**{**good, **fault})


def int32(*values):
    return np.array(values, dtype=np.int32)


ROUTE_FAULTS = {
    "a loop": {"children": int32(1, 0, 1)},
    "a child beyond the nodes": {"children": int32(2, 0, 0)},
    "a negative child": {"children": int32(-1, 0, 0)},
    "no node": {"children": int32()},
    "a column too far": {"columns": int32(1, 0, 0)},
    "too few columns": {"columns": int32(0)},
    "a negative start": {"starts": int32(-1, 0, 0)},
    "a start too far": {"starts": int32(1, 0, 0)},
    "no sides": {"sides": np.empty(0, np.uint8)},
    "a third side": {"sides": np.array([1, 2, 3, 0], np.uint8)},
}


@pytest.mark.parametrize("fault", ROUTE_FAULTS.values(), ids=ROUTE_FAULTS)
def test_bad_routes_are_refused(fault):
    """Routes that would leave the tree or the sides are errors; the good ones are good."""
    columns = packed_columns(np.array([[0], [1], [2]]), [3], [0])
    good = Routes(int32(1, 0, 0), int32(0, 0, 0), int32(0, 0, 0), np.array([1, 2, 2, 0], np.uint8))
    assert kernels.route_rows(columns, good).tolist() == [1, 2, 2]
    with pytest.raises(REFUSED):
        kernels.route_rows(columns, good._replace(**fault))


def test_threads_do_not_change_large_trees():
    """One and two threads grow the same tree on several blocks of rows, equal to the twin's."""
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 9000, 2 * GROUP + 3, 200)
    growth = Growth(
        columns,
        np.flatnonzero(rng.random(9000) < 0.6).astype(ROW),
        tree_stats(rng, 9000, 1, tied=False),
        TreeShape(max_leaves=12),
        free_limits(2 * GROUP + 3),
    )
    tree = kernels.grow_tree(*growth)
    assert len(tree.splits) == 11
    assert_same(tree, kernels.grow_tree(*growth, n_threads=2))
    assert_same(tree, reference.grow_tree(*growth))
