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
    est = slipper(n_rounds="cv").fit(X, y)
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


@pytest.mark.parametrize("n_rows", [1, 2, 3, 4, 5, 49, 50, 51])
@pytest.mark.parametrize("n_rounds", [3, "cv"])
@pytest.mark.parametrize("calibration", ["auto", "isotonic"])
@pytest.mark.filterwarnings("ignore:a class has a single row:UserWarning")
def test_tiny_tables_of_slipper(n_rows, n_rounds, calibration):
    """Fewer than 50 rows are not parted; below that ten rounds are run without choosing."""
    X, y = np.arange(float(n_rows))[:, None], (np.arange(n_rows) > n_rows // 2).astype(int)
    est = slipper(n_rounds=n_rounds, max_rounds=12, calibration=calibration).fit(X, y)
    assert np.all(np.isfinite(est.predict_proba(X)))
    if n_rows >= 4:  # of the rows that only prune, one may be on the wrong side
        assert np.count_nonzero(est.predict(X) != y) <= (n_rows >= 50)
    if n_rows > 2:
        assert hasattr(est, "cv_error_") == (n_rows >= 50 and n_rounds == "cv") or (
            calibration == "isotonic"
        )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_of_a_single_row_is_told(n_classes):
    """Without folds SLIPPER warns, runs ten rounds and learns the rest."""
    X, y = mixed_table(np.random.default_rng(1), 80, n_classes=n_classes)
    y = np.where(y == n_classes - 1, 0, y)
    y[5] = n_classes - 1
    with pytest.warns(UserWarning, match=r"single row: too few .* and 10 rounds are run"):
        est = slipper(n_rounds="cv", max_rounds=30).fit(X, y)
    assert est.n_rounds_ == [10]
    assert est.predict_proba(X).shape == (80, n_classes)


def test_folds_are_as_many_as_the_smallest_class_has_rows():
    """Three rows of a class make three folds of the five asked for."""
    X, y = mixed_table(np.random.default_rng(1), 80)
    y = np.where(np.cumsum(y) <= 3, y, 0)
    one, two = (slipper(n_rounds="cv", cv=n).fit(X, y) for n in (3, 5))
    np.testing.assert_array_equal(one.cv_error_, two.cv_error_)


def test_slipper_learns_many_classes():
    """Sixty classes at once, or each in turn."""
    rng = np.random.default_rng(2)
    y = np.arange(600) % 60
    X = np.stack([y + 0.2 * rng.normal(size=600), rng.normal(size=600)], axis=1)
    for multiclass, n_rounds in (("mh", 150), ("ovr", 3)):
        est = slipper(n_rounds=n_rounds, multiclass=multiclass).fit(X, y)
        assert np.mean(est.predict(X) == y) > 0.9


def test_huge_limits_of_slipper_are_no_limits(data):
    """Whole numbers beyond 64 bits mean what they say."""
    X, y = mixed_table(np.random.default_rng(0), 60)
    for name in ("max_conditions", "max_bins", "cv"):
        est = slipper(n_rounds="cv", **{name: 2**70}).fit(X, y)
        assert len(est.model_) > 0


def test_perfect_separation_gives_finite_confidences():
    """A pure rule of SLIPPER has at most the confidence 0.5 ln(2n + 1), however long it boosts."""
    X, y = np.arange(60.0)[:, None], np.repeat([0, 1], 30)
    est = slipper(n_rounds=60).fit(X, y)
    assert np.all(abs(est.trace_["confidence"]) <= 0.5 * math.log(121))
    assert np.all(np.isfinite(est.model_.scores(X)))
    assert np.all(est.predict(X) == y)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"positive_class": "maybe"}, r"'maybe' is none of 0, 1"),
        ({"positive_class": [0, 1]}, r"\[0, 1\] is none of"),
        ({"positive_class": 1, "multiclass": "mh"}, "only a problem of two classes has one"),
        ({"multiclass": "cost"}, "'cost' needs a cost_matrix"),
        ({"multiclass": "ovr", "cost_matrix": [[0, 1], [1, 0]]}, "the others take none"),
    ],
)
def test_what_slipper_cannot_combine(data, options, told):
    """Options that contradict each other or the labels are told by name."""
    with pytest.raises(ValueError, match=told):
        slipper(**options).fit(*data)
