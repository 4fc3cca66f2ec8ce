"""MMV in balls of other norms: secular equation, Frank-Wolfe steps, box."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import SEEDS
from margin_problems import best_in_p_ball, dense_weights, draw_problem, run
from rulewright.encoding.signed import SignedCovers
from rulewright.weighting import MMV

NORMS = st.sampled_from([1.2, 1.5, 2.0, 3.0, np.inf])
KAPPAS = st.sampled_from([0.05, 1.0, 5.0])


def objective(solution, kappa):
    return solution.mean - kappa * solution.variance


@settings(deadline=None, max_examples=40)
@given(SEEDS, KAPPAS, NORMS, st.booleans())
def test_no_weights_of_scipy_are_better(seed, kappa, p, weighted):
    """Also with singular covariances and weighted rows the objective is that of SLSQP or better."""
    problem = draw_problem(seed, weighted=weighted)
    _, found = run(MMV(p=p, variance_weight=kappa), problem)
    assert objective(found[-1], kappa) >= best_in_p_ball(problem, kappa, p) - 2e-9


@settings(deadline=None)
@given(SEEDS, KAPPAS, NORMS)
def test_the_solution_says_what_its_weights_do(seed, kappa, p):
    """Weights lie in the ball, gaps close, mean and variance are those of the margins."""
    problem = draw_problem(seed, max_rules=10)
    _, found = run(MMV(p=p, variance_weight=kappa), problem)
    for solution in found:
        w = dense_weights(solution, len(problem.x))
        assert np.linalg.norm(w, p) <= 1 + 1e-9
        assert -1e-12 <= solution.gap <= 1e-9
        assert solution.mean == pytest.approx(problem.means @ w, abs=1e-12)
        assert solution.variance == pytest.approx(w @ problem.covariance @ w, abs=1e-11)


@settings(deadline=None)
@given(SEEDS, NORMS)
def test_the_value_is_that_of_the_best_multiple_in_the_one_ball(seed, p):
    """Weights are scaled by c <= 1 / L1(w) for selection; a grid of c finds nothing better."""
    problem = draw_problem(seed, max_rules=6)
    solution = run(MMV(p=p), problem)[1][-1]
    norm = np.abs(solution.weights).sum()
    scales = np.linspace(0, 1 / norm, 500) if norm else np.zeros(1)
    values = scales * solution.mean - scales**2 * solution.variance
    assert solution.value >= values.max() - 1e-12
    assert solution.value <= values.max() + 1e-4


@settings(deadline=None)
@given(SEEDS, NORMS, st.integers(2, 12))
def test_longer_prefixes_and_warm_starts(seed, p, block):
    """The objective never falls, and one solve at the end finds the same."""
    problem = draw_problem(seed, max_rules=12)
    _, found = run(MMV(p=p), problem)
    values = [objective(solution, 1) for solution in found]
    assert (np.diff(values) >= -2e-9).all()
    last = run(MMV(p=p), problem, block=block)[1][-1]
    assert objective(last, 1) == pytest.approx(values[-1], abs=2e-9)


@settings(deadline=None)
@given(SEEDS, NORMS)
def test_rules_are_dropped_by_the_cap(seed, p):
    """After drops the weights are the best of the rules that stay."""
    problem = draw_problem(seed, max_rules=10)
    state, _ = run(MMV(p=p), problem)
    state.drop_to(3)
    rest = problem._replace(x=problem.x[state.working.lines])
    expected = objective(run(MMV(p=p), rest)[1][-1], 1)
    assert objective(state.solution, 1) == pytest.approx(expected, abs=2e-9)


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, np.inf])
def test_separable_rows_use_the_whole_ball(p):
    """Margins without variance are as large as the norm allows; nothing to learn gives 0."""
    state = MMV(p=p).start(np.ones(4), np.full(4, 0.25))
    state.add(SignedCovers.pack([[1, 1, 1, 1], [1, 1, 1, -1], [1, 1, 1, 1]]))
    state.solve()
    assert np.linalg.norm(state.solution.weights, p) == pytest.approx(1)
    assert state.solution.value == pytest.approx(1) or p > 1
    idle = MMV(p=p).start(np.array([1.0, -1.0]), np.full(2, 0.5))
    assert not idle.add(SignedCovers.pack([[1, 1]]))
    idle.solve()
    assert len(idle.solution.lines) == 0


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, np.inf])
@pytest.mark.parametrize("n", [3, 7, 49])
def test_one_rule_without_variance(p, n):
    """A variance that rounding makes negative is none: the only rule gets the weight 1."""
    shares = np.random.default_rng(n).random(n)
    for a in (np.full(n, 1 / n), shares / shares.sum()):
        state = MMV(p=p).start(-np.ones(n), a)
        assert state.add(SignedCovers.constant(n))
        state.solve()
        assert state.solution.weights == pytest.approx([-1.0])
        assert state.solution.gap <= 1e-9


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, np.inf])
def test_a_perfect_rule_of_weighted_rows_has_all_weight(p):
    """Its margins have no variance, but rounding may say a little less than none."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        shares, y = rng.random(5), rng.choice([-1.0, 1.0], 5)
        state = MMV(p).start(y, shares / shares.sum())
        state.add(SignedCovers.pack(y[np.newaxis]))
        state.solve()
        assert state.solution.weights == pytest.approx([1.0])


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0, np.inf])
@pytest.mark.parametrize("seed", range(5))
def test_without_the_1_norm_no_rule_lowers_the_value(seed, p):
    """The value is what the weights maximise, over balls that grow with every rule."""
    problem = draw_problem(seed, max_rules=7)
    state = MMV(p, in_one_norm=False).start(problem.y, problem.a)
    values = []
    for rule in range(len(problem.x)):
        state.add(problem.covers[rule : rule + 1])
        state.solve()
        found = state.solution
        assert found.value == pytest.approx(found.mean - found.variance)
        values.append(found.value)
    assert (np.diff(values) >= -1e-8).all()


@settings(deadline=None)
@given(SEEDS, st.sampled_from([1.0, 1.5, 2.0, np.inf]), st.sampled_from([0.2, 3.0, 50.0]))
def test_a_radius_scales_the_ball(seed, p, radius):
    """Weights r v are those of v with the variance counted r times, and lie in the larger ball."""
    problem = draw_problem(seed)
    found = run(MMV(p=p, radius=radius, in_one_norm=False), problem)[1][-1]
    same = run(MMV(p=p, variance_weight=radius), problem)[1][-1]
    assert objective(found, 1.0) == pytest.approx(radius * objective(same, radius), abs=1e-8)
    assert found.value == pytest.approx(objective(found, 1.0), abs=1e-12)
    assert np.linalg.norm(found.weights, p) <= radius * (1 + 1e-9) if len(found.weights) else True


@settings(deadline=None)
@given(SEEDS, st.sampled_from([1.0, 2.0, 3.0]))
def test_a_constraint_that_is_not_active_tells_nothing(seed, p):
    """Inside the ball a larger radius changes nothing; at its border the norm is 1."""
    problem = draw_problem(seed)
    found = run(MMV(p=p), problem)[1][-1]
    larger = run(MMV(p=p, radius=1.5), problem)[1][-1]
    gained = objective(larger, 1.0) - objective(found, 1.0)
    if found.constraint_active:
        assert np.linalg.norm(found.weights, p) == pytest.approx(1, abs=1e-6)
    else:
        assert gained == pytest.approx(0, abs=1e-8)


@settings(deadline=None)
@given(SEEDS, st.booleans())
def test_no_weights_on_the_sphere_are_better(seed, weighted):
    """The norm is 1, no other point of the sphere is better, and an active ball has the same."""
    problem = draw_problem(seed, weighted=weighted)
    found = run(MMV(p=2.0, sphere=True), problem)[1][-1]
    if not problem.means.any():
        return
    assert np.linalg.norm(found.weights) == pytest.approx(1, abs=1e-9)
    assert found.constraint_active
    points = np.random.default_rng(seed).normal(size=(500, len(problem.x)))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    values = points @ problem.means - np.einsum("ij,jk,ik->i", points, problem.covariance, points)
    assert objective(found, 1.0) >= values.max() - 1e-9
    ball = run(MMV(p=2.0), problem)[1][-1]
    gap = objective(ball, 1.0) - objective(found, 1.0)
    assert gap >= -1e-9
    if ball.constraint_active:
        assert gap == pytest.approx(0, abs=1e-6)


def test_a_direction_that_tells_nothing_may_be_needed_to_reach_the_sphere():
    """Two opposite halves of a rule: w needs a part along which neither mean nor variance grows."""
    y = np.array([1.0, 1, 1, 1, -1, -1, -1, -1] * 4)
    rule = np.where(np.arange(32) % 4 == 0, -1, 1)
    x = np.vstack([rule, rule, -rule]) * y.astype(int)
    state = MMV(p=2.0, sphere=True).start(y, np.full(32, 1 / 32))
    state.add(SignedCovers.pack(x))
    state.solve()
    solution = state.solution
    assert np.linalg.norm(solution.weights) == pytest.approx(1)
    inside = MMV(p=2.0).start(y, np.full(32, 1 / 32))
    inside.add(SignedCovers.pack(x))
    inside.solve()
    assert not inside.solution.constraint_active
    assert objective(solution, 1.0) == pytest.approx(objective(inside.solution, 1.0), abs=1e-9)


@pytest.mark.parametrize(
    "option", [{"radius": 0.0}, {"radius": np.inf}, {"p": 1.5, "sphere": True}]
)
def test_wrong_limits_of_the_norm(option):
    with pytest.raises(ValueError, match=r"radius must be above 0|needs p=2"):
        MMV(**option)
