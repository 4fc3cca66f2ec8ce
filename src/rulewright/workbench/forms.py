"""The model forms that can be edited: their points, fits to grouped rows, and held-out answers.

Additive models and regression rules have points, which are fitted together. The rules of a decision
list have class shares, which are counted on the rows that reach them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.model import AdditiveRules, DecisionList, RegressionRules, RuleCard, units_of
from rulewright.rules import Adds, Coverage, NumberCoverage, Rule, Says
from rulewright.weighting import Isotonic
from rulewright.workbench.points import (
    COARSE,
    PRECISE,
    Objective,
    Points,
    Squares,
    class_objective,
    fit_points,
)

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import RuleModel
    from rulewright.rules import Rows
    from rulewright.workbench.rows import SessionRows

MOST_GROUPINGS = 8
"""Number of models whose groups of rows are kept: previews return to the same few."""

L2 = 1.0
"""Ridge penalty of refitted points, in rows."""


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows grouped by the rules that apply: rows of a group have equal scores.

    Attributes
    ----------
    of_rows : int array
        Group of each row.
    columns : float64 array of shape (groups, rules)
        What the points of each rule are multiplied by in each group.
    sums : float64 array of shape (groups, folds + 1, targets)
        Sums of weights by fold and class; the last fold has rows that no fold holds out. In
        regression the targets are the weight, and the weight times the number.
    offset : float64 array or 0.0
        What lines add to the scores of the groups.
    """

    of_rows: IntArray
    columns: FloatArray
    sums: FloatArray
    offset: FloatArray | float

    def training_sums(self, fold: int | None) -> FloatArray:
        """Return the sums of all rows, or of the rows that a fold trains on."""
        return self._total if fold is None else self._total - self.sums[:, fold]

    @cached_property
    def _total(self) -> FloatArray:
        total: FloatArray = self.sums.sum(axis=1)
        return total


class EditableForm(ABC):
    """What editing needs of a model form, on the rows of a session.

    Parameters
    ----------
    model : RuleModel
        The model.
    rows : SessionRows
        The rows that points are fitted to.
    l2 : float
        Ridge penalty of the points.
    """

    def __init__(self, model: Any, rows: SessionRows, l2: float = L2) -> None:
        self.rows, self.l2 = rows, l2
        self._groups: dict[Any, Groups] = {}
        self.counted: Rows = "training" if _are_training_rows(model, rows) else "given"

    @abstractmethod
    def points_of(self, model: Any) -> Points:
        """Return the numbers of the rules, and what every row starts with."""

    @abstractmethod
    def with_points(self, model: Any, points: Points) -> Any:
        """Return the model with other numbers."""

    def recount(self, model: Any) -> Any:
        """Return the model with its rules counted where that depends on other rules."""
        return model

    def calibrate(self, model: Any, scores: FloatArray) -> Any:
        """Return the model with a calibration, if it has one, fitted to out-of-fold scores."""
        return model

    def refit(
        self,
        model: Any,
        groups: Groups,
        free: BoolArray,
        signs: IntArray,
        fold: int | None,
        moves_start: bool = True,
    ) -> Any:
        """Return the model with its free numbers fitted to all rows, or without a fold."""
        points = fit_points(
            self._objective(model, groups, groups.training_sums(fold)),
            self.points_of(model),
            free,
            signs,
            self.l2,
            moves_start=moves_start,
            precision=PRECISE if fold is None else COARSE,
        )
        return self.with_points(model, points)

    @abstractmethod
    def _objective(self, model: Any, groups: Groups, sums: FloatArray) -> Objective:
        """Return the loss of groups of rows."""

    @abstractmethod
    def scores(self, model: Any, groups: Groups) -> FloatArray:
        """Return the scores of the groups."""

    @abstractmethod
    def coverage(self, covered: BoolArray) -> Coverage | NumberCoverage:
        """Count rows that a rule covers."""

    def groups_of(self, model: Any) -> Groups:
        """Group the rows by the rules of a model; models with the same conditions share groups."""
        key = tuple((rule.body.key, _ratio(rule)) for rule in model.rules)
        found = self._groups.pop(key, None) or self._group(model)
        self._groups[key] = found
        for oldest in list(self._groups)[:-MOST_GROUPINGS]:
            self._groups.pop(oldest, None)
        return found

    def _group(self, model: Any) -> Groups:
        ratios = [_ratio(rule) for rule in model.rules]
        bodies = [rule.body for rule in model.rules]
        held = [self.rows.holds(body) for body in bodies]
        failed = [self.rows.fails(b) for b, ratio in zip(bodies, ratios, strict=True) if ratio]
        n_rows = self.rows.n_rows
        covers = PackedCovers.pack(np.array([*held, *failed], dtype=np.bool_).reshape(-1, n_rows))
        if getattr(model, "linear", ()):
            of_rows = np.arange(n_rows, dtype=np.int32)
            offset: FloatArray | float = self._line_scores(model)
        else:
            nothing = np.zeros((n_rows, 1))
            found = covers.group_rows(self.rows.weights, nothing)
            covers, of_rows = PackedCovers(found.words, len(found.weights)), found.groups
            offset = 0.0
        columns = covers.unpack().astype(np.float64)
        own, rest = columns[: len(held)], iter(columns[len(held) :])
        for place, ratio in enumerate(ratios):
            if ratio:
                own[place] += ratio * next(rest)
        return Groups(of_rows, own.T, self.rows.sum_groups(of_rows, covers.n_rows), offset)

    def _line_scores(self, model: Any) -> FloatArray:
        units = units_of(model.linear, self.rows.table)
        slopes = np.array([line.slopes for line in model.linear])
        added: FloatArray = units @ slopes
        return added


def _ratio(rule: Rule) -> float:
    """Return what a rule adds where it is known not to apply, as a share of its points.

    It is rounded, so that it does not depend on the points.
    """
    adds = rule.outcome
    if not isinstance(adds, Adds) or not adds.value:
        return 0.0
    return float(f"{adds.otherwise / adds.value:.12g}")


def with_value(rule: Rule, value: float) -> Rule:
    """Return a rule with other points."""
    assert isinstance(rule.outcome, Adds)
    if rule.outcome.value == value:
        return rule
    return rule.with_outcome(Adds(rule.head, value, _ratio(rule) * value))


def _are_training_rows(model: Any, rows: SessionRows) -> bool:
    """Return whether rows have number, weight and class shares of the training rows."""
    notes, used = model.summary, rows.used
    known = notes.get("n_rows"), notes.get("total_weight")
    sums = bool(known == (used.n_rows, used.total_weight))
    if not sums or rows.has_numbers:
        return sums
    shares = used.class_weights / used.total_weight
    return bool(np.array_equal(notes.get("class_shares"), shares.tolist()))


class AdditiveForm(EditableForm):
    """Rules whose points add up to the scores of classes."""

    def points_of(self, model: AdditiveRules) -> Points:
        """Return the points of the rules and the intercepts."""
        values = [rule.outcome.value for rule in model.rules if isinstance(rule.outcome, Adds)]
        return Points(np.array(values, dtype=np.float64), np.array(model.intercepts))

    def with_points(self, model: AdditiveRules, points: Points) -> AdditiveRules:
        """Return the model with other points and intercepts."""
        made = [with_value(*pair) for pair in zip(model.rules, points.rules.tolist(), strict=True)]
        return replace(model, rules=tuple(made), intercepts=tuple(points.start.tolist()))

    def calibrate(self, model: AdditiveRules, scores: FloatArray) -> AdditiveRules:
        """Fit the steps to out-of-fold scores."""
        if model.steps is None:
            return model
        fitted = Isotonic().fit(scores, self.rows.targets, self.rows.weights)
        return fitted.apply(model.with_steps(None))

    def _objective(self, model: AdditiveRules, groups: Groups, sums: FloatArray) -> Objective:
        first = np.zeros(len(model.classes))
        first[0] = model.intercepts[0]
        offset = np.tile(first, (len(sums), 1)) + groups.offset
        return class_objective(groups.columns, self._heads(model), sums, offset)

    def _heads(self, model: AdditiveRules) -> FloatArray:
        heads = np.zeros((len(model.rules), len(model.classes)))
        for line, rule in zip(heads, model.rules, strict=True):
            line[rule.head.classes] = 1.0
        return heads

    def scores(self, model: AdditiveRules, groups: Groups) -> FloatArray:
        """Return a score for each group and class."""
        points = self.points_of(model)
        added: FloatArray = groups.columns @ (points.rules[:, np.newaxis] * self._heads(model))
        return added + points.start + groups.offset

    def coverage(self, covered: BoolArray) -> Coverage:
        """Count the covered rows by class."""
        return Coverage.of(tuple(self.rows.weights_by_class(covered).tolist()), self.counted)


class NumberForm(EditableForm):
    """Rules that add to a number."""

    def points_of(self, model: RegressionRules) -> Points:
        """Return what the rules add, and the intercept."""
        values = [rule.outcome.value for rule in model.rules if isinstance(rule.outcome, Adds)]
        return Points(np.array(values, dtype=np.float64), np.array([model.intercept]))

    def with_points(self, model: RegressionRules, points: Points) -> RegressionRules:
        """Return the model with other numbers."""
        made = [with_value(*pair) for pair in zip(model.rules, points.rules.tolist(), strict=True)]
        return replace(model, rules=tuple(made), intercept=float(points.start[0]))

    def _objective(self, model: RegressionRules, groups: Groups, sums: FloatArray) -> Objective:
        weights, totals = sums.T
        means = np.divide(totals, weights, out=np.zeros_like(totals), where=weights > 0)
        if isinstance(groups.offset, np.ndarray):
            means = means - groups.offset[:, 0]
        columns = np.hstack([groups.columns, np.ones((len(means), 1))])
        return Squares(columns, weights, means)

    def scores(self, model: RegressionRules, groups: Groups) -> FloatArray:
        """Return the number of each group."""
        points = self.points_of(model)
        found: FloatArray = groups.columns @ points.rules + points.start[0]
        return found if isinstance(groups.offset, float) else found + groups.offset[:, 0]

    def coverage(self, covered: BoolArray) -> NumberCoverage:
        """Return weight, mean and deviation of the covered rows."""
        if not covered.any():
            return NumberCoverage(0.0, 0.0, 0.0, self.counted)
        found = NumberCoverage.of(covered, self.rows.targets, self.rows.weights)
        return replace(found, rows=self.counted)


class ListForm(EditableForm):
    """Rules of which the first that applies gives the class shares."""

    def points_of(self, model: DecisionList) -> Points:
        """Return the class shares of the rules, and of rows that no rule covers."""
        shares = [
            rule.outcome.distribution for rule in model.rules if isinstance(rule.outcome, Says)
        ]
        own = np.array(shares, dtype=np.float64).reshape(-1, len(model.classes))
        return Points(own, np.array(model.default))

    def with_points(self, model: DecisionList, points: Points) -> DecisionList:
        """Return the list with other shares."""
        pairs = zip(model.rules, points.rules.tolist(), strict=True)
        rules = tuple(rule.with_outcome(Says(tuple(shares))) for rule, shares in pairs)
        return replace(model, rules=rules, default=tuple(points.start.tolist()))

    def recount(self, model: DecisionList) -> DecisionList:
        """Count each rule on the rows that reach it."""
        reached = np.ones(self.rows.n_rows, dtype=np.bool_)
        rules = []
        for rule in model.rules:
            covered = self.rows.holds(rule.body) & reached
            reached &= ~covered
            rules.append(replace(rule, coverage=self.coverage(covered)))
        rest = tuple(self.rows.weights_by_class(reached).tolist())
        return replace(model, rules=tuple(rules), default_weights=rest)

    def refit(
        self,
        model: DecisionList,
        groups: Groups,
        free: BoolArray,
        signs: IntArray,
        fold: int | None,
        moves_start: bool = True,
    ) -> DecisionList:
        """Count the class shares of the free rules, with one more row of each class."""
        points, first = self.points_of(model), _first_rules(groups)
        counts = np.ones((len(points.rules) + 1, len(model.classes)))
        np.add.at(counts, first, groups.training_sums(fold))
        shares = counts / counts.sum(axis=1, keepdims=True)
        rules = np.where(free[:, np.newaxis], shares[:-1], points.rules)
        return self.with_points(model, Points(rules, shares[-1] if moves_start else points.start))

    def _objective(self, model: DecisionList, groups: Groups, sums: FloatArray) -> Objective:
        raise NotImplementedError  # shares are counted

    def scores(self, model: DecisionList, groups: Groups) -> FloatArray:
        """Return the shares of the first rule that applies to each group."""
        points = self.points_of(model)
        every: FloatArray = np.vstack([points.rules, points.start])
        return every[_first_rules(groups)]

    def coverage(self, covered: BoolArray) -> Coverage:
        """Count the covered rows by class."""
        return Coverage.of(tuple(self.rows.weights_by_class(covered).tolist()), self.counted)


def _first_rules(groups: Groups) -> IntArray:
    """Return the first rule of each group; the number of rules where none applies."""
    none = np.ones((len(groups.columns), 1))
    first: IntArray = np.hstack([groups.columns, none]).argmax(axis=1)
    return first


FORMS: dict[type[RuleModel], type[EditableForm]] = {
    AdditiveRules: AdditiveForm,
    RuleCard: AdditiveForm,
    RegressionRules: NumberForm,
    DecisionList: ListForm,
}
