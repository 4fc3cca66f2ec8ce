"""Twins of the losses of events: sums over rows and times, as their definitions say."""

import math


def cox_loss(times, events, weights, scores, entries=None):
    """Sum Efron's terms of rows that are repeated as often as their weights say."""
    entries = [-1.0] * len(times) if entries is None else entries
    rows = [i for i, weight in enumerate(weights) for _ in range(round(weight))]
    total = 0.0
    for t in sorted({times[i] for i in rows if events[i]}):
        tied = [i for i in rows if events[i] and times[i] == t]
        at_risk = sum(math.exp(scores[i]) for i in rows if entries[i] < t <= times[i])
        own = sum(math.exp(scores[i]) for i in tied)
        total -= sum(scores[i] for i in tied)
        total += sum(math.log(at_risk - k / len(tied) * own) for k in range(len(tied)))
    return total


def breslow_hazard(times, events, weights, scores, t, entries=None):
    """Sum events over the hazards of the rows at risk, up to a time."""
    entries = [-1.0] * len(times) if entries is None else entries
    total = 0.0
    for own, event, weight in zip(times, events, weights, strict=True):
        if event and own <= t:
            at_risk = sum(
                w * math.exp(f)
                for w, f, time, entry in zip(weights, scores, times, entries, strict=True)
                if entry < own <= time
            )
            total += weight / at_risk
    return total


def poisson_loss(count, exposure, score):
    """Return the negative log-likelihood of a count."""
    mean = exposure * math.exp(score)
    return mean - count * math.log(mean) + math.lgamma(count + 1)


def negative_binomial_loss(count, exposure, score, dispersion):
    """Return the negative log-likelihood of a count whose rate varies by a gamma distribution."""
    mean, size = exposure * math.exp(score), 1 / dispersion
    chance = size / (size + mean)
    found = math.lgamma(count + size) - math.lgamma(size) - math.lgamma(count + 1)
    return -(found + size * math.log(chance) + (count * math.log1p(-chance) if count else 0.0))


def pinball(number, score, quantile, width):
    """Return the pinball loss, averaged over a window of the score."""
    n = 20_000
    shifts = [width * (2 * (k + 0.5) / n - 1) for k in range(n)]
    gaps = [number - score + shift for shift in shifts]
    return sum(gap * (quantile - (gap < 0)) for gap in gaps) / n


def concordance(times, events, risks, weights):
    """Count the comparable pairs that are ranked rightly."""
    right = pairs = 0.0
    for i, own in enumerate(times):
        for j, other in enumerate(times):
            if events[i] and (own < other or (own == other and not events[j])):
                weight = weights[i] * weights[j]
                pairs += weight
                right += weight * ((risks[i] > risks[j]) + 0.5 * (risks[i] == risks[j]))
    return right / pairs
