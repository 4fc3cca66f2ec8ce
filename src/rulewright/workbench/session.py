"""A session: a model and rows, edits with previews, undo and redo, and the log."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, ModelWarning
from rulewright.evidence import compare_figures, influenced_figures
from rulewright.model import EDITS_NOTE
from rulewright.workbench import edits as kinds
from rulewright.workbench.edits import Edit
from rulewright.workbench.forms import L2
from rulewright.workbench.grow import Grow
from rulewright.workbench.log import EditLog, make_entry, strip_log
from rulewright.workbench.names import EditError, RuleName, find_rule, name_of
from rulewright.workbench.preview import Preview
from rulewright.workbench.rows import SessionRows, judge_rows, read_rows
from rulewright.workbench.state import State
from rulewright.workbench.suggest import MOST_CUTS, Suggestion, cut_losses, suggest_rules
from rulewright.workbench.threads import on_one_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rulewright.evidence import Change
    from rulewright.governance import Policy, Proofs
    from rulewright.model import RuleModel


class Session:
    """A model under the hands of an expert: edit, hold fixed, refit, grow, and see what changes.

    Every edit returns a `Preview`; nothing changes until `apply`. Held-out figures come from the
    points refitted without each fold. The rules themselves were chosen on all rows, so look at the
    changes rather than at the figures. Repeated looks at the same figures make them optimistic too:
    keep a final part of the rows with `holdout` and open it once.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules, DecisionList or fitted estimator
        The model.
    X : array, dataframe, dict of columns, path of a file or Table, optional
        Rows, usually the training rows of the model. Without rows there are no figures, no
        refit and no suggestions.
    y : array-like or str, optional
        Target, or the name of its column in X; by default the target that a Table was read with.
    sample_weight : array-like or str, optional
        Row weights, or the name of their column in X.
    holdout : float, optional
        Share of the rows in the final part.
    cv : int or splitter
        Folds for the held-out figures.
    l2 : float
        Ridge penalty of refitted points, in rows.
    by : sequence of str
        Nominal columns whose groups previews compare.
    policies : sequence of Policy
        Policies that previews prove; see ``rulewright.governance.prove``.
    author : str
        Name in the log.
    random_state : int
        Seed of the folds and the final part.

    Examples
    --------
    >>> import rulewright as rw
    >>> from rulewright.workbench import Session
    >>> loans = rw.read_table("examples/loans.csv", target="repaid")
    >>> est = rw.CompactRulesClassifier(random_state=0).fit(loans)
    >>> session = Session(est, loans, author="Ada")
    >>> session.apply(session.freeze([1]), reason="agreed with the credit team")
    >>> session.apply(session.add("late_payments >= 4", votes="no"))
    >>> session.apply(session.refit())
    >>> len(session.log.entries), session.frozen
    (3, ['income <= 2050 and amount >= 9400'])
    """

    @on_one_thread
    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        holdout: float | None = None,
        cv: Any = 5,
        l2: float = L2,
        by: Sequence[str] = (),
        policies: Sequence[Policy] = (),
        author: str = "",
        random_state: int = 0,
    ) -> None:
        model = getattr(model, "model_", model)
        holdout = 0.0 if holdout is None else holdout
        if not 0.0 <= holdout < 1.0:
            raise ValueError(f"holdout={holdout} must be a share from 0 to below 1.")
        if not l2 >= 0.0 or not np.isfinite(l2):
            raise ValueError(f"l2={l2} must be a finite number, not negative.")
        known = EditLog.of(model)
        model = strip_log(model)
        rows = None
        if X is not None:
            rows = SessionRows(read_rows(model, X, y, sample_weight), holdout, cv, random_state)
        self.author = author
        log = EditLog(model.content()) if known is None else known
        names = [name_of(model, place) for place in range(len(model))]
        frozen = tuple(name in log.frozen for name in names)
        self._past = [State.start(model, rows, l2, frozen, tuple(policies))]
        self._future: list[State] = []
        settings = {"holdout": holdout, "l2": l2, "random_state": random_state}
        if isinstance(cv, int):
            settings["cv"] = cv
        self._logs = [log.begin("" if rows is None else rows.digest, settings)]
        self._undone: list[EditLog] = []
        self.compare_by(by)
        for policy in policies:
            policy.check(model)

    def compare_by(self, by: Sequence[str]) -> None:
        """Let previews compare the labels of nominal columns."""
        schema = (
            self.state.model.schema
            if self.state.form is None
            else self.state.form.rows.table.schema
        )
        for name in by:
            if name not in schema or schema[name].type.ordered:
                nominal = ", ".join(c.name for c in schema if not c.type.ordered)
                raise DataError(f"by: {name!r} is not a nominal column. Nominal: {nominal}.")
        self.by = tuple(by)

    @property
    def state(self) -> State:
        """The current state."""
        return self._past[-1]

    @property
    def log(self) -> EditLog:
        """The applied edits."""
        return self._logs[-1]

    @property
    def model(self) -> Any:
        """The current model, with the log in its summary if there is anything in it."""
        model = self.state.model
        if not self.log.entries and not self.log.opened:
            return model
        return model.with_summary({**model.summary, EDITS_NOTE: self.log.to_json()})

    @property
    def can_undo(self) -> bool:
        """Whether there is an edit to undo."""
        return len(self._past) > 1

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone edit."""
        return bool(self._future)

    @property
    def frozen(self) -> list[str]:
        """Conditions of the rules that are held fixed."""
        return [str(rule.body) for rule in self.state.frozen_rules]

    @property
    def proofs(self) -> Proofs:
        """Whether the current model obeys the policies of the session."""
        return self.state.proofs

    @property
    def figures(self) -> dict[str, float]:
        """Held-out figures of the current model."""
        if self.state.form is None:
            return {}
        return {key: figure.value for key, figure in self.state.figures.items()}

    @on_one_thread
    def preview(self, edit: Edit) -> Preview:
        """Return what an edit would change."""
        found = Preview(edit, self.state, edit.apply(self.state), self.by)
        found.measure()
        return found

    def apply(self, preview: Preview | Edit, reason: str = "", author: str | None = None) -> None:
        """Make a previewed edit; it must belong to the current model."""
        if isinstance(preview, Edit):
            preview = self.preview(preview)
        if preview.before is not self.state:
            raise DataError("the model has changed since this preview: preview the edit again.")
        after = preview.after
        figures = {}
        if after.form is not None:
            figures = {key: figure.value for key, figure in after.figures.items()}
        models = (self.state.model, after.model)
        author = self.author if author is None else author
        entry = make_entry(preview.edit, models, author, reason, figures)
        names = [name_of(after.model, place) for place, held in enumerate(after.frozen) if held]
        log = replace(self.log, entries=(*self.log.entries, entry), frozen=tuple(names))
        self._logs.append(log)
        self.state.forget()
        self._past.append(after)
        self._future.clear()
        self._undone.clear()

    def undo(self) -> None:
        """Return to the model before the last edit."""
        if not self.can_undo:
            raise DataError("there is nothing to undo.")
        self._future.append(self._past.pop())
        opened = self.log.opened
        self._undone.append(self._logs.pop())
        self._logs[-1] = replace(self._logs[-1], opened=opened)

    def redo(self) -> None:
        """Make the last undone edit again."""
        if not self.can_redo:
            raise DataError("there is nothing to redo.")
        self._past.append(self._future.pop())
        self._logs.append(replace(self._undone.pop(), opened=self.log.opened))

    def drop(self, rules: Any) -> Preview:
        """Remove rules: numbers, conditions or Rule objects."""
        return self.preview(kinds.Drop(self._names(rules)))

    def replace(self, rule: Any, text: str) -> Preview:
        """Give a rule other conditions, such as "income <= 2000 and amount >= 9000"."""
        return self.preview(kinds.Replace(self._name(rule), text))

    def add(
        self,
        text: str,
        votes: Any = None,
        points: float | None = None,
        place: int | None = None,
    ) -> Preview:
        """Add a rule for a class; given points are held fixed, others are fitted.

        In a list, `place` is the place of the new rule, from 1; by default the last.
        """
        votes = None if votes is None else str(votes)
        place = None if place is None else place - 1
        return self.preview(kinds.Add(text, votes, points, place))

    def split(self, rule: Any, condition: str) -> Preview:
        """Divide a rule by a condition into two."""
        return self.preview(kinds.Split(self._name(rule), condition))

    def merge(self, rules: Any) -> Preview:
        """Join rules into one that applies where any of them does."""
        return self.preview(kinds.Merge(self._names(rules)))

    def move(self, rule: Any, to: int) -> Preview:
        """Give a rule of a list another place, from 1."""
        return self.preview(kinds.Move(self._name(rule), to))

    def round_thresholds(self, digits: int, rules: Any = ()) -> Preview:
        """Round thresholds to significant digits, in all rules or in some."""
        return self.preview(kinds.RoundThresholds(digits, self._names(rules)))

    def set_points(self, rule: Any, points: float) -> Preview:
        """Give a rule fixed points."""
        return self.preview(kinds.SetPoints(self._name(rule), float(points)))

    def freeze(self, rules: Any) -> Preview:
        """Hold the points of rules fixed."""
        return self.preview(kinds.Freeze(self._names(rules)))

    def thaw(self, rules: Any) -> Preview:
        """Let the points of rules move again."""
        return self.preview(kinds.Thaw(self._names(rules)))

    def constrain(self, constraints: Any = None, **options: Any) -> Preview:
        """Require constraints of all rules: a `Constraints` object, or its fields by name."""
        return self.preview(kinds.Constrain(options if constraints is None else constraints))

    def refit(self) -> Preview:
        """Fit the points of all rules that are not frozen, the intercepts and a calibration."""
        return self.preview(kinds.Refit())

    def grow(
        self, n_rules: int = 1, max_conditions: int = 3, check: Callable[[], None] | None = None
    ) -> Preview:
        """Add the best further rules around the others, and refit what is not frozen.

        `check` is called before each growth; it may raise to stop.
        """
        return self.preview(Grow(n_rules, max_conditions, check or kinds.go_on))

    @on_one_thread
    def suggest(
        self, rule: Any, n: int = 10, check: Callable[[], None] | None = None
    ) -> list[Suggestion]:
        """List rules with nearly the same effect on other columns or thresholds.

        `check` is called before each of them; it may raise to stop.
        """
        return suggest_rules(self.state, self._name(rule), n, check or kinds.go_on)

    @on_one_thread
    def suggest_cuts(
        self, rule: Any, column: str, n: int = MOST_CUTS, check: Callable[[], None] | None = None
    ) -> list[tuple[float, float]]:
        """Return thresholds of a column in a rule, each with the change of the held-out loss."""
        return cut_losses(self.state, self._name(rule), column, n, check or kinds.go_on)

    @on_one_thread
    def cost_of_freezing(self) -> list[Change]:
        """Return what the frozen points cost: figures with all points free, and with them."""
        return self.state.cost_of_freezing()

    @on_one_thread
    def open_final(self) -> list[Change]:
        """Compare the start model and the current one on the final part; the log counts it."""
        rows = None if self.state.form is None else self.state.form.rows.final
        if rows is None:
            raise DataError("there is no final part: open the session with holdout=0.2.")
        self._logs[-1] = replace(self.log, opened=self.log.opened + 1)
        first, last = (
            influenced_figures(judge_rows(rows, model, model.scores(rows.table)))
            for model in (self._past[0].model, self.state.model)
        )
        return compare_figures(first, last, rows.weights, self.state.model.n_classes or 0)

    def _name(self, rule: Any) -> RuleName:
        return find_rule(self.state.model, rule)

    def _names(self, rules: Any) -> tuple[RuleName, ...]:
        several: Iterable[Any] = rules if isinstance(rules, list | tuple | set) else [rules]
        return tuple(map(self._name, several))


def replay(
    log: EditLog, X: Any, y: Any = None, *, model: RuleModel | Any = None, **options: Any
) -> Session:
    """Make the edits of a log again, and return the session.

    Parameters
    ----------
    log : EditLog
        The log, such as ``EditLog.of(model)``.
    X, y : rows and target
        As for `Session`. The rows of the log give the model of the log, with the same hash.
    model : RuleModel or fitted estimator, optional
        Another start, such as this year's fit; by default the model that the log began with. Edits
        of rules that it does not have are left out, with a warning.
    **options
        Further options of `Session`.
    """
    made = log.start_model if model is None else model
    for session, entries in log.by_session():
        rows = (X, y) if session.data or model is not None else ()
        opened = Session(made, *rows, **{**session.settings, **options})
        for entry in entries:
            try:
                preview = opened.preview(entry.edit)
            except EditError as error:
                if model is None:
                    raise
                _warn_left_out(entry.text, error)
                continue
            opened.apply(preview, entry.reason, entry.author)
        made = opened.model
    return opened


def _warn_left_out(text: str, error: Exception) -> None:
    warnings.warn(f"replay leaves out '{text}': {error}", ModelWarning, stacklevel=3)
