"""Conjunctions on pure noise, averaged by Bayes' theorem (Domingos, 1997, section 5).

All examples of `a` Boolean features have labels by a fair coin; a random half is for training. The
models are all conjunctions of three features; each predicts the more frequent class where it holds,
and where it does not. None can be right, yet the posterior is far from even.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rulewright.weighting import PosteriorReport, log_posterior, log_shares, weights_from_logs

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

N_FEATURES = 3
"""Features of a conjunction."""


@dataclass(frozen=True)
class NoiseRun:
    """What one sample of noise came to, or the mean of many.

    `rest_ratio` is the mean weight of all models but the heaviest, divided by the weight of that;
    `agreement` the share of new examples on which the average predicts what the heaviest does;
    accuracies are those of new examples.
    """

    rest_ratio: float
    agreement: float
    perplexity: float
    accuracy_bma: float
    accuracy_best: float


def noise_conjunctions(a: int, runs: int, seed: int, beta: float = 1.0) -> list[NoiseRun]:
    """Return what independent samples of noise come to, for models of three of `a` features.

    Parameters
    ----------
    a : int
        Number of Boolean features, at least 3.
    runs : int
        Number of samples.
    seed : int
        Seed of all of them.
    beta : float
        Power of the likelihood; 1 is Bayes' theorem.
    """
    if a < N_FEATURES:
        raise ValueError(f"a={a}: conjunctions of {N_FEATURES} features need at least as many")
    random, held = np.random.default_rng(seed), conjunctions(a)
    return [_run(held, random, beta) for _ in range(runs)]


def conjunctions(a: int) -> BoolArray:
    """Return which conjunction of three features holds for which of all 2^a examples."""
    examples = (np.arange(2**a)[:, None] >> np.arange(a)) & 1 == 1
    return np.column_stack(
        [examples[:, list(chosen)].all(axis=1) for chosen in combinations(range(a), N_FEATURES)]
    )


def mean_of(found: list[NoiseRun]) -> NoiseRun:
    """Return the mean of each figure."""
    names = [item.name for item in fields(NoiseRun)]
    return NoiseRun(*(float(np.mean([getattr(run, name) for run in found])) for name in names))


def _run(held: BoolArray, random: np.random.Generator, beta: float) -> NoiseRun:
    n = len(held)
    positive = random.random(n) < 0.5
    train = np.zeros(n, dtype=np.bool_)
    train[random.permutation(n)[: n // 2]] = True
    inside, outside = _counts(held[train], positive[train])
    logs = log_posterior(log_shares(inside) + log_shares(outside), beta=beta)
    up = np.where(held[~train], _share(inside), _share(outside))
    average = up @ weights_from_logs(logs) > 0.5
    best = up[:, int(np.argmax(logs))] > 0.5
    truth, report = positive[~train], PosteriorReport.of(logs)
    return NoiseRun(
        rest_ratio=report.rest_ratio,
        agreement=float(np.mean(average == best)),
        perplexity=report.perplexity,
        accuracy_bma=float(np.mean(average == truth)),
        accuracy_best=float(np.mean(best == truth)),
    )


def _counts(held: BoolArray, positive: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Count both classes where each conjunction holds, and where it does not."""
    both = positive.astype(np.float64) @ held
    covered, n_positive = held.sum(axis=0), float(positive.sum())
    inside = np.column_stack([both, covered - both])
    whole = np.array([n_positive, len(held) - n_positive])
    return inside, whole - inside


def _share(counts: FloatArray) -> FloatArray:
    """Return the share of the first class; a half where there are no examples."""
    totals = counts.sum(axis=1)
    found: FloatArray = np.where(totals > 0, counts[:, 0] / np.maximum(totals, 1.0), 0.5)
    return found
