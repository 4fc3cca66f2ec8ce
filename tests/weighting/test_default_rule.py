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


def scores_of(kind, counts, l2=0.0, shrinkage=0.1):
    return default_scores(kind, np.array(counts, dtype=float), sum(counts), l2, shrinkage)


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


@given(COUNTS)
def test_the_exact_rule_never_raises_the_loss(counts):
    """It is at least as good as no rule, for any number of classes (T14)."""
    start = constant_loss(np.zeros(len(counts)), counts)
    assert constant_loss(scores_of("exact", counts), counts) <= start * (1 + 1e-12)


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
    assert scores_of("newton_shrunk", [5, 20, 3], l2=5.0, shrinkage=0.5) == pytest.approx(
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
