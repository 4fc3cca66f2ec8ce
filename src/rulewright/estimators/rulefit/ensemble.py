"""The candidates of a rule ensemble, their matrix, and the model of their weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.rules import Adds, Coverage, Head, NumberCoverage, Rule
from rulewright.search import SCALE, linear_columns, linear_terms
from rulewright.weighting import L1Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rulewright.data import LearningRows, RegressionSet, TrainingSet
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import LinearTerm
    from rulewright.search import TreeRules
    from rulewright.weighting import Datafit, L1Solution, RuleScale


@dataclass(frozen=True, eq=False)
class CandidateTerms:
    """Rules and linear terms that a penalty chooses from.

    Attributes
    ----------
    rules : TreeRules
        Distinct rules with their covers of the training rows.
    linear : tuple of LinearTerm
        Linear terms of slope 1.
    columns : float64 array of shape (rows, terms)
        The linear terms, of equal deviation.
    """

    rules: TreeRules
    linear: tuple[LinearTerm, ...]
    columns: FloatArray

    @classmethod
    def of(cls, rules: TreeRules, rows: LearningRows[Any], beta: float | None) -> CandidateTerms:
        """Add linear terms to rules; `beta` is the share of values beyond each of their bounds."""
        terms = () if beta is None else linear_terms(rows.table, rows.weights, beta)
        return cls(rules, terms, linear_columns(terms, rows.table))

    def problem(
        self,
        y: FloatArray,
        weights: FloatArray,
        datafit: Datafit,
        rule_scale: RuleScale,
        n_threads: int,
    ) -> L1Problem:
        """Return the problem of weighting the candidates."""
        return L1Problem.of(
            self.rules.covers,
            y,
            dense=self.columns,
            sample_weight=weights,
            rule_scale=rule_scale,
            datafit=datafit,
            n_threads=n_threads,
        )

    def responses(self, solution: L1Solution) -> FloatArray:
        """Return the coefficients of the rules."""
        return solution.coef[: len(self.rules)]

    def slopes(self, solution: L1Solution) -> FloatArray:
        """Return what one unit of each linear term adds."""
        scales = np.array([SCALE / term.deviation for term in self.linear])
        return np.asarray(solution.coef[len(self.rules) :] * scales)

    def lines(self, slopes: FloatArray) -> tuple[LinearTerm, ...]:
        """Return the linear terms with slopes (terms, scores), without those that add nothing."""
        return tuple(
            replace(term, slopes=tuple(own.tolist()))
            for term, own in zip(self.linear, slopes, strict=True)
            if own.any()
        )

    def cover(self, place: int) -> BoolArray:
        """Return the training rows of a rule."""
        return self.rules.covers[place : place + 1].row_mask()


def number_rules(
    candidates: CandidateTerms, rows: RegressionSet, responses: FloatArray
) -> tuple[Rule, ...]:
    """Return the rules with responses other than 0, with the numbers that they cover."""
    found = []
    for place in np.flatnonzero(responses).tolist():
        cover = candidates.cover(place)
        coverage = NumberCoverage.of(cover, rows.numbers, rows.weights)
        response = float(responses[place])
        found.append(Rule(candidates.rules.rules[place], Adds(Head(0, 0), response), coverage))
    return tuple(found)


def class_rules(
    candidates: CandidateTerms, rows: TrainingSet, responses: Iterable[tuple[int, Head, float]]
) -> tuple[Rule, ...]:
    """Return rules by place, head and response, with the classes that they cover.

    These are counted as far as possible on rows that the tree of a rule was not grown on.
    """
    found = []
    for place, head, response in responses:
        cover, inside = candidates.cover(place), candidates.rules.inside(place)
        weights = rows.weights_by_class(cover)
        if inside is None:
            coverage = Coverage.of(tuple(weights.tolist()))
        else:
            coverage = Coverage.outside(weights, rows.weights_by_class(cover & ~inside))
        found.append(Rule(candidates.rules.rules[place], Adds(head, response), coverage))
    return tuple(found)
