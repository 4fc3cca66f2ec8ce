"""C4.5 trees: branches, growth, pruning, partial trees."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS, mixed_table
from golf import golf
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.binned import MOST_BINS, bin_table
from rulewright.kernels import ROW
from rulewright.search import Brancher, Cases, find_part, grow_c45_tree, prune_tree, walk_leaves
from rulewright.search.c45.trees import _predict_errors

pytestmark = pytest.mark.native


def brancher_of(X, y, weights=None, min_cases=2.0):
    """Make the brancher of a table."""
    rows = TrainingSet.of(read_table(X, target=y, weights=weights))
    return Brancher(bin_table(rows.table, MOST_BINS), rows, min_cases)


def rules_of(brancher, root):
    """Give the leaves as texts, with the weight and the class of each."""
    return {
        str(brancher.conjunction(path)): (node.total, node.head) for path, node in walk_leaves(root)
    }


def test_the_tree_of_the_golf_data():
    """Three outlooks, humidity at 75 where it is sunny, wind where it rains."""
    brancher = brancher_of(*golf())
    assert rules_of(brancher, grow_c45_tree(brancher)) == {
        "outlook = overcast": (4.0, 1),
        "outlook = rain and windy = false": (3.0, 1),
        "outlook = rain and windy = true": (2.0, 0),
        "outlook = sunny and humidity <= 75": (2.0, 1),
        "outlook = sunny and humidity > 75": (3.0, 0),
    }


def test_a_cut_is_the_largest_training_value_up_to_the_middle():
    """Between 0 and 10 lie 4 and 7 of other rows: the cut is 4, below the middle."""
    brancher = brancher_of({"x": [0, 0, 0, 10, 10, 10, 4, 7]}, [0, 0, 0, 1, 1, 1, 0, 1])
    six = np.arange(6, dtype=ROW)
    cases = Cases(six, brancher.steps[six])
    (low, _), (high, _) = brancher.branches(brancher.node(cases), cases)
    texts = [str(brancher.conjunction([test])) for test in (low, high)]
    assert texts == ["x <= 4", "x > 4"]


def test_missing_values_go_down_all_branches():
    """Six rows are known to be red or blue, one to two; the seventh is parted so."""
    X = {"color": ["red", "red", "blue", "blue", "blue", "blue", None]}
    brancher = brancher_of(X, ["a", "a", "b", "b", "b", "b", "a"])
    cases = brancher.all_cases
    branches = brancher.branches(brancher.node(cases), cases)
    found = {str(brancher.conjunction([test])): part for test, part in branches}
    np.testing.assert_allclose(brancher.weights_of(found["color = red"]), [2 + 1 / 3, 0])
    np.testing.assert_allclose(brancher.weights_of(found["color = blue"]), [2 / 3, 4])
    assert brancher.whole_weight(found["color = red"]) == 2.0


@given(SEEDS, st.integers(2, 4))
def test_leaves_share_all_the_weight(seed, n_classes):
    """No weight is lost on the way down, but for parts of rows that are too small to matter."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 60, n_classes=n_classes, missing=0.2)
    weights = rng.choice([0.5, 1.0, 3.0], 60)
    brancher = brancher_of(X, y, weights)
    root = grow_c45_tree(brancher)
    total = sum(node.total for _, node in walk_leaves(root))
    assert total == pytest.approx(weights.sum(), rel=1e-4)
    errors = sum(node.errors for _, node in walk_leaves(root))
    assert errors <= root.errors + 1e-9


def test_a_subtree_that_is_wrong_as_often_becomes_a_leaf():
    """Both sides of the only cut have the same class on top: nothing is branched."""
    brancher = brancher_of({"x": [0] * 10 + [1] * 10}, [0] * 10 + [0] * 6 + [1] * 4)
    assert brancher.branches(brancher.node(brancher.all_cases), brancher.all_cases)
    assert not grow_c45_tree(brancher).branches


def test_the_example_of_the_book_becomes_a_leaf():
    """Leaves of 6, 9 and 1 rows without an error expect 3.27 errors, a leaf of 16 with one 2.51."""
    X = {"x": ["a"] * 6 + ["b"] * 9 + ["c"]}
    brancher = brancher_of(X, [0] * 15 + [1], min_cases=1.0)
    root = grow_c45_tree(brancher)
    assert [node.total for _, node in walk_leaves(root)] == [6, 9, 1]
    expected = sum(node.predicted_errors(0.25) for _, node in walk_leaves(root))
    assert expected == pytest.approx(3.273, abs=1e-3)
    assert root.predicted_errors(0.25) == pytest.approx(2.507, abs=1e-3)
    pruned = prune_tree(brancher, root, 0.25)
    assert not pruned.branches
    assert pruned.predicted_errors(0.25) == root.predicted_errors(0.25)


def test_the_largest_branch_takes_the_place_of_its_parent():
    """The test at the root goes, and the one below it is asked of all rows."""
    brancher = brancher_of(*mixed_table(np.random.default_rng(45), 24, missing=0.0))
    root = grow_c45_tree(brancher)
    pruned = prune_tree(brancher, root, 0.25)
    tests = {test for path, _ in walk_leaves(root) for test in path}
    assert {test for test, _ in pruned.branches} < tests
    assert pruned.branches[0][0][0] != root.branches[0][0][0]
    assert pruned.total == root.total == sum(node.total for _, node in walk_leaves(pruned))


@given(SEEDS, st.sampled_from([0.05, 0.25, 0.5]))
def test_pruned_trees_are_smaller_and_expect_hardly_more_errors(seed, confidence):
    """Each of the nodes that go may cost a tenth of an error."""
    X, y = mixed_table(np.random.default_rng(seed), 80, n_classes=3)
    brancher = brancher_of(X, y)
    root = grow_c45_tree(brancher)
    size, cases = len([*walk_leaves(root)]), brancher.all_cases
    before = _predict_errors(brancher, root, cases, confidence)
    assert before == pytest.approx(
        sum(node.predicted_errors(confidence) for _, node in walk_leaves(root)), rel=1e-6
    )  # every row has a branch
    pruned = prune_tree(brancher, root, confidence)
    assert len([*walk_leaves(pruned)]) <= size
    assert _predict_errors(brancher, pruned, cases, confidence) <= before + 0.1 * 2 * size


def test_parts_of_the_golf_data():
    """The first part is what is pure at the root; what is left then is not branched by outlook."""
    brancher = brancher_of(*golf())
    part = find_part(brancher, brancher.all_cases, 0.25)
    assert str(brancher.conjunction(part.tests)) == "outlook = overcast"
    assert part.head == 1


@given(SEEDS, st.integers(2, 3))
def test_every_part_covers_rows_that_are_left(seed, n_classes):
    """Rows run out, because each part covers at least one whole row; a leaf alone is no part."""
    X, y = mixed_table(np.random.default_rng(seed), 50, n_classes=n_classes, missing=0.3)
    brancher = brancher_of(X, y)
    left = brancher.all_cases
    while part := find_part(brancher, left, 0.25):
        assert part == find_part(brancher, left, 0.25)
        covered = brancher.holds(part.tests, left.rows).all(axis=0)
        assert covered.any()
        left = Cases(left.rows[~covered], left.steps[~covered])
