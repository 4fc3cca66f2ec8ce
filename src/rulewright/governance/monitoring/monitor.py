"""Figures and alarms of a model in use, from counts by period."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, Table, open_table, read_like
from rulewright.evidence import (
    accuracy,
    auc,
    calibration_error,
    clopper_pearson,
    log_loss,
    share_e_process,
)
from rulewright.explain import model_of
from rulewright.governance.monitoring.plan import Counts, Plan, outcomes_of
from rulewright.html import escape_line
from rulewright.model import ClassModel, body_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import BoolArray, FloatArray

PSI_SHIFT = 0.25
"""The rule of thumb for a large change of a distribution."""
ALPHA = 0.05
_DATE = re.compile(r"\d{4}-\d\d")
LETTERS = {"day": 10, "month": 7, "year": 4}
"""How many letters of a date name a period."""


@dataclass(frozen=True, eq=False)
class Tracked:
    """A share of a rule over time: how often it applies, or how often it is right.

    Parameters
    ----------
    rule : int
        The printed number of the rule.
    what : str
        "coverage" or "precision".
    low, high : float
        What the share is expected to lie between.
    shares : float array
        The share in each period, NaN without rows.
    evidence : float array
        The e-process of each period.
    alarm : int or None
        The period of the alarm.
    """

    rule: int
    what: str
    low: float
    high: float
    shares: FloatArray
    evidence: FloatArray
    alarm: int | None


@dataclass(frozen=True, eq=False)
class Monitor:
    """A model in use, period by period.

    Parameters
    ----------
    plan : Plan
        What is counted; it also writes the query for a database.
    reference : Counts
        The counts of the reference rows.
    counts : Counts
        The counts of the periods.
    alpha : float
        Probability of a false alarm of any rule at any time, if nothing changes.
    figures : dict of str to float array
        Further figures of each period: accuracy, log-loss, area under the ROC curve.
    """

    plan: Plan
    reference: Counts
    counts: Counts
    alpha: float
    figures: dict[str, FloatArray]

    @property
    def periods(self) -> tuple[str, ...]:
        """The periods after the reference."""
        return self.counts.periods

    @cached_property
    def score_psi(self) -> FloatArray:
        """The population stability index of the scores in each period."""
        return stability_index(self.reference.scores[0], self.counts.scores)

    @cached_property
    def column_psi(self) -> dict[str, FloatArray]:
        """The population stability index of each column in each period."""
        return {
            name: stability_index(
                self._parts(self.reference, name)[0], self._parts(self.counts, name)
            )
            for name in self.columns
        }

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the model."""
        return tuple(dict.fromkeys(watch.column for watch in self.plan.watches if watch.column))

    def shares(self, column: str, role: str) -> FloatArray:
        """Return the share of missing values or unseen labels of a column in each period."""
        own = [i for i, w in enumerate(self.plan.watches) if (w.column, w.role) == (column, role)]
        return np.asarray(self.counts.watches[:, own].sum(axis=1) / self.counts.rows)

    def _parts(self, counts: Counts, column: str) -> FloatArray:
        own = [i for i, watch in enumerate(self.plan.watches) if watch.column == column]
        parts = counts.watches[:, own]
        rest = counts.rows - parts.sum(axis=1)
        return np.column_stack([parts, np.maximum(rest, 0.0)])

    @cached_property
    def coverage(self) -> list[Tracked]:
        """How often each rule applies; of a list, how often it decides."""
        n = len(self.plan.model.rules)
        before, after = self.reference, self.counts
        # Half of alpha is for the intervals of the reference, the other half for the evidence.
        level = self.alpha / 2 / max(n, 1)
        low, high = clopper_pearson(before.watches[0, :n], before.rows[0], level)
        return self._track("coverage", after.watches[:, :n], after.rows[:, np.newaxis], low, high)

    @cached_property
    def precision(self) -> list[Tracked]:
        """How often the class of each rule is right where it applies: against its interval."""
        if self.counts.right is None:
            return []
        n = len(self.plan.model.rules)
        ends = np.array([rule.share_interval for rule in self.plan.model.rules]).reshape(-1, 2)
        known = np.isfinite(ends).all(axis=1)
        low, high = np.where(known, ends.T, [[0.0], [1.0]])
        return self._track("precision", self.counts.right, self.counts.watches[:, :n], low, high)

    def _track(
        self, what: str, counts: FloatArray, totals: FloatArray, low: FloatArray, high: FloatArray
    ) -> list[Tracked]:
        if not counts.shape[1]:
            return []
        evidence = share_e_process(counts, totals, low, high)
        over = evidence >= np.log(self.threshold)
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = counts / totals
        return [
            Tracked(
                self.plan.model.numbers[i],
                what,
                float(low[i]),
                float(high[i]),
                shares[:, i],
                np.exp(np.minimum(evidence[:, i], 700.0)),
                int(over[:, i].argmax()) if over[:, i].any() else None,
            )
            for i in range(counts.shape[1])
        ]

    @property
    def threshold(self) -> float:
        """The evidence at which a rule raises an alarm: all rules share half of alpha."""
        n = len(self.plan.model.rules) * (1 if self.counts.right is None else 2)
        return max(n, 1) / (self.alpha / 2)

    @property
    def alarms(self) -> list[Tracked]:
        """The rules with an alarm, the earliest first."""
        found = [one for one in (*self.coverage, *self.precision) if one.alarm is not None]
        return sorted(found, key=lambda one: (one.alarm or 0, one.rule))

    @property
    def calibration(self) -> FloatArray | None:
        """Mean outcome minus mean score in each period."""
        if self.counts.hits is None:
            return None
        gap = self.counts.hits.sum(axis=1) - self.counts.totals.sum(axis=1)
        return np.asarray(gap / self.counts.rows)

    def to_json(self) -> dict[str, Any]:
        """Return all figures as plain data, a list with an item for each period."""

        def plain(values: Any) -> list[float | None]:
            return [float(value) if np.isfinite(value) else None for value in values]

        tracked = [
            {
                "rule": one.rule,
                "what": one.what,
                "low": one.low,
                "high": one.high,
                "shares": plain(one.shares),
                "evidence": plain(one.evidence),
                "alarm": None if one.alarm is None else self.periods[one.alarm],
            }
            for one in (*self.coverage, *self.precision)
        ]
        mean = self.counts.totals.sum(axis=1) / self.counts.rows
        columns = {
            name: {
                "psi": plain(psi),
                "missing": plain(self.shares(name, "missing")),
                "unseen": plain(self.shares(name, "unseen")),
            }
            for name, psi in self.column_psi.items()
        }
        figures = {name: plain(values) for name, values in self.figures.items()}
        gap = {} if self.calibration is None else {"calibration": plain(self.calibration)}
        return {
            "reference": self.reference.periods[0],
            "periods": list(self.periods),
            "rows": plain(self.counts.rows),
            "alpha": self.alpha,
            "score": {
                "name": self.plan.score_name,
                "mean": plain(mean),
                "psi": plain(self.score_psi),
            },
            "columns": columns,
            "rules": tracked,
            "figures": figures | gap,
        }

    def __str__(self) -> str:
        rows, psi = self.counts.rows, self.column_psi
        name, size = escape_line(self.reference.periods[0]), self.reference.rows[0]
        lines = [
            f"reference: {name}, {size:,.0f} rows",
            f"{'period':12}  {'rows':>8}  {'PSI score':>9}  largest PSI of a column",
        ]
        for t, period in enumerate(self.periods):
            name = max(psi, key=lambda column: psi[column][t]) if psi else ""
            worst = f"{psi[name][t]:.3f} {escape_line(name)}" if name else "-"
            lines.append(
                f"{escape_line(period):12}  {rows[t]:8,.0f}  {self.score_psi[t]:9.3f}  {worst}"
            )
        alarms = self.alarms
        lines.append(
            f"{len(alarms)} alarm{'s' * (len(alarms) != 1)} (at most {self.alpha:.0%} of models "
            "without a change ever have one)"
        )
        lines += [f"  {self.alarm_text(one)}" for one in alarms]
        return "\n".join(lines)

    def alarm_text(self, one: Tracked) -> str:
        """Write an alarm: when, which rule, and what changed."""
        assert one.alarm is not None
        place = self.plan.model.numbers.index(one.rule)
        text = body_text(self.plan.model, self.plan.model.rules[place])
        return (
            f"{escape_line(self.periods[one.alarm])}: {one.what} of rule {one.rule} is "
            f"{one.shares[one.alarm]:.1%}, expected {one.low:.1%} to {one.high:.1%} ({text})"
        )

    def to_html(self) -> str:
        """Return a page with small multiples of all figures; it needs no network."""
        from rulewright.governance.monitoring.page import monitor_page  # noqa: PLC0415 - on demand

        return monitor_page(self)


def stability_index(reference: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the population stability index of counts by bin; half a row is added to each bin."""
    size = reference.shape[-1]
    p = (reference + 0.5) / (reference.sum() + 0.5 * size)
    q = (counts + 0.5) / (counts.sum(axis=-1, keepdims=True) + 0.5 * size)
    return np.asarray(((q - p) * np.log(q / p)).sum(axis=-1))


def monitor(
    model: Any,
    X: Any,
    by: str | Sequence[Any],
    y: Any = None,
    *,
    unit: str | None = None,
    reference: Any = None,
    reference_name: str = "reference",
    alpha: float = ALPHA,
) -> Monitor:
    """Monitor a model on rows of several periods.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        The model.
    X : table
        The rows.
    by : str or sequence
        The period of each row, or the name of its column in X. Periods are sorted.
    y : array-like or str, optional
        The outcomes, or the name of their column in X.
    unit : {"day", "month", "year"}, optional
        Take so much of dates as the period.
    reference : table, optional
        Rows to compare with, such as training rows; by default the rows of the first period.
    reference_name : str
        What the reference is called.
    alpha : float
        Maximum probability of ever raising an alarm, for all rules together, if rows are
        independent, nothing changes and the true precision of each rule lies in its interval.
    """
    fitted = model_of(model, "monitor")
    if not 0.0 < alpha < 1.0:
        raise ValueError(f"alpha={alpha}: must be above 0 and below 1")
    source = X if isinstance(X, Table) else open_table(X)
    of_row, periods = _periods(source, by, unit)
    table = read_like(source, fitted.schema, fitted.columns, target=y, task=fitted.task)
    if len(of_row) != len(table):
        raise DataError(
            f"by has {len(of_row)} periods for {len(table)} rows: give one for each row."
        )
    if reference is None:
        first = of_row == 0
        plan = Plan.of(fitted, table[first])
    else:
        given = read_like(reference, fitted.schema, fitted.columns)
        plan = Plan.of(fitted, given)
    outcomes = outcomes_of(fitted, table)
    counts = plan.count(table, of_row, periods, outcomes)
    figures = {} if outcomes is None else _figures(fitted, table, of_row, len(periods), outcomes)
    if reference is not None:
        zeros = np.zeros(len(given), dtype=np.intp)
        return Monitor(plan, plan.count(given, zeros, [reference_name]), counts, alpha, figures)
    if len(periods) < 2:
        raise DataError(
            f"All rows are of one period, {periods[0]}. Give reference rows to compare them with."
        )
    later = range(1, len(periods))
    figures = {name: values[1:] for name, values in figures.items()}
    return Monitor(plan, counts.take([0]), counts.take(later), alpha, figures)


def _periods(source: Any, by: Any, unit: str | None) -> tuple[Any, list[str]]:
    """Return the place of each row's period, and the periods in order."""
    values = by
    if isinstance(by, str):
        if by not in source.names:
            raise DataError(f"by={by!r}: there is no such column.")
        if isinstance(source, Table):
            values = source[by].schema.type.raw(source[by]).values
        else:
            values = source.load(source.positions[by], "text").values
    texts = [None if value is None or value != value else str(value) for value in values]
    if (n_missing := texts.count(None)) > 0:
        raise DataError(f"by={by!r}: {n_missing:,} rows have no period. Leave these rows out.")
    known = [text for text in texts if text is not None]
    if unit is not None:
        if unit not in LETTERS:
            raise ValueError(f"unit={unit!r}: use one of {', '.join(LETTERS)}")
        if wrong := next((text for text in known if not _DATE.match(text)), None):
            raise DataError(f"by={by!r}: {wrong!r:.40} is no date such as 2024-03-01.")
        known = [text[: LETTERS[unit]] for text in known]
    if not known:
        raise DataError("There are no rows.")
    numeric = all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in known)
    periods = sorted(set(known), key=(lambda text: float(text)) if numeric else None)
    place = {text: t for t, text in enumerate(periods)}
    return np.array([place[text] for text in known], dtype=np.intp), periods


def _figures(model: Any, table: Table, of_row: Any, n: int, outcomes: Any) -> dict[str, FloatArray]:
    """Return figures of each period that need rows, not only counts."""
    if model.task == "survival":
        return {}
    if not isinstance(model, ClassModel):
        errors = np.abs(model.predict(table) - outcomes)
        return {
            "mean absolute error": np.bincount(of_row, errors, n) / np.bincount(of_row, None, n)
        }
    chances = model.predict_proba(table)
    measures = {
        "accuracy": accuracy,
        "log-loss": log_loss,
        "calibration error": calibration_error,
        "AUC": auc,
    }
    found = {name: np.full(n, np.nan) for name in measures}
    for t in range(n):
        rows: BoolArray = (of_row == t) & (outcomes >= 0)
        if rows.any():
            for name, measure in measures.items():
                own = measure(outcomes[rows], chances[rows], np.ones(rows.sum()))
                found[name][t] = np.nan if own is None else own
    return found
