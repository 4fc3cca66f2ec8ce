"""The empirical margin: a closed form, with classes in balance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS
from margin_problems import dense_weights, draw_problem, run
from rulewright.encoding.signed import SignedCovers
from rulewright.weighting import EmpiricalMargin
from rulewright.weighting.margins.empirical import balance_weights


@given(SEEDS, st.booleans(), st.booleans())
def test_weights_are_mean_margins_over_their_norm(seed, weighted, balance):
    """The value is the norm of d, no weights in the ball have more, and moments are those of w."""
    problem = draw_problem(seed, weighted=weighted, max_rules=10)
    if balance:
        problem = problem._replace(a=balance_weights(problem.y, problem.a))
    _, found = run(EmpiricalMargin(balance=balance), problem)
    d, norm = problem.means, np.linalg.norm(problem.means)
    w = dense_weights(found[-1], len(problem.x))
    assert found[-1].value == pytest.approx(norm, abs=1e-12)
    if norm > 1e-12:
        np.testing.assert_allclose(w, d / norm, atol=1e-12)
    assert found[-1].mean == pytest.approx(d @ w, abs=1e-12)
    assert found[-1].variance == pytest.approx(w @ problem.covariance @ w, abs=1e-10)
    assert (np.diff([solution.value for solution in found]) >= -1e-12).all()


@given(SEEDS)
def test_the_constant_rule_has_no_weight_in_balance(seed):
    """With both classes the mean margin of rule 0 is 0, and no solve is asked for."""
    problem = draw_problem(seed, weighted=True)
    y = np.where(np.arange(len(problem.y)) == 0, -1.0, 1.0)
    state = EmpiricalMargin().start(y, problem.a)
    assert not state.add(problem.covers[:1])
    state.solve()
    assert (state.solution.value, len(state.solution.lines)) == (0, 0)


def test_means_of_the_classes_by_hand():
    """Mean margins are half the differences of the means of the classes: 0 and (1/3 + 1) / 2."""
    state = EmpiricalMargin().start(np.array([1.0, 1.0, 1.0, -1.0]), np.full(4, 0.25))
    state.add(SignedCovers.pack([[1, 1, 1, 1], [1, 1, -1, -1]]))
    state.solve()
    assert state.solution.lines.tolist() == [1]
    assert state.solution.value == pytest.approx(2 / 3)
    one_class = EmpiricalMargin().start(np.ones(3), np.full(3, 1 / 3))
    assert one_class.add(SignedCovers.constant(3))


@given(SEEDS, st.integers(1, 5))
def test_the_cap_keeps_the_largest_weights(seed, cap):
    """Dropped rules have the smallest |d|; the others are what they are without them."""
    problem = draw_problem(seed, max_rules=12)
    state, _ = run(EmpiricalMargin(balance=False), problem)
    state.drop_to(cap)
    kept = np.abs(problem.means[state.working.lines])
    dropped = np.delete(np.abs(problem.means), state.working.lines)
    assert kept.min() >= dropped.max(initial=0.0) - 1e-15
    rest = problem._replace(x=problem.x[state.working.lines])
    expected = run(EmpiricalMargin(balance=False), rest)[1][-1]
    assert state.solution.value == pytest.approx(expected.value, abs=1e-12)
    assert state.solution.variance == pytest.approx(expected.variance, abs=1e-10)
