"""RISE: the invariants of the card, and what it is where nothing is generalised."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import StratifiedKFold

from builders import mixed_table, rise
from rulewright.data import DataWarning, TrainingSet, read_table
from rulewright.estimators.nearest import estimator, parts
from rulewright.estimators.nearest.estimator import SMOOTHING
from rulewright.estimators.nearest.examples import Examples
from rulewright.programs.distances import LabelDistance
from rulewright.rules import Presence, Range

pytestmark = pytest.mark.native


def examples_of(X, y, weights=None, *, repeat=True):
    table = read_table(X, target=y, weights=weights)
    return Examples.of(TrainingSet.of(table), repeat=repeat)


def brute_force_neighbours(train, labels, new):
    """Give the class of the nearest row: squared gaps in units of the range, and SVDM of labels."""
    n_classes = labels.max() + 1
    prior = np.bincount(labels, minlength=n_classes) / len(labels)
    total = np.zeros((len(next(iter(new.values()))), len(labels)))
    for name, values in train.items():
        values, others = np.asarray(values), np.asarray(new[name])
        if values.dtype.kind == "f":
            gaps = abs(others[:, None] - values) / (np.nanmax(values) - np.nanmin(values))
            gaps = np.where(np.isnan(others)[:, None], 1.0, gaps)
            gaps = np.where(np.isnan(values), 0.0, gaps)  # a missing number makes no condition
        else:
            known = {
                v: np.bincount(labels[values == v], minlength=n_classes) / (values == v).sum()
                for v in set(values.tolist())
            }
            shares = [np.array([known.get(v, prior) for v in part]) for part in (others, values)]
            gaps = abs(shares[0][:, None] - shares[1]).sum(axis=2)
        total += gaps**2
    frequent = prior[labels]
    best = total.min(axis=1, keepdims=True)
    near = np.isclose(total, best, rtol=1e-12, atol=0.0)
    return [{int(k) for k in labels[row]} for row in near], frequent


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_generalisation_it_is_the_nearest_neighbour(n_classes):
    """Every row is a rule of its own, and new rows get the class of the nearest one."""
    X, y = mixed_table(np.random.default_rng(0), 80, n_classes=n_classes, continuous=True)
    new, _ = mixed_table(np.random.default_rng(1), 200, n_classes=n_classes, continuous=True)
    new["color"][:5] = "mauve"
    est = rise(max_passes=0).fit(X, y)
    assert len(est.model_) == 80
    assert est.n_passes_ == 0
    expected, _ = brute_force_neighbours(X, y, new)
    found = est.predict(new)
    assert all(label in near for label, near in zip(found.tolist(), expected, strict=True))
    assert sum(len(near) == 1 for near in expected) > 150


@pytest.mark.parametrize("seed", range(4))
def test_the_invariants_of_the_card(seed):
    """Accuracy does not fall, rules do not grow in number, every training row is covered."""
    X, y = mixed_table(np.random.default_rng(seed), 120, n_classes=3)
    passes = [rise(max_passes=n).fit(X, y) for n in range(4)]
    accuracy = [est.accuracy_ for est in passes]
    n_rules = [len(est.model_) for est in passes]
    assert accuracy == sorted(accuracy)
    assert n_rules == sorted(n_rules, reverse=True)
    assert accuracy[1] > accuracy[0]
    assert n_rules[1] < n_rules[0]
    last = rise().fit(X, y)
    assert last.model_.covers(X).any(axis=1).all()
    assert last.accuracy_ >= accuracy[-1]
    assert last.n_passes_ >= 2  # the last one gains nothing


def test_what_rules_won_is_what_they_print():
    """Coverage counts all rows left out, by class; its share on the rules' classes is accuracy."""
    X, y = mixed_table(np.random.default_rng(3), 150, n_classes=3)
    est = rise(precision_cv=None).fit(X, y)
    won = np.array([rule.class_weights for rule in est.model_.rules])
    np.testing.assert_array_equal(won.sum(axis=0), np.bincount(y))
    heads = [rule.head.first for rule in est.model_.rules]
    assert won[np.arange(len(won)), heads].sum() / 150 == pytest.approx(est.accuracy_)
    assert {rule.coverage.rows for rule in est.model_.rules} == {"left out"}


def test_all_rules_are_smoothed_by_the_same_accuracy():
    """A rule says the shares of what it won and of a few rows more, right as often everywhere."""
    X, y = mixed_table(np.random.default_rng(5), 80, n_classes=3, missing=0.0)
    found = []
    for rule in rise().fit(X, y).model_.rules:
        won, head = np.array(rule.class_weights), rule.head.first
        if won.argmax() == head and won[head] > 1.0:
            right = rule.outcome.distribution[head] * (won.sum() + SMOOTHING) - won[head]
            found.append(right / SMOOTHING)
    assert len(found) > 3
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
    assert 0.4 < found[0] < 1.0


def test_ties_go_to_the_rule_that_is_most_accurate_where_it_covers():
    """Rules are sorted by Laplace accuracy on what they cover; the first of the nearest decides."""
    X, y = mixed_table(np.random.default_rng(3), 150, n_classes=3)
    model = rise().fit(X, y).model_
    covers, heads = model.covers(X), np.array([rule.head.first for rule in model.rules])
    correct = (covers & (heads == y[:, np.newaxis])).sum(axis=0)
    laplace = (correct + 1) / (covers.sum(axis=0) + 3)
    assert np.all(np.diff(laplace) <= 1e-12)
    assert covers.sum(axis=1).max() > 1  # there are ties
    np.testing.assert_array_equal(model.deciders(X), covers.argmax(axis=1))
    np.testing.assert_array_equal(model.predict(X), heads[covers.argmax(axis=1)])


def votes(rng, n_rows):
    """Make twelve votes of two parties, and their parties, one in ten of them wrong."""
    party = rng.random(n_rows) < 0.5
    loyal = np.where(np.arange(12) < 4, 0.9, 0.7)
    said = np.where(rng.random((n_rows, 12)) < loyal, party[:, np.newaxis], ~party[:, np.newaxis])
    names = [f"v{j}" for j in range(12)]
    return pd.DataFrame(said.astype(str), columns=names), party ^ (rng.random(n_rows) < 0.1)


@pytest.mark.parametrize("seed", range(3))
def test_rules_smooth_noise_that_the_nearest_neighbour_repeats(seed):
    """Where one in ten classes is wrong, rules classify new rows better than single rows do."""
    rng = np.random.default_rng(seed)
    (X, y), (new, truth) = votes(rng, 200), votes(rng, 1000)
    neighbour = rise(max_passes=0).fit(X, y)
    assert rise().fit(X, y).score(new, truth) > neighbour.score(new, truth)


@pytest.mark.parametrize(
    ("load", "accuracy", "n_rules"), [(load_iris, 0.947, 77), (load_wine, 0.983, 110)]
)
def test_the_reference_run_of_the_card(load, accuracy, n_rules):
    """Ten folds come out as those of another implementation, within what splits vary."""
    X, y = load(return_X_y=True)
    right, sizes = [], []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        est = rise().fit(X[train], y[train])
        right += (est.predict(X[test]) == y[test]).tolist()
        sizes.append(len(est.model_))
    assert np.mean(right) == pytest.approx(accuracy, abs=0.025)
    assert np.mean(sizes) == pytest.approx(n_rules, abs=8)


def test_distances_by_hand():
    """SVDM adds up differences of class shares; labels with equal shares are one group."""
    X = {"s": ["a", "a", "b", "b", "c", "c", None], "x": [0.0, 4.0, 1.0, 2.0, np.nan, 2.0, 3.0]}
    y = [0, 1, 0, 0, 0, 1, 1]
    s, x = examples_of(X, y).distances(1.0)
    assert (x.low, x.high) == (0.0, 4.0)
    assert s.groups[0] == s.groups[2] != s.groups[1]

    def gap(one, other):
        return s.table[one][other]

    a, b, _ = s.groups
    assert gap(a, b) == pytest.approx(1.0)
    assert gap(b, s.missing) == pytest.approx(2.0)
    assert gap(a, s.unseen) == pytest.approx(2 * abs(0.5 - 4 / 7))  # unseen: shares of all rows
    squared, _ = examples_of(X, y).distances(2.0)
    assert squared.table[a][b] == pytest.approx(0.5)


def test_missing_values_are_labels_but_no_numbers():
    """A gap in a nominal column is a value of its own, in a numeric one it makes no condition."""
    X = {"s": [None, None, "b", "b"], "x": [np.nan, 1.0, 5.0, np.nan]}
    model = rise(max_passes=0).fit(X, [0, 0, 1, 1]).model_
    kinds = {tuple(type(c) for c in rule.body) for rule in model.rules}
    assert (Presence, Range) in kinds
    assert (Presence,) in kinds


def test_a_copy_lifts_the_bar():
    """Weights are rows: with two copies of each the own rule classifies what is left out."""
    X, y = mixed_table(np.random.default_rng(5), 60)
    once, twice = rise(max_passes=0).fit(X, y), rise(max_passes=0).fit(X, y, np.full(60, 2.0))
    assert once.accuracy_ < 1.0
    assert twice.accuracy_ == 1.0
    half = rise(max_passes=0).fit(X, y, np.full(60, 0.5))
    assert half.accuracy_ == once.accuracy_  # weights that count no rows are one row each
    with pytest.warns(DataWarning, match="scaled to sum to 60"):
        shares = rise().fit(X, y, np.full(60, 1 / 60))
    assert [r.body for r in shares.model_.rules] == [r.body for r in rise().fit(X, y).model_.rules]


def test_constant_columns_have_no_distance():
    """They would dilute nothing: every row is as near; copies of columns do have a distance."""
    X, y = mixed_table(np.random.default_rng(6), 50)
    names = [
        d.column for d in examples_of({**X, "one": np.ones(50), "c2": X["c"]}, y).distances(1.0)
    ]
    assert names == ["a", "b", "color", "c", "c2"]


def test_heavy_classes_win():
    """Weights that are no numbers of rows count in what rules say: far more of a class decide."""
    X, y = mixed_table(np.random.default_rng(7), 100)
    est = rise(class_weight={0: 1000.0, 1: 0.001}).fit(X, y)
    assert set(est.predict(X)) == {0}
    plain = rise().fit(X, y)
    assert set(plain.predict(X)) == {0, 1}


def test_many_rows_are_learned_in_parts(monkeypatch):
    """Beyond a number of distinct rows, parts are announced in a warning and in the summary."""
    monkeypatch.setattr(parts, "MANY_ROWS", 50)
    monkeypatch.setattr(estimator, "MANY_ROWS", 50)
    X, y = mixed_table(np.random.default_rng(8), 90, continuous=True)
    with pytest.warns(UserWarning, match="90 distinct rows in 3 parts.*part_size=None"):
        est = rise(part_size=30).fit(X, y)
    assert est.model_.summary["n_parts"] == 3
    few = {name: values[:40] for name, values in X.items()}
    assert rise(part_size=30).fit(few, y[:40]).model_.summary["n_parts"] == 1
    assert rise(part_size=None).fit(X, y).model_.summary["n_parts"] == 1


@pytest.mark.filterwarnings("ignore:RISE generalises")
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_won_by_rules_of_all_parts(seed, monkeypatch):
    """Without generalisation parts are the nearest neighbour too; the order of rows is nothing."""
    monkeypatch.setattr(parts, "MANY_ROWS", 50)
    monkeypatch.setattr(estimator, "MANY_ROWS", 50)
    X, y = mixed_table(np.random.default_rng(seed), 120, continuous=True)
    whole, split = (rise(max_passes=0, part_size=size).fit(X, y) for size in (None, 25))
    assert whole.accuracy_ == split.accuracy_
    one, two = ([(r.body, r.head) for r in est.model_.rules] for est in (whole, split))
    assert one == two
    generalised = rise(part_size=25).fit(X, y)
    assert len(generalised.model_) < 120
    assert generalised.accuracy_ > split.accuracy_
    order = np.random.default_rng(seed).permutation(120)
    again = rise(part_size=25).fit({k: np.asarray(v)[order] for k, v in X.items()}, y[order])
    assert str(again.model_) == str(generalised.model_)


def test_nominal_rules_become_short():
    """Where labels alone decide, rules drop conditions and win many rows."""
    rng = np.random.default_rng(9)
    X = pd.DataFrame({f"s{j}": rng.choice(list("pqr"), 300) for j in range(6)})
    y = (X["s0"] == "p") & (X["s3"] != "q")
    est = rise().fit(X, y)
    new = pd.DataFrame({f"s{j}": rng.choice(list("pqr"), 500) for j in range(6)})
    assert est.score(new, (new["s0"] == "p") & (new["s3"] != "q")) > 0.85
    assert np.mean([len(rule.body) for rule in est.model_.rules]) < 5.5
    assert max(rule.coverage.support for rule in est.model_.rules) > 5
    assert all(isinstance(d, LabelDistance) for d in est.model_.distances)


def test_contradicting_rows_are_one_rule():
    """Rows that differ in class only give one rule, of the class that is right more often."""
    X = np.array([[0.0], [0.0], [0.0], [5.0], [5.0]])
    model = rise(max_passes=0).fit(X, [1, 1, 0, 0, 0]).model_
    assert len({rule.body for rule in model.rules}) == len(model) == 2
    assert model.predict(X).tolist() == [1, 1, 1, 0, 0]
    assert model.decided_weights(X, [1, 1, 0, 0, 0]).sum() == 5.0


def test_a_copy_of_a_column_counts_twice():
    """Distances sum over all columns: two copies outweigh a column that is a little farther."""
    X = {"a": [0.0, 1.0], "b": [0.0, 1.0]}
    new = {"a": [0.4], "b": [0.65]}
    y = ["low", "high"]
    assert rise().fit(X, y).predict(new).tolist() == ["high"]
    copied = rise().fit({**X, "c": X["a"]}, y)
    assert copied.predict({**new, "c": new["a"]}).tolist() == ["low"]
    assert {distance.column for distance in copied.model_.distances} == {"a", "b", "c"}
