import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import loss
from rulewright.weighting import DEFAULT_RULES, default_scores

COUNTS = st.lists(st.integers(0, 30), min_size=2, max_size=30).filter(any)


def constant_loss(scores, counts):
    labels = np.arange(len(counts))
    return loss(np.tile(scores, (len(counts), 1)), labels, np.array(counts, dtype=float))


def scores_of(kind, counts, l2=0.0, learning_rate=0.1, ordinal=False):
    return default_scores(
        kind, np.array(counts, dtype=float), sum(counts), l2, learning_rate, ordinal
    )


@given(COUNTS)
def test_the_exact_rule_minimises_the_loss(counts):
    """The derivative along the majority vote is zero unless the share is clipped (T14)."""
    scores = scores_of("exact", counts)
    majority = int(np.argmax(counts))
    assert np.all(np.delete(scores, majority) == 0)
    share = np.exp(scores[majority]) / np.exp(scores).sum()
    n = sum(counts)
    clipped = min(max(counts[majority] / n, 1 / (2 * n)), 1 - 1 / (2 * n))
    assert share == pytest.approx(clipped)
    if clipped == counts[majority] / n:
        step = np.zeros(len(counts))
        step[majority] = 1e-4
        slopes = constant_loss(scores + step, counts) - constant_loss(scores - step, counts)
        assert slopes / 2e-4 == pytest.approx(0, abs=1e-5 * n)


@given(COUNTS, st.booleans())
def test_the_exact_rule_never_raises_the_loss(counts, ordinal):
    """It is at least as good as no rule, for any number of classes (T14)."""
    start = constant_loss(np.zeros(len(counts)), counts)
    scores = scores_of("exact", counts, ordinal=ordinal)
    assert constant_loss(scores, counts) <= start * (1 + 1e-12)


@given(COUNTS)
def test_the_exact_ordinal_rule_minimises_the_loss(counts):
    """It votes for one side of a cut; along that vote the derivative is zero unless clipped."""
    scores, n = scores_of("exact", counts, ordinal=True), sum(counts)
    voted = scores != 0
    assert np.count_nonzero(np.diff(voted)) == (1 if voted.any() else 0)
    share = np.array(counts)[voted].sum() / n
    if voted.any() and 1 / (2 * n) <= share <= 1 - 1 / (2 * n):
        step = 1e-4 * voted
        slopes = constant_loss(scores + step, counts) - constant_loss(scores - step, counts)
        assert slopes / 2e-4 == pytest.approx(0, abs=1e-5 * n)


@given(COUNTS, st.sampled_from([0.0, 1.0, 5.0]))
def test_the_ordinal_vote_has_the_lowest_criterion(counts, l2):
    """No other union has a lower g / sqrt(h + l2), and the response is -g / (h + l2)."""
    scores, k, n = scores_of("newton", counts, l2, ordinal=True), len(counts), sum(counts)
    found = []
    for cut in range(1, k):
        for voted in (np.arange(k) >= cut, np.arange(k) < cut):
            share = min(max(np.array(counts)[voted].sum() / n, 1 / (2 * n)), 1 - 1 / (2 * n))
            g, h = n * (voted.mean() - share), n * voted.mean() * (1 - voted.mean())
            found.append((g / np.sqrt(h + l2), -g / (h + l2) * voted))
    lowest = min(value for value, _ in found)
    near = [step for value, step in found if value <= lowest + 1e-9 * n]
    assert any(scores == pytest.approx(step, abs=1e-9) for step in near)


@given(st.lists(st.integers(0, 30), min_size=2, max_size=2).filter(any))
def test_two_ordered_classes_start_as_two_classes(counts):
    """With two classes the order changes no default rule, not by a bit (T7)."""
    for kind in DEFAULT_RULES:
        nominal, ordinal = (scores_of(kind, counts, 1.0, ordinal=flag) for flag in (False, True))
        assert nominal.tolist() == ordinal.tolist()


def test_the_ordinal_rule_need_not_vote_for_the_majority():
    """Class 0 has most rows, yet "at least class 2" stands out more (E9)."""
    counts = [26, 0, 25, 25, 24]
    assert scores_of("exact", counts).argmax() == 0
    assert (scores_of("exact", counts, ordinal=True) > 0).tolist() == [False, False] + [True] * 3


@pytest.mark.parametrize(
    ("n_classes", "share", "before", "after"),
    [(10, 0.5, 2.303, 2.323), (26, 0.2, 3.258, 3.770), (26, 0.5, 3.258, 6.240)],
)
def test_the_published_newton_step_can_raise_the_loss(n_classes, share, before, after):
    """The numbers of the card, section 4.1 (E8)."""
    shares = np.full(n_classes, (1 - share) / (n_classes - 1))
    shares[3] = share
    scores = default_scores("newton", 1e6 * shares, 10**6, 0.0, 1.0)
    assert scores[3] == pytest.approx(n_classes * (n_classes * share - 1) / (n_classes - 1))
    assert constant_loss(np.zeros(n_classes), shares) == pytest.approx(before, abs=1e-3)
    assert constant_loss(scores, shares) == pytest.approx(after, abs=1e-3)
    exact = default_scores("exact", 1e6 * shares, 10**6, 0.0, 1.0)
    assert constant_loss(exact, shares) < before


def test_the_shrunk_step_is_the_step_times_shrinkage():
    """The authors' program shrinks the default rule and uses l2."""
    newton = scores_of("newton", [5, 20, 3], l2=5.0)
    assert scores_of("newton_shrunk", [5, 20, 3], l2=5.0, learning_rate=0.5) == pytest.approx(
        0.5 * newton
    )
    g, h = 28 * (1 / 3 - 20 / 28), 28 * 2 / 9
    assert newton.tolist() == pytest.approx([0, -g / (h + 5.0), 0])


@given(COUNTS.filter(lambda counts: min(counts) > 0))
def test_the_prior_is_the_best_constant_model(counts):
    """Its probabilities are the shares of the classes."""
    scores = scores_of("prior", counts)
    np.testing.assert_allclose(
        np.exp(scores) / np.exp(scores).sum(), np.array(counts) / sum(counts)
    )


@pytest.mark.parametrize("kind", DEFAULT_RULES)
@pytest.mark.parametrize("counts", [[1, 0], [0, 0, 7], [1, 0, 0, 0, 0], [3, 3]])
def test_absent_classes_have_finite_scores(kind, counts):
    """A class without rows keeps a finite score, and is not the majority."""
    scores = scores_of(kind, counts)
    assert np.all(np.isfinite(scores))
    assert scores[np.argmax(counts)] == scores.max()


@pytest.mark.parametrize("kind", ["exact", "newton", "newton_shrunk", "none"])
def test_balanced_classes_start_from_zero(kind):
    """Without a majority there is nothing to vote for."""
    assert scores_of(kind, [4, 4, 4]) == pytest.approx(np.zeros(3))


def test_ties_go_to_the_lower_class():
    """Of two majorities the first is voted for."""
    scores = scores_of("exact", [2, 5, 5])
    assert scores[1] > 0
    assert scores[2] == 0
