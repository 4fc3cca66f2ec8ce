import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from budget import examples
from builders import SEEDS
from rulewright_lab.experiments import paired_tests as s
from rulewright_lab.experiments.printed import printed_table

ROW = arrays(float, st.integers(2, 30), elements=st.integers(0, 20).map(float))
EVERY = pytest.mark.parametrize(
    "test", [s.win_tie_loss, s.wilcoxon_signed_rank, s.bayesian_signed_rank]
)


def pairs(most=30):
    """Draw two rows of the same length."""
    return st.integers(2, most).flatmap(
        lambda n: st.tuples(*[arrays(float, n, elements=st.integers(0, 9).map(float))] * 2)
    )


class TestRecords:
    @pytest.mark.parametrize(
        ("rival", "wins", "losses", "p"),
        [
            ("RIPPER+opt", 20, 9, 0.061),
            ("C4rules", 22, 8, 0.016),
            ("C5rules", 19, 11, 0.200),
        ],
    )
    def test_sign_tests_of_slipper(self, rival, wins, losses, p):
        table = printed_table("slipper-table1")
        record = s.win_tie_loss(table.column("SLIPPER"), table.column(rival))
        assert record == (wins, 32 - wins - losses, losses)
        assert record.sign_test() == s.sign_test(wins, losses)
        assert record.sign_test().p_value == pytest.approx(p, abs=6e-4)

    def test_sign_test_without_a_game(self):
        assert s.sign_test(0, 0).p_value == 1.0
        with pytest.raises(ValueError, match="must not be negative, not -1 and 3"):
            s.sign_test(-1, 3)

    @given(pairs())
    def test_records_swap(self, rows):
        wins, ties, losses = s.win_tie_loss(*rows)
        assert s.win_tie_loss(*rows[::-1]) == (losses, ties, wins)
        assert s.win_tie_loss(*rows, lower_is_better=False) == (losses, ties, wins)
        assert wins + ties + losses == len(rows[0])


class TestWilcoxon:
    def test_by_hand(self):
        test = s.wilcoxon_signed_rank([0.1, 0.2, 0.3, 0.4], [0.1, 0.3, 0.5, 0.1])
        assert test == (3.0, 1.0, 3.0, 3.0, 3)

    @examples(15)
    @given(pairs(most=13))
    def test_agrees_with_scipy_with_ties(self, rows):
        first, second = rows
        test = s.wilcoxon_signed_rank(first / 10, second / 10)
        differing = (first - second)[first != second]
        assume(len(differing))
        expected = stats.wilcoxon(differing)
        assert test[:2] == pytest.approx((expected.statistic, expected.pvalue))
        assert test.lower + test.higher == len(differing) * (len(differing) + 1) / 2

    @given(st.integers(2, 90), SEEDS)
    def test_agrees_with_scipy_without_ties(self, n, seed):
        first, second = np.random.default_rng(seed).normal([[0.2], [0.0]], 1.0, (2, n))
        expected = stats.wilcoxon(first, second)
        test = s.wilcoxon_signed_rank(first, second)
        assert test[:2] == pytest.approx((expected.statistic, expected.pvalue))

    def test_is_exact_where_scipy_approximates(self):
        """All signs the same for 20 equal differences: 2 of 2^20 choices of signs."""
        first, second = np.zeros(20), np.ones(20)
        assert s.wilcoxon_signed_rank(first, second).p_value == 2 / 2**20
        values = np.random.default_rng(3).integers(0, 9, (2, 40))
        expected = stats.wilcoxon(*values, method="asymptotic").pvalue
        assert s.wilcoxon_signed_rank(*values).p_value == pytest.approx(expected, abs=0.01)

    def test_without_a_difference(self):
        assert s.wilcoxon_signed_rank([1, 2, 3], [1, 2, 3]) == (0.0, 1.0, 0.0, 0.0, 0)

    @given(pairs())
    def test_swaps(self, rows):
        test, swapped = s.wilcoxon_signed_rank(*rows), s.wilcoxon_signed_rank(*rows[::-1])
        assert test.p_value == pytest.approx(swapped.p_value)
        assert (test.lower, test.higher) == (swapped.higher, swapped.lower)

    @pytest.mark.parametrize(
        ("learner", "printed"),
        [("CN2", 0.472), ("C5.0", 0.327), ("CN2-WRAcc", 0.586), ("FOIL", 0.0), ("stump", 0.094)],
    )
    def test_of_the_thesis(self, learner, printed):
        """Table 4.1 was computed before the accuracies of Table 4.2 were rounded."""
        table = printed_table("thesis-4.2")
        test = s.wilcoxon_signed_rank(table.column(learner), table.column("SL2"))
        assert test.p_value == pytest.approx(printed, abs=0.04)


def slow_signed_rank(differences, rope, n_samples, seed):
    """Run the test as the authors' program loops it, with 0.5 on a difference of 0."""
    places = [0.0, *differences]
    weights = np.random.default_rng(seed).dirichlet([0.5] + [1] * len(differences), n_samples)
    won = np.zeros(3)
    for draw in weights:
        shares = np.zeros(3)
        for one, w in zip(places, draw, strict=True):
            for two, v in zip(places, draw, strict=True):
                region = 1 + (one + two > 2 * rope) - (one + two < -2 * rope)
                shares[region] += w * v
        won[shares.argmax()] += 1
    return won / n_samples


class TestBayesianSignedRank:
    def test_twin(self):
        rng = np.random.default_rng(5)
        first, second = rng.normal(0.2, 0.05, (2, 8))
        test = s.bayesian_signed_rank(first, second, n_samples=300, random_state=3)
        assert test == pytest.approx(slow_signed_rank(first - second, 0.01, 300, 3))

    def test_clear_cases(self):
        low, high = np.full(20, 0.1), np.full(20, 0.2)
        assert s.bayesian_signed_rank(low, high).left > 0.999
        assert s.bayesian_signed_rank(high, low).right > 0.999
        assert s.bayesian_signed_rank(low, high, rope=0.2).rope == 1.0
        assert s.bayesian_signed_rank(low, low).rope == 1.0

    def test_the_border_belongs_to_the_rope(self):
        first, second = np.full(5, 0.3), np.full(5, 0.2)
        assert 0.3 - 0.2 < 0.1
        for pair in ((first, second), (second, first), (first + 0.1, second + 0.1)):
            assert s.bayesian_signed_rank(*pair, rope=0.1, n_samples=100).rope == 1.0

    @given(pairs(), st.integers(0, 5))
    def test_sums_to_one_and_swaps(self, rows, seed):
        options = {"rope": 0.5, "n_samples": 200, "random_state": seed}
        test = s.bayesian_signed_rank(*rows, **options)
        assert sum(test) == pytest.approx(1.0)
        assert s.bayesian_signed_rank(*rows[::-1], **options) == pytest.approx(test[::-1])

    def test_seeds(self):
        first, second = np.random.default_rng(1).normal(0.2, 0.05, (2, 15))
        assert s.bayesian_signed_rank(first, second) == s.bayesian_signed_rank(first, second)
        other = s.bayesian_signed_rank(first, second, random_state=1)
        assert other == pytest.approx(s.bayesian_signed_rank(first, second), abs=0.02)

    def test_draws_in_parts_are_the_same(self, monkeypatch):
        first, second = np.random.default_rng(2).normal(0.2, 0.05, (2, 6))
        whole = s.bayesian_signed_rank(first, second, n_samples=1000)
        monkeypatch.setattr("rulewright_lab.experiments.paired_tests._CELLS_AT_ONCE", 100)
        assert s.bayesian_signed_rank(first, second, n_samples=1000) == pytest.approx(whole)

    @pytest.mark.parametrize("bad", [{"rope": -1}, {"prior_strength": 0}, {"n_samples": 0}])
    def test_bad_settings(self, bad):
        with pytest.raises(ValueError, match="rope must not be negative"):
            s.bayesian_signed_rank([1, 2], [2, 3], **bad)


@EVERY
def test_bad_pairs(test):
    with pytest.raises(ValueError, match="two sets or more"):
        test([1.0], [2.0])
    with pytest.raises(ValueError, match=r"equally long, not \(2,\), \(3,\)"):
        test([1.0, 2.0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="NaN or infinity"):
        test([1.0, math.inf], [1.0, 2.0])


def test_results_can_be_read():
    assert str(s.win_tie_loss([1, 2, 3], [2, 2, 2])) == "1-1-1"
