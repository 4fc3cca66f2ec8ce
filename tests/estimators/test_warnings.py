"""Warnings of a fit: their categories, their texts, and when there are none."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import estimator_checks_generator

from builders import mlrules
from rulewright import (
    CN2Classifier,
    CompactRulesClassifier,
    CompactRulesRegressor,
    DataWarning,
    ModelWarning,
    RipperClassifier,
    SlipperClassifier,
)
from rulewright.estimators.contract.unpredicted import find_unpredicted

pytestmark = pytest.mark.native
N = 120
RNG = np.random.default_rng(3)


def table():
    """Draw three columns and a noisy target that one of them explains."""
    columns = {name: RNG.normal(size=N) for name in "abc"}
    return columns, np.where(columns["a"] + 0.7 * RNG.normal(size=N) > 0, "yes", "no")


def caught(fit):
    """Give the category and text of each warning of this package that a fit gives."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fit()
    ours = (DataWarning, ModelWarning)
    return [(one.category, str(one.message)) for one in found if issubclass(one.category, ours)]


def test_a_sound_table_gives_no_warning():
    """Neither a noisy table nor a classic one."""
    X, y = table()
    assert caught(lambda: mlrules(max_rules=5).fit(X, y)) == []
    iris = load_iris(return_X_y=True)
    assert caught(lambda: CompactRulesClassifier(4, random_state=0).fit(*iris)) == []


def test_the_target_left_in_x_is_warned_of():
    """The text names the learner, the column and the remedy, and the line is the caller's."""
    X, y = table()
    est = CompactRulesClassifier(2, random_state=0)
    with pytest.warns(DataWarning, match=r"column 'repaid': it repeats the target.* Drop") as told:
        est.fit({**X, "repaid": y}, y)
    assert [one.filename for one in told] == [__file__]
    assert str(told[0].message).startswith("CompactRulesClassifier: ")


def test_leaks_and_ids_are_warned_of():
    """One warning for each column, in one fit; a filter by category silences them."""
    X, y = table()
    X |= {"late": (y == "yes") * 3 + RNG.random(N), "row": np.arange(N)}
    found = caught(lambda: mlrules(max_rules=3).fit(X, y))
    assert [category for category, _ in found] == [DataWarning] * 2
    assert "column 'late': alone it predicts the target nearly perfectly (accuracy" in found[0][1]
    assert "column 'row': the numbers count the rows. Drop it" in found[1][1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        mlrules(max_rules=3).fit(X, y)


def test_a_constant_target_is_warned_of_once():
    """That the model has no rules follows, and is not said."""
    X, _ = table()
    for est, y, value in (
        (mlrules(), np.full(N, "yes"), "'yes'"),
        (CompactRulesRegressor(), np.full(N, 2.5), "'2.5'"),
    ):
        ((category, text),) = caught(lambda est=est, y=y: est.fit(X, y))
        assert category is DataWarning
        assert f": the target is {value} in all rows. There is nothing to learn." in text


def test_a_model_without_rules_is_warned_of():
    """Noise leaves compact rules without any; max_rules=0 asks for that."""
    X = RNG.normal(size=(N, 3))
    y = RNG.integers(0, 2, N)
    ((category, text),) = caught(lambda: CompactRulesClassifier(random_state=0).fit(X, y))
    assert category is ModelWarning
    assert text.startswith("CompactRulesClassifier: the model has no rules: on these rows no")
    assert caught(lambda: CompactRulesClassifier(0, random_state=0).fit(X, y)) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda: mlrules(max_rules=2),
        lambda: CN2Classifier(random_state=0),
        lambda: RipperClassifier(random_state=0),
        lambda: CompactRulesClassifier(2, size="max", random_state=0),
        lambda: SlipperClassifier(random_state=0),
    ],
)
def test_classes_that_are_never_predicted_are_those_of_the_predictions(make):
    """Whatever the form of the model, the warning says what `predict` does on training rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    y = np.where(rng.random(1500) < np.where(X[:, 0] > 0.5, 0.3, 0.03), "rare", "common")
    est = make()
    found = [text for category, text in caught(lambda: est.fit(X, y)) if category is ModelWarning]
    missing = set(y) - set(est.predict(X))
    told = "no training row as 'rare'" if est.model_.columns else "the model has no rules"
    assert bool(missing) == any(told in text for text in found)
    rows = est._training_rows(est._read(X, y, None, "classification"))
    assert {est.classes_[k] for k in find_unpredicted(est.model_, rows)} == missing


@pytest.mark.parametrize("weights", [None, "class", "rows"])
def test_the_summary_says_what_shares_are_of(weights):
    """With weights of classes or rows, counts of rules are sums of weights."""
    X, y = table()
    est = mlrules(max_rules=2, class_weight="balanced" if weights == "class" else None)
    est.fit(X, y, sample_weight=1 + (y == "yes") if weights == "rows" else None)
    expected = {None: None, "class": "class_weight", "rows": "sample_weight"}[weights]
    assert est.model_.summary.get("weights") == expected


@pytest.mark.full("runs every check of scikit-learn for two learners")
@pytest.mark.parametrize("make", [mlrules, CompactRulesClassifier])
def test_checks_of_scikit_learn_are_not_suspicious(make):
    """Their made-up tables give no warning about data."""
    for est, check in estimator_checks_generator(make()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", DataWarning)
            check(est)
