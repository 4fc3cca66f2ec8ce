"""Scikit-learn's bagging around every learner of lists."""

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier

from budget import always
from builders import LEARNERS, learners_of, makers_of, mixed_table
from rulewright.data import read_table
from rulewright.model import DecisionList

pytestmark = pytest.mark.native

every_list = learners_of(DecisionList)
AT_RANDOM = {"ripper": "it splits rows to grow and to prune at random"}
LISTS = {name: make for name, make in makers_of(DecisionList).items() if name not in AT_RANDOM}


def numbers(n_rows=120, seed=0):
    """Make numbers with missing values and three classes."""
    X, y = mixed_table(np.random.default_rng(seed), n_rows, n_classes=3, missing=0.05)
    del X["color"]
    return np.column_stack(list(X.values())), np.array(["low", "mid", "high"])[y]


@every_list
def test_bags_are_learned_by_weights(make):
    """Bags are weights of rows; the mean of the members' probabilities is the answer."""
    X, y = numbers()
    bag = BaggingClassifier(make(), n_estimators=4, random_state=0, oob_score=False).fit(X, y)
    p = np.mean([member.predict_proba(X) for member in bag.estimators_], axis=0)
    np.testing.assert_allclose(bag.predict_proba(X), p)
    assert bag.score(X, y) > np.mean(y == "low") + 0.1
    assert len({str(member.model_) for member in bag.estimators_}) > 1


@pytest.mark.parametrize(
    "make", always([LEARNERS["ripper"]], makers_of(DecisionList).values(), "60 fits for each")
)
def test_the_same_seed_gives_the_same_bags_for_any_workers(make):
    """Members are those of one worker, and out-of-bag answers are there."""
    X, y = numbers()
    one, two = (
        BaggingClassifier(make(), n_estimators=30, random_state=3, n_jobs=n, oob_score=True).fit(
            X, y
        )
        for n in (1, 2)
    )
    assert [m.model_ for m in one.estimators_] == [m.model_ for m in two.estimators_]
    assert one.oob_score_ == two.oob_score_ > 0.3


@every_list
def test_a_class_that_a_bag_has_not_drawn_gets_little(make):
    """A member that saw no row of a class still answers for all classes."""
    X, y = numbers(60)
    y = np.where(np.arange(60) == 7, "once", y)
    bag = BaggingClassifier(make(), n_estimators=6, random_state=1).fit(X, y)
    assert bag.predict_proba(X).shape == (60, 4)


@pytest.mark.parametrize("make", LISTS.values(), ids=LISTS)
def test_a_weight_in_a_bag_is_a_row_that_is_drawn_so_often(make):
    """What a member learns by weights, it learns from the rows themselves."""
    X, y = numbers()
    drawn = np.random.default_rng(5).integers(0, len(y), len(y))
    weights = np.bincount(drawn, minlength=len(y)).astype(float)
    names = [f"x{j}" for j in range(X.shape[1])]
    whole = dict(zip(names, X.T, strict=True))
    rows = np.sort(drawn)
    table = read_table(whole, target=y)
    by_weight = make().fit(table, sample_weight=weights, weights="counts").model_
    by_rows = make().fit(read_table({n: v[rows] for n, v in whole.items()}, target=y[rows])).model_
    assert by_weight.rules == by_rows.rules
