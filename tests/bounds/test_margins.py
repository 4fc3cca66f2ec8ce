import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from builders import SEEDS
from rulewright import bounds as b

MMVS = np.linspace(-1.25, 1, 451)


@given(SEEDS, st.integers(1, 8), st.sampled_from([0.05, 0.3, 1.0]))
def test_margins_bound_the_error_of_every_law(seed, n_points, spread):
    """For random laws of margins in [-1, 1] B14, B15 and Cantelli are above Pr[margin <= 0]."""
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(n_points, spread))
    margins = rng.choice([rng.uniform(-1, 1, n_points), rng.choice([0.0, 1.0], n_points)])
    mean = law @ margins
    variance = law @ (margins - mean) ** 2
    error = law[margins <= 0].sum() - 1e-9
    assert error <= b.margin_to_error(mean).value
    assert error <= b.mmv_to_error(mean - variance).value
    assert error <= b.mmv_to_error(mean - variance, form="thesis").value
    assert error <= b.cantelli_bound(mean, variance).value


def test_the_sharp_form_is_attained():
    """A law with eps on 0 and the rest on 1 has just the error of the bound, for gamma >= 1/4."""
    for eps in (0.0, 0.1, 0.3, 0.5):
        mmv = (1 - eps) - eps * (1 - eps)
        assert b.mmv_to_error(mmv).value == pytest.approx(eps)
    for eps in (0.6, 0.8):
        t = 1 / (2 * eps)
        mmv = (1 - eps) * t - eps * (1 - eps) * t * t
        assert b.mmv_to_error(mmv).value == pytest.approx(eps)


def test_mmv_to_error_falls_without_a_jump():
    """Both forms fall from 1 to 0 continuously, and the sharp one is below (B15, I1, I10)."""
    sharp = np.array([b.mmv_to_error(g).value for g in MMVS])
    thesis = np.array([b.mmv_to_error(g, form="thesis").value for g in MMVS])
    for values in (sharp, thesis):
        assert (np.diff(values) <= 0).all()
        assert np.abs(np.diff(values)).max() < 0.021
        assert (values[MMVS <= 0] == 1).all()
        assert values[-1] == pytest.approx(0)
    assert (sharp <= thesis + 1e-12).all()
    assert b.mmv_to_error(0.25).value == pytest.approx(0.5)
    assert b.mmv_to_error(0.5, form="thesis").value == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="form"):
        b.mmv_to_error(0.5, form="best")


def test_cantelli_does_not_depend_on_the_scale():
    """Any scale of the weights gives the same; the best scale for MMV meets 1/(1 + 4 gamma)."""
    mean, variance = 0.3, 0.4
    values = [b.cantelli_bound(s * mean, s * s * variance).value for s in (1e-150, 1, 1e150)]
    assert values == pytest.approx([0.4 / 0.49] * 3)
    scale = mean / (2 * variance)
    mmv = scale * mean - scale**2 * variance
    assert values[0] == pytest.approx(1 / (1 + 4 * mmv))
    assert b.cantelli_bound(-0.1, 0.4).value == b.cantelli_bound(0, 0).value == 1
    assert b.cantelli_bound(0.1, 0).value == 0


def test_large_weights_are_no_certificate():
    """L1(w) > 1, or margins that only such weights have, break the condition."""
    assert b.margin_to_error(0.4).certified
    assert not b.margin_to_error(0.4, l1_norm=1.01).certified
    assert "L1(w) = 3 exceeds 1" in str(b.mmv_to_error(0.4, l1_norm=3))
    assert not b.margin_to_error(2.0).certified
    assert not b.repository_margin_bound(2.0, 10, 100).certified
    with pytest.raises(ValueError, match="l1_norm"):
        b.margin_to_error(0.4, l1_norm=-1)


def test_a_lower_bound_becomes_an_upper_one():
    """Delta, rows, doubts and assumptions go with it, and a lower figure never helps (I10)."""
    lower = b.repository_mmv_bound(0.9, 50, 20000, 0.01).doubt("labels made the rules")
    upper = b.mmv_to_error(lower)
    assert (upper.side, upper.delta, upper.n) == ("upper", 0.01, 20000)
    assert upper.value >= b.mmv_to_error(0.9).value
    assert upper.reasons == lower.reasons
    assert set(lower.assumptions) <= set(upper.assumptions)
    for convert in (b.margin_to_error, b.mmv_to_error):
        with pytest.raises(ValueError, match="must be a lower bound"):
            convert(b.held_out_bound(1, 10))
    with pytest.raises(ValueError, match="mean margin"):
        b.margin_to_error(lower)


def test_mcdiarmid_covers_the_binomial_tail():
    """The mean of n fair bits deviates by t no more often than it says (B17)."""
    for n, t in ((10, 0.2), (100, 0.1), (100, 0.3)):
        tail = stats.binom.sf(math.ceil(n / 2 + t * n - 1e-9) - 1, n, 0.5)
        assert (
            tail
            <= b.mcdiarmid_tail(t, [1 / n] * n).value
            == pytest.approx(math.exp(-2 * n * t * t))
        )
    assert b.mcdiarmid_tail(0.1, [0.0]).value == 0
    assert b.mcdiarmid_tail(0.0, []).value == 1


def test_penalties_by_norm_are_ordered():
    """The norm p = 1 is cheapest, then 2, then infinity (I6), and B23 costs more than B22 (I7)."""
    for m in (1, 5, 1000):
        for n in (10, 1000):
            penalties = [-b.repository_margin_bound(0, m, n, p=p).raw for p in (1, 2, math.inf)]
            assert penalties == sorted(penalties)
            assert -b.repository_mmv_bound(0, m, n).raw >= penalties[0]
            assert penalties[1] == pytest.approx(penalties[0] * math.sqrt(m))


def test_repository_bounds_pay_for_every_rule():
    """More rules generated lower both bounds; no rule counts as the constant one (B22, B23)."""
    for bound in (b.repository_margin_bound, b.repository_mmv_bound):
        raws = [bound(0.5, m, 1000).raw for m in (1, 2, 10, 1000, 10**9)]
        assert all(a > c for a, c in pairwise(raws))
        assert bound(0.5, 0, 1000).raw == raws[0]
    signed = b.repository_mmv_bound(0.5, 10, 1000).raw
    assert signed < b.repository_mmv_bound(0.5, 10, 1000, distribution=True).raw
    penalty = -b.repository_mmv_bound(0, 1600, 690).raw
    assert penalty == pytest.approx(math.sqrt(18 * (2 * math.log(3200) + math.log(20)) / 690))


def test_example_weights_replace_the_number_of_rows():
    """Equal weights change nothing, unequal ones cost, and other weights are refused (B22)."""
    plain = b.repository_margin_bound(0.5, 10, 50).raw
    alike = b.repository_margin_bound(0.5, 10, 50, example_weights=np.full(50, 0.02)).raw
    assert alike == pytest.approx(plain)
    skewed = np.repeat([0.03, 0.01], 25)
    assert b.repository_margin_bound(0.5, 10, 50, example_weights=skewed).raw < plain
    for bad in (np.full(50, 1.0), np.full(49, 1 / 49), np.array([2.0, *[-1 / 49] * 49])):
        with pytest.raises(ValueError, match="example_weights"):
            b.repository_margin_bound(0.5, 10, 50, example_weights=bad)


def test_norms_below_one_are_refused():
    """Below p = 1 there is no norm."""
    for p in (0.5, math.nan):
        with pytest.raises(ValueError, match="p must"):
            b.rule_radius(10, p)
        with pytest.raises(ValueError, match="p must"):
            b.margin_complexity([[1.0]], [1.0], p)


def test_rule_radius_is_the_largest_norm():
    """R_q is the q-norm of m ones."""
    for p, q in ((1, math.inf), (2, 2), (math.inf, 1), (3, 1.5)):
        assert b.rule_radius(7, p) == pytest.approx(np.linalg.norm(np.ones(7), q))
    assert b.rule_radius(0, 2) == 1


def test_prefixes_spend_delta_together():
    """The sum over all prefixes comes up to delta and not above (B24)."""
    spent = math.fsum(b.prefix_delta(i, 0.05) for i in range(1, 10**5))
    assert 0.05 * (1 - 1e-4) < spent < 0.05
    with pytest.raises(ValueError, match="prefix"):
        b.prefix_delta(0, 0.05)


def test_the_certificate_of_a_prefix_is_the_chain():
    """B23 (or B22) at the prefix's part of delta, turned into an error, stated at delta."""
    bound = b.prefix_certificate(0.8, 40, 50000, 0.05)
    lower = b.repository_mmv_bound(0.8, 40, 50000, 0.05 / (40 * 41))
    assert bound.value == b.mmv_to_error(lower).value
    assert bound.delta == 0.05
    bound = b.prefix_certificate(0.8, 40, 50000, 0.05, criterion="margin")
    lower = b.repository_margin_bound(0.8, 40, 50000, 0.05 / (40 * 41))
    assert bound.value == b.margin_to_error(lower).value
    assert "vacuous" in str(b.prefix_certificate(0.6, 1600, 690))
    with pytest.raises(ValueError, match="criterion"):
        b.prefix_certificate(0.8, 40, 50000, criterion="best")


def test_uniform_weights_have_the_least_divergence():
    """KL is ln(2m) - entropy(w): ln 2 for equal weights of any sign, ln(2m) for one rule (B20)."""
    assert b.signed_rule_kl([0.25, -0.25, 0.25, -0.25]) == pytest.approx(math.log(2))
    assert b.signed_rule_kl([0, -1, 0, 0]) == pytest.approx(math.log(8))
    both = [0.1, 0.2, 0.3, 0.4], [1 / 8] * 8
    signed = b.kl_divergence([*both[0], *[0.0] * 4], both[1])
    assert b.signed_rule_kl(both[0]) == pytest.approx(signed)
    with pytest.raises(ValueError, match="L1"):
        b.signed_rule_kl([0.5, 0.4])


def test_too_few_rows_for_pac_bayes_on_margins():
    """Below 3 and 19 rows B20 and B21 say nothing, with the reason."""
    for bound, least, floor in (
        (b.pac_bayes_margin_bound, 3, -1),
        (b.pac_bayes_mmv_bound, 19, -1.25),
    ):
        few = bound(0.5, 1.0, least - 1)
        assert (few.value, few.certified) == (floor, False)
        assert f"it needs {least} or more rows" in str(few)
        assert bound(0.5, 1.0, least).certified


def test_mean_minus_variance_reaches_its_least():
    """-1 three times in four has -5/4, so clipping at -1 would not be safe."""
    law, margins = np.array([0.75, 0.25]), np.array([-1.0, 1.0])
    mean = law @ margins
    least = mean - law @ (margins - mean) ** 2
    assert least == b.repository_mmv_bound(0, 10, 1).value == -1.25


@given(SEEDS, st.integers(1, 30), st.integers(1, 6))
def test_complexities_are_their_suprema(seed, n, m):
    """S_X is what the best weights of the ball reach, T_X the largest product of two rules."""
    rng = np.random.default_rng(seed)
    x, signs = rng.uniform(-1, 1, (n, m)), rng.choice([-1, 1], n)
    means = signs @ x / n
    assert b.margin_complexity(x, signs) == pytest.approx(np.abs(means).max())
    for p in (1.5, 2, math.inf):
        weights = rng.normal(size=(200, m))
        weights /= np.linalg.norm(weights, p, axis=1)[:, None]
        assert (weights @ means).max() <= b.margin_complexity(x, signs, p) + 1e-12
    best = means / max(np.linalg.norm(means), 1e-300)
    assert b.margin_complexity(x, signs, 2) == pytest.approx(best @ means)
    products = max(abs(signs @ (x[:, i] * x[:, j])) / n for i in range(m) for j in range(m))
    assert b.product_complexity(x, signs) == pytest.approx(products)
    draws = np.array([signs, -signs, np.ones(n)])
    mean = np.mean([b.product_complexity(x, r) for r in draws])
    assert b.product_complexity(x, draws) == pytest.approx(mean)


@given(SEEDS)
def test_the_mmv_bound_is_below_the_margin_bound(seed):
    """B19 is below B18 on the same draw (I11), and S_X and the radius lower both."""
    rng = np.random.default_rng(seed)
    margin, variance, s, t = rng.random(4)
    mmv = b.rademacher_mmv_bound(margin - variance, s, t, 200).raw
    margin_bound = b.rademacher_margin_bound(margin, s, 200).raw
    assert mmv < margin_bound
    assert b.rademacher_margin_bound(margin, s + 0.1, 200).raw == pytest.approx(margin_bound - 0.2)
    assert b.rademacher_margin_bound(margin, s, 200, radius=2).raw < margin_bound
    assert b.rademacher_error_bound(0.1, s + 0.1, 200).raw == pytest.approx(
        b.rademacher_error_bound(0.1, s, 200).raw + 0.2
    )


def test_bad_draws_are_refused():
    """Rules outside [-1, 1], no rules, and signs that are none are named."""
    for x in ([[2.0]], np.zeros((1, 0)), [1.0]):
        with pytest.raises(ValueError, match="x must"):
            b.margin_complexity(x, [1])
    for signs in ([0.5], [1, 1]):
        with pytest.raises(ValueError, match="signs"):
            b.product_complexity([[1.0]], signs)


def test_priors_of_rules_charge_each_by_its_own():
    """Equal priors give the bound of m rules; a rule with a larger prior is charged less."""
    equal = b.prior_margin_bound(0.5, [0.6, -0.4, 0.0], np.full(3, math.log(3)), 1000)
    assert equal.value == pytest.approx(b.repository_margin_bound(0.5, 3, 1000).value)
    costs = b.prior_costs([math.log(2), math.log(8)], 50, 0.1)
    expected = [math.sqrt(2 * math.log(2 * odds / 0.1) / 50) for odds in (2, 8)]
    np.testing.assert_allclose(costs, expected)
    with pytest.raises(ValueError, match="L1 norm 1"):
        b.prior_margin_bound(0.5, [0.8, 0.4], np.full(2, math.log(2)), 1000)
    with pytest.raises(ValueError, match="sum 1"):
        b.prior_costs([0.1, 0.1], 50)
