"""Losses of compact models: they fit the responses of rules and lines, and price further ones.

A loss gives the search row statistics of the current fit, in pairs (g, h) of derivatives, and
refits the responses of all rules. Its figures are negative log-likelihoods in nats, so conditions
can be charged by their length. Regression assumes normal errors of unknown variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rulewright import kernels
from rulewright.estimators.compact.expansion import Expansion, HeadCurvature
from rulewright.estimators.compact.members import (
    Candidate,
    LineMember,
    Member,
    ResponseProblem,
    RuleOnRows,
)
from rulewright.kernels import (
    STAT,
    BoolArray,
    CodeColumns,
    FloatArray,
    IntArray,
    RowArray,
    Score,
    StatArray,
)
from rulewright.rules import Head
from rulewright.search import Constraints, allowed_terms, directions, linear_columns
from rulewright.weighting import LogLikelihood, Multinomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table

LARGEST_MOVE = 1.5
"""Points that a step of a slope moves a row at most."""

LEAST_PROBABILITY = 1e-12
"""Probabilities count as no less: rows that are surely wrong have a gradient, and a finite one."""


class ClassFit(Multinomial):
    """Responses of rules and of lines, fitted together by coordinate descent."""

    def __init__(self, problem: ResponseProblem, *rows: Any, **options: Any) -> None:
        self.problem = problem
        self.largest = {k: float(np.abs(own).max()) for k, own in problem.lines.items()}
        heads = np.array(problem.heads, dtype=np.int32).reshape(-1, 2)
        signs = np.ones(len(heads), dtype=np.int8)
        super().__init__(problem.covers.words, heads, signs, *rows, **options)

    def fit_all(self) -> None:
        """Fit all responses without a penalty."""
        self._descend(np.concatenate([self.free, self.rules]), 0.0)

    def _find_pulls(self) -> FloatArray:
        """Nobody asks how far a penalty could fall."""
        return np.zeros(self.n_rules)

    def _sweep(self, ids: IntArray, l1: float) -> bool:
        if not self.problem.lines:
            return super()._sweep(ids, l1)
        dense = np.isin(ids, list(self.problem.lines))
        change = self.state.sweep(ids[~dense], self.values, l1, self.ridge)
        change += sum(map(self._step, ids[dense].tolist()))
        return change > self.least_change

    def _step(self, place: int) -> float:
        """Take a Newton step of a line, as `ResponseFit.sweep` does of rules."""
        units, classes = self.problem.lines[place], self.problem.heads[place].classes
        p, b = self.probabilities[:, classes].sum(axis=1), float(self.values[place])
        q = self.shares[:, classes].sum(axis=1)
        slope = float(self.weights @ (units * (p - q))) + self.ridge * b
        curvature = float(self.weights @ (units**2 * p * (1 - p))) + self.ridge
        most = LARGEST_MOVE / self.largest[place]
        step = max(min(max(-slope / max(curvature, 1e-300), -most), most), -b)
        self.probabilities[:, classes] *= np.exp(step * units)[:, np.newaxis]
        self.probabilities /= self.probabilities.sum(axis=1, keepdims=True)
        self.values[place] += step
        return curvature * step * step


@dataclass(frozen=True, eq=False)
class FittedResponses:
    """Responses of rules and lines that were fitted together.

    Attributes
    ----------
    loss : float
        What they lose on the training rows, ridge penalty included.
    responses : float64 array
        One for each rule or line, in the direction of its head.
    intercepts : float64 array
        Scores that every row starts with.
    by_group : float64 array of shape (groups, outputs)
        Probabilities, or numbers, of the groups of rows that the same rules cover.
    problem : ResponseProblem
        Rules and lines, with the groups as their rows.
    weights : float64 array
        Weight of each group.
    groups : int32 array
        The group of each row.
    """

    loss: float
    responses: FloatArray
    intercepts: FloatArray
    by_group: FloatArray
    problem: ResponseProblem
    weights: FloatArray
    groups: IntArray

    @property
    def start(self) -> FloatArray:
        """Responses and intercepts as the start of another fit."""
        return np.concatenate([self.responses, self.intercepts[1:]])

    @cached_property
    def answers(self) -> FloatArray:
        """Probabilities, or numbers, of all rows; of most fits nobody asks for them."""
        return self.by_group[self.groups]

    def weights_of(self, candidates: Sequence[Candidate], weights: FloatArray) -> FloatArray:
        """Sum what candidates weigh in each group: rows times values, for a line."""
        found = np.empty((len(candidates), len(self.weights)))
        for line, one in zip(found, candidates, strict=True):
            own = weights[one.rows] if one.values is None else weights[one.rows] * one.values
            line[:] = np.bincount(self.groups[one.rows], own, len(self.weights))
        return found

    def squares_of(
        self, candidates: Sequence[Candidate], found: FloatArray, weights: FloatArray
    ) -> FloatArray:
        """Put sums of weight times squared value in the place of the sums of lines."""
        if all(one.values is None for one in candidates):
            return found
        squares = found.copy()
        for line, one in zip(squares, candidates, strict=True):
            if one.values is not None:
                own = weights[one.rows] * np.square(one.values)
                line[:] = np.bincount(self.groups[one.rows], own, len(self.weights))
        return squares


class CompactLoss(Protocol):
    """A loss and its rows."""

    unit: float
    weights: FloatArray
    l2: float
    stats: StatArray
    heads: tuple[Head, ...]
    has_teacher: bool

    def fit(
        self, problem: ResponseProblem, tolerance: float, start: FloatArray | None = None
    ) -> FittedResponses:
        """Fit the responses of all rules and lines, with a warm start if that helps."""

    def settle(self, problem: ResponseProblem, fits_labels: bool = False) -> FittedResponses:
        """Fit the responses of the finished model precisely, to labels if `fits_labels`."""

    def fit_labels(self, problem: ResponseProblem, start: FloatArray) -> FittedResponses:
        """Fit the responses to labels alone."""

    def hits(self, rows: RowArray, head: Head, values: FloatArray | None) -> float:
        """Return what of the derivative along a candidate never changes."""

    def expand(self, fitted: FittedResponses, candidates: Sequence[Candidate]) -> Expansion:
        """Return the derivatives at a fit, along its members and along candidates."""

    def look(self, fitted: FittedResponses) -> None:
        """Bring the statistics up to date with a fit."""

    def score(self, head: Head | None) -> Score:
        """Describe what growth minimises, for one head or for any."""

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the head that the vote of a search raises."""

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return the approximate gain of a rule over these rows."""

    def prefix_gains(self, rule: RuleOnRows) -> FloatArray:
        """Return the approximate gains of the first 1, 2, ... tests of a rule."""

    def part_gains(self, rule: RuleOnRows) -> FloatArray | None:
        """Return the gain of each part of a rule, or None if only `gain` can compute it.

        Entry s is the gain of the tests whose bits are in s.
        """

    def loss_of(self, fitted: FittedResponses, rows: BoolArray) -> FloatArray:
        """Return the losses of some rows."""


class CountedGains:
    """Gains of rules and of their parts, from sums of statistics that kernels count.

    A loss has the statistics, their unit, the ridge penalty and the number of threads.
    """

    stats: StatArray
    unit: float
    l2: float
    n_threads: int

    def score(self, head: Head | None) -> Score:
        """Describe what growth minimises: each loss defines this."""
        raise NotImplementedError

    def prefix_gains(self, rule: RuleOnRows) -> FloatArray:
        """Return what Newton steps of the first 1, 2, ... tests gain."""
        sums = kernels.judged_sums(*self._kernel_arguments(rule))
        return self._gains_of(sums, rule.head)

    def part_gains(self, rule: RuleOnRows) -> FloatArray | None:
        """Return the gains of all parts of a rule, from one pass over the rows."""
        if len(rule.tests) > kernels.MOST_FAILURES:
            return None
        sums = kernels.failure_sums(*self._kernel_arguments(rule))
        for place in range(len(rule.tests)):  # sums of all sets that are part of a set
            by_test = sums.reshape(-1, 2, 2**place, 2)
            by_test[:, 1] += by_test[:, 0]
        # A part covers the rows that fail none but the other tests.
        return self._gains_of(sums[::-1], rule.head)

    def _kernel_arguments(
        self, rule: RuleOnRows
    ) -> tuple[CodeColumns, IntArray, StatArray, int, BoolArray, int]:
        """Return the arguments of kernels that sum statistics of the rows learned from."""
        lane = self.score(rule.head).first_lane
        return rule.codes, rule.tests, self.stats, lane, rule.left_out, self.n_threads

    def _gains_of(self, sums: StatArray, head: Head) -> FloatArray:
        """Return what Newton steps gain, from the sums (g, h) of statistics."""
        g, h = sums.T * self.unit
        helps = g > 0 if self.score(head).down else g < 0
        with np.errstate(all="ignore"):  # squares of enormous weights, and parts without rows
            gains: FloatArray = np.where(helps, g * g / (2 * (h + self.l2)), 0.0)
        return gains


class ClassLoss(CountedGains):
    """The negative log-likelihood of the shares of classes in the rows.

    Parameters
    ----------
    labels, weights : arrays
        Class and weight of each row; rows of weight 0 are not learned from.
    shares : float64 array of shape (rows, classes)
        What is learned: 1 for the label of a row, or a share of it and of what a teacher says.
    l2 : float
        Ridge penalty of the responses.
    ordinal : bool
        Whether the classes are in an order, and rules vote for "at least" or "at most" one.
    """

    def __init__(
        self,
        labels: IntArray,
        weights: FloatArray,
        shares: FloatArray,
        l2: float,
        ordinal: bool = False,
        n_threads: int = 1,
    ) -> None:
        self.labels, self.weights, self.shares, self.l2 = labels, weights, shares, l2
        self.has_teacher = bool((shares[np.arange(len(labels)), labels] < 1).any())
        self.n_threads = n_threads
        start = np.zeros(shares.shape[1])
        self.likelihood = LogLikelihood(
            labels, weights, start, ordinal=ordinal, weigh_rows=True, n_threads=n_threads
        )
        self.heads, self.unit = self.likelihood.heads, self.likelihood.unit
        self.stats = self.likelihood.stats
        self.surplus = self._surplus()

    def _surplus(self) -> StatArray:
        """Return by how much the label of a row exceeds its shares, for each pair of lanes."""
        excess = self._label_shares() - self.shares
        if self.likelihood.cumulative:  # a pair covers all classes from a cut on
            excess = excess[:, ::-1].cumsum(axis=1)[:, -2::-1]
        return np.rint(self.weights[:, np.newaxis] * excess / self.unit).astype(STAT)

    def fit(
        self, problem: ResponseProblem, tolerance: float, start: FloatArray | None = None
    ) -> FittedResponses:
        """Fit by coordinate descent; a response keeps the direction of its head."""
        return self._fit(problem, self.shares, tolerance, start)

    def settle(self, problem: ResponseProblem, fits_labels: bool = False) -> FittedResponses:
        """Fit to many digits."""
        return self._fit(problem, self._label_shares() if fits_labels else self.shares, 1e-20)

    def fit_labels(self, problem: ResponseProblem, start: FloatArray) -> FittedResponses:
        """Fit to labels, without teachers."""
        return self._fit(problem, self._label_shares(), 1e-7, start)

    def _label_shares(self) -> FloatArray:
        return np.eye(self.shares.shape[1])[self.labels]

    def _fit(
        self,
        problem: ResponseProblem,
        shares: FloatArray,
        tolerance: float,
        start: FloatArray | None = None,
    ) -> FittedResponses:
        rows = problem.group_rows(self.weights, shares)
        fit = ClassFit(
            rows.problem,
            np.zeros(len(rows.weights), dtype=np.int32),
            rows.weights,
            shares.shape[1],
            shares=rows.shares,
            l2=self.l2,
            tolerance=tolerance,
            start=None if problem.lines else start,
            n_threads=self.n_threads,
        )
        fit.fit_all()
        p, b = fit.probabilities, fit.responses.copy()
        logs = np.log(np.maximum(p, LEAST_PROBABILITY))
        loss = -float(rows.weights @ (rows.shares * logs).sum(axis=1))
        loss += 0.5 * self.l2 * float(b @ b)
        return FittedResponses(loss, b, fit.intercepts, p, rows.problem, rows.weights, rows.groups)

    def hits(self, rows: RowArray, head: Head, values: FloatArray | None) -> float:
        """Return the weight of the classes of a head."""
        own = self.weights[rows] if values is None else self.weights[rows] * values
        return float(own @ self.shares[rows, head.first : head.last + 1].sum(axis=1))

    def expand(self, fitted: FittedResponses, candidates: Sequence[Candidate]) -> Expansion:
        """Compute the derivatives from groups of rows: rows of a group share probabilities."""
        curvature, problem = HeadCurvature(fitted.by_group), fitted.problem
        n_classes, n_rules = self.shares.shape[1], len(problem.heads)
        heads = [*problem.heads, *(Head(k, k) for k in range(1, n_classes))]
        values = np.concatenate([problem.columns, np.ones((n_classes - 1, len(fitted.weights)))])
        second = curvature.across(heads, values * fitted.weights, heads, values)
        second[np.arange(n_rules), np.arange(n_rules)] += self.l2
        own_heads = [one.head for one in candidates]
        weights = fitted.weights_of(candidates, self.weights)
        pulls = np.array([one.hits for one in candidates]) - curvature.expect(own_heads, weights)
        own = curvature.own(own_heads, fitted.squares_of(candidates, weights, self.weights))
        across = curvature.across(own_heads, weights, heads, values)
        return Expansion.of(fitted.responses, second, pulls, own + self.l2, across)

    def look(self, fitted: FittedResponses) -> None:
        """Compute the derivatives at the probabilities."""
        self.likelihood.restart(np.maximum(fitted.answers, LEAST_PROBABILITY))
        self.stats[:, 0 : 2 * self.likelihood.n_pairs : 2] += self.surplus

    def score(self, head: Head | None) -> Score:
        """Describe Newton's score."""
        return self.likelihood.score("newton", self.l2, head)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return the classes of a vote."""
        return self.likelihood.head_of(score, vote)

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return the gain of a Newton step of this rule alone."""
        g, h = self.likelihood.derivatives(rows, head)
        return g * g / (2 * (h + self.l2)) if g < 0 else 0.0

    def loss_of(self, fitted: FittedResponses, rows: BoolArray) -> FloatArray:
        """Return the log-losses of some rows."""
        own = fitted.answers[rows, self.labels[rows]]
        return -np.log(np.maximum(own, LEAST_PROBABILITY))


class Lines:
    """The lines that there are to choose from: one for each numeric column that is allowed.

    Parameters
    ----------
    table : Table
        The rows.
    weights : float64 array
        Their weights; rows of weight 0 do not count.
    constraints : Constraints
        A line of a monotone column rises, or falls, as the column must.
    """

    def __init__(self, table: Table, weights: FloatArray, constraints: Constraints) -> None:
        self.terms = allowed_terms(table, weights, constraints)
        self.columns = np.ascontiguousarray(linear_columns(self.terms, table).T)
        self.squares = self.columns**2
        self.signs = directions(self.terms, constraints)

    def best(
        self, loss: CompactLoss, heads: Sequence[Head], members: Sequence[Member | LineMember]
    ) -> LineMember | None:
        """Return the line that gains most by a Newton step, if one does that is not there yet."""
        taken = {(one.term.column, one.head) for one in members if isinstance(one, LineMember)}
        best, most = None, 0.0
        for head in heads:
            pulls, gains = self._gains(loss, head)
            for place, term in enumerate(self.terms):
                sign = 1 if pulls[place] > 0 else -1
                known = (term.column, head) in taken or self.signs[place] == -sign
                # A column that is the same as one before it gains as much but for rounding.
                if not known and gains[place] > most * (1 + 1e-9):
                    best, most = (place, head, sign), float(gains[place])
        if best is None:
            return None
        place, head, sign = best
        return LineMember(self.terms[place], head, sign, sign * self.columns[place])

    def _gains(self, loss: CompactLoss, head: Head) -> tuple[FloatArray, FloatArray]:
        """Return the upward pull and the gain of each line; the intercept moves with it."""
        lane = loss.score(head).first_lane
        g, h = (loss.stats[:, lane + k] * loss.unit for k in (0, 1))
        pulls, along = -self.columns @ g, self.columns @ h
        curvatures = self.squares @ h - along * (along / h.sum())
        steps = pulls / (np.maximum(curvatures, 0) + loss.l2)
        return pulls, pulls * steps / 2  # squares of enormous weights would overflow
