"""The terms of rule ensembles: candidate rules and linear terms, their problems and their rules."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.estimators.rulefit.left_out import FoldProblem
from rulewright.rules import Adds, Coverage, Head, NumberCoverage, Rule
from rulewright.search import SCALE, TreeRules, linear_columns, linear_terms
from rulewright.weighting import Design, L1Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rulewright.data import LearningRows, RegressionSet, TrainingSet
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import LinearTerm
    from rulewright.weighting import Datafit, L1Solution, RuleScale


@dataclass(frozen=True, eq=False)
class CandidateTerms:
    """Candidate rules and linear terms of an L1 problem.

    Attributes
    ----------
    rules : TreeRules
        Distinct rules and the training rows that they cover.
    linear : tuple of LinearTerm
        Linear terms with slope 1.
    columns : float64 array of shape (rows, terms)
        Values of the linear terms, scaled to equal deviation.
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
        """Return the weighting problem of the candidates."""
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
        """Return the slopes of the linear terms."""
        scales = np.array([SCALE / term.deviation for term in self.linear])
        return np.asarray(solution.coef[len(self.rules) :] * scales)

    def lines(self, slopes: FloatArray) -> tuple[LinearTerm, ...]:
        """Return the linear terms with slopes (terms, scores); drop terms with slope 0."""
        return tuple(
            replace(term, slopes=tuple(own.tolist()))
            for term, own in zip(self.linear, slopes, strict=True)
            if own.any()
        )

    def hold_out(self, rows: LearningRows[Any], n_threads: int) -> Design:
        """Return the columns of other rows."""
        covers = PackedCovers.pack_lines(
            (rule.holds(rows.table) for rule in self.rules.rules), rows.n_rows
        )
        columns = linear_columns(self.linear, rows.table)
        return Design.of(covers, columns, rows.weights, n_threads=n_threads)

    def cover(self, place: int) -> BoolArray:
        """Return the training rows that a rule covers."""
        return self.rules.covers[place : place + 1].row_mask()


@dataclass(frozen=True, eq=False)
class FoldTerms:
    """Terms of the training rows of a fold, and their columns on its held-out rows."""

    candidates: CandidateTerms
    places: NDArray[np.intp]
    weights: FloatArray
    held_out: Design

    def problem(
        self, y: FloatArray, datafit: Datafit, rule_scale: RuleScale, n_threads: int
    ) -> FoldProblem:
        """Return the problem of the fold for a target of all rows."""
        own = y[self.places], self.weights, datafit, rule_scale, n_threads
        return FoldProblem(self.candidates.problem(*own), self.held_out)


def number_rules(
    candidates: CandidateTerms, rows: RegressionSet, responses: FloatArray
) -> tuple[Rule, ...]:
    """Return the rules with nonzero responses, and statistics of the target they cover."""
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

    Covered rows are counted outside the growing sample of the rule's tree where possible.
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
