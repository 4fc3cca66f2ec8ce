"""When the path of a rule ensemble may end."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import roc_auc_score

from budget import examples
from builders import SEEDS
from l1_problems import problem_of
from rulewright import PenaltySearch, RuleFitClassifier, RuleFitRegressor
from rulewright.estimators.folds.folds import Folds, stratified_folds
from rulewright.estimators.rulefit import left_out
from rulewright.estimators.rulefit.left_out import LeftOutLoss, wrong_orders, wrong_signs
from rulewright.estimators.rulefit.penalty import SolutionSearch, choose_solution, count_free
from rulewright.weighting import CoordinateDescent, Logistic, PathBuild, Squared
from rulewright.weighting.l1.pathbuild import TAUS

pytestmark = pytest.mark.native


def losses_of(lines, weights=None):
    problem = problem_of(0, n_rows=len(lines[0]), sample_weight=weights)
    problem.y[:] = 0.0
    kept = LeftOutLoss(problem, np.ones(len(lines[0]), bool))
    for line in lines:
        kept.add(np.asarray(line))
    return kept


def test_losses_of_rows_left_out_have_means_and_errors():
    """By hand: squared errors of weighted rows."""
    kept = losses_of([[0.0, 2.0, 2.0, 0.0]], [1.0, 1.0, 2.0, 4.0])
    assert kept.losses == [pytest.approx(2 * 3 / 8)]
    assert kept.errors == [pytest.approx(np.sqrt((4 * 3 / 8 - 0.75**2) / 4))]


def test_a_rise_that_all_rows_share_is_a_rise():
    """Losses far apart, which all grow a little: known well; one row alone: not."""
    rng = np.random.default_rng(0)
    start = rng.normal(0, 5, 400)
    shared = losses_of([1.1 * start, start, 1.02 * start])
    assert shared.losses[2] < shared.losses[1] + shared.errors[1]
    assert shared.has_risen
    assert not losses_of([1.1 * start, start]).has_risen
    assert losses_of([1.1 * start, start]).falls
    alone = start.copy()
    alone[0] += 5
    assert not losses_of([1.1 * start, start, alone]).has_risen


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=["squared", "logistic"])
@pytest.mark.parametrize("rule", ["min", "1se"])
def test_a_path_that_ends_early_has_the_same_choice(loss, rule, monkeypatch):
    """What lies beyond a clear rise of the loss of rows left out would not be chosen."""
    shorter = 0
    for seed in range(4):
        problem = problem_of(seed, n_rows=400, n_dense=1, datafit=loss)
        labels = np.zeros(400, np.int32)
        folds = stratified_folds(labels, 5, np.random.RandomState(seed))
        how = SolutionSearch(
            CoordinateDescent(tolerance=1e-4), PenaltySearch(rule), Folds(folds), 400.0
        )
        found = choose_solution(problem, how)
        with monkeypatch.context() as patch:
            patch.setattr(left_out, "CLEARLY", np.inf)
            whole = choose_solution(problem, how)
        assert found.solution.penalty == whole.solution.penalty
        np.testing.assert_array_equal(found.solution.coef, whole.solution.coef)
        shorter += len(found.penalties) < len(whole.penalties)
    assert shorter


def held_out_rows(n=500, seed=0):
    """Make rows of a class that a rule of two columns makes likely."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)).round(2)
    return X, (rng.random(n) < 0.1 + 0.7 * ((X[:, 0] > 0) & (X[:, 1] > 0))).astype(int)


@examples(40)
@given(SEEDS)
def test_the_mean_of_wrong_orders_is_one_minus_the_area(seed):
    """As scikit-learn has it, with ties and weights; its error is that of DeLong."""
    rng = np.random.default_rng(seed)
    y, scores = np.where(np.arange(60) < 15, 1.0, -1.0), rng.integers(0, 9, 60).astype(float)
    weights = rng.integers(1, 4, 60).astype(float)
    values = wrong_orders(y, scores, weights)
    area = roc_auc_score(y, scores, sample_weight=weights)
    assert np.average(values, weights=weights) == pytest.approx(1 - area, abs=1e-12)
    equal = wrong_orders(y, scores, np.ones(60))
    pairs = [
        np.array([np.mean((s < others) + 0.5 * (s == others)) for s in side])
        for side, others in ((scores[:15], scores[15:]), (scores[15:], scores[:15]))
    ]
    delong = pairs[0].var() / 15 + pairs[1].var() / 45
    assert equal.var() / 60 == pytest.approx(delong)


def test_wrong_signs_by_hand():
    """A score of 0 is half wrong; one class alone has no order."""
    y, scores = np.array([1.0, 1.0, -1.0, -1.0]), np.array([0.5, 0.0, -2.0, 0.1])
    np.testing.assert_array_equal(wrong_signs(y, scores, np.ones(4)), [0, 0.5, 0, 1])
    np.testing.assert_array_equal(wrong_orders(np.ones(4), scores, np.ones(4)), np.zeros(4))


@pytest.mark.parametrize("criterion", ["error", "auc"])
def test_the_criterion_chooses_the_penalty(criterion):
    """The curve is the criterion on the held-out rows, and its minimum is chosen."""
    X, y = held_out_rows()
    search = PenaltySearch("min", criterion)
    est = RuleFitClassifier(max_candidates=60, penalty=search, random_state=0).fit(X, y)
    (choice,) = est.choices_
    scores = choice.out_of_fold
    found = {"error": np.mean((scores > 0) != y), "auc": 1 - roc_auc_score(y, scores)}
    assert choice.losses.min() == pytest.approx(found[criterion])
    chosen = choice.penalties == choice.solution.penalty
    assert choice.losses[chosen] == choice.losses.min()
    usual = RuleFitClassifier(max_candidates=60, penalty="min", random_state=0).fit(X, y)
    assert usual.choices_[0].losses[0] != choice.losses[0]
    with pytest.raises(ValueError, match="criterion='auc' of the penalty is for classes"):
        RuleFitRegressor(penalty=PenaltySearch(criterion="auc")).fit(X, X[:, 0])


@pytest.mark.parametrize("multiclass", ["shared", "ovr"])
def test_rules_grown_in_folds_do_not_know_the_rows_held_out(multiclass):
    """On noise, rules of all rows seem to help; those grown without the rows do not."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 8)), rng.integers(0, 3, 150)
    gains = {}
    for regrow in (False, True):
        est = RuleFitClassifier(
            max_candidates=200,
            learning_rate=0.0,
            linear=False,
            multiclass=multiclass,
            penalty=PenaltySearch("min", regrow=regrow),
            random_state=0,
        ).fit(X, y)
        gains[regrow] = sum(1 - c.losses.min() / c.losses[0] for c in est.choices_)
    assert gains[False] > 3 * abs(gains[True])


def test_numbers_have_rules_grown_in_folds():
    """The held-out error of a regressor is that of models which never saw the rows."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(120, 6)), rng.normal(size=120)
    options = {"max_candidates": 150, "linear": False, "random_state": 0, "learning_rate": 0.0}
    once, grown = (
        RuleFitRegressor(penalty=PenaltySearch("min", regrow=each), **options).fit(X, y).choice_
        for each in (False, True)
    )
    assert 1 - once.losses.min() / once.losses[0] > 0.05
    assert 1 - grown.losses.min() / grown.losses[0] < 0.02


def test_threshold_and_steps_of_pathbuild_are_chosen_together():
    """The pair with the least held-out loss is that of the best single threshold."""
    X, y = held_out_rows(200)
    options = {"max_candidates": 15, "random_state": 0, "loss": "squared", "linear": False}
    short = PathBuild(tau=None, max_steps=300)
    joint = RuleFitClassifier(solver=short, penalty="min", **options).fit(X, y)
    single = {
        tau: RuleFitClassifier(solver=replace(short, tau=tau), penalty="min", **options).fit(X, y)
        for tau in TAUS
    }
    least = {tau: est.choices_[0].losses.min() for tau, est in single.items()}
    best = min(TAUS, key=least.get)
    choice = joint.choices_[0]
    assert choice.solver == replace(short, tau=best)
    assert choice.solution.penalty == single[best].choices_[0].solution.penalty
    assert len(set(least.values())) > 2
    sparse = RuleFitClassifier(solver=short, penalty="1se", **options).fit(X, y)
    assert len(sparse.model_) <= len(joint.model_)
    with pytest.raises(ValueError, match="tau=None needs a penalty that is cross-validated"):
        RuleFitClassifier(solver=short, penalty=0.01, **options).fit(X, y)


def test_degrees_of_freedom_are_a_rank():
    """Dependent columns and weights that are rounding do not count."""
    problem = problem_of(0, n_rows=60)
    coef = np.zeros(problem.design.n_columns)
    coef[:3] = [1.0, -0.5, 1e-12]
    assert count_free(problem.design, coef) == 2
    assert count_free(problem.design, np.zeros_like(coef)) == 0
    everything = np.ones_like(coef)
    columns = problem.design.rows(np.arange(60, dtype=np.int32))
    assert count_free(problem.design, everything) == np.linalg.matrix_rank(columns)


@pytest.mark.parametrize(("learner", "n_seeds"), [(RuleFitRegressor, 8), (RuleFitClassifier, 4)])
def test_whole_weights_are_repeated_rows(learner, n_seeds):
    """Below 50 rows nothing is drawn or parted: the models are the same, also where p > n."""
    answers = "predict" if learner is RuleFitRegressor else "predict_proba"
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(27, 4)).round(2)
        y = 3 * ((X[:, 0] > 0) & (X[:, 1] > 0)) + X[:, 2] + 0.1 * rng.normal(size=27)
        y = y if learner is RuleFitRegressor else (y > 1).astype(int)
        weights = np.repeat([2, 1], [15, 12])
        rows = np.repeat(np.arange(27), weights)
        est = learner(max_candidates=60, linear=False, random_state=0)
        weighted = getattr(est.fit(X, y, sample_weight=weights), answers)(X)
        repeated = getattr(est.fit(X[rows], y[rows]), answers)(X)
        np.testing.assert_allclose(weighted, repeated, atol=1e-6)
