import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS, loss, random_likelihood, softmax
from rulewright.kernels import ROW, Score
from rulewright.weighting import LogLikelihood
from rulewright.weighting.likelihood import LARGEST_STEP, SAFE_STEP

pytestmark = pytest.mark.native

STATES = given(SEEDS, st.integers(2, 30), st.sampled_from([2, 3, 7]))


def some_rows(rng, n_rows):
    return np.flatnonzero(rng.random(n_rows) < 0.6).astype(ROW)


@STATES
def test_derivatives_match_finite_differences(seed, n_rows, n_classes):
    """G and h are the derivatives of the loss along a vote, to 1e-5 (T1)."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes)
    rows = some_rows(rng, n_rows)
    for vote in range(n_classes):
        losses = []
        for step in (-1e-3, 0.0, 1e-3):
            moved = scores.copy()
            moved[rows, vote] += step
            losses.append(loss(moved, labels, weights))
        g, h = state.derivatives(rows, vote)
        assert (losses[2] - losses[0]) / 2e-3 == pytest.approx(g, abs=1e-5 * n_rows)
        assert (losses[2] - 2 * losses[1] + losses[0]) / 1e-6 == pytest.approx(h, abs=1e-4 * n_rows)


@STATES
def test_derivatives_are_the_formulas_of_the_card(seed, n_rows, n_classes):
    """G = sum w (p - [y = k]) and h = sum w p (1 - p) to almost all bits."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes)
    rows, p = some_rows(rng, n_rows), softmax(scores)
    for vote in range(n_classes):
        share, w = p[rows, vote], weights[rows]
        g, h = state.derivatives(rows, vote)
        assert g == pytest.approx(np.sum(w * (share - (labels[rows] == vote))), abs=1e-11)
        assert h == pytest.approx(np.sum(w * share * (1 - share)), rel=1e-9, abs=1e-12)


@STATES
def test_the_loss_is_kept_up_to_date(seed, n_rows, n_classes):
    """After any steps the loss is that of the scores, and the weight lane holds the weights."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, weigh_rows=True)
    assert state.loss == pytest.approx(loss(scores, labels, weights), rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(state.stats[:, -1] * state.unit, weights, rtol=1e-12)


@STATES
def test_sums_never_overflow(seed, n_rows, n_classes):
    """Fixed-point sums of all rows stay below 62 bits, for any size of the weights."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.random(n_rows) * 10.0 ** rng.integers(-250, 250)
    state = LogLikelihood(labels, weights + 1e-290, np.zeros(n_classes), weigh_rows=True)
    exact = [sum(int(v) for v in lane) for lane in np.abs(state.stats).T]
    assert max(exact) <= 2**61 + n_rows
    assert max(exact) > 2**50


@STATES
def test_the_best_vote_has_the_lowest_criterion(seed, n_rows, n_classes):
    """The class of a prefixed rule minimises g, or g / sqrt(h + l2), over all rows."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes)
    state.best_vote("gradient", 0.0)
    rows = some_rows(rng, n_rows)
    state.add(rows, 1, -2.0)  # an answer given before must not be stale
    scores[rows, 1] -= 2.0
    p = softmax(scores)
    g = (weights[:, None] * (p - (labels[:, None] == np.arange(n_classes)))).sum(axis=0)
    h = (weights[:, None] * p * (1 - p)).sum(axis=0)
    assert g[state.best_vote("gradient", 0.0)] == pytest.approx(g.min(), abs=1e-9)
    newton = g / np.sqrt(h + 2.0)
    assert newton[state.best_vote("newton", 2.0)] == pytest.approx(newton.min(), abs=1e-9)


@STATES
def test_a_backtracked_step_lowers_the_loss(seed, n_rows, n_classes):
    """Whatever the state, a positive step with backtracking lowers the loss, shrunk or not."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, spread=6.0)
    rows, before = some_rows(rng, n_rows), loss(scores, labels, weights)
    for vote in range(n_classes):
        step = state.newton_step(rows, vote, float(rng.choice([0.0, 1e-3, 1.0])))
        assert step <= LARGEST_STEP
        if step < 1e-6:  # the change would drown in the rounding of the loss
            continue
        for shrinkage in (1.0, 0.1):
            moved = scores.copy()
            moved[rows, vote] += shrinkage * step
            assert loss(moved, labels, weights) < before


def test_a_long_step_is_halved_only_when_asked():
    """Rows of p = 0.03 with 15 percent of hits: the clipped step raises the loss."""
    labels = np.array([1] * 3 + [0] * 17, dtype=np.int32)
    state = LogLikelihood(labels, np.ones(20), np.log([0.97, 0.03]))
    rows = np.arange(20, dtype=ROW)
    plain = state.newton_step(rows, 1, 0.0, backtrack=False)
    assert plain == LARGEST_STEP
    assert state.state.loss_change(rows, 1, plain, 1) > 0
    assert state.newton_step(rows, 1, 0.0) == LARGEST_STEP / 2
    assert state.state.loss_change(rows, 1, LARGEST_STEP / 2, 1) < 0


def test_a_step_against_the_data_is_not_positive():
    """A vote for an absent class is told by a step that is not positive."""
    state = LogLikelihood(np.zeros(4, dtype=np.int32), np.ones(4), np.zeros(3))
    assert state.newton_step(np.arange(4, dtype=ROW), 2, 1.0) <= 0


@STATES
def test_weak_evidence_gives_no_step(seed, n_rows, n_classes):
    """A vote counts when -g / sqrt(h + l2) reaches the least evidence, and not below it."""
    rng = np.random.default_rng(seed)
    state, *_ = random_likelihood(rng, n_rows, n_classes)
    rows = some_rows(rng, n_rows)
    for vote in range(n_classes):
        g, h = state.derivatives(rows, vote)
        evidence = -g / math.sqrt(h + 1.0)
        free = state.newton_step(rows, vote, 1.0)
        assert state.newton_step(rows, vote, 1.0, min_evidence=abs(evidence) * 1.001 + 1e-9) == 0
        if evidence > 0:
            assert state.newton_step(rows, vote, 1.0, min_evidence=evidence * 0.999) == free


@given(st.floats(1e-6, 1 - 1e-6), st.floats(1e-6, 1 - 1e-6), st.floats(1e-3, 1.0))
def test_a_safe_step_lowers_the_loss(q, share, part):
    """Rows of probability q with a share of hits: a Newton step up to SAFE_STEP helps."""
    if share <= q:
        return
    step = part * SAFE_STEP
    h = (share - q) / step  # h + l2 that makes this the Newton step
    if h < q * (1 - q):  # l2 cannot be negative
        return
    change = math.log1p(q * math.expm1(step)) - share * step
    assert change < 0


@given(SEEDS, st.integers(2, 12), st.sampled_from([2, 3]))
def test_safe_steps_of_mixed_rows_lower_the_loss(seed, n_rows, n_classes):
    """With l2 that makes the Newton step exactly SAFE_STEP the loss still falls."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, spread=4.0)
    rows = np.arange(n_rows, dtype=ROW)
    for vote in range(n_classes):
        g, h = state.derivatives(rows, vote)
        l2 = -g / SAFE_STEP - h
        if g < -1e-6 and l2 >= 0:
            moved = scores.copy()
            moved[:, vote] += SAFE_STEP
            assert loss(moved, labels, weights) < loss(scores, labels, weights)


def test_the_bound_behind_the_safe_step():
    """exp(a) - 1 - a < a^2 up to SAFE_STEP, and not much beyond."""
    steps = np.linspace(1e-3, SAFE_STEP, 1000)
    assert np.all(np.expm1(steps) - steps < steps**2)
    assert math.expm1(1.8) - 1.8 > 1.8**2


def test_scores_read_the_right_lanes():
    """Two classes share one pair, many classes have a pair each, one vote reads its own."""
    two = LogLikelihood(np.array([0, 1], np.int32), np.ones(2), np.zeros(2))
    unit = two.unit
    assert two.score("newton", 1.0) == Score("newton", 1.0, unit, 1, first_class=1, down=True)
    assert two.score("newton", 1.0, 0) == Score(
        "newton", 1.0, unit, 1, first_class=1, up=False, down=True
    )
    assert two.score("newton", 1.0, 1) == Score("newton", 1.0, unit, 1, first_class=1)
    many = LogLikelihood(np.array([0, 1, 2], np.int32), np.ones(3), np.zeros(3))
    assert many.score("gradient", 0.0).n_pairs == 3
    one = many.score("gradient", 0.0, 2)
    assert (one.n_pairs, one.first_lane, one.first_class) == (1, 4, 2)


def test_far_scores_stay_finite():
    """Thousands of steps in one direction neither overflow nor lose the loss."""
    labels = np.array([0, 1, 1], dtype=np.int32)
    state = LogLikelihood(labels, np.ones(3), np.zeros(2))
    rows = np.array([1, 2], dtype=ROW)
    for _ in range(1000):
        state.add(rows, 1, 4.0)
    assert np.all(np.isfinite(state.state.class_weights(rows, 1)))
    assert 0 <= state.loss == pytest.approx(math.log(2), abs=1e-9)
    assert state.derivatives(rows, 1)[0] <= 0
