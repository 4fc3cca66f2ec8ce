"""Edge cases of SLIPPER alone: few rows, single rows, absent classes, contradicting options."""

import math

import numpy as np
import pandas as pd
import pytest

from builders import mixed_table, slipper

pytestmark = pytest.mark.native


@pytest.fixture
def data():
    return mixed_table(np.random.default_rng(0), 40)


def test_slipper_on_one_class_forgets_the_fit_before(data):
    """No rounds, no curve of errors: they were those of another fit."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    est = slipper(size="cv").fit(X, y)
    assert len(est.trace_["z"]) == est.n_rounds_[0]
    assert est.cv_error_.shape == (1, 8)
    est.fit(X, ["yes"] * 60)
    assert (est.n_rounds_, est.trace_) == ([], {})
    assert not hasattr(est, "cv_error_")


@pytest.mark.parametrize("multiclass", ["mh", "ovr", "cost"])
def test_slipper_keeps_an_absent_class(data, multiclass):
    """It has a column, no rule, and is never predicted."""
    X, y = data
    costs = 1 - np.eye(3) if multiclass == "cost" else None
    est = slipper(multiclass=multiclass, cost_matrix=costs).fit(
        X, pd.Categorical(y, categories=[0, 1, 2])
    )
    p = est.predict_proba(X)
    assert p.shape == (40, 3)
    assert np.all((p[:, 2] > 0) & (p[:, 2] < 0.5))
    assert {rule.head.first for rule in est.model_.rules} == {0, 1}
    assert set(est.predict(X)) == {0, 1}


SIZES = {"max": 3, "cv": 12}


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 49, 50, 51])
@pytest.mark.parametrize("size", ["max", "cv"])
@pytest.mark.parametrize("calibration", ["auto", "isotonic"])
@pytest.mark.filterwarnings("ignore:fewer than two classes have two rows:UserWarning")
def test_tiny_tables_of_slipper(n_rows, size, calibration):
    """Fewer than 50 rows are not parted; below that ten rounds are run without choosing."""
    X, y = np.arange(float(n_rows))[:, None], (np.arange(n_rows) > n_rows // 2).astype(int)
    est = slipper(max_rules=SIZES[size], size=size, calibration=calibration).fit(X, y)
    assert np.all(np.isfinite(est.predict_proba(X)))
    if n_rows >= 4:  # of the rows that only prune, one may be on the wrong side
        assert np.count_nonzero(est.predict(X) != y) <= (n_rows >= 50)
    if n_rows > 2:
        assert hasattr(est, "cv_error_") == (n_rows >= 50 and size == "cv") or (
            calibration == "isotonic"
        )


def test_a_single_common_class_is_told():
    """Where only one class has two rows SLIPPER warns, runs ten rounds and learns the rest."""
    X, y = mixed_table(np.random.default_rng(1), 80)
    y = np.where(np.arange(80) == 5, 1, 0)
    with pytest.warns(UserWarning, match=r"fewer than two classes .* and 10 rounds are run"):
        est = slipper(size="cv", max_rules=30).fit(X, y)
    assert est.n_rounds_ == [10]
    assert est.predict_proba(X).shape == (80, 2)


@pytest.mark.parametrize("n_rare", [1, 2])
def test_a_rare_class_does_not_switch_off_the_choice_of_rounds(n_rare):
    """The others are folded as asked; the rounds are the first minimum of their error."""
    X, y = mixed_table(np.random.default_rng(1), 160, n_classes=3)
    y[:n_rare] = 3
    est = slipper(size="cv", max_rules=30, cv=5, calibration="auto").fit(X, y)
    assert est.cv_error_.shape == (1, 30)
    assert est.n_rounds_ == [int(est.cv_error_[0].argmin()) + 1] != [10]
    assert est.model_.summary["reliability"]["calibration"] == "platt"
    assert np.mean(est.predict(X) == y) > 0.6


@pytest.mark.parametrize("multiclass", ["mh", "ovr", "cost"])
def test_without_a_rule_the_heaviest_class_is_predicted(multiclass):
    """Columns that say nothing leave no rule and equal intercepts: the majority decides."""
    y = np.repeat([0, 1, 2, 3], [10, 20, 45, 25])
    costs = 1 - np.eye(4) if multiclass == "cost" else None
    est = slipper(multiclass=multiclass, cost_matrix=costs).fit(np.zeros((100, 2)), y)
    assert len(est.model_) == 0
    assert set(est.predict(np.zeros((3, 2)))) == {2}


def test_slipper_learns_many_classes():
    """Sixty classes at once, or each in turn."""
    rng = np.random.default_rng(2)
    y = np.arange(600) % 60
    X = np.stack([y + 0.2 * rng.normal(size=600), rng.normal(size=600)], axis=1)
    for multiclass, n_rounds in (("mh", 150), ("ovr", 3)):
        est = slipper(max_rules=n_rounds, multiclass=multiclass).fit(X, y)
        assert np.mean(est.predict(X) == y) > 0.9


def test_huge_limits_of_slipper_are_no_limits(data):
    """Whole numbers beyond 64 bits mean what they say."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    for name in ("max_conditions", "max_bins", "cv"):
        est = slipper(size="cv", **{name: 2**70}).fit(X, y)
        assert len(est.model_) > 0


def test_perfect_separation_gives_finite_confidences():
    """A pure rule of SLIPPER has at most the confidence 0.5 ln(2n + 1), however long it boosts."""
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    est = slipper(max_rules=60).fit(X, y)
    assert np.all(abs(est.trace_["confidence"]) <= 0.5 * math.log(121))
    assert np.all(np.isfinite(est.model_.scores(X)))
    assert np.all(est.predict(X) == y)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"positive_class": "maybe"}, r"'maybe' is not one of the classes: 0, 1"),
        ({"positive_class": [0, 1]}, r"\[0, 1\] is not one of the classes"),
        ({"positive_class": 1, "multiclass": "mh"}, "needs two classes"),
        ({"multiclass": "cost"}, "'cost' needs a cost_matrix"),
        ({"multiclass": "ovr", "cost_matrix": [[0, 1], [1, 0]]}, "others exclude it"),
    ],
)
def test_what_slipper_cannot_combine(data, options, told):
    """Options that contradict each other or the labels are told by name."""
    with pytest.raises(ValueError, match=told):
        slipper(**options).fit(*data)
