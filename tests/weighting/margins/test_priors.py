"""Rules with a prior each, and few rules out of many."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import SEEDS
from margin_problems import best_in_one_ball, dense_weights, draw_problem
from rulewright.bounds import prior_costs
from rulewright.encoding.signed import SignedCovers
from rulewright.weighting import MMV, EmpiricalMargin, OneNormSVM, keep_few, prior_weights


def halving(m):
    """Give ln(1 / pi_j) of priors 1/2, 1/4, and so on."""
    return np.arange(1, m + 1) * np.log(2)


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.sampled_from([0.05, 1.0, 5.0]), st.sampled_from([60.0, 2e4, 1e7]), st.booleans())
def test_no_weights_of_scipy_are_better(seed, kappa, n, weighted):
    """Costs from next to nothing to more than any rule gains: the objective is that of SLSQP."""
    problem = draw_problem(seed, weighted=weighted)
    m = len(problem.x)
    found = prior_weights(
        problem.covers, problem.y, problem.a, halving(m), variance_weight=kappa, n=n
    )
    costs = prior_costs(halving(m), n)
    w = dense_weights(found, m)
    spread = n / (n - 1) * (1 - problem.a @ problem.a)  # the variance is that of n rows
    variance = spread * (w @ problem.covariance @ w)
    assert found.variance == pytest.approx(variance, abs=1e-12)
    value = problem.means @ w - kappa * variance - costs @ np.abs(w)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.value >= max(best_in_one_ball(problem, kappa * spread, costs), 0) - 2e-9
    assert -1e-12 <= found.gap <= 1e-9
    assert np.abs(w).sum() <= 1 + 1e-9


def test_of_equal_rules_the_one_with_the_larger_prior_wins():
    """A copy with a smaller prior gets no weight, and costs may leave nothing at all."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(5000) < 0.5, 1.0, -1.0)
    x = np.where(rng.random(5000) < 0.2, -y, y)
    covers, a = SignedCovers.pack(np.array([x, x])), np.full(5000, 1 / 5000)
    for priors, line in (([0.1, 0.9], 1), ([0.9, 0.1], 0)):
        found = prior_weights(covers, y, a, -np.log(priors))
        assert found.lines.tolist() == [line]
    assert len(prior_weights(covers, y, a, [2000.0, 2000.0]).lines) == 0
    with pytest.raises(ValueError, match="3 priors for 2 rules"):
        prior_weights(covers, y, a, halving(3))
    with pytest.raises(ValueError, match="sum 1"):
        prior_weights(covers, y, a, np.zeros(2))
    with pytest.raises(ValueError, match="variance_weight"):
        prior_weights(covers, y, a, halving(2), variance_weight=0.0)


@pytest.mark.parametrize("criterion", [MMV(), MMV(p=2.0), EmpiricalMargin(), OneNormSVM()])
@pytest.mark.parametrize("seed", range(3))
def test_few_rules_have_the_best_weights_of_these_rules(criterion, seed):
    """Each step leaves out one rule, and the rest is solved anew."""
    rng = np.random.default_rng(seed)
    x, y = rng.choice([-1, 1], (12, 90)), np.where(rng.random(90) < 0.5, 1.0, -1.0)
    a = np.full(90, 1 / 90)
    found = keep_few(criterion, SignedCovers.pack(x), y, a, 3)
    sizes = [len(solution.lines) for solution in found]
    assert sizes[-1] <= 3
    assert sizes == sorted(sizes, reverse=True)
    for before, after in pairwise(found):
        assert set(after.lines.tolist()) < set(before.lines.tolist())
    last = found[-1]
    state = criterion.start(y, a)
    state.add(SignedCovers.pack(x[last.lines]))
    state.solve()
    again = dense_weights(state.solution, len(last.lines))
    if isinstance(criterion, OneNormSVM):  # of equal losses, margins may differ
        losses = [np.maximum(1 - y * (w @ x[last.lines]), 0).mean() for w in (last.weights, again)]
        assert losses[0] == pytest.approx(losses[1], abs=1e-7)
    else:
        np.testing.assert_allclose(last.weights, again, atol=1e-7)


def test_rounding_to_no_rules():
    """Nothing is left of nothing; a negative number is refused."""
    given = SignedCovers.constant(3), np.array([1.0, 1.0, -1.0]), np.full(3, 1 / 3)
    assert len(keep_few(MMV(), *given, 0)[-1].lines) == 0
    with pytest.raises(ValueError, match="n_rules"):
        keep_few(MMV(), *given, -1)
