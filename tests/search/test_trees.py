"""Trees on values: conditions mean what codes mean, children partition, values are means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS, mixed_table
from rulewright.data import DataError, read_table
from rulewright.encoding.binned import bin_table
from rulewright.kernels import ROW
from rulewright.search import Constraints, SearchLimits
from rulewright.search.trees import TOLERANCE, TreeGrower, fixed_point_unit

pytestmark = pytest.mark.native


@st.composite
def grown_trees(draw):
    """Draw a table, weights, residuals, a subsample and the tree grown on it."""
    rng = np.random.default_rng(draw(SEEDS))
    n_rows, n_outputs = draw(st.integers(1, 80)), draw(st.sampled_from([1, 1, 3]))
    X, _ = mixed_table(rng, n_rows, missing=draw(st.sampled_from([0.0, 0.2])))
    table = read_table(X)
    binned = bin_table(table, max_bins=draw(st.sampled_from([None, 8])))
    weights = rng.choice([0.25, 1.0, 1.0, 3.0], n_rows) * draw(st.sampled_from([1e-200, 1.0, 1e9]))
    scale = draw(st.sampled_from([1e-100, 1.0, 1e9]))
    residuals = np.round(rng.normal(size=(n_rows, n_outputs)), 1) * scale
    rows = np.flatnonzero(rng.random(n_rows) < draw(st.sampled_from([0.4, 1.0]))).astype(ROW)
    limits = SearchLimits(missing_conditions=draw(st.booleans()))
    grower = TreeGrower(binned, weights, limits, onehot=draw(st.booleans()))
    tree = grower.grow(rows, residuals[rows], draw(st.integers(1, 8)))
    return table, binned, weights, residuals, rows, tree


@examples(200)
@given(grown_trees())
def test_conditions_cover_the_rows_of_their_nodes(case):
    """The conjunction of every node holds on just the rows that codes lead through it."""
    table, binned, _, _, _, tree = case
    covers = tree.covers(tree.reach(binned.codes))
    for node in range(tree.n_nodes):
        conjunction = tree.conjunction(node)
        np.testing.assert_array_equal(conjunction.holds(table), covers[node])
        assert len(conjunction) == tree.length(node)


@examples(200)
@given(grown_trees())
def test_children_partition_the_known_rows_of_their_parent(case):
    """No row is in both children; rows in neither have a missing value (T7)."""
    table, binned, _, _, rows, tree = case
    covers = tree.covers(tree.reach(binned.codes))
    assert covers[0].all()
    for place, split in enumerate(tree.grown.splits):
        left, right, parent = covers[2 * place + 1], covers[2 * place + 2], covers[split.node]
        assert not (left & right).any()
        missing = table.columns[split.column].is_missing
        lost = parent & ~(left | right)
        assert (lost <= missing).all()
        assert left[rows].any()
        assert right[rows].any()


@examples(200)
@given(grown_trees())
def test_values_are_weighted_means(case):
    """The value of a node is the mean residual of its rows of the subsample."""
    _, binned, weights, residuals, rows, tree = case
    covers = tree.covers(tree.reach(binned.codes))
    for node, cover in enumerate(covers):
        kept = rows[cover[rows]]
        if len(kept):
            mean = np.average(residuals[kept], axis=0, weights=weights[kept])
            size = np.abs(residuals[rows]).max()
            np.testing.assert_allclose(tree.values[node], mean, rtol=1e-9, atol=1e-9 * size)


@examples(60)
@given(SEEDS)
def test_order_and_repetition_of_rows(seed):
    """Trees do not depend on the order of rows, and a weight of two is a row twice."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 40)
    residuals = np.round(rng.normal(size=(40, 2)) + y[:, np.newaxis], 1)
    shuffled = rng.permutation(40)
    twice = np.concatenate([np.arange(40), np.arange(0, 40, 3)])
    weights = np.bincount(twice).astype(float)
    texts = []
    for rows, w in ((np.arange(40), weights), (shuffled, weights[shuffled]), (twice, np.ones(54))):
        binned = bin_table(read_table({name: values[rows] for name, values in X.items()}))
        grower = TreeGrower(binned, w, SearchLimits(min_weight=3.0))
        tree = grower.grow(np.arange(len(rows), dtype=ROW), residuals[rows], 6)
        texts.append([str(tree.conjunction(node)) for node in range(tree.n_nodes)])
    assert texts[0] == texts[1] == texts[2]
    assert len(texts[0]) > 3


def test_a_condition_and_its_opposite_leave_no_gap():
    """The children of a cut are `x <= t` and `x > t` with the same t."""
    binned = bin_table(read_table({"x": [1.0, 2.0, 5.0, 6.0]}))
    grower = TreeGrower(binned, np.ones(4), SearchLimits())
    tree = grower.grow(np.arange(4, dtype=ROW), np.array([[0.0], [0], [1], [1]]), 2)
    assert str(tree.conjunction(1)) == "x <= 3"
    assert str(tree.conjunction(2)) == "x > 3"


def test_conditions_on_labels_are_merged():
    """A path through two splits of a nominal column is one condition."""
    binned = bin_table(read_table({"c": ["p", "q", "r", "s"]}))
    grower = TreeGrower(binned, np.ones(4), SearchLimits())
    tree = grower.grow(np.arange(4, dtype=ROW), np.array([[0.0], [1], [10], [12]]), 4)
    texts = [str(tree.conjunction(node)) for node in range(tree.n_nodes)]
    assert texts == [
        "true",
        "c in {p, q}",
        "c not in {p, q}",
        "c = r",
        "c not in {p, q, r}",
        "c = p",
        "c = q",
    ]


def wide_table(rng, n_rows, n_rare, missing=0.0):
    """Make a table with a column of some frequent labels and many rare ones, and a number."""
    job = np.where(rng.random(n_rows) < 0.6, rng.integers(0, 3, n_rows), -1)
    names = [f"f{k}" if k >= 0 else f"r{rng.integers(n_rare):04}" for k in job]
    shown = [
        None if u < missing else name for u, name in zip(rng.random(n_rows), names, strict=True)
    ]
    return read_table({"job": shown, "x": rng.random(n_rows)}), job


@examples(60)
@given(SEEDS, st.booleans())
def test_trees_pool_infrequent_labels(seed, onehot):
    """Conditions mean what codes mean and name frequent labels only (T7)."""
    rng = np.random.default_rng(seed)
    table, job = wide_table(rng, 200, 400, missing=0.1)
    binned = bin_table(table)
    limits = SearchLimits(missing_conditions=True)
    rows = np.flatnonzero(rng.random(200) < 0.8).astype(ROW)
    residuals = (job == 0)[rows, np.newaxis] + rng.normal(size=(len(rows), 1))
    tree = TreeGrower(binned, np.ones(200), limits, onehot=onehot).grow(rows, residuals, 6)
    covers = tree.covers(tree.reach(binned.codes))
    for node in range(tree.n_nodes):
        conjunction = tree.conjunction(node)
        np.testing.assert_array_equal(conjunction.holds(table), covers[node])
        np.testing.assert_allclose(tree.values[node], residuals[covers[node][rows]].mean())
        assert "r0" not in str(conjunction)
    assert tree.n_nodes > 1


def test_a_pooled_set_is_written_by_the_labels_outside_it():
    """Where rare labels go together with a frequent one, the other frequent labels are named."""
    job = ["a", "b", "c"] * 30 + [f"r{k}" for k in range(60)]
    binned = bin_table(read_table({"job": job}))
    residuals = np.array([1.0, 0, 1] * 30 + [0] * 60)[:, np.newaxis]
    grower = TreeGrower(binned, np.ones(150), SearchLimits())
    tree = grower.grow(np.arange(150, dtype=ROW), residuals, 2)
    assert [str(tree.conjunction(node)) for node in (1, 2)] == [
        "job not in {a, c}",
        "job in {a, c}",
    ]
    assert tree.values[:, 0].tolist() == [0.4, 0, 1]


def test_weights_count_as_rows_of_labels():
    """A label of ten rows, or of one row of weight ten, is frequent; of nine it is not."""
    for times, found in ((10, True), (9, False)):
        names = ["a"] + [f"r{k}" for k in range(60)]
        weights = np.array([times] + [1] * 60)
        residuals = np.array([[5.0]] + [[0.0]] * 60)
        texts = []
        for repeats, w in (
            (weights, np.ones(60 + times)),
            (np.ones(61, int), weights.astype(float)),
        ):
            binned = bin_table(read_table({"job": np.repeat(names, repeats)}))
            tree = TreeGrower(binned, w, SearchLimits()).grow(
                np.arange(len(w), dtype=ROW), np.repeat(residuals, repeats, axis=0), 2
            )
            texts.append([str(tree.conjunction(node)) for node in range(tree.n_nodes)])
        assert texts == [["true", "job != a", "job = a"] if found else ["true"]] * 2


def test_limits_hold_in_trees():
    """Forbidden columns, light nodes and long paths do not occur."""
    rng = np.random.default_rng(0)
    binned = bin_table(read_table({"x": rng.random(60), "z": rng.random(60)}))
    limits = SearchLimits(
        max_conditions=2, min_weight=8.0, constraints=Constraints(forbidden=["z"])
    )
    tree = TreeGrower(binned, np.ones(60), limits).grow(
        np.arange(60, dtype=ROW), rng.normal(size=(60, 1)), 50
    )
    assert 3 <= tree.n_nodes <= 7
    assert {split.column for split in tree.grown.splits} == {0}
    covers = tree.covers(tree.reach(binned.codes))
    assert covers.sum(axis=1).min() >= 8


def test_required_columns_are_refused():
    """Not every rule of a tree could use them."""
    binned = bin_table(read_table({"x": [1.0, 2.0]}))
    limits = SearchLimits(constraints=Constraints(required=["x"]))
    with pytest.raises(DataError, match="required"):
        TreeGrower(binned, np.ones(2), limits)


def test_noise_of_rounding_is_not_split():
    """Residuals that differ in their last digits only are one leaf."""
    binned = bin_table(read_table({"x": [1.0, 2.0, 3.0, 4.0]}))
    grower = TreeGrower(binned, np.ones(4), SearchLimits())
    residuals = np.array([[0.1 + 0.2], [0.3], [0.3], [0.3]])
    assert grower.grow(np.arange(4, dtype=ROW), residuals, 4).n_nodes == 1
    residuals[0] += 30 * np.sqrt(TOLERANCE)
    assert grower.grow(np.arange(4, dtype=ROW), residuals, 4).n_nodes == 3


def test_infinite_residuals_are_refused():
    """Their sum has no fixed-point unit."""
    with pytest.raises(ValueError, match="scale the target"):
        fixed_point_unit(float("inf"))
