"""Further rules for a model: greedy growth on the derivatives of its loss."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import bin_table
from rulewright.kernels import ROW, STAT, Score
from rulewright.model import DecisionList
from rulewright.rules import Adds, Coverage, Head, NumberCoverage, Rule
from rulewright.search import RuleGrower, SearchLimits
from rulewright.weighting import LogLikelihood, fine_unit
from rulewright.workbench.edits import EDITS, Edit, go_on
from rulewright.workbench.names import EditError
from rulewright.workbench.state import RuleChange, State

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rulewright.encoding import BinnedColumns
    from rulewright.kernels import FloatArray

LEAST_WEIGHT = 5.0
"""Minimum weight of a grown rule."""

LEAST_GAIN = 1e-6
"""Minimum gain of a rule, in nats per row, or as a share of the squared error."""


@dataclass(frozen=True)
class Grow(Edit):
    """Add the best further rules, one by one; after each, all points that may move are refitted."""

    word = "grow"
    n_rules: int = 1
    max_conditions: int = 3
    check: Callable[[], None] = field(default=go_on, repr=False, compare=False)
    """Called before each growth; it may raise to stop."""

    def apply(self, state: State) -> State:
        """Add the rules."""
        if isinstance(state.model, DecisionList):
            raise EditError("a decision list is not grown: add rules with add(...).")
        if self.n_rules < 1 or self.max_conditions < 1:
            raise EditError("n_rules and max_conditions must be at least 1.")
        digits = state.constraints.digits_by_column(state.model.schema)
        binned = bin_table(state.data.rows.table, 64, 1, digits)
        for _ in range(self.n_rules):
            grown = self._add_rule(state, binned)
            if grown is None:
                break
            state = grown
        return state

    def _add_rule(self, state: State, binned: BinnedColumns) -> State | None:
        """Add the rule with the largest gain, in each fold too; None if no rule gains anything."""
        rows = state.data.rows
        best = _best_rule(state, state.model, rows.weights, binned, self.max_conditions)
        if best is None:
            return None
        by_fold = []
        for fold, model in enumerate(state.folds):
            self.check()
            weights = np.where(rows.folds.train_mask(fold), rows.weights, 0.0)
            own = _best_rule(state, model, weights, binned, self.max_conditions)
            by_fold.append(best if own is None else own)
        change = RuleChange(best, None, refits=True, by_fold=tuple(by_fold))
        return state.with_rules([*state.unchanged, change]).refit_free()

    def describe(self) -> str:
        """Write the number of rules."""
        rules = "a rule" if self.n_rules == 1 else f"{self.n_rules} rules"
        return f"grow {rules} with at most {self.max_conditions} conditions"


def _best_rule(
    state: State, model: Any, weights: FloatArray, binned: BinnedColumns, max_conditions: int
) -> Rule | None:
    """Return the new rule with the largest gain on weighted rows; None if none gains enough."""
    known = {(rule.body.key, rule.head) for rule in model.rules}
    grow = _number_rules if model.n_classes is None else _class_rules
    limits = SearchLimits(
        max_conditions=max_conditions, min_weight=LEAST_WEIGHT, constraints=state.constraints
    )
    new = [
        (gain, rule)
        for gain, rule in grow(state, model, weights, binned, limits)
        if (rule.body.key, rule.head) not in known
    ]
    gain, rule = max(new, key=lambda one: one[0], default=(0.0, None))
    return rule if gain > LEAST_GAIN else None


def _class_rules(
    state: State, model: Any, weights: FloatArray, binned: BinnedColumns, limits: SearchLimits
) -> Iterator[tuple[float, Rule]]:
    """Grow a rule for each class, and yield it with its gain in nats per row."""
    rows, l2 = state.data.rows, state.data.l2
    nothing = np.zeros(len(model.classes))
    likelihood = LogLikelihood(rows.targets, weights, nothing, weigh_rows=True)
    likelihood.restart(np.maximum(model.predict_proba(rows.table), 1e-12))
    compiled = limits.compile(model.schema, likelihood.unit)
    grower, chosen = RuleGrower(binned, "short"), np.flatnonzero(weights).astype(ROW)
    empty = Coverage.of(tuple(nothing.tolist()), "given")
    for head in likelihood.heads:
        score = likelihood.score("newton", l2, head)
        grown = grower.grow(binned.codes, chosen, likelihood.stats, score, compiled)
        if grown is not None:
            g, h = likelihood.derivatives(grown.cover(binned.codes), head)
            gain = g * g / (2 * (h + l2)) if g < 0 else 0.0
            yield gain / float(weights.sum()), Rule(grown.body, Adds(head, 0.0), empty)


def _number_rules(
    state: State, model: Any, weights: FloatArray, binned: BinnedColumns, limits: SearchLimits
) -> Iterator[tuple[float, Rule]]:
    """Grow a rule that raises and one that lowers; the gain is a share of the squared error."""
    rows, l2 = state.data.rows, state.data.l2
    gaps = model.predict(rows.table) - rows.targets
    gaps /= max(float(np.abs(gaps).max()), 1e-300)
    pulls, unit = weights * gaps, fine_unit(float(weights.sum()))
    compiled = limits.compile(model.schema, unit)
    grower, chosen = RuleGrower(binned, "short"), np.flatnonzero(weights).astype(ROW)
    score, empty = Score("newton", unit=unit, l2=l2), NumberCoverage(0.0, 0.0, 0.0, "given")
    for sign in (1.0, -1.0):
        lanes = np.stack([sign * pulls, weights, weights], axis=1)
        stats = np.ascontiguousarray(np.rint(lanes / unit).astype(STAT))
        grown = grower.grow(binned.codes, chosen, stats, score, compiled)
        if grown is not None:
            covered = grown.cover(binned.codes)
            g, h = float(pulls[covered].sum()), float(weights[covered].sum())
            gain = g * g / ((h + l2) * max(float(pulls @ gaps), 1e-300))
            yield gain, Rule(grown.body, Adds(Head(0, 0), 0.0), empty)


EDITS[Grow.word] = Grow
