"""Columns with too many labels: learners do not fit their noise, use what is frequent, and warn."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from builders import LEARNERS
from rulewright import (
    CN2Classifier,
    DataWarning,
    PARTClassifier,
    RuleFitClassifier,
    RuleFitRegressor,
    RuleVoteSelector,
)
from rulewright.estimators.contract import many_labels

N = 1500
MANY = "column job: .* labels are too many for"


def make_table(effect=0.0, n_labels=1200, seed=0):
    """Make numbers that determine the target, and jobs of which two may have an effect."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(4, 2 * N))
    shares = 1 / np.arange(5, n_labels + 5)
    job = rng.choice(n_labels, 2 * N, p=shares / shares.sum())
    signal = 2 * x[0] + np.where(x[1] > 0, x[2], -1) + effect * (job < 2)
    X = pd.DataFrame({f"x{j}": own for j, own in enumerate(x)})
    return X.assign(job=[f"job {k}" for k in job]), signal + rng.normal(size=2 * N) / 2


def score(X, y, classes):
    """Return R2 or the AUC on the second half of the rows."""
    options = {"max_candidates": 300, "random_state": 0, "n_jobs": 1}
    if classes:
        labels = y > np.median(y)
        est = RuleFitClassifier(**options).fit(X[:N], labels[:N])
        return roc_auc_score(labels[N:], est.predict_proba(X[N:])[:, 1])
    return r2_score(y[N:], RuleFitRegressor(**options).fit(X[:N], y[:N]).predict(X[N:]))


@pytest.mark.parametrize("classes", [False, True])
def test_noise_of_rare_labels_is_not_fitted(classes):
    """With a useless column of many labels a model predicts as well as without it."""
    X, y = make_table()
    without = score(X.drop(columns="job"), y, classes)
    with pytest.warns(UserWarning, match=MANY):
        assert score(X, y, classes) > without - 0.005


def test_frequent_labels_are_used():
    """The effect of two frequent labels among many is found."""
    X, y = make_table(effect=3.0)
    without = score(X.drop(columns="job"), y, False)
    with pytest.warns(UserWarning, match=MANY):
        assert score(X, y, False) > without + 0.05


@pytest.mark.parametrize(
    ("learner", "what"),
    [
        (RuleFitRegressor(max_candidates=20), "the other labels are split as one"),
        (RuleFitClassifier(max_candidates=20), "the other labels are split as one"),
        (RuleVoteSelector(max_candidates=20), "the other labels are split as one"),
        (PARTClassifier(), "rules on rare ones fit noise"),
        (CN2Classifier(), "rules on rare ones fit noise"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_fit_warns_once_at_the_call(learner, what):
    """One warning names column, labels, rows, what is done and the remedy."""
    X, y = make_table()
    X, labels = X[["x0", "job"]][:200], y[:200] > 0
    with pytest.warns(UserWarning, match=MANY) as caught:
        learner.fit(X, labels.astype(float) if "Regressor" in str(learner) else labels)
    (warning,) = [one for one in caught if "labels are too many" in str(one.message)]
    assert warning.filename == __file__
    n_labels = X["job"].nunique()
    start = f"{type(learner).__name__}: column job: {n_labels} labels are too many for 200 rows; "
    assert str(warning.message).startswith(start)
    assert what in str(warning.message)
    assert str(warning.message).endswith("Group its labels or drop the column.")


def test_few_labels_and_given_rules_do_not_warn():
    """Nothing is said of 32 labels, or where no tree is grown."""
    X, y = make_table(n_labels=32)
    wide, _ = make_table()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RuleFitRegressor(max_candidates=20, random_state=0).fit(X[:300], y[:300])
        RuleFitRegressor(max_candidates=0, random_state=0).fit(wide[:300], y[:300])


def test_unseen_labels_go_with_the_pooled_ones():
    """A label that training never saw is predicted as a rare one."""
    X, y = make_table(effect=3.0)
    with pytest.warns(UserWarning, match=MANY):
        est = RuleFitRegressor(max_candidates=300, random_state=0).fit(X[:N], y[:N])
    rare = X["job"][:N].value_counts().index[-1]
    answers = [est.predict(X[N:].assign(job=job)) for job in (rare, "never seen", "job 0")]
    np.testing.assert_array_equal(answers[0], answers[1])
    assert (answers[2] > answers[0]).mean() > 0.9
    assert est.model_.verify_exports()


POOLING = [name for name, make in LEARNERS.items() if make()._pools_labels]


def labelled_rows(n_labels, n_rows):
    """Make a number, and labels of which two have most of the rows and an effect."""
    rng = np.random.default_rng(0)
    code = np.where(rng.random(n_rows) < 0.6, rng.integers(0, 2, n_rows), np.arange(n_rows))
    X = {"x": rng.normal(size=n_rows), "job": np.array([f"job {k}" for k in code % n_labels])}
    return X, np.where(rng.random(n_rows) < 0.1, 1 - code % 2, (code != 1) * 1)


@pytest.mark.native
@pytest.mark.parametrize("name", POOLING)
def test_beyond_a_limit_rare_labels_are_those_never_seen(name, monkeypatch):
    """The model knows the frequent labels, and treats a pooled one as a label never seen."""
    monkeypatch.setattr(many_labels, "MOST_LABELS", 50)
    X, y = labelled_rows(300, 400)
    with pytest.warns(DataWarning, match=r"column job: \d+ labels .* read as labels never seen"):
        model = LEARNERS[name]().fit(X, y).model_
    assert model.schema["job"].labels == ("job 0", "job 1")
    some = {"x": X["x"][:60], "job": np.full(60, "job 7")}
    other = {**some, "job": np.full(60, "never seen")}
    np.testing.assert_array_equal(model.predict_proba(some), model.predict_proba(other))
    assert model.predict(X).tolist().count(0) > 0
    few = {**X, "job": np.where(np.isin(X["job"], ["job 0", "job 1"]), X["job"], "job 2")}
    assert LEARNERS[name]().fit(few, y).model_.schema["job"].labels == ("job 0", "job 1", "job 2")


@pytest.mark.native
@pytest.mark.parametrize("name", POOLING)
def test_more_than_a_thousand_labels_are_pooled(name):
    """Memory and time are those of the frequent labels."""
    X, y = labelled_rows(20_000, 3_000)
    with pytest.warns(DataWarning, match="read as labels never seen"):
        model = LEARNERS[name]().fit(X, y).model_
    assert len(model.schema["job"].labels) == 2
