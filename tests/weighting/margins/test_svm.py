"""The 1-norm SVM: the linear program, its certificate and column generation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from builders import SEEDS
from margin_problems import dense_weights, draw_problem, run
from rulewright.encoding.signed import SignedCovers
from rulewright.weighting.margins import OneNormSVM

BUDGETS = st.sampled_from([0.5, 2.0, 20.0])


def hinge(problem, w):
    return problem.a @ np.maximum(1 - problem.margins @ w, 0)


def least_hinge(problem, budget):
    """Solve the printed program, as corrected: weights w+, w- and slacks, sum of weights s."""
    n, m = problem.margins.shape
    found = linprog(
        np.concatenate([np.zeros(2 * m), problem.a]),
        A_ub=-np.hstack([problem.margins, -problem.margins, np.eye(n)]),
        b_ub=-np.ones(n),
        A_eq=np.concatenate([np.ones(2 * m), np.zeros(n)])[np.newaxis],
        b_eq=[budget],
    )
    return found.fun


@settings(deadline=None, max_examples=40)
@given(SEEDS, BUDGETS, st.booleans())
def test_the_loss_is_that_of_the_whole_program(seed, budget, weighted):
    """Columns made on demand give the hinge loss of the primal with all columns."""
    problem = draw_problem(seed, weighted=weighted, max_rules=10)
    state, found = run(OneNormSVM(budget), problem)
    w = dense_weights(found[-1], len(problem.x))
    assert state.objective == pytest.approx(hinge(problem, w), abs=1e-12)
    assert state.objective == pytest.approx(least_hinge(problem, budget), abs=1e-7)
    assert -1e-9 <= found[-1].gap <= 1e-7
    assert np.abs(w).sum() <= budget * (1 + 1e-9)


@settings(deadline=None, max_examples=25)
@given(SEEDS, BUDGETS)
def test_no_random_weights_are_better(seed, budget):
    """The loss is not above that of any weights within the budget."""
    problem = draw_problem(seed)
    state, _ = run(OneNormSVM(budget), problem)
    rng = np.random.default_rng(seed)
    for _ in range(50):
        w = rng.normal(size=len(problem.x)) * rng.choice([0, 1], len(problem.x))
        w *= budget / max(np.abs(w).sum(), 1e-9)
        assert state.objective <= hinge(problem, w) + 1e-7


@settings(deadline=None, max_examples=25)
@given(SEEDS, BUDGETS, st.integers(1, 4))
def test_values_and_drops(seed, budget, cap):
    """The value is the mean margin over L1(w); after drops the loss is that of the rest."""
    problem = draw_problem(seed, max_rules=10)
    state, found = run(OneNormSVM(budget), problem)
    for solution in found:
        w = dense_weights(solution, len(problem.x))
        assert solution.mean == pytest.approx(problem.means @ w, abs=1e-9)
        assert solution.variance == pytest.approx(w @ problem.covariance @ w, abs=1e-8)
        norm = np.abs(w).sum()
        assert solution.value == pytest.approx(solution.mean / norm if norm else 0, abs=1e-9)
    state.drop_to(cap)
    rest = problem._replace(x=problem.x[state.working.lines])
    assert state.objective == pytest.approx(least_hinge(rest, budget), abs=1e-7)


def test_nothing_to_learn_and_no_rules_at_all():
    """Without mean margins no program is solved; dropping every rule leaves the loss 1."""
    state = OneNormSVM().start(np.array([1.0, -1.0]), np.full(2, 0.5))
    assert not state.add(SignedCovers.constant(2))
    assert state.add(SignedCovers.pack([[1, -1]]))
    state.solve()
    assert state.objective == pytest.approx(0)
    state.drop_to(0)
    assert state.objective == 1
    with pytest.raises(ValueError, match="budget"):
        OneNormSVM(budget=0.0)
