"""What rules lose on rows left out, and the precision of rules corrected for it.

Rules are chosen where they look good, so that precision on training rows is too good. The rules of
the models that were learned without a fold tell by how much: each is counted on its training rows
and on the rows left out. The finished rules, which no row was left out for, are corrected by the
mean of that, and their intervals are widened as the rules of the folds would need it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rulewright.rules import Coverage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import TrainingSet
    from rulewright.estimators.common.folds import Folds
    from rulewright.estimators.compact.members import Member
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.rules import Head

LEAST_RULES = 5
"""Fewer rules of the folds say nothing about others."""

LEAST_VARIANCE = 1e-12
"""Shares of enormous weights count as known to so much."""


@dataclass(frozen=True)
class Optimism:
    """By how much precision on training rows is too good.

    Attributes
    ----------
    excess : float
        Mean of the precision on training rows less that on rows left out.
    variance : float
        Variance of that from rule to rule, beyond that of counting.
    """

    excess: float
    variance: float

    @classmethod
    def of(cls, models: Sequence[Sequence[Member]], folds: Folds, rows: TrainingSet) -> Self | None:
        """Compare the rules learned without each fold; None if they are too few."""
        pairs = []
        for fold, members in enumerate(models):
            aside = folds.held_out_mask(fold)
            for member in members:
                covered = member.cover.row_mask()
                seen, unseen = (
                    _counts(rows, covered & part, member.head) for part in (~aside, aside)
                )
                if min(seen[1], unseen[1]) > 0:
                    pairs.append((*seen, *unseen))
        if len(pairs) < LEAST_RULES:
            return None
        return cls(*_compared(*np.transpose(pairs)))

    def corrected(self, weights: FloatArray, head: Head) -> Coverage:
        """Return the coverage of training rows of these class weights, corrected."""
        total, own = float(weights.sum()), float(weights[head.classes].sum())
        fewer = max(own - self.excess * total, 0.0)
        others = np.ones(len(weights), dtype=np.bool_)
        others[head.classes] = False
        adjusted = weights * (fewer / own if own else 0.0)
        rest = weights[others] if total > own else np.ones(int(others.sum()))
        adjusted[others] = rest * (total - fewer) / max(float(rest.sum()), 1e-300)
        share = (fewer + 1) / (total + 2)
        # As many rows as have this variance by chance alone.
        adjusted /= 1 + self.variance * total / (share * (1 - share))
        return Coverage(total, tuple(adjusted.tolist()), "corrected")


def _counts(rows: TrainingSet, covered: BoolArray, head: Head) -> tuple[float, float]:
    weights = rows.weights_by_class(covered)
    return float(weights[head.classes].sum()), float(weights.sum())


def _compared(
    hits: FloatArray, total: FloatArray, hits_out: FloatArray, total_out: FloatArray
) -> tuple[float, float]:
    """Return the mean of the excess, each rule weighted by its certainty, and its variance."""
    pooled = (hits + hits_out + 1) / (total + total_out + 2)
    chance = np.maximum(pooled * (1 - pooled) * (1 / total + 1 / total_out), LEAST_VARIANCE)
    differences = hits / total - hits_out / total_out
    excess = max(0.0, float(np.average(differences, weights=1 / chance)))
    spread = float(np.average((differences - excess) ** 2 - chance, weights=1 / chance))
    # So few rules tell little of the variance: it counts as at least that of an exponential law.
    return excess, max(spread, excess**2)
