import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS, loss, random_likelihood, softmax
from rulewright.kernels import ROW, Score
from rulewright.rules import Head
from rulewright.weighting import LogLikelihood
from rulewright.weighting.likelihood import LARGEST_STEP, SAFE_STEP
from rulewright.weighting.votes import heads

pytestmark = pytest.mark.native

STATES = given(SEEDS, st.integers(2, 30), st.sampled_from([2, 3, 7]), st.booleans())


def some_rows(rng, n_rows):
    return np.flatnonzero(rng.random(n_rows) < 0.6).astype(ROW)


def classes_of(head):
    return slice(head.first, head.last + 1)


def moved(scores, rows, head, step):
    """Add a step to the scores of the head's classes."""
    result = scores.copy()
    result[rows, classes_of(head)] += step
    return result


def union_pairs(scores, labels, weights, heads, rows=slice(None)):
    """Give (g, h) of each head over the rows by the formulas of the card."""
    p, pairs = softmax(scores)[rows], []
    for head in heads:
        share = p[:, classes_of(head)].sum(axis=1)
        hit = (head.first <= labels[rows]) & (labels[rows] <= head.last)
        pairs.append(
            (np.sum(weights[rows] * (share - hit)), np.sum(weights[rows] * share * (1 - share)))
        )
    return np.array(pairs)


def test_votes_are_classes_or_unions():
    """Nominal rules vote for a class, ordinal ones for both sides of every cut."""
    assert heads(3, ordinal=False) == ((0, 0), (1, 1), (2, 2))
    assert heads(4, ordinal=True) == ((0, 0), (1, 3), (0, 1), (2, 3), (0, 2), (3, 3))
    assert heads(2, ordinal=True) == heads(2, ordinal=False)


@STATES
def test_derivatives_match_finite_differences(seed, n_rows, n_classes, ordinal):
    """G and h are the derivatives of the loss along a vote, to 1e-5 (T1)."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, ordinal=ordinal)
    rows = some_rows(rng, n_rows)
    for head in state.heads:
        losses = [
            loss(moved(scores, rows, head, step), labels, weights) for step in (-1e-3, 0.0, 1e-3)
        ]
        g, h = state.derivatives(rows, head)
        assert (losses[2] - losses[0]) / 2e-3 == pytest.approx(g, abs=1e-5 * n_rows)
        assert (losses[2] - 2 * losses[1] + losses[0]) / 1e-6 == pytest.approx(h, abs=1e-4 * n_rows)


@STATES
def test_derivatives_are_the_formulas_of_the_card(seed, n_rows, n_classes, ordinal):
    """G = sum w (P - [y in U]) and h = sum w P (1 - P) to almost all bits."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, ordinal=ordinal)
    rows = some_rows(rng, n_rows)
    expected = union_pairs(scores, labels, weights, state.heads, rows)
    for head, (g, h) in zip(state.heads, expected, strict=True):
        assert state.derivatives(rows, head) == (
            pytest.approx(g, abs=1e-11),
            pytest.approx(h, rel=1e-9, abs=1e-12),
        )


@given(SEEDS, st.integers(2, 30))
def test_two_ordered_classes_are_two_classes(seed, n_rows):
    """With two classes the order changes no statistic, loss or step, not by a bit (T7)."""
    states = [
        random_likelihood(np.random.default_rng(seed), n_rows, 2, ordinal=ordinal)[0]
        for ordinal in (False, True)
    ]
    nominal, ordinal = states
    np.testing.assert_array_equal(nominal.stats, ordinal.stats)
    assert nominal.loss == ordinal.loss
    assert nominal.score("newton", 1.0) == ordinal.score("newton", 1.0)
    rows = some_rows(np.random.default_rng(seed), n_rows)
    for head in nominal.heads:
        assert nominal.newton_step(rows, head, 1.0) == ordinal.newton_step(rows, head, 1.0)


@STATES
def test_the_loss_is_kept_up_to_date(seed, n_rows, n_classes, ordinal):
    """After any steps the loss is that of the scores, and the weight lane holds the weights."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(
        rng, n_rows, n_classes, weigh_rows=True, ordinal=ordinal
    )
    assert state.loss == pytest.approx(loss(scores, labels, weights), rel=1e-10, abs=1e-10)
    np.testing.assert_allclose(state.stats[:, -1] * state.unit, weights, rtol=1e-12)


@STATES
def test_sums_never_overflow(seed, n_rows, n_classes, ordinal):
    """Fixed-point sums of all rows stay below 62 bits, for any size of the weights."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.random(n_rows) * 10.0 ** rng.integers(-250, 250)
    state = LogLikelihood(
        labels, weights + 1e-290, np.zeros(n_classes), weigh_rows=True, ordinal=ordinal
    )
    exact = [sum(int(v) for v in lane) for lane in np.abs(state.stats).T]
    assert max(exact) <= 2**61 + n_rows
    assert max(exact) > 2**50


@STATES
def test_the_best_vote_has_the_lowest_criterion(seed, n_rows, n_classes, ordinal):
    """The head of a prefixed rule minimises g, or g / sqrt(h + l2), over all rows."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, ordinal=ordinal)
    state.best_vote("gradient", 0.0)
    rows, head = some_rows(rng, n_rows), state.heads[1]
    state.add(rows, head, -2.0)  # an answer given before must not be stale
    scores = moved(scores, rows, head, -2.0)
    g, h = union_pairs(scores, labels, weights, state.heads).T
    gradient = state.heads.index(state.best_vote("gradient", 0.0))
    assert g[gradient] == pytest.approx(g.min(), abs=1e-9)
    newton, best = g / np.sqrt(h + 2.0), state.heads.index(state.best_vote("newton", 2.0))
    assert newton[best] == pytest.approx(newton.min(), abs=1e-9)


@STATES
def test_a_backtracked_step_lowers_the_loss(seed, n_rows, n_classes, ordinal):
    """Whatever the state, a positive step with backtracking lowers the loss, shrunk or not."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(
        rng, n_rows, n_classes, spread=6.0, ordinal=ordinal
    )
    rows, before = some_rows(rng, n_rows), loss(scores, labels, weights)
    for head in state.heads:
        step = state.newton_step(rows, head, float(rng.choice([0.0, 1e-3, 1.0])))
        assert step <= LARGEST_STEP
        g, _ = state.derivatives(rows, head)
        if -g * step < 1e-11 * (1 + before):  # the change would drown in the rounding of the loss
            continue
        for learning_rate in (1.0, 0.1):
            assert loss(moved(scores, rows, head, learning_rate * step), labels, weights) < before


def test_a_long_step_is_halved_only_when_asked():
    """Rows of p = 0.03 with 15 percent of hits: the clipped step raises the loss."""
    labels = np.array([1] * 3 + [0] * 17, dtype=np.int32)
    state = LogLikelihood(labels, np.ones(20), np.log([0.97, 0.03]))
    rows = np.arange(20, dtype=ROW)
    plain = state.newton_step(rows, Head(1, 1), 0.0, backtrack=False)
    assert plain == LARGEST_STEP
    assert state.state.loss_change(rows, 1, 1, plain, 1) > 0
    assert state.newton_step(rows, Head(1, 1), 0.0) == LARGEST_STEP / 2
    assert state.state.loss_change(rows, 1, 1, LARGEST_STEP / 2, 1) < 0


def test_a_step_against_the_data_is_not_positive():
    """A vote for an absent class is told by a step that is not positive."""
    state = LogLikelihood(np.zeros(4, dtype=np.int32), np.ones(4), np.zeros(3))
    assert state.newton_step(np.arange(4, dtype=ROW), Head(2, 2), 1.0) <= 0


@STATES
def test_a_signed_step_goes_either_way_and_lowers_the_loss(seed, n_rows, n_classes, ordinal):
    """It is the step for the head, or minus one against it; with less evidence it is 0."""
    rng = np.random.default_rng(seed)
    state, scores, labels, weights = random_likelihood(rng, n_rows, n_classes, ordinal=ordinal)
    rows = some_rows(rng, n_rows)
    for head in state.heads:
        g, h = state.derivatives(rows, head)
        step = state.signed_step(rows, head, 1.0, True, 0.0, LARGEST_STEP)
        assert abs(step) <= LARGEST_STEP
        if g < 0:
            assert step == state.newton_step(rows, head, 1.0)
        if abs(g) / (h + 1.0) < SAFE_STEP:
            assert step == -g / (h + 1.0)
        if step:
            after = loss(moved(scores, rows, head, step), labels, weights)
            assert after < loss(scores, labels, weights) + 1e-12
        least = 1.01 * abs(g) / math.sqrt(h + 1.0) + 1e-9
        assert state.signed_step(rows, head, 1.0, True, least, LARGEST_STEP) == 0


@STATES
def test_weak_evidence_gives_no_step(seed, n_rows, n_classes, ordinal):
    """A vote counts when -g / sqrt(h + l2) reaches the least evidence, and not below it."""
    rng = np.random.default_rng(seed)
    state, *_ = random_likelihood(rng, n_rows, n_classes, ordinal=ordinal)
    rows = some_rows(rng, n_rows)
    for head in state.heads:
        g, h = state.derivatives(rows, head)
        evidence = -g / math.sqrt(h + 1.0)
        free = state.newton_step(rows, head, 1.0)
        assert state.newton_step(rows, head, 1.0, min_evidence=abs(evidence) * 1.001 + 1e-9) == 0
        if evidence > 0:
            assert state.newton_step(rows, head, 1.0, min_evidence=evidence * 0.999) == free


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
    for head in state.heads:
        g, h = state.derivatives(rows, head)
        l2 = -g / SAFE_STEP - h
        if g < -1e-6 and l2 >= 0:
            after = moved(scores, rows, head, SAFE_STEP)
            assert loss(after, labels, weights) < loss(scores, labels, weights)


def test_the_bound_behind_the_safe_step():
    """exp(a) - 1 - a < a^2 up to SAFE_STEP, and not much beyond."""
    steps = np.linspace(1e-3, SAFE_STEP, 1000)
    assert np.all(np.expm1(steps) - steps < steps**2)
    assert math.expm1(1.8) - 1.8 > 1.8**2


@pytest.mark.parametrize(
    ("n_classes", "ordinal", "n_pairs", "down"),
    [(2, False, 1, True), (3, False, 3, False), (4, True, 3, True)],
)
def test_scores_read_the_right_lanes(n_classes, ordinal, n_pairs, down):
    """A search over all votes reads all pairs; a search for one head leads back to that head."""
    labels = np.arange(n_classes, dtype=np.int32)
    state = LogLikelihood(labels, np.ones(n_classes), np.zeros(n_classes), ordinal=ordinal)
    joint = state.score("newton", 1.0)
    assert joint == Score("newton", unit=state.unit, n_lanes=2 * n_pairs, l2=1.0, down=down)
    votes = [2 * pair + side for pair in range(n_pairs) for side in range(1 + down)]
    assert {state.head_of(joint, vote) for vote in votes} == set(state.heads)
    for head in state.heads:
        one = state.score("gradient", 0.0, head)
        assert one.n_lanes == 2
        assert one.up != one.down
        assert state.head_of(one, int(one.down)) == head
        lane = joint.first_lane + one.first_lane
        g = state.stats[:, lane].sum() * state.unit * (1 if one.up else -1)
        assert g == state.derivatives(np.arange(n_classes, dtype=ROW), head)[0]


def test_far_scores_stay_finite():
    """Thousands of steps in one direction neither overflow nor lose the loss."""
    labels = np.array([0, 1, 1], dtype=np.int32)
    state = LogLikelihood(labels, np.ones(3), np.zeros(2))
    rows = np.array([1, 2], dtype=ROW)
    for _ in range(1000):
        state.add(rows, Head(1, 1), 4.0)
    assert np.all(np.isfinite(state.stats))
    assert 0 <= state.loss == pytest.approx(math.log(2), abs=1e-9)
    assert state.derivatives(rows, Head(1, 1))[0] <= 0


@pytest.mark.parametrize("n_classes", [2, 4])
def test_probabilities_are_those_of_the_scores(n_classes):
    """They are the softmax of the scores that steps have moved."""
    state, scores, _, _ = random_likelihood(np.random.default_rng(1), 50, n_classes)
    np.testing.assert_allclose(state.probabilities, softmax(scores), rtol=1e-9)


def test_coarse_statistics_leave_derivatives_fine():
    """Coarse statistics have few bits; derivatives over many rows are those of fine ones."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 5000).astype(np.int32)
    weights = rng.choice([0.25, 1.0, 3.0], 5000)
    fine, coarse = (LogLikelihood(labels, weights, np.zeros(3), coarse=c) for c in (False, True))
    rows = np.arange(0, 5000, 2, dtype=np.uint32)
    assert np.abs(coarse.stats).max() < 2**22
    np.testing.assert_allclose(
        coarse.stats * coarse.unit, fine.stats * fine.unit, atol=2 * coarse.unit
    )
    for head in fine.heads:
        assert coarse.derivatives(rows, head) == fine.derivatives(rows, head)
