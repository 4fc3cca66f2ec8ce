"""When the path of a rule ensemble may end."""

import numpy as np
import pytest

from l1_problems import problem_of
from rulewright.estimators.folds.folds import Folds, stratified_folds
from rulewright.estimators.rulefit import penalty
from rulewright.estimators.rulefit.penalty import LeftOutLoss, choose_solution
from rulewright.weighting import CoordinateDescent, Logistic, Squared

pytestmark = pytest.mark.native


def left_out(lines, weights=None):
    problem = problem_of(0, n_rows=len(lines[0]), sample_weight=weights)
    problem.y[:] = 0.0
    kept = LeftOutLoss(problem, np.ones(len(lines[0]), bool))
    for line in lines:
        kept.add(np.asarray(line))
    return kept


def test_losses_of_rows_left_out_have_means_and_errors():
    """By hand: squared errors of weighted rows."""
    kept = left_out([[0.0, 2.0, 2.0, 0.0]], [1.0, 1.0, 2.0, 4.0])
    assert kept.losses == [pytest.approx(2 * 3 / 8)]
    assert kept.errors == [pytest.approx(np.sqrt((4 * 3 / 8 - 0.75**2) / 4))]


def test_a_rise_that_all_rows_share_is_a_rise():
    """Losses far apart, which all grow a little: known well; one row alone: not."""
    rng = np.random.default_rng(0)
    start = rng.normal(0, 5, 400)
    shared = left_out([1.1 * start, start, 1.02 * start])
    assert shared.losses[2] < shared.losses[1] + shared.errors[1]
    assert shared.has_risen
    assert not left_out([1.1 * start, start]).has_risen
    assert left_out([1.1 * start, start]).falls
    alone = start.copy()
    alone[0] += 5
    assert not left_out([1.1 * start, start, alone]).has_risen


@pytest.mark.parametrize("loss", [Squared(), Logistic()], ids=["squared", "logistic"])
@pytest.mark.parametrize("rule", ["min", "1se"])
def test_a_path_that_ends_early_has_the_same_choice(loss, rule, monkeypatch):
    """What lies beyond a clear rise of the loss of rows left out would not be chosen."""
    shorter = 0
    for seed in range(4):
        problem = problem_of(seed, n_rows=400, n_dense=1, datafit=loss)
        labels = np.zeros(400, np.int32)
        folds = stratified_folds(labels, 5, np.random.RandomState(seed))
        asked = problem, CoordinateDescent(), rule, Folds(folds), 400.0
        found = choose_solution(*asked)
        with monkeypatch.context() as patch:
            patch.setattr(penalty, "CLEARLY", np.inf)
            whole = choose_solution(*asked)
        assert found.solution.penalty == whole.solution.penalty
        np.testing.assert_array_equal(found.solution.coef, whole.solution.coef)
        shorter += len(found.penalties) < len(whole.penalties)
    assert shorter
