"""Seeded draws of whole samples: each bound fails no more often than it says (I8).

Classifiers, posteriors and weights are chosen after the sample, where the bound allows it and to
its harm.
"""

import math

import numpy as np
import pytest

from rulewright import bounds as b

DRAWS = 500
DELTA = 0.1
MOST = DELTA + 3 * math.sqrt(DELTA / DRAWS)
SHARPNESS = (0.0, 0.5, 2.0, 8.0)


def gibbs_weights(gains):
    """Give posteriors over the last axis, from flat ones to sharp ones."""
    for sharpness in SHARPNESS:
        weights = np.exp(sharpness * (gains - gains.max(axis=-1, keepdims=True)))
        yield weights / weights.sum(axis=-1, keepdims=True)


def entropy(weights):
    """Give the entropy over the last axis."""
    return -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=-1)


@pytest.mark.parametrize("error", [0.01, 0.07, 0.3, 0.5, 0.9])
def test_held_out_bound_covers(error):
    """B1 on 60 rows."""
    counts = np.random.default_rng(1).binomial(60, error, DRAWS)
    fails = [b.held_out_bound(k, 60, DELTA).value < error for k in counts]
    assert np.mean(fails) <= MOST


def test_finite_class_bound_covers_its_best_looking_member():
    """B3 and the exact Occam bound, for the least training error among 64 guessing classifiers."""
    n, size = 50, 64
    least = np.random.default_rng(2).binomial(n, 0.5, (DRAWS, size)).min(axis=1)
    for fails in (
        [b.finite_class_bound(k / n, math.log(size), n, DELTA).value < 0.5 for k in least],
        [b.exact_occam_bound(k, math.log(size), n, DELTA).value < 0.5 for k in least],
    ):
        assert np.mean(fails) <= MOST
    without_the_class = [b.held_out_bound(k, n, DELTA).value < 0.5 for k in least]
    assert np.mean(without_the_class) > MOST


def test_rademacher_error_bound_covers_the_best_looking_member():
    """B16 with the largest correlation of the classifiers' losses with random signs."""
    n, size = 50, 64
    rng = np.random.default_rng(8)
    losses = rng.integers(0, 2, (DRAWS, n, size))
    signs = rng.choice([-1, 1], (DRAWS, n))
    complexities = np.abs(np.einsum("di,dij->dj", signs, losses)).max(axis=1) / n
    least = losses.mean(axis=1).min(axis=1)
    pairs = zip(least, complexities, strict=True)
    assert np.mean([b.rademacher_error_bound(*p, n, DELTA).raw < 0.5 for p in pairs]) <= MOST


@pytest.mark.parametrize("bound", [b.pac_bayes_kl, b.pac_bayes_mcallester])
def test_pac_bayes_covers_posteriors_chosen_afterwards(bound):
    """B8 and B9, for the worst of posteriors that follow the training errors."""
    n, size = 40, 30
    rng = np.random.default_rng(3)
    errors = rng.uniform(0.1, 0.6, size)
    counts = rng.binomial(n, errors, (DRAWS, size))
    fails = np.zeros(DRAWS, bool)
    for q in gibbs_weights(-counts.astype(float)):
        losses, kls = (q * counts).sum(axis=1) / n, math.log(size) - entropy(q)
        values = [bound(loss, kl, n, DELTA).value for loss, kl in zip(losses, kls, strict=True)]
        fails |= q @ errors > values
    assert fails.mean() <= MOST


def sampled_margins(seed, n, m):
    """Give y x for `DRAWS` samples of n rows and m rules: guesses, but for a few weak rules."""
    rng = np.random.default_rng(seed)
    means = np.where(np.arange(m) < 3, 0.3, 0.0)
    z = np.where(rng.random((DRAWS, n, m)) < (1 + means) / 2, 1.0, -1.0)
    return rng, means, z


def test_margin_bounds_cover_all_weights():
    """B22 and B18 (p = 1): the worst weights are on the rule whose mean is furthest off."""
    n, m = 40, 30
    rng, means, z = sampled_margins(4, n, m)
    excess = np.abs(z.mean(axis=1) - means).max(axis=1)
    penalty = -b.repository_margin_bound(0.0, m, n, DELTA).raw
    assert np.mean(excess > penalty) <= MOST
    signs = rng.choice([-1.0, 1.0], (DRAWS, n))
    complexities = [b.margin_complexity(z[i], signs[i]) for i in range(DRAWS)]
    penalties = [-b.rademacher_margin_bound(0.0, s, n, DELTA).raw for s in complexities]
    assert np.mean(excess > penalties) <= MOST
    one_rule = -b.repository_margin_bound(0.0, 1, n, DELTA).raw
    assert np.mean(excess > one_rule) > MOST


def test_weighted_rows_keep_the_margin_bound():
    """B22 with unequal weights of rows; as if they were equal it would fail."""
    n, m = 40, 30
    _, means, z = sampled_margins(5, n, m)
    a = np.r_[np.full(4, 0.2), np.full(n - 4, 0.2 / (n - 4))]
    excess = np.abs(np.einsum("i,dij->dj", a, z) - means).max(axis=1)
    penalty = -b.repository_margin_bound(0.0, m, n, DELTA, example_weights=a).raw
    assert np.mean(excess > penalty) <= MOST
    assert np.mean(excess > -b.repository_margin_bound(0.0, m, n, DELTA).raw) > MOST


def test_pac_bayes_margins_cover_weights_chosen_afterwards():
    """B20 and B21, for the worst of signed weights that follow the empirical margins."""
    n, m = 60, 20
    _, means, z = sampled_margins(6, n, m)
    signs = np.sign(z.mean(axis=1))
    margin_fails, mmv_fails = np.zeros(DRAWS, bool), np.zeros(DRAWS, bool)
    for shares in gibbs_weights(n * np.abs(z.mean(axis=1)) / 4):
        w, kls = shares * signs, math.log(2 * m) - entropy(shares)
        mean, mmv = w @ means, w @ means - w**2 @ (1 - means**2)
        margins = np.einsum("dij,dj->di", z, w)
        hats = margins.mean(axis=1), margins.mean(axis=1) - margins.var(axis=1, ddof=1)
        lower = [b.pac_bayes_margin_bound(*f, n, DELTA).raw for f in zip(hats[0], kls, strict=True)]
        margin_fails |= mean < lower
        lower = [b.pac_bayes_mmv_bound(*f, n, DELTA).raw for f in zip(hats[1], kls, strict=True)]
        mmv_fails |= mmv < lower
    assert margin_fails.mean() <= MOST
    assert mmv_fails.mean() <= MOST


def test_mmv_bounds_cover_signed_weights():
    """B23 and B19, for single rules and for mixtures that follow the empirical margins."""
    n, m = 60, 20
    rng, means, z = sampled_margins(7, n, m)
    hat = z.mean(axis=1)
    mixtures = [shares * np.sign(hat) for shares in gibbs_weights(n * np.abs(hat) / 4)]
    excess = np.full(DRAWS, -np.inf)
    for w in [*mixtures, *(np.tile(row, (DRAWS, 1)) for row in np.r_[np.eye(m), -np.eye(m)])]:
        margins = np.einsum("dij,dj->di", z, w)
        mmv = w @ means - w**2 @ (1 - means**2)
        excess = np.maximum(excess, margins.mean(axis=1) - margins.var(axis=1, ddof=1) - mmv)
    assert np.mean(excess > -b.repository_mmv_bound(0.0, m, n, DELTA).raw) <= MOST
    signs = rng.choice([-1.0, 1.0], (DRAWS, n))
    penalties = [
        -b.rademacher_mmv_bound(
            0.0, b.margin_complexity(x, s), b.product_complexity(x, s), n, DELTA
        ).raw
        for x, s in zip(z, signs, strict=True)
    ]
    assert np.mean(excess > penalties) <= MOST
    assert np.mean(excess > 0.1) > MOST
