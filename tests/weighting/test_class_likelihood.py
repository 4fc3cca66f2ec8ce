import numpy as np
import pytest

from rulewright.kernels import ROW
from rulewright.rules import Head
from rulewright.weighting import ClassLogLikelihood, LogLikelihood


def both(seed=0, n_rows=200, n_classes=6, own=False):
    """Make the same likelihood twice: one class at a time, and all of them.

    With `own`, every row starts from scores of its own.
    """
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.random(n_rows) + 0.1
    start = rng.normal(size=(n_rows, n_classes) if own else n_classes)
    one, whole = (made(labels, weights, start) for made in (ClassLogLikelihood, LogLikelihood))
    return one, whole, rng


@pytest.mark.parametrize("own", [False, True])
def test_losses_and_steps_are_those_of_all_classes(own):
    """Rules move loss and probabilities, and get their responses, as with all classes at once."""
    one, whole, rng = both(own=own)
    assert one.loss == whole.loss
    for _ in range(30):
        rows = np.flatnonzero(rng.random(200) < 0.3).astype(ROW)
        head = one.best_vote("newton", 1.0)
        step = one.newton_step(rows, head, 1.0)
        assert step == pytest.approx(whole.newton_step(rows, head, 1.0), rel=1e-9)
        if step <= 0:
            continue
        one.add(rows, head, step)
        whole.add(rows, head, step)
        assert one.loss == pytest.approx(whole.loss, rel=1e-10)
    np.testing.assert_allclose(one.probabilities, whole.probabilities, rtol=1e-9)


def test_classes_take_turns_by_what_they_lack():
    """Each class is chosen in proportion to the sum of 1 - p of its rows, one after the other."""
    labels = np.repeat([0, 1, 2], [60, 30, 10]).astype(np.int32)
    state = ClassLogLikelihood(labels, np.ones(100), np.zeros(3))
    votes = [state.best_vote("newton", 1.0).first for _ in range(100)]
    assert np.bincount(votes).tolist() == [60, 30, 10]
    assert votes[0] == 0
    for _ in range(60):  # once its rows are right, a class has had enough
        state.add(np.arange(60, dtype=ROW), Head(0, 0), 1.0)
    votes = [state.best_vote("newton", 1.0).first for _ in range(40)]
    assert np.bincount(votes).tolist() == [0, 30, 10]


def test_statistics_are_those_of_the_class_asked_for():
    """A score writes the statistics of its class; a class that was not chosen has no score."""
    one, whole, _ = both()
    for k in (4, 1, 1):
        one.score("newton", 1.0, Head(k, k))
        expected = whole.stats[:, 2 * k : 2 * k + 2] * whole.unit
        np.testing.assert_allclose(one.stats * one.unit, expected, atol=1e-12)
    with pytest.raises(ValueError, match="before it is grown"):
        one.score("newton", 1.0)


@pytest.mark.parametrize("weigh_rows", [False, True])
def test_rows_that_hardly_have_the_class_are_not_counted(weigh_rows):
    """Rows of the class and rows that may be taken for it are; where weights count, all rows."""
    labels = np.repeat([0, 1, 2], 10).astype(np.int32)
    start = np.zeros((30, 3))
    start[10:20, 0] = -9.0  # rows of class 1 that are certainly not of class 0
    state = ClassLogLikelihood(labels, np.ones(30), start, weigh_rows=weigh_rows)
    state.score("newton", 1.0, Head(0, 0))
    rows = np.arange(0, 30, 2, dtype=ROW)
    expected = rows if weigh_rows else rows[(rows < 10) | (rows >= 20)]
    np.testing.assert_array_equal(state.telling_rows(rows), expected)
    one_by_one = state._stats[expected].copy()
    np.testing.assert_array_equal(one_by_one, state.stats[expected])
