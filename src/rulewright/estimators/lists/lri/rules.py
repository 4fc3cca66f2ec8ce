"""The rules of LRI: short disjunctions of terms, each on rows weighed by the errors so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import ROW, STAT, Score
from rulewright.search import fixed_point_unit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.kernels import (
        BoolArray,
        CodeColumns,
        FloatArray,
        IntArray,
        Limits,
        RowArray,
        StatArray,
    )
    from rulewright.search import FoundRule, RuleGrower

MOST_ERRORS = 32
"""Where a row has more, the errors of all rows are halved."""

Terms = tuple["FoundRule", ...]
"""A rule: it holds where one of its terms does."""


def case_weights(errors: FloatArray) -> FloatArray:
    """Return what a row counts that so many rules of its class have got wrong."""
    weights: FloatArray = 1 + errors**3
    return weights


@dataclass(frozen=True, eq=False)
class LightRules:
    """Learns the rules of one class against the others.

    Parameters
    ----------
    codes : CodeColumns
        The training rows.
    labels : int32 array
        Their classes.
    weights : float array
        Their weights.
    grower : RuleGrower
        Grows terms on them.
    limits : Limits
        What terms may look like.
    n_rules, max_disjuncts, freeze : int
        Rules of a class, most terms of a rule, and the rules after which no new column is used.
    """

    codes: CodeColumns
    labels: IntArray
    weights: FloatArray
    grower: RuleGrower
    limits: Limits
    n_rules: int
    max_disjuncts: int
    freeze: int

    @property
    def unit(self) -> float:
        """What a step of the weights is worth; there is room for the largest case weights."""
        return fixed_point_unit(float(self.weights.sum())) * 2.0**16

    def of_class(self, head: int, check: Callable[[], None]) -> Iterator[Terms]:
        """Yield the rules of a class; every rule makes the rows heavier that it gets wrong."""
        own, errors = self.labels == head, np.zeros(self.codes.n_rows)
        used, limits = np.zeros(len(self.codes.n_bins), dtype=np.bool_), self.limits
        for t in range(self.n_rules):
            check()
            if t == self.freeze:
                limits = limits.only(used)
            steps = np.rint(self.weights / self.unit * case_weights(errors))
            steps = np.maximum(steps, 1).astype(STAT)
            covered, terms = self._rule(own, np.stack([steps * own, steps * ~own], axis=1), limits)
            if not terms:
                return
            used[[grown.column for term in terms for grown in term.grown]] = True
            errors += covered != own
            if errors.max() > MOST_ERRORS:
                errors /= 2
            yield terms

    def _rule(self, own: BoolArray, stats: StatArray, limits: Limits) -> tuple[BoolArray, Terms]:
        """Grow terms, each on the rows that those before it do not cover."""
        covered = np.zeros(len(own), dtype=np.bool_)
        terms: list[FoundRule] = []
        while len(terms) < self.max_disjuncts and (own & ~covered).any():
            term = self._term(np.flatnonzero(~covered).astype(ROW), stats, limits)
            if term is None:
                break
            covered[term.cover(self.codes)] = True
            terms.append(term)
        return covered, tuple(terms)

    def _term(self, rows: RowArray, stats: StatArray, limits: Limits) -> FoundRule | None:
        """Add conditions of least FP + k FN while false positives are covered.

        As long as the best first condition is no better than covering nothing, k is doubled; the
        conditions after it are then better too.
        """
        histogram, k = kernels.count_histogram(self.codes, rows, stats), 1.0
        while True:
            score = Score("errors", unit=self.unit, k=k)
            found = kernels.scan_histogram(self.codes, histogram, score, limits)
            if not found.conditions or found.conditions[0].criterion < 0:
                break
            k *= 2
        first = self.grower.make_rule(found)
        if first is None or limits.max_conditions == 1:
            return first
        inside = rows[np.isin(rows, first.cover(self.codes), assume_unique=True)]
        shorter = replace(limits, max_conditions=limits.max_conditions - 1)
        rest = self.grower.grow(self.codes, inside, stats, score, shorter)
        return first if rest is None else first.followed_by(rest)
