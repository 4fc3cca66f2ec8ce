"""The 1-norm SVM: the linear program, its certificate and warm starts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from builders import SEEDS
from margin_problems import MarginProblem, dense_weights, draw_problem, run
from rulewright.encoding.signed import SignedCovers
from rulewright.weighting import OneNormSVM
from rulewright.weighting.margins import svm

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
    """Rules that come one by one end at the hinge loss of the primal with all columns."""
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


@pytest.mark.parametrize("budget", [2.0, 10.0, 40.0])
@pytest.mark.parametrize("cap", [200, 15])
def test_many_rules_with_equal_margins(budget, cap):
    """Rules of few columns give the same margin to many rows; every prefix is solved, few dropped.

    The loss never rises without a cap, and the gap of each prefix is that of the true loss.
    """
    rng = np.random.default_rng(0)
    bins = rng.integers(0, 4, (8, 250))
    base = np.array([np.where(column == code, 1, -1) for column in bins for code in range(4)])
    pairs = [np.maximum(base[i], base[j]) for i, j in zip(*np.triu_indices(32, 1), strict=True)]
    x = np.vstack([np.ones((1, 250), dtype=int), base, pairs[::7]])
    y = np.where(bins[0] + bins[1] * (bins[2] > 1) + rng.normal(size=250) > 3, 1.0, -1.0)
    problem = MarginProblem(x, y, np.full(250, 1 / 250))
    state, losses = OneNormSVM(budget).start(y, problem.a), []
    for rule in x:
        if state.add(SignedCovers.pack(rule[np.newaxis])):
            state.solve()
        state.drop_to(cap)
        assert -1e-12 <= state.solution.gap <= 1e-7
        losses.append(state.objective)
    rest = problem._replace(x=x[state.working.lines])
    assert state.objective == pytest.approx(least_hinge(rest, budget), abs=1e-7)
    assert (np.diff(losses) <= 1e-7).all() or cap == 15


def test_highs_solves_what_the_simplex_method_does_not(monkeypatch):
    """Without steps of our own the whole program is given to HiGHS, with the same certificate."""
    problem = draw_problem(5, max_rules=8)
    expected = least_hinge(problem, 2.0)
    monkeypatch.setattr(svm, "MOST_STEPS", 0)
    state, found = run(OneNormSVM(2.0), problem)
    assert state.objective == pytest.approx(expected, abs=1e-7)
    assert found[-1].gap <= 1e-7


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
