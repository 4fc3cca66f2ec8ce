"""Twins of `native/search/scores/`: what summed lanes are worth to each score.

A judge sees the sums of a cover, of its parent (the cover before the condition) and of all rows. It
returns a value, the lower the better, and a vote: 2 pair, plus 1 if down, -1 if none helps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.kernels.structs import Score, StatArray

Verdict = tuple[float, int]
NO_VOTE = (math.inf, -1)


class PairTwin:
    """A score over pairs of lanes (g, h); g may be negative."""

    pairs, gain = True, False

    def __init__(self, score: Score) -> None:
        self.score = score

    def empty(self, total: StatArray) -> float:
        """Return the criterion of the rule without conditions."""
        return 0.0

    def judge(
        self, cover: StatArray, parent: StatArray, total: StatArray, up: bool, down: bool
    ) -> Verdict:
        """Return the value of the best vote, and the vote."""
        best = NO_VOTE
        for k in range(self.score.n_lanes // 2):
            g, h = float(cover[2 * k]) * self.score.unit, float(cover[2 * k + 1]) * self.score.unit
            if (g < 0 and up) or (g > 0 and down):
                best = min(best, (self.value(abs(g), h), 2 * k + (g > 0)))
        return best

    def value(self, g: float, h: float) -> float:
        """Return the value of a vote whose gradient is -g."""
        raise NotImplementedError

    def criterion(self, value: float) -> float:
        """Turn the value of `judge` into the criterion of the paper."""
        return value


class Newton(PairTwin):
    """MLRules: g / sqrt(h + l2), judged by its square."""

    def value(self, g: float, h: float) -> float:
        """Return -(g^2) / (h + l2)."""
        return -(g * g) / max(h + self.score.l2, 1e-12)

    def criterion(self, value: float) -> float:
        """Return the root of the value."""
        return -math.sqrt(-value)


class Gradient(PairTwin):
    """MLRules: g itself."""

    def value(self, g: float, h: float) -> float:
        """Return -g."""
        return -g


class WeightTwin:
    """A score over the weights (plus, minus) for and against a rule, which votes up."""

    pairs, gain = False, False

    def __init__(self, score: Score) -> None:
        self.unit = score.unit

    def weights(self, sums: StatArray) -> tuple[float, float]:
        """Return the weights for and against."""
        return float(sums[0]) * self.unit, float(sums[1]) * self.unit

    def empty(self, total: StatArray) -> float:
        """Return the criterion of the rule without conditions."""
        return 0.0

    def judge(
        self, cover: StatArray, parent: StatArray, total: StatArray, up: bool, down: bool
    ) -> Verdict:
        """Return the value of a vote up; what covers nothing for its vote is no rule."""
        return (self.value(cover, parent, total), 0) if up and cover[0] > 0 else NO_VOTE

    def value(self, cover: StatArray, parent: StatArray, total: StatArray) -> float:
        """Return the value of a vote up."""
        raise NotImplementedError

    def criterion(self, value: float) -> float:
        """Return the value."""
        return value


class Slipper(WeightTwin):
    """SLIPPER: sqrt(W-) - sqrt(W+), as a quotient: nothing cancels when both are nearly equal."""

    def empty(self, total: StatArray) -> float:
        """Return the value of all rows."""
        return self.value(total, total, total)

    def value(self, cover: StatArray, parent: StatArray, total: StatArray) -> float:
        """Return the value of the cover."""
        plus, minus = self.weights(cover)
        roots = math.sqrt(plus) + math.sqrt(minus)
        return (minus - plus) / roots if roots > 0 else 0.0


class Foil(WeightTwin):
    """FOIL: the information gained over the parent; the gains of a rule add up."""

    gain = True

    def value(self, cover: StatArray, parent: StatArray, total: StatArray) -> float:
        """Return p (log2 of the parent's share - log2 of the cover's share)."""
        p = self.weights(cover)[0]
        return p * (self.log_share(parent) - self.log_share(cover))

    def log_share(self, sums: StatArray) -> float:
        """Return log2 of the share of the weight for the rule."""
        plus, minus = self.weights(sums)
        return math.log2(plus / (plus + minus))


class Wracc(WeightTwin):
    """Weighted relative accuracy: what is covered beyond the share of all rows."""

    def value(self, cover: StatArray, parent: StatArray, total: StatArray) -> float:
        """Return ((p + n) P / (P + N) - p) / (P + N)."""
        (p, n), (all_p, all_n) = self.weights(cover), self.weights(total)
        return ((p + n) * (all_p / (all_p + all_n)) - p) / (all_p + all_n)


SCORES: dict[str, type[PairTwin | WeightTwin]] = {
    "newton": Newton,
    "gradient": Gradient,
    "slipper": Slipper,
    "foil": Foil,
    "wracc": Wracc,
}
