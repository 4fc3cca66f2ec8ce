import numpy as np
import pytest

from l1_problems import draw, pack, problem_of
from rulewright.weighting import CoordinateDescent, L1Problem, PathBuild, Ramp, Squared
from rulewright.weighting.l1.pathbuild import PathWalk

pytestmark = pytest.mark.native

LOSSES = [Squared(), Ramp()]


@pytest.mark.parametrize("datafit", LOSSES, ids=["squared", "ramp"])
@pytest.mark.parametrize("tau", [0.0, 0.4, 1.0])
def test_updated_gradients_are_those_of_the_rows(datafit, tau):
    """T6: after many steps the gradient by covariance updates is the direct one."""
    problem = problem_of(1, n_dense=1, datafit=datafit)
    walk = PathWalk(problem, tau, 0.05)
    for _ in range(400):
        walk.advance()
    point = problem.point(walk.a, walk.level)
    direct = np.append(point.pulls, problem.design.mean(point.residual))
    np.testing.assert_allclose(walk.gradient, direct, atol=1e-10)
    if datafit.name == "ramp":
        assert 0 < walk.inside.sum() < problem.design.n_rows
        np.testing.assert_allclose(walk.scores, point.scores, atol=1e-10)


@pytest.mark.parametrize("datafit", LOSSES, ids=["squared", "ramp"])
@pytest.mark.parametrize("tau", [0.0, 0.4, 1.0])
def test_the_risk_never_rises(datafit, tau):
    """T6: every step lowers the training loss."""
    problem = problem_of(2, datafit=datafit)
    walk = PathWalk(problem, tau, 0.05)
    losses = []
    for _ in range(300):
        losses.append(problem.loss(problem.point(walk.a, walk.level).scores))
        walk.advance()
    assert np.all(np.diff(losses) <= 1e-12)


def test_higher_thresholds_move_fewer_coefficients():
    """T6: at an equal number of steps the mean number of non-zeros falls as tau grows."""
    sizes = []
    for tau in (0.0, 0.2, 0.4, 0.7, 1.0):
        counts = []
        for seed in range(5):
            walk = PathWalk(problem_of(seed), tau, 0.05)
            for _ in range(60):
                walk.advance()
            counts.append(np.count_nonzero(walk.a))
        sizes.append(np.mean(counts))
    assert np.all(np.diff(sizes) <= 0)
    assert sizes[0] == 40
    assert sizes[-1] < 15


def test_tiny_steps_of_one_coefficient_follow_the_lasso():
    """With tau = 1 the point where the gradient has fallen to lam is about the lasso's."""
    problem = problem_of(3)
    grid = problem.largest_penalty * np.array([1.0, 0.5, 0.2, 0.1])
    expected = CoordinateDescent(tolerance=1e-10).path(problem, grid)
    found = PathBuild(tau=1.0, step=2e-3).path(problem, grid)
    np.testing.assert_allclose(found.coefs, expected.coefs, atol=0.02)


def test_without_threshold_the_end_is_least_squares():
    """With tau = 0 and an almost vanishing gradient the fit is that of least squares."""
    x, _, y, _ = draw(4, n_rows=300, n_rules=8)
    problem = L1Problem.of(pack(x), y)
    found = PathBuild(tau=0.0, step=1.0).solve(problem, 1e-7 * problem.largest_penalty)
    expected = np.linalg.lstsq(np.column_stack([np.ones(len(y)), x]), y, rcond=None)[0]
    np.testing.assert_allclose(found.coef, expected[1:], atol=1e-4)


def test_weight_two_is_a_row_twice():
    """T12: whole weights equal repeated rows, also where rows cross the ramp."""
    x, _, y, rng = draw(5)
    y = np.where(y > np.median(y), 1.0, -1.0)
    times = rng.choice([0, 1, 2], len(y))
    rows = np.repeat(np.arange(len(y)), times)
    weighted = L1Problem.of(pack(x), y, sample_weight=times, datafit=Ramp())
    repeated = L1Problem.of(pack(x[rows]), y[rows], datafit=Ramp())
    penalty = 0.2 * weighted.largest_penalty
    a, b = (PathBuild().solve(problem, penalty) for problem in (weighted, repeated))
    np.testing.assert_allclose(a.coef, b.coef, atol=1e-6)
    assert a.intercept == pytest.approx(b.intercept, abs=1e-6)


def test_validation_rows_stop_the_walk():
    """The point with the least validation loss is returned, and it is better than both ends."""
    x, _, y, rng = draw(6, n_rows=200, n_rules=120)
    y = x[:, :3] @ np.array([1.0, -1.0, 1.0]) + rng.normal(scale=2.0, size=len(y))
    half = np.arange(len(y)) % 2 == 0
    problem, held = (L1Problem.of(pack(x[rows]), y[rows]) for rows in (half, ~half))
    solver = PathBuild()

    def held_loss(solution):
        return held.loss(held.design.scores(solution.coef, solution.intercept))

    found = solver.search(problem, held)
    fitted = solver.solve(problem, 1e-2 * problem.largest_penalty)
    nothing = solver.solve(problem, problem.largest_penalty)
    assert held_loss(found) < held_loss(nothing)
    assert 1.05 * held_loss(found) < held_loss(fitted)


def test_parameters_are_checked():
    """Thresholds outside [0, 1] and steps of no length are errors."""
    with pytest.raises(ValueError, match="tau"):
        PathBuild(tau=1.5)
    with pytest.raises(ValueError, match="step"):
        PathBuild(step=0.0)
