import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS
from l1_problems import draw, pack, problem_of
from rulewright.weighting import SPGL1, CoordinateDescent, L1Problem, project

pytestmark = pytest.mark.native


def bisected(values, radius):
    """Project on the ball by bisection of the threshold."""
    low, high = 0.0, float(np.abs(values).max())
    for _ in range(200):
        middle = (low + high) / 2
        if np.maximum(np.abs(values) - middle, 0).sum() > radius:
            low = middle
        else:
            high = middle
    return np.sign(values) * np.maximum(np.abs(values) - high, 0)


@given(SEEDS, st.integers(1, 30), st.floats(0.01, 10))
def test_projections(seed, n, radius):
    """T5: a projection is in the ball, is projected to itself, is not expansive, and is right."""
    rng = np.random.default_rng(seed)
    u, v = rng.normal(scale=2, size=(2, n))
    p, q = project(u, radius), project(v, radius)
    assert np.abs(p).sum() <= radius * (1 + 1e-12)
    np.testing.assert_allclose(project(p, radius), p, atol=1e-14)
    assert np.linalg.norm(p - q) <= np.linalg.norm(u - v) * (1 + 1e-12)
    if np.abs(u).sum() > radius:
        np.testing.assert_allclose(p, bisected(u, radius), atol=1e-12)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_both_forms_match_a_penalty(share):
    """The radius ||a(lam)||_1 and the residual norm of a(lam) give a(lam) back, and its penalty."""
    problem = problem_of(1, n_dense=1)
    penalty = share * problem.largest_penalty
    expected = CoordinateDescent(tolerance=1e-14).solve(problem, penalty)
    tau = float(np.abs(expected.coef).sum())
    sigma = float(np.sqrt(2 * expected.loss * problem.design.n_rows))
    for found in (SPGL1().lasso(problem, tau), SPGL1().bpdn(problem, sigma)):
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-5)
        assert found.penalty == pytest.approx(penalty, rel=1e-5)
        assert np.abs(found.coef).sum() <= tau * (1 + 1e-7)


def test_solutions_stay_in_the_ball():
    """T4: the L1 norm is at most tau, and the matching penalty certifies the solution."""
    problem = problem_of(2)
    for tau in (0.1, 1.0, 5.0):
        solution = SPGL1().lasso(problem, tau)
        assert np.abs(solution.coef).sum() <= tau * (1 + 1e-12)
        assert 0 <= solution.gap + 1e-12 <= 1e-8


def test_no_radius_is_no_rule():
    """Radius 0 gives exact zeros; a residual norm that the mean reaches does, too."""
    problem = problem_of(3)
    assert not SPGL1().lasso(problem, 0.0).coef.any()
    sigma = np.sqrt(2 * problem.null_loss * problem.design.n_rows)
    assert not SPGL1().bpdn(problem, float(sigma)).coef.any()


def test_beyond_least_squares_nothing_is_gained():
    """A radius beyond the norm of least squares, or no residual, gives the least-squares fit."""
    x, _, y, _ = draw(4, n_rows=200, n_rules=10)
    problem = L1Problem.of(pack(x), y)
    columns = np.column_stack([np.ones(len(y)), x])
    expected = np.linalg.lstsq(columns, y, rcond=None)[0]
    for found in (SPGL1().lasso(problem, 1e3), SPGL1().bpdn(problem, 0.0)):
        np.testing.assert_allclose(found.coef, expected[1:], atol=1e-4)
        assert found.intercept == pytest.approx(expected[0], abs=1e-4)


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_bounds_must_not_be_negative(bad):
    """Radii and residual norms below 0 are errors that name the option."""
    with pytest.raises(ValueError, match="tau"):
        SPGL1().lasso(problem_of(0), bad)
    with pytest.raises(ValueError, match="sigma"):
        SPGL1().bpdn(problem_of(0), bad)
