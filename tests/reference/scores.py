"""Twins of `native/search/scores/`: what summed lanes are worth to each score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.kernels.structs import Score, StatArray

Weights = tuple[float, ...]  # for and against a rule, or of every class


class ScoreTwin(NamedTuple):
    """A score: its value, the lower the better, and how the engine uses it.

    With `pairs` the value is a function of (g, h, l2) for the gradient -g of a vote, otherwise of
    the weights of the cover, of its parent (the cover before the condition) and of all rows, and
    of k; `classes` says that there are weights of any number of classes. The criterion of a rule
    is the sum of its values if they are a `gain` over the parent.
    """

    value: Callable[..., float]
    pairs: bool = False
    classes: bool = False
    gain: bool = False
    empty_is_zero: bool = True
    criterion: Callable[[float], float] = float


def slipper(cover: Weights, parent: Weights, total: Weights, k: float) -> float:
    """Return sqrt(W-) - sqrt(W+), as a quotient: nothing cancels when both are nearly equal."""
    plus, minus = cover
    roots = math.sqrt(plus) + math.sqrt(minus)
    return (minus - plus) / roots if roots > 0 else 0.0


def foil(cover: Weights, parent: Weights, total: Weights, k: float) -> float:
    """Return the negative information gain of FOIL."""
    before, after = (math.log2(plus / (plus + minus)) for plus, minus in (parent, cover))
    return cover[0] * (before - after)


def wracc(cover: Weights, parent: Weights, total: Weights, k: float) -> float:
    """Return the negative weighted relative accuracy."""
    n = sum(total)
    return (sum(cover) * (total[0] / n) - cover[0]) / n


def laplace(cover: Weights, parent: Weights, total: Weights, k: float) -> float:
    """Return the negative estimate of the accuracy with k classes."""
    return -(cover[0] + 1) / (sum(cover) + k)


def errors(cover: Weights, parent: Weights, total: Weights, k: float) -> float:
    """Return FP + k FN, less that of the parent, which errs."""
    if parent[1] == 0 or cover == parent:
        return math.inf
    return cover[1] - parent[1] - k * (cover[0] - parent[0])


def entropy(cover: Weights, parent: Weights, total: Weights, k: float) -> float:
    """Return the entropy of the classes in bits; rounded terms may be added in any order."""
    shares = [weight / sum(cover) for weight in cover if weight > 0]
    return sum(round(-share * math.log2(share) * 2**40) for share in shares) * 2.0**-40


SCORES = {
    "newton": ScoreTwin(
        lambda g, h, l2: -(g * g) / max(h + l2, 1e-12),
        pairs=True,
        criterion=lambda value: -math.sqrt(-value),
    ),
    "gradient": ScoreTwin(lambda g, h, l2: -g, pairs=True),
    "slipper": ScoreTwin(slipper, empty_is_zero=False),
    "foil": ScoreTwin(foil, gain=True),
    "wracc": ScoreTwin(wracc),
    "laplace": ScoreTwin(laplace, empty_is_zero=False),
    "errors": ScoreTwin(errors, gain=True),
    "entropy": ScoreTwin(entropy, classes=True, empty_is_zero=False),
}


def in_units(score: Score, sums: StatArray) -> Weights:
    """Return the lanes that a score reads as numbers."""
    return tuple(float(lane) * score.unit for lane in sums[: score.n_lanes])


def judge(
    score: Score, sums: tuple[StatArray, StatArray, StatArray], up: bool, down: bool
) -> tuple[float, int]:
    """Return the value of the best vote and the vote: 2 pair, plus 1 if down, -1 if none helps.

    The sums are those of the cover, of its parent and of all rows.
    """
    best, twin = (math.inf, -1), SCORES[score.kind]
    if not twin.pairs:
        lane = int(np.argmax(sums[0][: score.n_lanes])) if twin.classes else 0
        if not up or sums[0][lane] <= 0:
            return best
        value = twin.value(*(in_units(score, lanes) for lanes in sums), score.k)
        return (value, 2 * lane) if value < math.inf else best
    lanes = in_units(score, sums[0])
    for pair in range(score.n_lanes // 2):
        g, h = lanes[2 * pair : 2 * pair + 2]
        if (g < 0 and up) or (g > 0 and down):
            best = min(best, (twin.value(abs(g), h, score.l2), 2 * pair + (g > 0)))
    return best


def empty_criterion(score: Score, total: StatArray) -> float:
    """Return the criterion of the rule without conditions."""
    twin = SCORES[score.kind]
    return 0.0 if twin.empty_is_zero else twin.value(*3 * (in_units(score, total),), score.k)
