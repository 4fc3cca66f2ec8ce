"""How CN2 covers rows: one rule at a time, in order or for one class after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import ROW, STAT, Score
from rulewright.search import fixed_point_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.data import TrainingSet
    from rulewright.kernels import Beam, BoolArray, FloatArray, Limits, RowArray, StatArray
    from rulewright.search import FoundRule, RuleGrower, SearchLimits

HARMONIC = "1/(k+1)"
"""The weights of rows that were covered k times, as in CN2-SD."""


@dataclass(frozen=True, eq=False)
class CoveringSearch:
    """Rows to be covered, and the search for the best rule on some of them.

    Parameters
    ----------
    rows : TrainingSet
        The training rows.
    grower : RuleGrower
        Searches rules on their codes.
    limits : SearchLimits
        What rules may look like.
    beam : Beam
        How many conjunctions are followed, and which are significant.
    criterion : {"entropy", "laplace", "wracc"}
        What makes a rule good.
    gamma : float or str, optional
        What is left of the weight of a row that a rule covers; by default it is removed.
    """

    rows: TrainingSet
    grower: RuleGrower
    limits: SearchLimits
    beam: Beam
    criterion: str
    gamma: float | str | None = None

    @cached_property
    def unit(self) -> float:
        """What a step of the weights is worth."""
        return fixed_point_unit(self.rows.total_weight)

    @cached_property
    def steps(self) -> StatArray:
        """The weights in steps."""
        steps: StatArray = np.maximum(np.rint(self.rows.weights / self.unit), 1).astype(STAT)
        return steps

    @cached_property
    def _compiled(self) -> Limits:
        return self.limits.compile(self.rows.schema, self.unit)

    @property
    def _everyone(self) -> RowArray:
        return np.arange(self.rows.n_rows, dtype=ROW)

    def cover_in_order(self) -> Iterator[tuple[FoundRule, int]]:
        """Find the best rule and its class, remove all that it covers, and so on."""
        left, problems = self._everyone, self._problems()
        while len(np.unique(self.rows.labels[left])) > 1:
            ranked = []
            for head, lanes in enumerate(problems):
                if (rule := self._best(left, lanes)) is not None:
                    covered = left[self._cover_rows(rule)[left]]
                    rank = rule.grown[-1].criterion, -int(self.steps[covered].sum())
                    ranked.append((rank, head + rule.vote // 2, rule, covered))
            if not ranked:
                return
            _, head, rule, covered = min(ranked, key=lambda found: found[0])
            left = np.setdiff1d(left, covered, assume_unique=True)
            yield rule, head

    def of_class(self, head: int, check: Callable[[], None]) -> Iterator[FoundRule]:
        """Find the best rule of a class, remove the rows of the class it covers, and so on."""
        own, lanes = self.rows.labels == head, self._lanes(head)
        left, times, known = self._everyone, np.zeros(self.rows.n_rows), set()
        while lanes[left, 0].any():
            check()
            rule = self._best(left, lanes)
            if rule is None or rule.tests in known:  # covered again, a rule teaches nothing
                return
            yield rule
            known.add(rule.tests)
            covered = self._cover_rows(rule) & own
            if self.gamma is None:
                left = left[~covered[left]]
            else:
                times += covered
                lanes[own, 0] = np.rint(self.steps * self._fading(times))[own].astype(STAT)

    def _problems(self) -> list[StatArray]:
        """Return the lanes of every search for the next rule: all classes at once, or each."""
        n_classes = len(self.rows.classes)
        if self.criterion != "entropy":
            return [self._lanes(head) for head in range(n_classes)]
        lanes = np.zeros((self.rows.n_rows, n_classes + 1), dtype=STAT)
        lanes[self._everyone, self.rows.labels] = lanes[:, -1] = self.steps
        return [lanes]

    def _lanes(self, head: int) -> StatArray:
        """Return the weights for and against a class, and all."""
        own = self.rows.labels == head
        return np.stack([self.steps * own, self.steps * ~own, self.steps], axis=1)

    def _best(self, left: RowArray, lanes: StatArray) -> FoundRule | None:
        n_classes = len(self.rows.classes)
        score = Score(self.criterion, unit=self.unit, n_lanes=lanes.shape[1] - 1, k=n_classes)
        # Relative accuracy is relative to the rows left: of a class that is nearly covered no
        # general rule is as accurate as the class is frequent.
        compared = lanes[left] if self.criterion == "wracc" else lanes
        codes, totals = self.grower.binned.codes, compared.sum(axis=0)
        return self.grower.search(codes, left, lanes, score, self._compiled, self.beam, totals)

    def _cover_rows(self, rule: FoundRule) -> BoolArray:
        covered = np.zeros(self.rows.n_rows, dtype=np.bool_)
        covered[rule.cover(self.grower.binned.codes, self.grower.n_threads)] = True
        return covered

    def _fading(self, times: FloatArray) -> FloatArray:
        if isinstance(self.gamma, float | int):
            return np.power(float(self.gamma), times)
        faded: FloatArray = 1 / (times + 1)
        return faded
