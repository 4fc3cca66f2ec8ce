"""Posterior weights of rule sets and their divergence from the priors."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.encoding.canonical import FALSE, TRUE
from rulewright.weighting import PRIORS, Posterior, alpha_of, ln_inverse_prior, posterior_weights

ALPHAS = st.floats(1e-3, 1.0)
COUNTED = st.lists(st.tuples(st.integers(0, 40), st.integers(1, 5)), min_size=1, max_size=12)


def rule_set(*values):
    """Make a rule set of one term per set of values of attribute 0."""
    return tuple(((0, value),) for value in sorted(values))


def all_terms(sizes):
    """Give every canonical term over domains of these sizes."""
    whole = [(1 << size) - 1 for size in sizes]
    for values in product(*(range(1, w + 1) for w in whole)):
        yield tuple((a, v) for a, v in enumerate(values) if v != whole[a])


@given(drawn=COUNTED, alpha=ALPHAS)
def test_weights_are_counts_times_powers(drawn, alpha):
    """Q / Q' = (count / count') alpha^(errors - errors') (I1), and all sum to 1."""
    errors, counts = zip(*drawn, strict=True)
    weights = posterior_weights(errors, counts, alpha)
    assert math.fsum(weights) == pytest.approx(1.0, abs=1e-12)
    for i, j in combinations(range(len(drawn)), 2):
        ratio = math.log(counts[i] / counts[j]) + (errors[i] - errors[j]) * math.log(alpha)
        assert math.log(weights[i] / weights[j]) == pytest.approx(ratio, abs=1e-9)


@given(drawn=COUNTED, alpha=ALPHAS, n=st.integers(1, 10_000))
def test_alpha_and_nu_say_the_same(drawn, alpha, n):
    """Weights by alpha equal those by exp(-nu errors / n) (I2)."""
    errors, counts = map(np.array, zip(*drawn, strict=True))
    nu = -n * math.log(alpha)
    assert alpha_of(nu, n) == pytest.approx(alpha, rel=1e-12)
    by_nu = counts * np.exp(-nu * (errors - errors.min()) / n)
    assert posterior_weights(errors, counts, alpha_of(nu, n)) == pytest.approx(
        by_nu / by_nu.sum(), abs=1e-12
    )


def test_many_errors_do_not_underflow():
    """Only differences of errors count, and rule sets next to zero are left out."""
    assert posterior_weights([10**9, 10**9 + 1], [1, 1], 0.5) == pytest.approx([2 / 3, 1 / 3])
    kept = Posterior.of([(rule_set(1), 0.0), (rule_set(2), 1e6)], 0.5)
    assert kept.rule_sets == (rule_set(1),)
    assert kept.weights == (1.0,)


def test_alpha_of_one_counts_and_tiny_alpha_takes_the_best():
    """The extremes of alpha: equal weights, and only the fewest errors."""
    assert posterior_weights([0, 5, 9], [1, 1, 2], 1.0) == pytest.approx([0.25, 0.25, 0.5])
    best = posterior_weights([3, 3, 4], [1, 3, 1], 1e-300)
    assert best == pytest.approx([0.25, 0.75, 0.0])
    assert best[2] == 0.0


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1.1, math.nan])
def test_alpha_must_be_a_factor(alpha):
    """Alpha is above 0 and at most 1."""
    with pytest.raises(ValueError, match="alpha must be above 0"):
        posterior_weights([1], [1], alpha)


@pytest.mark.parametrize("prior", PRIORS)
def test_repeated_rule_sets_are_one_entry(prior):
    """A rule set sampled three times weighs as much, once; the divergence is of the merged (I5)."""
    one, other = rule_set(1), rule_set(2)
    merged = Posterior.of([(one, 2.0), (other, 3.0), (one, 2.0), (one, 2.0)], 0.9)
    assert merged.counts == (3, 1)
    assert merged.weights[0] / merged.weights[1] == pytest.approx(3 / 0.9)
    costs = [ln_inverse_prior(r, (3,), 4, prior) for r in merged.rule_sets]
    q = np.array(merged.weights)
    expected = float(q @ np.log(q) + q @ costs)
    assert merged.divergence((3,), 4, prior) == pytest.approx(expected)
    assert merged.loss(10) == pytest.approx(float(q @ [0.2, 0.3]))
    assert merged.effective_size == pytest.approx(1 / float(q @ q))


def test_unique_rule_sets_weigh_once():
    """How often a rule set was sampled is noted, and counts for nothing."""
    one, other = rule_set(1), rule_set(2)
    found = Posterior.of([(one, 2.0), (other, 3.0), (one, 2.0)], 0.9, "unique")
    assert found.counts == (2, 1)
    assert found.weights[0] / found.weights[1] == pytest.approx(1 / 0.9)


@given(
    st.lists(
        st.tuples(st.integers(0, 20), st.integers(0, 20), st.integers(1, 3)), min_size=1, max_size=7
    ),
    ALPHAS,
)
def test_errors_on_further_rows_complete_the_weights(drawn, alpha):
    """Weights of all rows together, and the divergence from those of the first rows."""
    sets = [rule_set(i + 1) for i in range(len(drawn))]
    sampled = [(s, float(e)) for s, (e, _, n) in zip(sets, drawn, strict=True) for _ in range(n)]
    before = Posterior.of(sampled, alpha)
    after = before.update([float(later) for _, later, _ in drawn], alpha)
    first, second, counts = map(np.array, zip(*drawn, strict=True))
    q = posterior_weights(first + second, counts, alpha)
    assert after.weights == pytest.approx(q, abs=1e-12)
    assert after.prior == pytest.approx(posterior_weights(first, counts, alpha), abs=1e-12)
    assert after.errors == tuple(second)
    assert after.counts == before.counts == tuple(counts)
    expected = float(q @ np.log(q / np.array(after.prior)))
    assert after.divergence((3,), 4, "length") == pytest.approx(expected, abs=1e-9)


def test_hopeless_rule_sets_leave_the_prior_too():
    """Rule sets that end with no weight are left out; the rest of the prior sums to less than 1."""
    before = Posterior.of([(rule_set(1), 0.0), (rule_set(2), 0.0)], 0.5)
    after = before.update([0.0, 1e6], 0.5)
    assert (after.rule_sets, after.weights, after.prior) == ((rule_set(1),), (1.0,), (0.5,))
    assert after.divergence((3,), 4, "flat") == pytest.approx(math.log(2))


@pytest.mark.parametrize("prior", PRIORS)
def test_a_single_rule_set_costs_its_prior(prior):
    """Without entropy the divergence is ln(1 / P)."""
    only = Posterior.of([(TRUE, 0.0)] * 5, 0.9)
    assert only.effective_size == 1.0
    assert only.divergence((3, 2), 8, prior) == pytest.approx(
        ln_inverse_prior(TRUE, (3, 2), 8, prior)
    )


@given(st.lists(st.integers(0, 20), min_size=7, max_size=7), ALPHAS)
def test_flat_divergence_is_at_least_the_size_of_the_class(errors, alpha):
    """For rule sets of equally many terms KL >= ln|H| - ln(#distinct) (I6)."""
    terms = list(all_terms((3, 2)))
    drawn = list(combinations(sorted(terms), 2))[:: len(terms)][:7]
    posterior = Posterior.of(zip(drawn, map(float, errors), strict=False), alpha)
    space = math.log(5) + math.log(math.comb(len(terms), 2))
    assert posterior.divergence((3, 2), 4, "flat") >= space - math.log(len(posterior)) - 1e-9


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("sizes", [(2, 2), (3,), (3, 2), (1, 2)])
def test_priors_sum_to_one_at_most(sizes, prior):
    """All rule sets of up to two terms, counted out, have probability 1 at most (I13)."""
    terms = list(all_terms(sizes))
    rule_sets = [FALSE, *((t,) for t in terms), *combinations(terms, 2)]
    total = math.fsum(math.exp(-ln_inverse_prior(r, sizes, 2, prior)) for r in rule_sets)
    assert total <= 1 + 1e-12
    if prior == "flat":
        assert total == pytest.approx(1.0)


def test_flat_prior_of_plain_booleans():
    """Two-valued attributes give 3^m terms; a huge number of them is no trouble."""
    for m in (5, 5000):
        cost = ln_inverse_prior(rule_set(1), (2,) * m, 8, "flat")
        assert cost == pytest.approx(math.log(9) + m * math.log(3))


def test_length_prior_by_hand():
    """One term of one literal among 2 * 3 + 2 costs ln 9 + 2 ln 2 + ln 8."""
    cost = ln_inverse_prior(rule_set(1), (3, 2), 8, "length")
    assert cost == pytest.approx(math.log(9) + 2 * math.log(2) + math.log(8))
    assert ln_inverse_prior(FALSE, (3, 2), 8, "length") == pytest.approx(math.log(9))


def test_bad_priors_are_named():
    """Unknown priors and rule sets beyond the prior are errors."""
    with pytest.raises(ValueError, match="prior must be one of length, flat"):
        ln_inverse_prior(TRUE, (2,), 8, "wide")
    with pytest.raises(ValueError, match="at most 1 terms, the rule set has 2"):
        ln_inverse_prior(rule_set(1, 2), (3,), 1)
    with pytest.raises(ValueError, match="at least one rule set"):
        Posterior.of([], 0.9)
