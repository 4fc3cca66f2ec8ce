"""MMV in the 1-norm ball: best weights, certificates, warm starts, caps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import SEEDS
from margin_problems import best_in_one_ball, dense_weights, draw_problem, run
from rulewright.encoding.signed import SignedCovers
from rulewright.weighting import MMV
from rulewright.weighting.margins.ball import MarginQuadratic
from rulewright.weighting.margins.mmv import ActiveSet

KAPPAS = st.sampled_from([0.05, 1.0, 5.0])


def test_one_rule_that_is_right_on_60_percent():
    """The best weight of a rule is d / 2S where that is below 1: the card's 0.104 and 0.0104."""
    x = np.ones((1, 1000), dtype=np.int8)
    y = np.where(np.arange(1000) < 600, 1.0, -1.0)
    state = MMV().start(y, np.full(1000, 1e-3))
    assert state.add(SignedCovers.pack(x))
    state.solve()
    (weight,) = state.solution.weights
    assert weight == pytest.approx(0.2 / (2 * 0.96 * 1000 / 999))
    assert state.solution.value == pytest.approx(0.0104, abs=1e-4)


@settings(deadline=None, max_examples=25)
@given(SEEDS, KAPPAS, st.booleans())
def test_no_weights_of_scipy_are_better(seed, kappa, weighted):
    """Also with singular covariances and weighted rows the value is that of SLSQP or better."""
    problem = draw_problem(seed, weighted=weighted)
    _, found = run(MMV(variance_weight=kappa), problem)
    assert found[-1].value >= best_in_one_ball(problem, kappa) - 1e-9


@given(SEEDS, KAPPAS, st.booleans())
def test_the_solution_says_what_its_weights_do(seed, kappa, weighted):
    """Mean, variance and value are those of the margins; weights lie in the ball; gaps hold."""
    problem = draw_problem(seed, weighted=weighted, max_rules=12)
    _, found = run(MMV(variance_weight=kappa), problem)
    for solution in found:
        w = dense_weights(solution, len(problem.x))
        assert solution.mean == pytest.approx(problem.means @ w, abs=1e-12)
        assert solution.variance == pytest.approx(w @ problem.covariance @ w, abs=1e-12)
        assert solution.value == pytest.approx(solution.mean - kappa * solution.variance)
        assert np.abs(w).sum() <= 1 + 1e-9
        assert -1e-12 <= solution.gap <= 1e-9
        assert (solution.weights != 0).all()
        assert (np.diff(solution.lines) > 0).all()


@given(SEEDS, KAPPAS)
def test_the_gap_is_that_of_the_gradient(seed, kappa):
    """No rule, used or not, has a gradient that exceeds g.w by more than the gap."""
    problem = draw_problem(seed, max_rules=12)
    _, found = run(MMV(variance_weight=kappa), problem)
    w = dense_weights(found[-1], len(problem.x))
    g = problem.means - 2 * kappa * problem.covariance @ w
    assert np.abs(g).max() - g @ w <= 1e-9 + 1e-12


@given(SEEDS, st.integers(2, 12))
def test_values_grow_and_warm_starts_end_where_cold_ones_do(seed, block):
    """A longer prefix is never worse, and blocks or one solve at the end give the same value."""
    problem = draw_problem(seed, max_rules=12)
    _, found = run(MMV(), problem)
    values = [solution.value for solution in found]
    assert (np.diff(values) >= -1e-12).all()
    for size in (block, len(problem.x)):
        assert run(MMV(), problem, block=size)[1][-1].value == pytest.approx(values[-1], abs=1e-10)


@given(SEEDS)
def test_many_rules_with_few_rows_are_solved(seed):
    """More rules than rows make every covariance singular; the gap still closes."""
    rng = np.random.default_rng(seed)
    x = rng.choice([-1, 1], (60, 12))
    state = MMV().start(np.where(rng.random(12) < 0.5, 1.0, -1.0), np.full(12, 1 / 12))
    for rule in x:
        if state.add(SignedCovers.pack(rule[np.newaxis])):
            state.solve()
        assert state.solution.gap <= 1e-9
    assert np.abs(state.solution.weights).sum() <= 1 + 1e-9


@given(SEEDS)
def test_flipped_classes_and_opposite_rules_flip_weights(seed):
    """Flipping y negates the weights; negating a column negates its weight; values stay."""
    problem = draw_problem(seed, max_rules=3)
    _, found = run(MMV(), problem)
    flipped = run(MMV(), problem._replace(y=-problem.y))[1][-1]
    assert flipped.value == pytest.approx(found[-1].value, abs=1e-12)
    np.testing.assert_allclose(
        dense_weights(flipped, len(problem.x)), -dense_weights(found[-1], len(problem.x))
    )
    signs = np.where(np.arange(len(problem.x)) % 2 == 0, 1, -1)
    turned = run(MMV(), problem._replace(x=problem.x * signs[:, np.newaxis]))[1][-1]
    np.testing.assert_allclose(
        dense_weights(turned, len(problem.x)), signs * dense_weights(found[-1], len(problem.x))
    )


@given(SEEDS)
def test_order_of_rows_and_equal_weights_change_nothing(seed):
    """Permuted rows give the same bits; weights that are equal but for one bit the same weights."""
    problem = draw_problem(seed, max_rules=8)
    _, found = run(MMV(), problem)
    order = np.random.default_rng(seed).permutation(len(problem.y))
    moved = run(MMV(), problem._replace(x=problem.x[:, order], y=problem.y[order]))[1][-1]
    assert np.array_equal(moved.weights, found[-1].weights)
    nearly = problem.a.copy()
    nearly[0] = np.nextafter(nearly[0], 1)  # takes the way of weighted rows
    weighted = run(MMV(), problem._replace(a=nearly))[1][-1]
    assert weighted.value == pytest.approx(found[-1].value, abs=1e-12)


@given(SEEDS)
def test_a_repeated_row_is_a_row_of_weight_two(seed):
    """With the number of rows that the weights stand for, variances are those of the repeats."""
    problem = draw_problem(seed, max_rules=6)
    counts = np.random.default_rng(seed).integers(1, 4, len(problem.y))
    total = counts.sum()
    state = MMV().start(problem.y, counts / total, n=float(total))
    state.add(problem.covers)
    state.solve()
    x, y = problem.x.repeat(counts, axis=1), problem.y.repeat(counts)
    repeated = run(MMV(), problem._replace(x=x, y=y, a=np.full(total, 1 / total)), block=9)[1][-1]
    assert state.solution.value == pytest.approx(repeated.value, abs=1e-12)


def test_an_inverse_that_rounding_has_spoilt_is_made_again():
    """A flat way without an end has no step; the weights are those of a sound inverse."""
    d = np.array([0.5, 0.3])
    problem = MarginQuadratic(d, np.array([[1.0, 0.2], [0.2, 1.0]]), 1.0)
    sound = ActiveSet().solve(problem, np.zeros(2))
    spoilt = ActiveSet()
    spoilt._inverse = np.array([[0.75, 0.0], [0.0, 0.0]])  # the curvature of the first rule
    np.testing.assert_allclose(spoilt.solve(problem, np.zeros(2)), sound, rtol=1e-9)


def test_nothing_to_learn_gives_no_weights():
    """Rules without mean margin get no weight, and no solve is asked for."""
    state = MMV().start(np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, 0.25))
    assert not state.add(SignedCovers.pack([[1, 1, 1, 1], [1, 1, -1, -1]]))
    state.solve()
    assert (state.solution.value, state.solution.gap, len(state.solution.lines)) == (0, 0, 0)


def test_one_class_gives_weight_one_to_the_constant_rule():
    """Margins without variance have the value 1."""
    state = MMV().start(np.ones(5), np.full(5, 0.2))
    state.add(SignedCovers.pack([[1, 1, 1, 1, 1], [1, -1, 1, 1, 1]]))
    state.solve()
    assert (state.solution.lines.tolist(), state.solution.weights.tolist()) == ([0], [1.0])
    assert state.solution.value == pytest.approx(1)


@given(SEEDS, st.integers(1, 6))
def test_the_cap_drops_the_smallest_weights_oldest_first(seed, cap):
    """A dropped rule never has a larger |weight| than one that stays; zeros go by age."""
    problem = draw_problem(seed, max_rules=14)
    problem = problem._replace(x=np.vstack([problem.x, problem.x[:, ::-1]]))
    state, _ = run(MMV(), problem, block=28)
    m, before = len(problem.x), state.solution
    weights = np.abs(dense_weights(before, m))
    state.drop_to(m - 1)
    (dropped,) = set(range(m)) - set(state.working.lines)
    assert weights[dropped] == weights.min()
    assert dropped == int(weights.argmin())
    state.drop_to(cap)
    assert len(state.working) == min(cap, m - 1)
    rest = problem._replace(x=problem.x[state.working.lines])
    assert state.solution.value == pytest.approx(run(MMV(), rest)[1][-1].value, abs=1e-9)


@given(SEEDS)
def test_rules_go_on_after_a_drop(seed):
    """Added and dropped in turn, the weights are the best of the working set at any time."""
    problem = draw_problem(seed, max_rules=14)
    state = MMV().start(problem.y, problem.a)
    for j in range(len(problem.x)):
        if state.add(problem.covers[j : j + 1]):
            state.solve()
        state.drop_to(3)
        rest = problem._replace(x=problem.x[state.working.lines])
        assert state.solution.value == pytest.approx(run(MMV(), rest)[1][-1].value, abs=1e-9)


@pytest.mark.parametrize(
    ("y", "a", "message"),
    [
        ([1.0], [1.0], "two rows"),
        ([1.0, 0.0], [0.5, 0.5], "-1 and 1"),
        ([1.0, -1.0], [0.5, 0.6], "sum 1"),
        ([1.0, -1.0], [1.5, -0.5], "0 or more"),
        ([1.0, -1.0], [1.0, 0.0], "two rows"),
    ],
)
def test_rows_that_make_no_sample_are_refused(y, a, message):
    """The variance needs two rows, classes are signs, weights are shares."""
    with pytest.raises(ValueError, match=message):
        MMV().start(np.array(y), np.array(a))


@pytest.mark.parametrize("option", [{"p": 0.5}, {"variance_weight": 0.0}, {"p": np.nan}])
def test_options_out_of_range_are_refused(option):
    """Norms below 1 are no norms, and the variance must count."""
    with pytest.raises(ValueError, match="must be"):
        MMV(**option)
