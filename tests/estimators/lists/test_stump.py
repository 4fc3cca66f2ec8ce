"""Decision stumps."""

import numpy as np
import pytest
from hypothesis import given

from builders import SEEDS, mixed_table, stump
from rulewright.data import read_table

pytestmark = pytest.mark.native


def texts(model):
    """Give the rules with their classes."""
    return [(str(rule.body), int(model.classes[rule.head.first])) for rule in model.rules]


def test_three_branches_of_a_number():
    """Up to the middle, above it, and missing, each with its own class."""
    x = [1.0, 2.0, 3.0, 7.0, 8.0, 9.0, np.nan, np.nan]
    model = stump().fit({"x": x}, [0, 0, 0, 1, 1, 1, 0, 0]).model_
    assert texts(model) == [("x <= 5", 0), ("x > 5", 1), ("x is missing", 0)]


def test_three_branches_of_a_label():
    """One label or the others; a label never seen is one of the others."""
    X = {"c": ["a", "a", "b", "b", "c", "c"]}
    model = stump().fit(X, [1, 1, 0, 0, 0, 0]).model_
    assert texts(model) == [("c = a", 1), ("c != a", 0)]
    assert model.predict({"c": ["z"]}).tolist() == [0]


def test_missing_values_get_the_distribution_of_all_rows_where_training_has_none():
    """The default is what the classes weigh at large."""
    model = stump().fit({"x": [1.0, 2.0, 3.0, 4.0, 5.0]}, [1, 1, 0, 0, 0]).model_
    np.testing.assert_allclose(model.predict_proba({"x": [np.nan]}), [[0.6, 0.4]])


def test_known_or_missing_may_be_the_test():
    """Where a column has one value, only its absence can tell."""
    x = [1.0, 1.0, 1.0, np.nan, np.nan]
    model = stump().fit({"x": x}, [0, 0, 0, 1, 1]).model_
    assert texts(model) == [("x is known", 0), ("x is missing", 1)]


def test_both_branches_need_the_least_weight():
    """A cut that takes off one row is not made if two are asked for."""
    X, y = {"x": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]}, [1, 0, 0, 0, 0, 1]
    assert texts(stump().fit(X, y).model_)[0] == ("x <= 0", 1)
    assert texts(stump(min_branch_weight=2.0).fit(X, y).model_)[0] == ("x <= 1", 0)


@given(SEEDS)
def test_no_test_leaves_less_entropy(seed):
    """Every label and every cut of every column, counted one by one."""
    rng = np.random.default_rng(seed)
    X, y = mixed_table(rng, 40, n_classes=3)
    model = stump().fit(X, y).model_
    table = read_table(X)
    found = [rule.body.holds(table) for rule in model.rules]
    least = entropy([y[rows] for rows in found])
    for name, values in X.items():
        if name == "color":
            missing, tests = values == None, [values == label for label in set(values) - {None}]  # noqa: E711
        else:
            missing, tests = np.isnan(values), [values <= v for v in values[~np.isnan(values)]]
        for inside in tests:
            parts = inside & ~missing, ~inside & ~missing, missing
            assert entropy([y[rows] for rows in parts]) >= least - 1e-9


def entropy(parts):
    """Sum the entropies of the classes in some parts, times their sizes."""
    sums = 0.0
    for part in parts:
        counts = np.bincount(part)
        shares = counts[counts > 0] / max(len(part), 1)
        sums -= len(part) * float((shares * np.log(shares)).sum())
    return sums
