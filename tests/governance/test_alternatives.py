"""Alternatives: out-of-fold figures recomputed by hand, and a less discriminatory model found."""

import numpy as np
import pytest

from rulewright import (
    CompactRulesRegressor,
    MLRulesClassifier,
    PARTClassifier,
    read_table,
)
from rulewright.governance import alternatives
from rulewright.governance.searching import Recipe, independence_weights

pytestmark = pytest.mark.native


def applicants(seed, n=500):
    """Draw applicants: a postcode stands for the group, and says little else of the outcome."""
    rng = np.random.default_rng(seed)
    group = np.where(rng.random(n) < 0.5, "a", "b")
    late = rng.poisson(1.2, n).astype(float)
    postcode = np.where(rng.random(n) < 0.9, group, np.where(group == "a", "b", "a"))
    risk = 2.0 * (late >= 2) - 1.0 + 1.2 * (group == "b")
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-risk)), "default", "paid")
    return {"late": late, "postcode": postcode}, y, group


def learner():
    return MLRulesClassifier(15, random_state=0)


@pytest.fixture(scope="module")
def found():
    X, y, group = applicants(0)
    est = learner().fit(X, y)
    return alternatives(
        est, X, y, protected={"group": group}, favourable="paid", max_loss=0.06, cv=3
    )


def test_a_model_without_the_proxy_is_found(found):
    """Leaving out the postcode costs little loss and treats the groups more alike."""
    by_recipe = {one.recipe: one for one in found.found}
    without = by_recipe[Recipe(("postcode",))]
    assert without.equal
    assert without.disparity < found.start.disparity - 0.02
    assert found.best.disparity <= without.disparity
    assert found.best.equal
    assert "postcode" not in without.model.columns
    assert "without postcode" in str(found)
    late = by_recipe[Recipe(("late",))]
    assert not late.equal
    order = [(not one.equal, one.disparity) for one in found.found]
    assert order == sorted(order)
    assert len(found) == len(found.found)
    assert found[0] is found.found[0]


def test_figures_are_out_of_fold(found):
    """Loss and selection rates are those of refits without each fold, on the same folds."""
    X, y, group = applicants(0)
    folds = found.start._problem.folds
    table = read_table(X, target=y)
    losses, chosen = np.empty(len(y)), np.empty(len(y), dtype=object)
    for fold in range(len(folds)):
        out = folds.held_out_mask(fold)
        est = learner().fit(table[~out])
        chances = est.predict_proba(table[out])
        losses[out] = -np.log(chances[np.arange(out.sum()), (y[out] == "paid").astype(int)])
        chosen[out] = est.predict(table[out])
    assert found.start.loss == pytest.approx(losses.mean())
    rates = [(chosen[group == name] == "paid").mean() for name in "ab"]
    assert found.start.disparity == pytest.approx(abs(rates[0] - rates[1]))
    assert (found.start.change, found.start.change_low) == (0.0, 0.0)


def test_reweighed_rows_are_independent():
    """With the weights every group has the same share of each class."""
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, 400)
    labels = (rng.random(400) < 0.2 + 0.2 * groups).astype(np.int32)
    weights = independence_weights(groups, labels)
    shares = [np.average(labels[groups == g], weights=weights[groups == g]) for g in range(3)]
    assert np.ptp(shares) == pytest.approx(0.0, abs=1e-12)
    assert weights.sum() == pytest.approx(400)


def test_a_saved_model_is_enough(tmp_path):
    """A saved model names its learner; constraints of the model stay in force."""
    X, y, group = applicants(1, 300)
    est = MLRulesClassifier(3, random_state=0, constraints={"forbidden": ["postcode"]}).fit(X, y)
    found = alternatives(est.model_, {**X, "group": group}, y, protected="group", cv=3)
    assert all("postcode" not in one.columns for one in (found.start, *found.found))


def test_errors():
    """Other learners, unknown words and columns, and groups that are too small are named."""
    X, y, group = applicants(2, 120)
    given = {"protected": {"group": group}, "cv": 3}
    number = CompactRulesRegressor(max_rules=2, random_state=0).fit(X, X["late"] * 2.0 + 1)
    with pytest.raises(ValueError, match="classifier whose learner is known"):
        alternatives(number, X, X["late"], **given)
    est = learner().fit(X, y)
    with pytest.raises(ValueError, match="measure='x'"):
        alternatives(est, X, y, measure="x", **given)
    with pytest.raises(ValueError, match="no such column"):
        alternatives(est, X, y, protected="groop")
    with pytest.raises(ValueError, match="two groups need 30 rows"):
        alternatives(est, X, y, protected={"group": np.full(120, "a")}, cv=3)
    part = PARTClassifier(random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="has no constraints"):
        alternatives(part, X, y, **given)
