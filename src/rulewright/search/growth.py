"""Greedy growth of one rule: from row statistics to conditions on values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.conditions import Conjunction
from rulewright.model import Rule

if TYPE_CHECKING:
    from rulewright.conditions import Condition
    from rulewright.conditions.binned import BinnedColumns, Test, Threshold
    from rulewright.kernels import (
        CodeColumns,
        FloatArray,
        GrownCondition,
        Limits,
        RowArray,
        Score,
        StatArray,
    )


@dataclass(frozen=True)
class FoundRule:
    """A grown rule: its vote, its conditions, and the criterion after each of them."""

    vote: int
    tests: tuple[Test, ...]
    conditions: tuple[Condition, ...]
    criteria: tuple[float, ...]

    def cover(self, codes: CodeColumns, n_threads: int = 1) -> RowArray:
        """Find the rows that the rule covers."""
        return kernels.cover_rows(codes, np.array(self.tests, dtype=np.int32), n_threads)

    def rule(self, response: float, class_weights: FloatArray) -> Rule:
        """Return the rule for the model: canonical conditions, response, what it covers."""
        weights = tuple(class_weights.tolist())
        return Rule(Conjunction.of(self.conditions), self.vote, response, sum(weights), weights)


class RuleGrower:
    """Grows rules on binned columns, one native call each."""

    def __init__(
        self, binned: BinnedColumns, limits: Limits, threshold: Threshold, n_threads: int = 1
    ) -> None:
        self.binned, self.limits = binned, limits
        self.threshold: Threshold = threshold
        self.n_threads = n_threads
        self._workspace = kernels.Workspace()
        # Boosting finds the same conditions again and again.
        self._resolved: dict[tuple[int, ...], tuple[Test, Condition]] = {}

    def grow(
        self, codes: CodeColumns, rows: RowArray, stats: StatArray, score: Score
    ) -> FoundRule | None:
        """Grow the rule that `score` likes best on `rows`; None when no condition helps."""
        grown = kernels.grow_rule(
            codes, rows, stats, score, self.limits, self.n_threads, self._workspace
        )
        return self._resolve(grown.conditions, grown.vote) if grown.conditions else None

    def _resolve(self, grown: list[GrownCondition], vote: int) -> FoundRule:
        tests, conditions = zip(*map(self._resolve_one, grown), strict=True)
        return FoundRule(vote, tests, conditions, tuple(c.criterion for c in grown))

    def _resolve_one(self, grown: GrownCondition) -> tuple[Test, Condition]:
        key = grown[:4]  # all but the criterion
        if key not in self._resolved:
            self._resolved[key] = self.binned.resolve(grown, self.threshold)
        return self._resolved[key]
