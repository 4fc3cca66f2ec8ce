"""Rows that belong together: `groups=` in every learner, folds and subsamples of whole groups."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import KFold, StratifiedGroupKFold, cross_validate

from builders import every_learner, mixed_table, noisy_rows, rule_texts
from rulewright import (
    CompactRulesRegressor,
    MLRulesClassifier,
    RuleFitRegressor,
    calibrate,
    compress,
    rule_stability,
)
from rulewright.data import DataError, TrainingSet, Units, read_table
from rulewright.estimators import cross_fit
from rulewright.estimators.folds.folds import Folds, assign_folds, divide_rows, number_folds
from rulewright.rules import NumberCoverage
from rulewright.scale import fit_partitions, on_dask
from rulewright.search import Subsampler, split_by_weight, split_rows
from rulewright.workbench.rows import SessionRows, read_rows

pytestmark = pytest.mark.native


def grouped_labels(seed, n_groups=60, n_classes=3):
    """Give groups of 2 to 20 rows whose classes are similar, and their classes."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(2, 21, n_groups))
    shares = rng.dirichlet(np.full(n_classes, 0.5), n_groups)
    labels = np.array([rng.choice(n_classes, p=shares[g]) for g in groups], dtype=np.int32)
    order = rng.permutation(len(groups))
    return labels[order], groups[order]


def test_folds_keep_groups_whole_and_spread_classes():
    """No group is in two folds; shares of classes in the folds are near those of all rows."""
    for seed in range(10):
        labels, groups = grouped_labels(seed)
        folds = assign_folds(labels, 5, np.random.RandomState(seed), groups=groups)
        assert isinstance(folds, Folds)
        assert len(folds) == 5
        assert len(np.unique(np.stack([groups, folds.of_rows]), axis=1).T) == len(set(groups))
        shares = np.bincount(labels) / len(labels)
        for fold in range(5):
            own = labels[folds.held_out_mask(fold)]
            assert abs(len(own) / len(labels) - 0.2) < 0.05
            assert abs(np.bincount(own, minlength=3) / len(own) - shares).max() < 0.1


def test_a_class_of_one_group_is_never_held_out():
    """Every training part has all classes."""
    labels = np.array([0, 0, 1, 1, 0, 1, 2, 2, 0, 1], dtype=np.int32)
    groups = np.array([0, 0, 1, 1, 2, 3, 4, 4, 4, 5])
    folds = assign_folds(labels, 3, np.random.RandomState(0), groups=groups)
    np.testing.assert_array_equal(folds.of_rows[groups == 4], -1)
    assert (folds.of_rows[groups != 4] >= 0).all()


@pytest.mark.filterwarnings("ignore:The groups parameter is ignored")
def test_splitters_get_groups_and_must_keep_them_whole():
    """A splitter of groups works; one that separates rows of a group is an error."""
    labels, groups = grouped_labels(0)
    random = np.random.RandomState(0)
    folds = assign_folds(labels, StratifiedGroupKFold(4), random, groups=groups)
    assert len(folds) == 4
    with pytest.raises(ValueError, match="StratifiedGroupKFold"):
        assign_folds(labels, KFold(4), random, groups=groups)


def test_numbers_are_divided_by_groups():
    """Folds for regression keep groups whole, too; a single group has no folds."""
    _, groups = grouped_labels(1)
    folds = number_folds(len(groups), 4, np.arange(len(groups)), np.random.RandomState(0), groups)
    assert len(np.unique(np.stack([groups, folds.of_rows]), axis=1).T) == len(set(groups))
    assert number_folds(5, 4, np.arange(5), np.random.RandomState(0), np.zeros(5, int)) is None


def test_draws_take_whole_groups():
    """Subsamples, validation rows and growing rows have all rows of a group or none."""
    labels, groups = grouped_labels(2)
    units, random = Units(len(groups), groups), np.random.RandomState(0)
    drawn = Subsampler(len(groups), 0.5, random, units=units).draw()
    np.testing.assert_array_equal(drawn.rows, np.flatnonzero(drawn.drawn))
    train, aside = split_rows(labels, 0.3, random, units)
    assert sorted([*train, *aside]) == list(range(len(groups)))
    steps = np.full(len(groups), 100, dtype=np.int64)
    grown = split_by_weight(steps, labels, 2 / 3, 1, units)
    for marked in (drawn.drawn, np.isin(np.arange(len(groups)), aside), grown):
        assert 0 < marked.sum() < len(marked)
        assert not set(groups[marked]) & set(groups[~marked])


def test_groups_are_numbers_text_or_dates_and_never_missing():
    """Groups are a column or an array; a missing one is an error that names the row."""
    frame = {"x": [1.0, 2.0, 3.0, 4.0], "who": ["b", "a", "b", "c"], "y": [0, 1, 0, 1]}
    table = read_table(frame, target="y", groups="who")
    assert table.names == ("x",)
    np.testing.assert_array_equal(table.groups, [1, 0, 1, 2])
    np.testing.assert_array_equal(table.take(np.array([2, 3])).groups, [1, 2])
    assert "3 groups" in repr(table)
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-01", "2020-01-03"], "M8[D]")
    np.testing.assert_array_equal(read_table(frame, target="y", groups=days).groups, [0, 1, 0, 2])
    with pytest.raises(DataError, match=r"row 2 .* has no group"):
        read_table(frame, target="y", groups=["a", "b", None, "c"])
    with pytest.raises(DataError, match="4 rows, but groups has 2"):
        read_table(frame, target="y", groups=[1, 2])


def count_observations(model):
    """Give the effective number of rows behind the interval of each rule, and its support."""
    coverages = [rule.coverage for rule in model]
    numbers = [
        (one.support if one.effective is None else one.effective)
        if isinstance(one, NumberCoverage)
        else sum(one.share_weights)
        for one in coverages
    ]
    return np.array(numbers), np.array([one.support for one in coverages])


def check_repeated(make, X, y):
    """Check that five copies in a group, or a weight of 5, count as a row at most."""
    groups, five = np.repeat(np.arange(len(y)), 5), np.full(len(y), 5.0)
    grouped = make().fit(np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=groups)
    weighted = make().fit(X, y, five)
    for est in (grouped, weighted):
        observed, supports = count_observations(est.model_)
        assert (observed <= supports / 5 * (1 + 1e-9)).all()
    counted = make().fit(X, y, five, weights="counts").model_
    observed, supports = count_observations(counted)
    assert (observed <= supports * (1 + 1e-9)).all()
    if any(rule.coverage.rows in ("training", "outside") for rule in counted):
        assert max(observed[supports > 0] / supports[supports > 0]) > 0.2


@every_learner
def test_copies_in_a_group_are_no_evidence(make):
    """Rows five times in groups, or weights of 5, are no more evidence than the distinct rows."""
    check_repeated(make, *noisy_rows(3, 120))


@pytest.mark.parametrize("learner", [CompactRulesRegressor, RuleFitRegressor])
def test_copies_of_numbers_in_a_group_are_no_evidence(learner):
    """The same holds for the means of regression."""
    X, y = noisy_rows(3, 120)
    check_repeated(lambda: learner(random_state=0), X, X[:, 0] + y)


@every_learner
def test_groups_of_single_rows_hardly_change_a_model(make):
    """The rules and their supports are those of a fit without groups, up to other random draws."""
    X, y = mixed_table(np.random.default_rng(4), 80)
    one = make().fit(X, y, groups=np.arange(80)).model_
    assert {rule.coverage.support for rule in one} or not len(one)
    np.testing.assert_allclose(one.predict_proba(X).sum(axis=1), 1.0)


@every_learner
def test_no_fold_splits_a_group(make, monkeypatch):
    """Every division of rows with groups that a fit makes keeps groups whole."""
    seen = []
    divide = TrainingSet.take

    def take(self, rows):
        found = divide(self, rows)
        seen.append((self, np.asarray(rows)))
        return found

    labels, groups = grouped_labels(5, n_groups=25, n_classes=2)
    X = np.random.default_rng(0).normal(size=(len(labels), 3)) + labels[:, None]
    monkeypatch.setattr(TrainingSet, "take", take)
    make().fit(X, labels, groups=groups)
    for rows, taken in seen:
        if rows.groups is None or len(np.unique(taken)) < len(taken):
            continue
        rest = np.setdiff1d(np.arange(len(rows)), taken)
        assert not set(rows.groups[taken]) & set(rows.groups[rest])


def test_groups_are_routed_and_requested():
    """scikit-learn's metadata routing gives groups to fit and to the splitter."""
    labels, groups = grouped_labels(6, n_classes=2)
    X = np.random.default_rng(0).normal(size=(len(labels), 3)) + labels[:, None]
    with config_context(enable_metadata_routing=True):
        est = MLRulesClassifier(10, random_state=0).set_fit_request(groups=True)
        found = cross_validate(
            est, X, labels, params={"groups": groups}, cv=StratifiedGroupKFold(3)
        )
    assert (found["test_score"] > 0.6).all()


def test_a_table_carries_its_groups():
    """Groups that a table was read with are those of fit."""
    labels, groups = grouped_labels(7, n_classes=2)
    X = np.random.default_rng(0).normal(size=(len(labels), 3)) + labels[:, None]
    table = read_table(X, target=labels, groups=groups)
    one, two = (MLRulesClassifier(20, random_state=0) for _ in range(2))
    one.fit(table)
    two.fit(X, labels, groups=groups)
    assert rule_texts(one.model_) == rule_texts(two.model_)
    assert divide_rows(TrainingSet.of(table), 3, np.random.RandomState(0)) is not None


def test_weights_mean_importance_or_counts():
    """Another word is an error."""
    with pytest.raises(ValueError, match="'importance' or 'counts'"):
        MLRulesClassifier().fit([[1.0], [2.0]], [0, 1], [1.0, 1.0], weights="frequency")


def test_steps_after_a_fit_keep_groups_whole():
    """Cross-fitting, calibration, compression and stability take groups, or those of a table."""
    labels, groups = grouped_labels(8, n_groups=40, n_classes=2)
    X = np.random.default_rng(0).normal(size=(len(labels), 3)) + labels[:, None]
    est = MLRulesClassifier(8, calibration=None, random_state=0).fit(X, labels, groups=groups)
    table = read_table(X, target=labels, groups=groups)
    crossed = cross_fit(est, X, labels, groups=groups, cv=3)
    assert rule_texts(crossed) == rule_texts(cross_fit(est, table, cv=3))
    assert all(
        sum(rule.coverage.share_weights) < 0.9 * rule.coverage.support
        for rule in crossed
        if rule.coverage.support > 20
    )
    for one, other in (
        (calibrate(est, X, labels, groups=groups), calibrate(est, table)),
        (compress(est, X, labels, groups=groups), compress(est, table)),
        (
            rule_stability(est, X, labels, groups=groups, n_samples=4),
            rule_stability(est, table, n_samples=4),
        ),
    ):
        assert str(one) == str(other)


def test_partitions_refuse_groups():
    """Partitions cannot keep groups whole: the error says what to do."""
    with pytest.raises(DataError, match="Fit in memory"):
        on_dask(MLRulesClassifier()).fit(None, None, groups=[1])
    table = read_table({"x": [1.0, 2.0], "y": [0, 1]}, target="y", groups=[0, 1])
    with pytest.raises(DataError, match="Fit in memory"):
        fit_partitions(MLRulesClassifier(), [table])


def test_sessions_keep_groups_whole():
    """Folds and the final part of a session have whole groups; its figures count them."""
    labels, groups = grouped_labels(9, n_groups=40, n_classes=2)
    X = np.random.default_rng(0).normal(size=(len(labels), 3)) + labels[:, None]
    table = read_table(X, target=labels, groups=groups)
    model = MLRulesClassifier(8, random_state=0).fit(table).model_
    rows = SessionRows(read_rows(model, table, None, None), 0.2, 3, 0)
    assert not set(rows.used.groups) & set(rows.final.groups)
    pairs = np.unique(np.stack([rows.used.groups, rows.folds.of_rows]), axis=1)
    assert pairs.shape[1] == len(set(rows.used.groups))
