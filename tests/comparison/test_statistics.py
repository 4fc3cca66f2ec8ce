import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rulewright.comparison import statistics as s

P_VALUES = arrays(float, st.integers(0, 12), elements=st.floats(0, 1))
ROW = arrays(float, st.integers(2, 30), elements=st.integers(0, 20).map(float))


def figures():
    """Draw figures of some learners on some sets, in tenths, equal ones among them."""
    shapes = st.tuples(st.integers(2, 15), st.integers(2, 6))
    cells = st.integers(0, 6).map(lambda i: i / 10)
    return shapes.flatmap(lambda shape: arrays(float, shape, elements=cells))


class TestRanks:
    def test_ties_share_ranks(self):
        values = [[0.1, 0.2, 0.2], [0.3, 0.1, 0.2]]
        assert s.average_ranks(values).tolist() == [2.0, 1.75, 2.25]
        assert s.average_ranks(values, lower_is_better=False).tolist() == [2.0, 2.25, 1.75]

    def test_last_digits_are_no_difference(self):
        values = [[0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1], [0.5, 0.5]]
        assert values[0][0] != values[0][1]
        assert s.average_ranks(values).tolist() == [1.5, 1.5]

    @given(figures())
    def test_sum(self, values):
        k = values.shape[1]
        assert s.average_ranks(values).sum() == pytest.approx(k * (k + 1) / 2)

    @given(figures(), st.randoms())
    def test_order_of_learners_and_sets(self, values, random):
        columns, rows = (random.sample(range(n), n) for n in values.shape[::-1])
        ranks = s.average_ranks(values[rows][:, columns])
        np.testing.assert_allclose(ranks, s.average_ranks(values)[columns])

    @given(figures())
    def test_higher_is_better_mirrors(self, values):
        mirrored = values.shape[1] + 1 - s.average_ranks(values)
        np.testing.assert_allclose(s.average_ranks(values, lower_is_better=False), mirrored)


class TestHolm:
    def test_by_hand(self):
        raw = [0.01, 0.04, 0.03, 0.005]
        assert s.holm(raw) == pytest.approx([0.03, 0.06, 0.06, 0.02])

    @given(P_VALUES)
    def test_never_below_the_raw_p_and_in_its_order(self, raw):
        adjusted = s.holm(raw)
        assert (adjusted >= raw).all()
        assert (adjusted <= 1).all()
        assert (np.diff(adjusted[np.argsort(raw, kind="stable")]) >= 0).all()

    @given(P_VALUES, st.randoms())
    def test_order_does_not_matter(self, raw, random):
        order = random.sample(range(len(raw)), len(raw))
        np.testing.assert_array_equal(s.holm(raw[order]), s.holm(raw)[order])

    @given(P_VALUES, st.floats(0.001, 0.2))
    def test_rejects_as_the_step_down_procedure(self, raw, alpha):
        rejected = 0
        for step, p in enumerate(sorted(raw)):
            if p * (len(raw) - step) > alpha:
                break
            rejected += 1
        assert (s.holm(raw) <= alpha).sum() == rejected

    @pytest.mark.parametrize("raw", [[0.5, math.nan], [1.5], [-0.1], [[0.5]]])
    def test_not_p_values(self, raw):
        with pytest.raises(
            ValueError, match="p-values must be a one-dimensional array with values"
        ):
            s.holm(raw)


class TestCorrectedT:
    def test_by_hand(self):
        """Mean 2, variance 1, three splits of 9 to 1: t = 2 / sqrt(1/3 + 1/9)."""
        test = s.corrected_resampled_t([1, 2, 3], 9, 1)
        assert test.statistic == pytest.approx(3.0)
        assert test.p_value == pytest.approx(2 * stats.t.sf(3.0, 2))
        assert (test.degrees, test.mean) == ((2,), 2.0)

    @given(ROW)
    def test_the_correction_is_the_only_change(self, row):
        """With a test side that is nearly nothing it is Student's paired test."""
        row = row - 10
        assume(row.std() > 0)
        test = s.corrected_resampled_t(row, 1e12, 1e-6)
        expected = stats.ttest_1samp(row, 0)
        assert test.statistic == pytest.approx(expected.statistic, abs=1e-9)
        assert test.p_value == pytest.approx(expected.pvalue, abs=1e-9)
        assert s.corrected_resampled_t(row, 9, 1).p_value >= test.p_value - 1e-12

    @given(ROW)
    def test_signs_do_not_matter(self, row):
        row = row - 10
        test, mirrored = (s.corrected_resampled_t(x, 9, 1) for x in (row, -row))
        assert (test.p_value, test.statistic) == (mirrored.p_value, -mirrored.statistic)

    def test_no_spread(self):
        assert s.corrected_resampled_t(np.zeros(5), 9, 1).p_value == 1.0
        assert s.corrected_resampled_t(-np.ones(5), 9, 1)[1:3] == (-math.inf, 0.0)

    def test_bad_folds(self):
        with pytest.raises(ValueError, match="two or more, not of shape"):
            s.corrected_resampled_t([1.0], 9, 1)
        with pytest.raises(ValueError, match="must be positive, not 9 and 0"):
            s.corrected_resampled_t([1.0, 2.0], 9, 0)
        with pytest.raises(ValueError, match="NaN or infinity"):
            s.corrected_resampled_t([1.0, math.nan], 9, 1)


def test_bad_figures():
    with pytest.raises(ValueError, match="two learners and two sets or more, not 1 and 5"):
        s.average_ranks(np.ones((5, 1)))
    with pytest.raises(ValueError, match="row 1, column 0 is nan"):
        s.average_ranks([[1.0, 2.0], [math.nan, 2.0]])
    with pytest.raises(ValueError, match=r"shape \(n_sets, n_learners\), not \(3,\)"):
        s.average_ranks(np.ones(3))
