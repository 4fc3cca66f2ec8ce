"""Sizes of compressed models are judged by rules that have not seen the held-out rows."""

import numpy as np
import pytest

from builders import mlrules
from rulewright import MLRulesClassifier, RuleFitClassifier, SlipperClassifier, compress, load_model
from rulewright.estimators import find_learner
from rulewright.estimators.finishing.compression import OPTIMISTIC, size_curve


def noisy(seed, n_rows):
    """Draw rows of which two columns of ten say something, and not much."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 10))
    score = 1.5 * (X[:, 0] > 0) - 1.5 * (X[:, 1] > 0)
    return X, (rng.random(n_rows) < 1 / (1 + np.exp(-score))).astype(int)


@pytest.fixture(scope="module")
def learned():
    """Learn 100 rules from a small noisy table."""
    X, y = noisy(0, 300)
    settings = {"max_rules": 100, "learning_rate": 0.1, "subsample": 0.5, "max_conditions": 3}
    return MLRulesClassifier(**settings, stopping="none", random_state=0).fit(X, y), X, y


def log_loss_at(model, size):
    """Return the cross-validated log-loss of a size."""
    curve = {one["n_rules"]: one["log_loss"] for one in model.summary["compression"]["curve"]}
    return curve[size]


def test_the_curve_is_that_of_new_rows(learned):
    """The log-loss of a size is near that of fresh rows; rules that saw all rows looked better."""
    est, X, y = learned
    honest = compress(est, X, y, 15)
    stranger = est.model_.with_summary({})
    optimistic = compress(stranger, X, y, 15)
    assert honest.rules == optimistic.rules
    new, truth = noisy(1, 20_000)
    fresh = -np.log(honest.predict_proba(new)[np.arange(len(truth)), truth]).mean()
    assert log_loss_at(honest, 15) == pytest.approx(fresh, abs=0.05)
    assert log_loss_at(optimistic, 15) < fresh - 0.05


def test_the_curve_says_whether_it_is_optimistic(learned):
    """Text and summary tell, and only of curves whose rules have seen the rows."""
    est, X, y = learned
    honest, optimistic = (compress(m, X, y, 3) for m in (est, est.model_.with_summary({})))
    assert honest.summary["compression"]["learned_in_folds"]
    assert not optimistic.summary["compression"]["learned_in_folds"]
    assert OPTIMISTIC not in size_curve(honest)
    assert size_curve(optimistic).endswith(OPTIMISTIC)


def test_a_saved_model_is_learned_again_like_its_estimator(learned, tmp_path):
    """Learner and settings are in the summary: the same curve as with the estimator."""
    est, X, y = learned
    est.model_.save(tmp_path / "m.json")
    saved = compress(load_model(tmp_path / "m.json"), X, y, 4)
    assert saved == compress(est, X, y, 4)
    assert saved == compress(est, X, y, 4, n_jobs=2)


def test_columns_that_no_rule_uses_are_needed_to_learn_again(learned):
    """Rows with the columns of the rules alone are enough to compress, and the curve says so."""
    _, X, y = learned
    columns = {f"c{i}": X[:, i] for i in range(10)}
    model = MLRulesClassifier(4, max_conditions=1, random_state=0).fit(columns, y).model_
    used = {name: columns[name] for name in model.columns}
    for given, whole in ((columns, True), (used, False)):
        assert compress(model, given, y, 2).summary["compression"]["learned_in_folds"] is whole


def test_learners_are_rebuilt_from_the_summary():
    """Settings, constraints and orders of classes come back; what is only text does not."""
    X, y = noisy(2, 120)
    rules = {"constraints": {"monotone": {"x0": "increasing"}}, "max_rules": 5}
    for est in (
        MLRulesClassifier(**rules, class_weight="balanced"),
        MLRulesClassifier(ordinal=[0, 1], max_rules=3),
        SlipperClassifier(3, size="max", positive_class=1),
        RuleFitClassifier(max_candidates=30, cv=2),
    ):
        est.set_params(random_state=0).fit(X, y)
        found = find_learner(est.model_).get_params(deep=False)
        wanted = find_learner(est).get_params(deep=False) | {"random_state": None}
        differing = {name for name in wanted if found[name] != wanted[name]}
        assert differing <= {"ordinal"}
    weighted = MLRulesClassifier(max_rules=3, class_weight={0: 1, 1: 2}).fit(X, y)
    with_object = mlrules(max_rules=3).fit(X, y)  # a Growth
    for est in (weighted, with_object):
        assert find_learner(est.model_) is None
        assert find_learner(est) is not None


def test_a_compressed_model_is_not_what_its_learner_learns(learned):
    """Compressing again cannot learn again."""
    est, X, y = learned
    assert find_learner(compress(est, X, y, 5)) is None
