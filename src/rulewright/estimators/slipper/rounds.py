"""Confidence-rated boosting of pruned rules: the rounds of SLIPPER (Cohen and Singer, 1999)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.kernels import BoolArray, CodeColumns, FloatArray, IntArray, Limits, RowArray
    from rulewright.search import FoundRule, RuleGrower
    from rulewright.weighting import ExponentialLoss

SMALLEST_CONFIDENCE = 1e-12
"""Below this a round teaches nothing."""

MOST_IDLE_ROUNDS = 20
"""Rounds in a row that teach nothing before boosting ends."""


class RoundCandidate(NamedTuple):
    """A rule that a round may keep (None: the default rule), judged on all rows.

    `gain` is |sqrt(W+) - sqrt(W-)|; the best possible Z is 1 - gain^2.
    """

    place: int
    rule: FoundRule | None
    plus: float
    minus: float

    @property
    def gain(self) -> float:
        """How far the candidate can lower the bound on the training error."""
        return abs(float(np.sqrt(self.plus) - np.sqrt(self.minus)))


class Round(NamedTuple):
    """What a round kept: place of the head, rule (None: the default rule), confidence, Z."""

    place: int
    rule: FoundRule | None
    confidence: float
    z: float


class Rounds:
    """Boosts on a set of rows: `rounds()` yields what each round of the paper keeps.

    Parameters
    ----------
    codes : CodeColumns
        The training rows.
    grower : RuleGrower
        Grows rules on them.
    limits : sequence of Limits
        What the rules of each head may look like.
    loss : ExponentialLoss
        The weights of the rows, which every round moves.
    strata : int32 array
        Rows of one stratum are parted in the same share; the classes, or one for all.
    grow_share : float
        Share of the weight that rules are grown on; the rest prunes them.
    seed : int
        Seed of the partings.
    """

    def __init__(
        self,
        codes: CodeColumns,
        grower: RuleGrower,
        limits: Sequence[Limits],
        loss: ExponentialLoss,
        strata: IntArray,
        grow_share: float,
        seed: int,
    ) -> None:
        self.codes, self.grower, self.limits, self.loss = codes, grower, limits, loss
        self.strata, self.grow_share, self.seed = strata, grow_share, seed
        self.everyone = np.arange(codes.n_rows, dtype=ROW)
        self.grown = np.ones(codes.n_rows, dtype=np.bool_)  # rows that the last rules grew on
        self._last: tuple[FoundRule | None, RowArray] = None, self.everyone  # a rule and its cover

    def rounds(self, n_rounds: int) -> Iterator[Round]:
        """Run the algorithm of the paper; a round of confidence 0 taught nothing."""
        idle = 0
        for _ in range(n_rounds):
            # The default rules come first and win ties.
            best = max(self.candidates(), key=lambda candidate: candidate.gain)
            confidence = self.confidence(best)
            if abs(confidence) < SMALLEST_CONFIDENCE:
                idle += 1
                yield Round(best.place, None, 0.0, 1.0)
                if idle == MOST_IDLE_ROUNDS:
                    return
                continue
            idle = 0
            z = self.loss.add(self.cover(best.rule), best.place, confidence)
            yield Round(best.place, best.rule, confidence, z)

    def cover(self, rule: FoundRule | None) -> RowArray:
        """Find the rows that a rule covers; the default rule covers all."""
        if rule is None:
            return self.everyone
        if self._last[0] is not rule:
            self._last = rule, rule.cover(self.codes, self.grower.n_threads)
        return self._last[1]

    def confidence(self, candidate: RoundCandidate) -> float:
        """Return the confidence of a candidate; a rule speaks for its class, or not at all."""
        rule, plus, minus = candidate.rule, candidate.plus, candidate.minus
        if self.loss.is_coarse:
            plus, minus = self.loss.sums(self.cover(rule), candidate.place)
        confidence = float(self.loss.confidence(plus, minus))
        return confidence if rule is None else max(confidence, 0.0)

    def candidates(self) -> list[RoundCandidate]:
        """Part the rows anew, then grow and prune a rule for every head beside its default rule."""
        self.seed = (self.seed + 1) % 2**64
        grow = kernels.split_by_weight(self.loss.row_steps, self.strata, self.grow_share, self.seed)
        self.grown = grow.astype(np.bool_, copy=False)
        rows = np.flatnonzero(grow).astype(ROW)
        defaults, rules = [], []
        for place in range(len(self.loss.heads)):
            found = self.grower.grow(
                self.codes, rows, self.loss.stats, self.loss.score(place), self.limits[place]
            )
            sums = self._prefix_sums(found, place, grow)
            whole = sums.sum(axis=0)
            defaults.append(RoundCandidate(place, None, *whole[0].tolist()))
            if found is None:
                continue
            length = len(found.tests)
            if len(rows) < self.codes.n_rows:  # there are rows to prune by
                # A rule starts with its required columns, and is not pruned below them.
                least = max(1, int(self.limits[place].required.sum()))
                length = choose_prefix_length(self.loss, sums[1, 1:], sums[0, 1:], least)
            candidate = RoundCandidate(place, found.prefix(length), *whole[length].tolist())
            if candidate.plus > candidate.minus:  # a rule speaks for its class, or not at all
                rules.append(candidate)
        return defaults + rules

    def _prefix_sums(self, found: FoundRule | None, place: int, grow: BoolArray) -> FloatArray:
        """Return (W+, W-) after 0, 1, 2, ... conditions, as [side, conditions, 2]."""
        tests = np.empty((0, 4), dtype=np.int32) if found is None else found.test_array
        sums = kernels.prefix_sums(
            self.codes, tests, self.loss.stats, 2 * place, grow, self.grower.n_threads
        )
        return sums.astype(np.float64) * self.loss.unit


def choose_prefix_length(
    loss: ExponentialLoss, grown: FloatArray, pruned: FloatArray, least: int = 1
) -> int:
    """Return how many conditions to keep: the fewest with the least loss on the pruning rows.

    `grown` and `pruned` hold (W+, W-) after 1, 2, ... conditions on the rows that the rule was
    grown on, which give its confidence, and on the others, which judge it; at least `least` are
    kept.
    """
    return int(np.argmin(prefix_losses(loss, grown, pruned)[least - 1 :])) + least


def prefix_losses(loss: ExponentialLoss, grown: FloatArray, pruned: FloatArray) -> FloatArray:
    """Return ``(1 - V+ - V-) + V+ exp(-C) + V- exp(C)`` of every prefix of a rule."""
    confidence = loss.confidence(grown[:, 0], grown[:, 1])
    plus, minus = pruned[:, 0], pruned[:, 1]
    # With expm1, prefixes that cover nothing have equal losses.
    losses: FloatArray = 1 + plus * np.expm1(-confidence) + minus * np.expm1(confidence)
    return losses
