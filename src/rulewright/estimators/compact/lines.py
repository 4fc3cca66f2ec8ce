"""Lines of compact models: those there are to choose from, and their fit beside rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.compact.members import LineMember
from rulewright.search import allowed_terms, directions, linear_columns
from rulewright.weighting import Multinomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.estimators.compact.losses import CompactLoss
    from rulewright.estimators.compact.members import Member, ResponseProblem
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.rules import Head
    from rulewright.search import Constraints

LARGEST_MOVE = 1.5
"""Points that a step of a slope moves a row at most."""


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
        """Return the pull up of each line, and what it gains; the intercept moves with it."""
        lane = loss.score(head).first_lane
        g, h = (loss.stats[:, lane + k] * loss.unit for k in (0, 1))
        pulls, along = -self.columns @ g, self.columns @ h
        curvatures = self.columns**2 @ h - along * (along / h.sum())
        steps = pulls / (np.maximum(curvatures, 0) + loss.l2)
        return pulls, pulls * steps / 2  # squares of enormous weights would overflow


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
