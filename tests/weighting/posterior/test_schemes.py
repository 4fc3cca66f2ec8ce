"""Log weights of single rules: identities, vectors and invariants of the card, section 2."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import xlogy

from rulewright.weighting import (
    SCHEMES,
    PosteriorReport,
    log_posterior,
    log_rule_weights,
    normalise_by_coverage,
    weights_from_logs,
)

TOTALS = np.array([100, 100])
RULES = np.array([[12, 0], [3, 27]])


@st.composite
def samples(draw):
    """Draw class counts of a sample and of a few rules of it."""
    n_classes = draw(st.integers(2, 4))
    totals = np.array(draw(st.lists(st.integers(1, 60), min_size=n_classes, max_size=n_classes)))
    rules = [
        [draw(st.integers(0, int(total))) for total in totals]
        for _ in range(draw(st.integers(1, 5)))
    ]
    rules = np.array(rules)
    rules[rules.sum(axis=1) == 0, 0] = 1
    return rules, totals


def divergence(counts, prior):
    """Give N KL(shares || prior)."""
    shares = counts / max(counts.sum(), 1)
    return float(np.sum(xlogy(counts, shares) - xlogy(counts, prior)))


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [(1, (0.0616, 0.9384)), (2, (0.0173, 0.9827)), (3, (0.8568, 0.1432))],
)
def test_the_vector_of_the_card(scheme, expected):
    """Two rules of 200 rows: the first two schemes prefer the large one, the third the pure one."""
    weights = weights_from_logs(log_posterior(log_rule_weights(RULES, TOTALS, scheme)))
    np.testing.assert_allclose(weights, expected, atol=5e-5)


@given(samples())
def test_scheme_one_is_half_the_likelihood_ratio_statistic(sample):
    """n_r KL(p_r || p) >= 0, and 0 for a rule with the shares of the sample."""
    rules, totals = sample
    prior = totals / totals.sum()
    found = log_rule_weights(rules, totals, 1)
    np.testing.assert_allclose(found, [divergence(r, prior) for r in rules], atol=1e-9)
    assert np.all(found >= 0)
    np.testing.assert_allclose(log_rule_weights([totals], totals, 1), 0, atol=1e-9)


@given(samples())
def test_scheme_two_is_the_mutual_information_less_the_entropy(sample):
    """N (I(class; r) - H(class)), with the information computed from the joint distribution."""
    rules, totals = sample
    n = totals.sum()
    for rule, found in zip(rules, log_rule_weights(rules, totals, 2), strict=True):
        joint = np.array([rule, totals - rule]) / n
        independent = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        information = np.sum(xlogy(joint, joint) - xlogy(joint, np.where(joint, independent, 1)))
        entropy = -np.sum(xlogy(totals / n, totals / n))
        assert found == pytest.approx(n * (information - entropy), abs=1e-8)


@given(samples())
def test_scheme_three_is_the_product_of_a_binomial_and_two_multinomials(sample):
    """The triplet of the paper, multiplied out by logs of factorials."""
    rules, totals = sample
    n = totals.sum()

    def factorial(m):
        return float(np.sum(np.log(np.arange(1, m + 1))))

    def multinomial(counts):
        size = counts.sum()
        ways = factorial(size) - sum(map(factorial, counts))
        return ways + float(np.sum(xlogy(counts, counts / max(size, 1))))

    for rule, found in zip(rules, log_rule_weights(rules, totals, 3), strict=True):
        rest = totals - rule
        sides = multinomial(np.array([rule.sum(), rest.sum()]))
        expected = sides + multinomial(rule) + multinomial(rest)
        assert found == pytest.approx(expected, abs=1e-8)
        cells = np.concatenate([rule, rest])
        filled = cells[cells > 0]
        stirling = 0.5 * np.log(2 * np.pi * n) - 0.5 * np.sum(np.log(2 * np.pi * filled))
        assert abs(found - stirling) <= np.sum(1 / (12 * filled)) + 1e-9
    counts = np.array([[40, 12], [25, 30]])
    log = log_rule_weights(counts, [120, 90], 3)
    cells = np.concatenate([counts, [120, 90] - counts], axis=1)
    flat = 0.5 * np.log(2 * np.pi * 210) - 0.5 * np.log(2 * np.pi * cells).sum(axis=1)
    np.testing.assert_allclose(log, flat, atol=0.03)


@given(samples())
def test_the_second_scheme_exceeds_the_first_by_the_complement(sample):
    """Up to n H(class), log w2 - log w1 = (n - n_r) KL(q || p) >= 0."""
    rules, totals = sample
    prior = totals / totals.sum()
    constant = -float(np.sum(xlogy(totals, prior)))
    one, two = (log_rule_weights(rules, totals, scheme) for scheme in (1, 2))
    expected = [divergence(totals - r, prior) for r in rules]
    np.testing.assert_allclose(two + constant - one, expected, atol=1e-8)


@given(samples())
def test_every_example_twice_squares_the_odds(sample):
    """For the schemes that are exponential in the counts, but not for the third."""
    rules, totals = sample
    for scheme in (1, 2):
        once = log_rule_weights(rules, totals, scheme)
        twice = log_rule_weights(2 * rules, 2 * totals, scheme)
        np.testing.assert_allclose(twice, 2 * once, atol=1e-8)


def test_the_third_scheme_is_the_flattest_and_votes_of_counts_are_flatter():
    """As in the card's simulations: relative perplexity of 40 random rules by scheme."""
    rng = np.random.default_rng(0)
    y = rng.random(300) < 0.4
    x = rng.random((300, 6)) + 0.25 * y[:, None]
    rules = []
    while len(rules) < 40:
        column, cut = rng.integers(6), rng.random() + 0.1
        held = (x[:, column] > cut) & (x[:, rng.integers(6)] > rng.random() * 0.6)
        if held.sum() > 5:
            rules.append([np.sum(held & ~y), np.sum(held & y)])
    rules, totals = np.array(rules), np.array([np.sum(~y), np.sum(y)])
    spread = [
        PosteriorReport.of(log_rule_weights(rules, totals, scheme)).perplexity / 40
        for scheme in SCHEMES
    ]
    votes = PosteriorReport.of(np.log(rules.sum(axis=1))).perplexity / 40
    assert max(spread[:2]) < 0.3 < spread[2] < votes


def test_a_rule_without_rows_is_left_out_and_one_of_all_rows_has_no_complement():
    """n_r = 0 weighs nothing, with a warning; n_r = n has only its own terms."""
    for scheme in SCHEMES:
        with pytest.warns(UserWarning, match="rule 1 covers no row"):
            found = log_rule_weights([[3, 27], [0, 0]], TOTALS, scheme)
        assert np.isfinite(found[0])
        assert found[1] == -np.inf
        assert np.isfinite(log_rule_weights([TOTALS], TOTALS, scheme)).all()


def test_normalising_by_coverage():
    """Gamma = 0 is the scheme itself; gamma = 1 the divergence per covered row."""
    logs = log_rule_weights(RULES, TOTALS, 1)
    np.testing.assert_array_equal(normalise_by_coverage(logs, RULES.sum(axis=1), 0.0), logs)
    per_row = normalise_by_coverage(logs, RULES.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        per_row, [np.log(2), np.log(2) + 0.1 * np.log(0.1) + 0.9 * np.log(0.9)]
    )
    with pytest.raises(ValueError, match=r"gamma=1.5 must be from 0 to 1"):
        normalise_by_coverage(logs, RULES.sum(axis=1), 1.5)


@pytest.mark.parametrize(
    ("covered", "totals", "scheme", "problem"),
    [
        ([[101, 0]], TOTALS, 1, "rule 0 covers more rows of a class"),
        ([[-1, 0]], TOTALS, 1, "covered: .* not negative"),
        ([[1, 0]], [np.inf, 1], 1, "totals: .* finite"),
        ([[1, 0]], TOTALS, 4, "scheme must be 1, 2 or 3, not 4"),
    ],
)
def test_bad_counts(covered, totals, scheme, problem):
    """Counts that no sample can have, and schemes that the paper has not."""
    with pytest.raises(ValueError, match=problem):
        log_rule_weights(covered, totals, scheme)
