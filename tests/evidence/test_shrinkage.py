"""What is left of the shares of chosen rules on new rows."""

import numpy as np
import pytest

from rulewright.evidence.shrinkage import _GRID, WIDENING, HitCounts, Shrinkage


def counted(hits, rows, share=0.5):
    hits, rows = np.broadcast_arrays(np.asarray(hits, float), np.asarray(rows, float))
    return HitCounts(hits.copy(), rows.copy(), np.full(len(rows), share))


def shares(shrinkage, seen):
    """Give the shares expected on new rows."""
    found = shrinkage.expect_shares(seen)
    return found.kept * seen.hits / seen.rows + found.moved * seen.share


def drawn(rng, lost, n_rules=400):
    """Draw rules of 20 rows whose new rows have this part of their lead over one half."""
    rows = np.full(n_rules, 20.0)
    hits = rng.integers(12, 21, n_rules).astype(float)
    new = 0.5 + (1 - lost) * (hits / rows - 0.5)
    return counted(hits, rows), rng.binomial(20, new).astype(float), rows


@pytest.mark.parametrize("lost", [0.0, 0.3, 0.8])
def test_what_choosing_is_worth_is_found(lost):
    """Where rules keep a part of their lead on rows left out, that part is kept."""
    shrinkage = Shrinkage.of(*drawn(np.random.default_rng(0), lost))
    seen = counted([20.0], [20.0])
    assert shares(shrinkage, seen) == pytest.approx(1 - 0.5 * lost, abs=0.04)


def test_rules_below_the_share_of_all_rows_rise():
    """A rule that was chosen because it covers few of its class falls back upwards."""
    shrinkage = Shrinkage.of(*drawn(np.random.default_rng(1), 0.5))
    assert 0.1 < shares(shrinkage, counted([2.0], [20.0]))[0] < 0.5


def test_intervals_are_never_those_of_more_rows():
    """What is known of a share is known as well as by two thirds of the rows at most."""
    shrinkage = Shrinkage.of(*drawn(np.random.default_rng(2), 0.0))
    seen = counted([0.0, 3.0, 10.0, 700.0], [5.0, 3.0, 20.0, 1000.0])
    assert (shrinkage.expect_shares(seen).rows <= seen.rows / WIDENING * (1 + 1e-12)).all()


def test_little_evidence_leaves_more_doubt():
    """Three rules tell less of the others than hundreds."""
    seen, hits, rows = drawn(np.random.default_rng(3), 0.4)
    few = Shrinkage.of(HitCounts(*(column[:3] for column in seen)), hits[:3], rows[:3])
    many, rule = Shrinkage.of(seen, hits, rows), counted([90.0], [100.0])
    assert few.expect_shares(rule).rows < 0.7 * many.expect_shares(rule).rows


@pytest.mark.parametrize("n_rows", [7.0, 31.0, 42.0, 1000.0])
@pytest.mark.parametrize("hits", [0.0, 1.0])
def test_rules_that_are_always_right_have_a_share(hits, n_rows):
    """Without any shrinkage they keep some of their rows, even if weights round to more than 1."""
    unshrunk = _GRID[0].ravel() == 0
    every = counted([hits * n_rows], [n_rows], share=0.3)
    found = Shrinkage(unshrunk * (1 + 1e-15) / unshrunk.sum()).expect_shares(every)
    assert (found.moved == 0).all()
    assert (found.rows > 0.04 * n_rows).all()
    assert (found.rows <= n_rows / WIDENING).all()


@pytest.mark.parametrize("size", [1e-9, 1e9, 1e300])
def test_weights_of_any_size_give_shares(size):
    """Enormous and tiny counts end in finite shares between those seen and those of all rows."""
    rows = np.array([20.0, 30.0, 10.0]) * size
    seen = counted(rows * [0.9, 0.8, 1.0], rows)
    shrinkage = Shrinkage.of(seen, rows * 0.7, rows)
    assert np.isfinite(shrinkage.expect_shares(seen).rows).all()
    found = shares(shrinkage, seen)
    assert ((found >= 0.5 - 1e-9) & (found <= seen.hits / seen.rows + 1e-9)).all()


def test_rules_without_rows_left_out_say_nothing():
    """They change no weight."""
    seen, hits, rows = drawn(np.random.default_rng(4), 0.4)
    rows[50:], hits[50:] = 0.0, 0.0
    one = Shrinkage.of(seen, hits, rows)
    two = Shrinkage.of(HitCounts(*(column[:50] for column in seen)), hits[:50], rows[:50])
    np.testing.assert_allclose(one.weights, two.weights)
