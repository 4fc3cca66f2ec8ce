"""E-processes of shares: against a slow twin, exact expectations, and streams that never change."""

import itertools
import math

import numpy as np
import pytest

from budget import n_examples
from rulewright.evidence import share_e_process
from rulewright.evidence.claims import TILTS


def slow(counts, totals, low, high):
    """Compute the process of one share by its definition."""

    def ratio(share, bound, start, stop):
        found = 1.0
        for k, n in zip(counts[start:stop], totals[start:stop], strict=True):
            found *= (share / bound) ** k * ((1 - share) / (1 - bound)) ** (n - k)
        return found

    found = []
    for t in range(1, len(counts) + 1):
        sides = []
        for bound, sign in ((high, 1), (low, -1)):
            odds = bound / (1 - bound) * np.exp(sign * TILTS)
            total = 1 / (t + 1)
            for start in range(1, t + 1):
                ratios = [ratio(share, bound, start - 1, t) for share in odds / (1 + odds)]
                total += np.mean(ratios) / (start * (start + 1))
            sides.append(total)
        found.append(np.mean(sides))
    return found


def test_process_equals_its_definition():
    """The logarithms are those of the mixture of likelihood ratios, written out."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        totals = rng.integers(0, 12, (5, 2))
        counts = rng.binomial(totals, rng.random(2))
        low, high = np.sort(rng.uniform(0.05, 0.95, (2, 2)), axis=0)
        fast = np.exp(share_e_process(counts, totals, low, high))
        for j in range(2):
            twin = slow(counts[:, j], totals[:, j], low[j], high[j])
            assert fast[:, j] == pytest.approx(twin)


@pytest.mark.parametrize("share", [0.2, 0.35, 0.5])
def test_expectation_is_at_most_one(share):
    """Over all outcomes of two periods the expectation is at most 1 for shares in the bounds."""
    sizes = (4, 3)
    total = 0.0
    for counts in itertools.product(*(range(n + 1) for n in sizes)):
        chances = [
            math.comb(n, k) * share**k * (1 - share) ** (n - k)
            for n, k in zip(sizes, counts, strict=True)
        ]
        process = share_e_process(np.array(counts)[:, None], np.array(sizes)[:, None], [0.2], [0.5])
        total += math.prod(chances) * math.exp(process[-1, 0])
    assert total <= 1.0 + 1e-12


def test_streams_without_change_seldom_reach_the_threshold():
    """At the edge of the bounds at most alpha of the streams ever reach 1/alpha."""
    rng, n_streams, alpha = np.random.default_rng(1), n_examples(4000), 0.1
    counts = rng.binomial(50, 0.3, (30, n_streams))
    process = share_e_process(
        counts, np.full(counts.shape, 50), [0.3] * n_streams, [0.3] * n_streams
    )
    reached = (process >= np.log(1 / alpha)).any(axis=0).mean()
    assert reached <= alpha
    later = np.vstack([counts[:15], rng.binomial(50, 0.5, (15, n_streams))])
    process = share_e_process(
        later, np.full(counts.shape, 50), [0.3] * n_streams, [0.3] * n_streams
    )
    assert (process >= np.log(1 / alpha)).any(axis=0).mean() > 0.95


def test_bounds_of_zero_and_one_need_no_evidence():
    """A share that may be anything gives no evidence, and neither does a period without rows."""
    process = share_e_process([[5.0], [0.0]], [[5.0], [0.0]], [0.0], [1.0])
    assert (process <= 0.0).all()
