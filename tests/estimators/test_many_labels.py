"""Columns with too many labels: learners do not fit their noise, use what is frequent, and warn."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score

from rulewright import (
    CN2Classifier,
    PARTClassifier,
    RuleFitClassifier,
    RuleFitRegressor,
    RuleVoteSelector,
)

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
