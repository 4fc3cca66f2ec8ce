"""Base of compact learners whose loss has one score per row, such as a log-rate."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.compact import settings
from rulewright.estimators.compact.held_out import HeldOutRows
from rulewright.estimators.compact.members import Member, ResponseProblem, fitted_lines
from rulewright.estimators.compact.score_loss import CompactScoreLoss, ScoreLessons
from rulewright.estimators.compact.settings import CompactRules, lines_parameter
from rulewright.estimators.contract.parameters import CheckedByFit, Parameter
from rulewright.model import RegressionRules
from rulewright.rules import Adds, Head, NumberCoverage, Rule
from rulewright.search import LEAST_ROWS, Constraints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import RegressionSet
    from rulewright.estimators.compact.members import LineMember
    from rulewright.evidence import Answers
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import LinearTerm
    from rulewright.weighting import ScoreLoss

Model = TypeVar("Model", bound=RegressionRules)


class ScoredRules(NamedTuple):
    """What was learned: an intercept, rules and lines, with their scores and loss on all rows.

    `notes` is the summary with the losses of all sizes.
    """

    intercept: float
    rules: tuple[Rule, ...]
    lines: tuple[LinearTerm, ...]
    scores: FloatArray
    loss: ScoreLoss
    notes: dict[str, Any]


class CompactScores(CompactRules[Model]):
    """Base of the compact learners of events: they choose rules by any loss of a score.

    A learner gives the loss of rows, targets for the test of signal, the
    coverage of rules, and answers on held-out rows.
    """

    constraints: Any = Parameter(
        CheckedByFit("Constraints, dict or None"),
        "Constraints per column; see `Constraints`.",
        default=None,
    )
    linear: bool | str = lines_parameter(default=False)
    l2: float = settings.ridge(default=1.0)

    @abstractmethod
    def _loss(self, rows: RegressionSet, weights: FloatArray) -> ScoreLoss:
        """Return the loss of rows with other weights."""

    @abstractmethod
    def _signal(self, rows: RegressionSet) -> FloatArray:
        """Return the target of each row for a test of whether anything can be learned."""

    @abstractmethod
    def _coverage(self, covered: BoolArray, rows: RegressionSet) -> NumberCoverage:
        """Count the rows of a rule."""

    @abstractmethod
    def _answers(self, rows: RegressionSet, origin: str, scores: FloatArray) -> Answers:
        """Return answers on rows."""

    def _refined(self, loss: ScoreLoss, scores: FloatArray) -> ScoreLoss:
        """Return the loss whose parameters are estimated at some scores; by default the same."""
        return loss

    def _learn_scores(self, rows: RegressionSet) -> ScoredRules:
        """Choose the rules on a sample of the rows, and fit them to all."""
        constraints = Constraints.of(self.constraints)
        constraints.check(rows.schema)
        random = check_random_state(self.random_state)
        sample = _choosing_rows(rows, random)
        repeats: list[Any] = []
        if sample.n_rows >= LEAST_ROWS:
            repeats = self._repeat_folds(sample, random)
        make = partial(self._loss, sample)
        lessons = ScoreLessons(make, sample.weights, self.l2, self._signal(sample))
        outcome = self._search(sample, lessons, constraints, repeats, random, 1)
        known = (sample.numbers, sample.weights, repeats, self.size)
        self.held_out_ = HeldOutRows.of(self.size_, *known)
        if self.held_out_ is not None and self.size_.losses is not None:
            seen = sample.take(np.flatnonzero(~np.isnan(self.size_.losses[0])))
            self.held_out_ = replace(self.held_out_, answer=partial(self._answers, seen))
        notes = {**self._summary(rows), "size": self.size_.to_json(sample.weights)}
        return self._settle(rows, outcome.model.members, notes)

    def _settle(
        self, rows: RegressionSet, members: Sequence[Member | LineMember], notes: dict[str, Any]
    ) -> ScoredRules:
        """Fit the responses to all rows, and count the rules."""
        placed = [member.on(rows.table) for member in members]
        problem = ResponseProblem.of(placed, rows.n_rows)
        loss = self._loss(rows, rows.weights)
        fitted = CompactScoreLoss(loss, self.l2, self._n_threads).settle(problem)
        refined = self._refined(loss, fitted.answers[:, 0])
        if refined is not loss:
            loss, fitted = refined, CompactScoreLoss(refined, self.l2).settle(problem)
        found = []
        for member, response in zip(members, fitted.responses.tolist(), strict=True):
            if isinstance(member, Member) and response != 0:
                covered = member.body.holds(rows.table)
                coverage = self._coverage(covered, rows)
                found.append(Rule(member.body, Adds(Head(0, 0), response), coverage))
        lines = fitted_lines(members, fitted.responses, 1)
        intercept = float(fitted.intercepts[0])
        return ScoredRules(intercept, tuple(found), lines, fitted.answers[:, 0], loss, notes)


def _choosing_rows(rows: RegressionSet, random: np.random.RandomState) -> RegressionSet:
    """Return the rows to choose rules on: all, or a sample with as many events as it can hold.

    Rows without an event are drawn, and count as all of them (case-control sampling).
    """
    most = settings.MOST_ROWS
    if rows.n_rows <= most:
        return rows
    assert rows.has_event is not None
    with_event, without = np.flatnonzero(rows.has_event), np.flatnonzero(~rows.has_event)
    n_events = min(len(with_event), max(most // 2, most - len(without)))
    parts = []
    for own, n in ((with_event, n_events), (without, min(len(without), most - n_events))):
        drawn = np.sort(own[random.permutation(len(own))[:n]])
        share = rows.weights[own].sum() / rows.weights[drawn].sum() if n else 1.0
        parts.append((drawn, rows.weights[drawn] * share))
    places = np.concatenate([drawn for drawn, _ in parts])
    weights = np.concatenate([own for _, own in parts])
    order = np.argsort(places)
    weights = weights[order] / min(
        float((own / rows.weights[drawn]).min(initial=np.inf)) for drawn, own in parts
    )
    sample = rows.take(places[order])
    return replace(sample, weights=weights)
