import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from rulewright.comparison.statistics import holm
from rulewright_lab.experiments import statistics as s
from rulewright_lab.experiments.printed import printed_table

NAMES = ["a", "b", "c", "d", "e", "f"]


@st.composite
def figures(draw, tied=True):
    """Figures of some learners on some sets, in tenths, with equal ones or without."""
    n, k = draw(st.integers(2, 15)), draw(st.integers(2, 6))
    if tied:
        cells = st.integers(0, 6)
        return draw(arrays(float, (n, k), elements=cells.map(lambda i: i / 10)))
    rows = [draw(st.permutations(range(k))) for _ in range(n)]
    return np.array(rows, dtype=float) / 10


def mlrules_ranks():
    """Give the paper's ranks of all on 20 sets, with E10, and of three learners on 35."""
    table = printed_table("mlrules-table1")
    binary = np.array([table.other[f"{name} rank"][:20] for name in table.learners], float).T
    binary[table.sets.index("vote"), 0] = 4.0
    three = [table.other[f"{name} rank"] for name in ("LRI", "ML.G", "ML.N")]
    return binary, np.array(three, float).T


class TestFriedman:
    def test_figures_of_mlrules(self):
        binary, three = mlrules_ranks()
        first, second = s.friedman(binary, ties="plain"), s.friedman(three, ties="plain")
        assert first.statistic == pytest.approx(33.28, abs=1e-9)
        assert second.statistic == pytest.approx(3.53, abs=0.002)
        assert (first.degrees, second.degrees) == (4, 2)
        assert stats.chi2.isf(0.05, [4, 2]) == pytest.approx([9.488, 5.991], abs=5e-4)
        assert first.p_value < 0.05 < second.p_value

    def test_iman_davenport_by_hand(self):
        """Average ranks 5/4, 2, 11/4 on four sets: 12 * 4 / 12 * 9/8 = 4.5."""
        values = np.array([[1, 2, 3], [1, 2, 3], [1, 3, 2], [2, 1, 3]])
        test = s.friedman(values)
        assert test.statistic == pytest.approx(4.5)
        assert test.f_statistic == pytest.approx(3 * 4.5 / (8 - 4.5))
        assert test.f_degrees == (2, 6)
        assert test.f_p_value == pytest.approx(stats.f.sf(test.f_statistic, 2, 6))

    @given(figures())
    def test_agrees_with_scipy(self, values):
        assume(values.shape[1] > 2 and not (values == values[:, :1]).all())
        expected = stats.friedmanchisquare(*values.T)
        test = s.friedman(values)
        assert test.statistic == pytest.approx(expected.statistic, abs=1e-9)
        assert test.p_value == pytest.approx(expected.pvalue, abs=1e-9)

    @given(figures(tied=False))
    def test_both_forms_agree_without_ties(self, values):
        corrected, plain = s.friedman(values), s.friedman(values, ties="plain")
        assert corrected.statistic == pytest.approx(plain.statistic, abs=1e-9)

    @given(figures())
    def test_the_correction_never_lowers(self, values):
        corrected, plain = s.friedman(values), s.friedman(values, ties="plain")
        assert corrected.statistic >= plain.statistic - 1e-9

    @given(figures(), st.randoms())
    def test_order_and_direction_do_not_matter(self, values, random):
        columns = random.sample(range(values.shape[1]), values.shape[1])
        for other in (values[:, columns], -values, 100 * values):
            assert s.friedman(other)[:2] == pytest.approx(s.friedman(values)[:2], abs=1e-9)

    def test_nothing_and_everything_differs(self):
        same = s.friedman(np.ones((4, 3)))
        assert (same.statistic, same.p_value, same.f_p_value) == (0.0, 1.0, 1.0)
        clear = s.friedman(np.tile([1.0, 2.0, 3.0], (4, 1)))
        assert (clear.statistic, clear.f_statistic, clear.f_p_value) == (8.0, math.inf, 0.0)

    def test_unknown_ties(self):
        with pytest.raises(ValueError, match="ties must be 'corrected' or 'plain', not 'none'"):
            s.friedman(np.ones((4, 3)), ties="none")


class TestNemenyi:
    def test_critical_differences(self):
        """MLRules' figure, and the table of q of Demsar (2006) for alpha .05 and .10."""
        assert s.critical_difference(5, 20) == pytest.approx(1.364, abs=5e-4)
        for alpha, table in (
            (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
            (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
        ):
            for k, q in enumerate(table, start=2):
                cd = s.critical_difference(k, 10, alpha=alpha)
                assert cd == pytest.approx(q * math.sqrt(k * (k + 1) / 60), abs=1e-3)

    def test_groups_of_mlrules(self):
        """As the paper's text: MLRules differ from SLIPPER and RuleFit but not from LRI."""
        test = s.nemenyi(mlrules_ranks()[0], printed_table("mlrules-table1").learners)
        assert list(test.ranks) == ["ML.G", "ML.N", "LRI", "SLIPPER", "RuleFit"]
        assert test.groups == (("ML.G", "ML.N", "LRI"), ("LRI", "SLIPPER", "RuleFit"))

    def test_groups_by_hand(self):
        ranks = {"d": 4.0, "a": 1.0, "c": 2.5, "b": 2.0, "e": 6.0}
        assert s.rank_groups(ranks, 1.5) == (("a", "b", "c"), ("c", "d"))
        assert s.rank_groups(ranks, 0.4) == ()
        assert s.rank_groups(ranks, 5.0) == (("a", "b", "c", "d", "e"),)

    @given(st.lists(st.floats(1, 6), min_size=2, max_size=6), st.floats(0, 5))
    def test_groups_hold_exactly_the_near_pairs(self, values, cd):
        ranks = dict(zip(NAMES, values, strict=False))
        groups = s.rank_groups(ranks, cd)
        for one in ranks:
            for two in set(ranks) - {one}:
                near = abs(ranks[one] - ranks[two]) <= cd + 1e-12
                assert near == any({one, two} <= set(group) for group in groups)
        assert not any(set(one) <= set(two) for one in groups for two in groups if one != two)


class TestAllPairs:
    @given(figures())
    def test_all_pairs(self, values):
        names = NAMES[: values.shape[1]]
        rows = s.compare_all_pairs(values, names)
        assert [(row.first, row.second) for row in rows] == [
            (one, two) for i, one in enumerate(names) for two in names[i + 1 :]
        ]
        np.testing.assert_array_equal(
            [row.adjusted for row in rows], holm([row.p_value for row in rows])
        )
        for row in rows:
            one, two = values[:, names.index(row.first)], values[:, names.index(row.second)]
            assert row.p_value == s.wilcoxon_signed_rank(one, two).p_value
            assert row.record == s.win_tie_loss(one, two)

    def test_against_a_control(self):
        values = np.random.default_rng(0).normal(size=(12, 4))
        rows = s.compare_all_pairs(values, NAMES[:4], control="c", lower_is_better=False)
        assert [(row.first, row.second) for row in rows] == [("c", "a"), ("c", "b"), ("c", "d")]
        assert rows[0].record.wins == (values[:, 2] > values[:, 0]).sum()
        with pytest.raises(ValueError, match="no learner 'z', only a, b, c, d"):
            s.compare_all_pairs(values, NAMES[:4], control="z")


MATRIX_TESTS = {
    "friedman": s.friedman,
    "nemenyi": lambda values: s.nemenyi(values, NAMES[: np.shape(values)[-1]]),
    "compare_all_pairs": lambda values: s.compare_all_pairs(values, NAMES[: np.shape(values)[-1]]),
}


@pytest.mark.parametrize("test", MATRIX_TESTS.values(), ids=MATRIX_TESTS.keys())
def test_bad_figures(test):
    with pytest.raises(ValueError, match="two learners and two sets or more, not 1 and 5"):
        test(np.ones((5, 1)))
    with pytest.raises(ValueError, match="two learners and two sets or more, not 3 and 1"):
        test(np.ones((1, 3)))
    with pytest.raises(ValueError, match="row 1, column 0 is nan"):
        test([[1.0, 2.0], [math.nan, 2.0]])
    with pytest.raises(ValueError, match=r"shape \(n_sets, n_learners\), not \(3,\)"):
        test(np.ones(3))


def test_bad_names_and_levels():
    for names in (["a"], ["a", "a"], NAMES):
        with pytest.raises(ValueError, match="2 columns need as many different names"):
            s.nemenyi(np.ones((3, 2)), names)
    with pytest.raises(ValueError, match="alpha must lie between 0 and 1, not 5"):
        s.critical_difference(3, 10, alpha=5)


def test_results_can_be_read():
    binary, _ = mlrules_ranks()
    learners = printed_table("mlrules-table1").learners
    assert str(s.friedman(binary, ties="plain")) == (
        "Friedman test: chi-square(4) = 33.28, p < 0.001; "
        "Iman-Davenport F(4, 76) = 13.53, p < 0.001"
    )
    assert str(s.nemenyi(binary, learners)) == (
        "Nemenyi test: average ranks ML.G 1.85, ML.N 2.05, LRI 3.15, SLIPPER 3.90, RuleFit 4.05; "
        "critical difference 1.364 at alpha 0.05; "
        "not different: ML.G, ML.N, LRI | LRI, SLIPPER, RuleFit"
    )
