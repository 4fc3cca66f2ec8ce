"""A state of a session: the model, its points without each fold, and what is held fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import DataError
from rulewright.evidence import compare_figures, influenced_figures
from rulewright.governance import prove
from rulewright.rules import Adds, Rule, Says
from rulewright.search import Constraints
from rulewright.workbench.compliance import required_sign, violations
from rulewright.workbench.forms import FORMS, EditableForm
from rulewright.workbench.rows import judge_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.evidence import Change, InfluencedFigure
    from rulewright.governance import Policy, Proofs
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.workbench.rows import SessionRows

KEPT_NOTES = (
    "learner",
    "settings",
    "n_rows",
    "total_weight",
    "class_shares",
    "target",
    "training",
    "constraints",
    "sample",
)
"""Notes on a model that stay true when its rules change."""

PROVING_SECONDS = 1.0
"""Time limit of the proof of a policy, while a person waits."""


class RuleChange(NamedTuple):
    """A rule of an edited model: where it comes from, and which of its points are new.

    Attributes
    ----------
    rule : Rule
        The rule, with its points so far.
    source : int or None
        Its place among the rules before; None for a rule that was not there.
    is_frozen : bool
        Whether its points are held fixed.
    refits : bool
        Whether the edit fits its points, all others held fixed.
    sets_points : bool
        Whether the model has the points of this rule without each fold too.
    by_fold : tuple of Rule or None
        What the same growth finds without each fold.
    joins : tuple of int
        Places of other rules that became equal to this one: their points are added.
    """

    rule: Rule
    source: int | None
    is_frozen: bool = False
    refits: bool = False
    sets_points: bool = False
    by_fold: tuple[Rule, ...] | None = None
    joins: tuple[int, ...] = ()

    def join(self, other: RuleChange) -> RuleChange:
        """Return this rule with the points of an equal one; in a list the first one counts."""
        assert other.source is not None
        if isinstance(self.rule.outcome, Says):
            return self
        return self._replace(
            rule=_with_sum(self.rule, [self.rule, other.rule]),
            is_frozen=self.is_frozen or other.is_frozen,
            joins=(*self.joins, other.source),
        )

    def on_fold(self, fold: int, before: Any, model: Any) -> Rule:
        """Return the rule without a fold, given the models of the fold and of all rows before."""
        if self.source is None:
            return self.rule if self.by_fold is None else self.by_fold[fold]
        own: Rule = before.rules[self.source]
        if self.rule.body != model.rules[self.source].body:
            own = replace(own, body=self.rule.body)
        if self.joins:
            own = _with_sum(own, [own, *(before.rules[place] for place in self.joins)])
        return own.with_outcome(self.rule.outcome) if self.sets_points else own


def _with_sum(rule: Rule, rules: list[Rule]) -> Rule:
    """Return a rule with the sum of the points of rules."""
    own = [one.outcome for one in rules if isinstance(one.outcome, Adds)]
    sums = sum(adds.value for adds in own), sum(adds.otherwise for adds in own)
    return rule.with_outcome(Adds(rule.head, *sums))


def _join_equal(changes: Sequence[RuleChange]) -> list[RuleChange]:
    """Join rules with the same conditions and classes."""
    found: dict[Any, RuleChange] = {}
    for change in changes:
        head = None if isinstance(change.rule.outcome, Says) else change.rule.head
        key = change.rule.body.key, head
        found[key] = found[key].join(change) if key in found else change
    return list(found.values())


@dataclass(frozen=True, eq=False)
class State:
    """A model and how it was fitted without each fold.

    Attributes
    ----------
    model : RuleModel
        The model.
    form : EditableForm or None
        Its points and rows; None without data.
    folds : tuple of RuleModel
        The models that were fitted without each fold, for held-out figures. Their rules are those
        of the model, but for rules that were grown: each fold has grown its own.
    frozen : tuple of bool
        Which rules are held fixed.
    constraints : Constraints
        What rules must comply with.
    policies : tuple of Policy
        What the model must do on every row that can occur.
    """

    model: Any
    form: EditableForm | None
    folds: tuple[Any, ...]
    frozen: tuple[bool, ...]
    constraints: Constraints
    policies: tuple[Policy, ...] = ()

    @classmethod
    def start(
        cls,
        model: Any,
        rows: SessionRows | None,
        l2: float,
        frozen: tuple[bool, ...],
        policies: tuple[Policy, ...] = (),
    ) -> State:
        """Return the first state: points that are not frozen are refitted without each fold."""
        if type(model) not in FORMS:
            known = ", ".join(form.__name__ for form in FORMS)
            raise DataError(f"{type(model).__name__} cannot be edited. Models that can: {known}.")
        form = None if rows is None else FORMS[type(model)](model, rows, l2)
        given = model.summary.get("constraints")
        constraints = Constraints.of(given if isinstance(given, dict) else None)
        state = cls(model, form, (), frozen, constraints, policies)
        if form is None:
            return state
        groups, free = form.groups_of(model), ~np.array(frozen, dtype=np.bool_)
        folds = [
            form.refit(model, groups, free, state.signs_of(model), fold)
            for fold in range(len(form.rows.folds))
        ]
        return replace(state, folds=tuple(folds))

    @property
    def data(self) -> EditableForm:
        """The form with its rows; an error without data."""
        if self.form is None:
            raise DataError(
                "this needs rows: open the session with X and y, or name their file with --data."
            )
        return self.form

    def signs_of(self, model: Any) -> IntArray:
        """Return the sign that the points of each rule must keep; 0 for none."""
        found = [required_sign(rule, model, self.constraints) for rule in model.rules]
        return np.array([sign or 0 for sign in found], dtype=np.int32)

    @property
    def unchanged(self) -> list[RuleChange]:
        """All rules, to be changed by an edit."""
        triples = zip(self.model.rules, range(len(self.frozen)), self.frozen, strict=True)
        return [RuleChange(*triple) for triple in triples]

    def with_rules(self, changes: Sequence[RuleChange]) -> State:
        """Return the state with other rules; points that the edit makes are fitted alone."""
        changes = _join_equal(changes)
        rules = [self._count(change) for change in changes]
        frozen = tuple(change.is_frozen for change in changes)
        model = self.model.with_rules(rules).with_summary(self._kept_notes)
        if self.form is None:
            return replace(self, model=model, frozen=frozen)
        folds = tuple(
            own.with_rules([change.on_fold(fold, own, self.model) for change in changes])
            for fold, own in enumerate(self.folds)
        )
        made = replace(self, model=self.form.recount(model), frozen=frozen, folds=folds)
        refits = np.array([change.refits for change in changes], dtype=np.bool_)
        return made.refit(refits, moves_start=False) if refits.any() else made

    @property
    def _kept_notes(self) -> dict[str, Any]:
        summary = self.model.summary
        return {name: summary[name] for name in KEPT_NOTES if name in summary}

    def _count(self, change: RuleChange) -> Rule:
        rule, form = change.rule, self.form
        known = change.source is not None and rule.body == self.model.rules[change.source].body
        if known or form is None:
            return rule
        return replace(rule, coverage=form.coverage(form.rows.holds(rule.body)))

    def refit(self, free: BoolArray, *, moves_start: bool = True) -> State:
        """Fit the points of some rules, on all rows and without each fold."""

        def fit(model: Any, fold: int | None) -> Any:
            groups, signs = self.data.groups_of(model), self.signs_of(model)
            return self.data.refit(model, groups, free, signs, fold, moves_start)

        folds = tuple(fit(own, fold) for fold, own in enumerate(self.folds))
        model = fit(self.model, None).with_summary(self._kept_notes)
        return replace(self, model=model, folds=folds)

    def refit_free(self) -> State:
        """Fit all points that are not frozen, and the calibration by steps if there is one."""
        made = self.refit(~np.array(self.frozen, dtype=np.bool_))
        return replace(made, model=made.data.calibrate(made.model, made.held_out_scores))

    @property
    def frozen_rules(self) -> list[Rule]:
        """The rules that are held fixed."""
        pairs = zip(self.model.rules, self.frozen, strict=True)
        return [rule for rule, is_frozen in pairs if is_frozen]

    def cost_of_fixing(self, places: list[int]) -> tuple[State, list[Change]]:
        """Fit the points of some rules alone, and return what the fixed points cost against it."""
        free = np.isin(np.arange(len(self.frozen)), places)
        fitted, weights = self.refit(free, moves_start=False), self.data.rows.weights
        return fitted, compare_figures(
            fitted.figures, self.figures, weights, self.model.n_classes or 0
        )

    def cost_of_freezing(self) -> list[Change]:
        """Return figures of refits with all points free, and with the frozen ones."""
        free = replace(self, frozen=(False,) * len(self.frozen)).refit_free()
        held, weights = self.refit_free(), self.data.rows.weights
        return compare_figures(free.figures, held.figures, weights, self.model.n_classes or 0)

    @cached_property
    def held_out_scores(self) -> FloatArray:
        """The scores of each row by the model that was fitted without its fold."""
        rows, scores = self.data.rows, None
        for fold, model in enumerate(self.folds):
            groups = self.data.groups_of(model)
            own = self.data.scores(model, groups)
            scores = np.empty((rows.n_rows, *own.shape[1:])) if scores is None else scores
            held_out = rows.fold_of_rows == fold
            scores[held_out] = own[groups.of_rows[held_out]]
        assert scores is not None
        return scores

    @cached_property
    def scores(self) -> FloatArray:
        """The scores of the rows by the model itself."""
        groups = self.data.groups_of(self.model)
        found: FloatArray = self.data.scores(self.model, groups)[groups.of_rows]
        return found

    @cached_property
    def predictions(self) -> Any:
        """Class codes, or numbers, that the model predicts for the rows."""
        return self.scores if self.model.n_classes is None else self.model.decide(self.scores)

    @cached_property
    def levels(self) -> FloatArray:
        """The probability of the last class, or the number, of each row."""
        if self.model.n_classes is None:
            return self.scores
        chances: FloatArray = self.model.probabilities(self.scores)
        return chances[:, -1]

    @cached_property
    def figures(self) -> dict[str, InfluencedFigure]:
        """Held-out figures."""
        rows = self.data.rows.used
        return influenced_figures(judge_rows(rows, self.model, self.held_out_scores))

    @property
    def loss(self) -> float:
        """The first held-out figure: log-loss, or RMSE."""
        return next(iter(self.figures.values())).value

    def forget(self) -> None:
        """Drop what can be computed again: a long session keeps many states."""
        for name in ("held_out_scores", "scores", "predictions", "levels", "figures"):
            self.__dict__.pop(name, None)

    @cached_property
    def proofs(self) -> Proofs:
        """Whether the model obeys the policies."""
        return prove(self.model, self.policies, time_limit=PROVING_SECONDS)

    def broken(self) -> list[str]:
        """Write which rules do not comply with the constraints."""
        return [
            f"rule {self.model.numbers[place]} ({rule.body}): {why}"
            for place, rule in enumerate(self.model.rules)
            for why in violations(rule, self.model, self.constraints)
        ]
