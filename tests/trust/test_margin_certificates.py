"""Certificates of weighted rules: what they are made of, and how often they fail."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import SEEDS
from margin_problems import draw_problem
from rulewright import bounds as b
from rulewright.encoding.signed import SignedCovers
from rulewright.trust.certificates.margins import (
    SAME_ROWS,
    best_scale,
    complexities,
    divergence,
    margin_certificates,
)
from rulewright.weighting import MMV

NAMES = ("mmv", "margin", "pac_bayes_mmv", "pac_bayes_margin")
NAMES += ("rademacher_mmv", "rademacher_margin")


def certified(problem, w, generated=10, delta=0.05, **options):
    options = {"bins_from_other_rows": True, "all_rules": True} | options
    return margin_certificates(problem.covers, w, problem.y, generated, delta, **options)


def rule_of_95_percent(n):
    """Give one rule that is right on 95 percent of n rows, and the classes."""
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    return SignedCovers.pack(np.where(np.arange(n) < n // 20, -y, y)[np.newaxis]), y


def test_the_bounds_are_those_of_the_card():
    """B22, B23 and B24 by hand, for one rule that is right on 1900 of 2000 rows."""
    rule, y = rule_of_95_percent(2000)
    found = margin_certificates(rule, [3.0], y, 5, 0.1, bins_from_other_rows=True)
    mean, variance = 0.9, 0.19 * 2000 / 1999
    scale = min(1, mean / (2 * variance))
    assert (found.mean, found.l1_norm) == pytest.approx((scale * mean, scale))
    spent = 0.1 / 30
    lower = mean - math.sqrt(2 / 2000 * math.log(10 / spent))
    assert found.margin.value == pytest.approx(1 - lower)
    gamma = scale * mean - scale**2 * variance
    lower = gamma - math.sqrt(18 / 2000 * (2 * math.log(10) + math.log(1 / spent)))
    assert lower > 0.25
    assert found.mmv.value == pytest.approx(1 - math.sqrt(lower))
    assert found.mmv.terms["prefix_delta"] == spent
    assert (found.mmv.delta, found.mmv.n, found.mmv.certified) == (0.1, 2000, True)
    assert found.rademacher_mmv is None
    assert "5 rules generated" in str(found)
    assert "pac bayes margin: error <= " in str(found)


@given(SEEDS, st.sampled_from([0.2, 1.0, 7.0]))
def test_bounds_lie_above_the_training_error_and_know_no_scale(seed, scale):
    """Margins of 0 count as errors; any multiple of the weights has the same certificate."""
    problem = draw_problem(seed)
    w = np.random.default_rng(seed).normal(size=len(problem.x))
    found, scaled = certified(problem, w), certified(problem, scale * w)
    error = np.mean(problem.margins @ w <= 0)
    for name in NAMES:
        bound = getattr(found, name)
        assert bound.value >= error - 1e-12
        assert bound.value == pytest.approx(getattr(scaled, name).value)
        assert bound.certified or problem.x.shape[1] < 19
    assert found.l1_norm <= 1 + 1e-12


@given(SEEDS)
def test_empirical_margins_bound_the_empirical_error(seed):
    """B14 and B15 hold on the sample itself, also with the variance of n - 1."""
    problem = draw_problem(seed)
    w = np.random.default_rng(seed).normal(size=len(problem.x))
    w /= np.abs(w).sum()
    mean, variance = problem.means @ w, w @ problem.covariance @ w
    error = np.mean(problem.margins @ w <= 0)
    assert error <= b.margin_to_error(mean).value + 1e-12
    scale = best_scale(mean, variance)
    assert error <= b.mmv_to_error(scale * mean - scale**2 * variance).value + 1e-12


@given(SEEDS, st.integers(1, 6), st.integers(0, 5), st.floats(0, 1))
def test_the_divergence_is_that_of_all_signed_rules(seed, used, idle, norm):
    """What is left over lies on all 2m signed rules, used or not."""
    m = used + idle
    w = np.random.default_rng(seed).dirichlet(np.ones(used)) * norm
    spread = np.full(2 * m, (1 - norm) / (2 * m))
    spread[:used] += w
    assert divergence(w, m) == pytest.approx(
        b.kl_divergence(spread / spread.sum(), np.full(2 * m, 1 / (2 * m))), abs=1e-9
    )


@given(SEEDS)
def test_complexities_by_counting_equal_the_dense_ones(seed):
    """S_X and T_X are those of the matrix of values."""
    problem, rng = draw_problem(seed), np.random.default_rng(seed)
    signs = rng.choice([-1, 1], (3, len(problem.y)))
    found = complexities(problem.covers, signs)
    assert found[0] == pytest.approx(b.margin_complexity(problem.x.T, signs))
    assert found[1] == pytest.approx(b.product_complexity(problem.x.T, signs))


def test_rules_from_the_same_rows_and_weighted_rows_are_no_certificates():
    """The figures stay, with the reasons."""
    problem = draw_problem(4, max_rules=4)
    w = np.ones(len(problem.x))
    same = certified(problem, w, bins_from_other_rows=False)
    assert all(SAME_ROWS in getattr(same, name).reasons for name in NAMES)
    weighted = certified(problem, w, row_weights=1 + np.arange(len(problem.y)))
    assert not any(getattr(weighted, name).certified for name in NAMES)
    equal = certified(problem, w, row_weights=np.full(len(problem.y), 3.0))
    assert equal.mmv == certified(problem, w).mmv


def test_later_prefixes_are_charged_more():
    """The same weights have larger bounds the more rules were generated."""
    rule, y = rule_of_95_percent(40000)
    options = {"bins_from_other_rows": True, "all_rules": True}
    found = [margin_certificates(rule, [1.0], y, i, **options) for i in (2, 200, 2000)]
    for name in NAMES:
        values = [getattr(one, name).value for one in found]
        assert 0.05 < values[0] < values[1] < values[2] < 1


@pytest.mark.parametrize(
    ("weights", "y", "message"),
    [
        ([0.0], [1, 1, -1], "not all 0"),
        ([1.0, 1.0], [1, 1, -1], "1 numbers"),
        ([1.0], [1, 0, -1], "-1 or 1"),
        ([1.0], [1, -1], "3 rows"),
    ],
)
def test_figures_that_make_no_sense_are_refused(weights, y, message):
    """Weights and classes must fit the rules and rows."""
    with pytest.raises(ValueError, match=message):
        margin_certificates(SignedCovers.constant(3), weights, y, 1, bins_from_other_rows=True)


def noisy_rules(distribution, n, rng):
    """Draw rows of one of ten known distributions: values of 8 rules, classes, and the truth.

    The class is the sign of the first rules' majority (distribution % 5 of them, 0: none), turned
    with a probability; other rules are noise, some are often unknown.
    """
    n_true, noise = distribution % 5, 0.02 if distribution < 5 else 0.2
    x = rng.choice([-1, 1], (8, n)) * (rng.random((8, n)) < np.linspace(1, 0.5, 8)[:, np.newaxis])
    x[0] = 1
    votes = x[1 : 1 + n_true].sum(axis=0)
    y = np.where(votes > 0, 1.0, np.where(votes < 0, -1.0, rng.choice([-1.0, 1.0], n)))
    return x, np.where(rng.random(n) < noise, -y, y)


@pytest.mark.parametrize("distribution", range(10))
def test_certificates_hold_as_often_as_they_say(distribution):
    """On known distributions bounds of the chosen prefix fail with probability delta at most."""
    rng = np.random.default_rng(distribution)
    x_new, y_new = noisy_rules(distribution, 20000, rng)
    draws, n, delta, fails = 30, 3000, 0.2, dict.fromkeys(NAMES, 0)
    for _ in range(draws):
        x, y = noisy_rules(distribution, n, rng)
        state, best = MMV().start(y, np.full(n, 1 / n)), (-np.inf, 1, None)
        for i in range(1, 9):
            if state.add(SignedCovers.pack(x[i - 1 : i])):
                state.solve()
            score = state.solution.value - math.sqrt(2 * math.log(i) / n)
            best = max(best, (score, i, state.solution), key=lambda found: found[0])
        _, i, solution = best
        if len(solution.lines) == 0:
            continue
        w = np.zeros(8)
        w[solution.lines] = solution.weights
        found = margin_certificates(
            SignedCovers.pack(x[:i]), w[:i], y, i, delta, bins_from_other_rows=True, all_rules=True
        )
        error = np.mean(y_new * (w @ x_new) <= 0)
        for name in NAMES:
            fails[name] += getattr(found, name).value < error
    assert max(fails.values()) <= delta * draws
    if 0 < distribution < 5:  # little noise: bounds of mean margins say something
        assert not found.margin.vacuous
        assert not found.rademacher_margin.vacuous
