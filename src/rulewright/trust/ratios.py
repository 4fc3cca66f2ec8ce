"""Rate and hazard ratios of rules on given rows, each with an interval and tests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtri
from scipy.stats import rankdata

from rulewright.bounds import checked_delta
from rulewright.data import CountSet, SurvivalTarget
from rulewright.evidence import Curve, kaplan_meier, log_rank
from rulewright.explain import EvaluatedRows, model_of, rows_with_target
from rulewright.model import HazardRules, RatioRules, align_cells, body_text, to_frame
from rulewright.rules import Adds, write_factor, write_number
from rulewright.weighting import CoxLoss, PoissonLoss, ScoreLoss

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray

MOST_STEPS = 50


class _Ratio(NamedTuple):
    """The logarithm of a ratio, its standard error, and the p-value that it is constant in time."""

    log: float
    error: float
    proportional: float = math.nan


@dataclass(frozen=True, eq=False)
class RuleRatios:
    """Ratios of the rules of a model on given rows: one number per rule in each array.

    Parameters
    ----------
    model : RateRules or HazardRules
        The model.
    alpha : float
        Error probability of each interval.
    fitted : float array
        The factors of the model.
    ratio, low, high : float array
        The ratio on the given rows, with the other rules as they are in the model, and its
        interval; NaN where a side has no event.
    p_value : float array
        P-value that the ratio is 1 (Wald).
    rows, events : float array
        Weight of the covered rows, and of their events.
    log_rank : float array
        P-value of the log-rank test of the covered rows against all others; NaN of rates.
    proportional : float array
        P-value that the hazard ratio does not depend on time (Grambsch and Therneau, with ranks of
        the times); NaN of rates. A small one says that the ratio changes.
    """

    model: RatioRules
    alpha: float
    fitted: FloatArray
    ratio: FloatArray
    low: FloatArray
    high: FloatArray
    p_value: FloatArray
    rows: FloatArray
    events: FloatArray
    log_rank: FloatArray
    proportional: FloatArray

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns, one item per rule in the order of the model."""
        names = ["fitted", "ratio", "low", "high", "p_value", "rows", "events"]
        names += ["log_rank", "proportional"] if isinstance(self.model, HazardRules) else []
        return {
            "rule": list(self.model.numbers),
            "if": [str(rule.body) for rule in self.model.rules],
            **{name: getattr(self, name).tolist() for name in names},
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with one row per rule."""
        return to_frame(self.to_table(), backend)

    def __str__(self) -> str:
        tested = isinstance(self.model, HazardRules)
        percent = f"{100 * (1 - self.alpha):g} %"
        more = ["proportional p"] if tested else []
        title = f"{self.model.quantity} [{percent}]"
        lines = [["#", "model", title, "rows", "events", *more, "rule"]]
        for i in sorted(range(len(self.model)), key=self.model.numbers.__getitem__):
            lines.append(self._cells(i, tested))
        return "\n".join(align_cells(lines))

    def _cells(self, i: int, tested: bool) -> list[str]:
        low, high = (write_number(float(end[i]), digits=2) for end in (self.low, self.high))
        known = not math.isnan(self.ratio[i])
        factor = f"x{write_number(float(self.ratio[i]), digits=2)} [{low}, {high}]"
        return [
            str(self.model.numbers[i]),
            write_factor(math.log(self.fitted[i])),
            factor if known else "-",
            write_number(float(self.rows[i])),
            write_number(float(self.events[i])),
            *([f"{self.proportional[i]:.3f}"] if tested else []),
            body_text(self.model, self.model.rules[i]),
        ]


def rule_ratios(
    model: Any, X: Any, y: Any, sample_weight: Any = None, *, alpha: float = 0.05
) -> RuleRatios:
    """Estimate the rate or hazard ratio of each rule on given rows, with an interval.

    Use new rows: on rows that chose the rules, ratios are too far from 1 and intervals miss the
    ratio of new rows more often than `alpha`.

    Parameters
    ----------
    model : RateRules, HazardRules or fitted estimator
        The model.
    X, y : rows and their targets
        Targets as for the learner.
    sample_weight : array-like, optional
        Row weights: numbers of rows.
    alpha : float
        Error probability of each interval, not adjusted for the number of rules.

    Returns
    -------
    RuleRatios
        One number per rule in each field; prints as a table.

    Notes
    -----
    The ratio of a rule is fitted with all other rules fixed at their factors. Of counts, standard
    errors grow with the dispersion of the rows (quasi-Poisson); of times, they come from Cox's
    partial likelihood with Efron's ties.
    """
    model = model_of(model, "rule_ratios")
    if not isinstance(model, RatioRules):
        raise ValueError(
            f"rule_ratios needs a model of rates or hazards, not {type(model).__name__}: "
            "rule_statistics is for others"
        )
    checked_delta(alpha, "alpha")
    table = rows_with_target(model, X, y, sample_weight)
    rows = EvaluatedRows(model, table)
    target, weights = table.known_numbers, rows.weights
    times = target if isinstance(target, SurvivalTarget) else None
    counts = CountSet.target_of(table) if times is None else None
    outcomes = counts.values if counts is not None else times.events.astype(float)  # type: ignore[union-attr]
    loss: ScoreLoss
    if times is not None:
        loss = CoxLoss(times.values, times.events, weights, times.entries)
    else:
        assert counts is not None
        loss = PoissonLoss(counts.values, weights, counts.exposure)
    found, sums, ranks = [], [], []
    for i, rule in enumerate(model.rules):
        assert isinstance(rule.outcome, Adds)
        inside = rows.covers[i : i + 1].row_mask()
        sums.append((float(weights[inside].sum()), float((weights * outcomes)[inside].sum())))
        offset = rows.scores - rule.outcome.value * inside
        found.append(_fit_ratio(loss, inside, offset))
        ranks.append(math.nan)
        if times is not None and 0 < inside.sum() < len(inside):
            ranks[-1] = log_rank(times.values, times.events, inside, weights).p_value
    return _collect(model, alpha, found, sums, ranks)


def kaplan_meier_by_rule(
    model: Any, X: Any, y: Any, sample_weight: Any = None
) -> list[tuple[Curve, Curve]]:
    """Return for each rule the survival curves of the rows that it covers, and of the others."""
    model = model_of(model, "kaplan_meier_by_rule")
    if not isinstance(model, HazardRules):
        raise ValueError(f"survival curves need a model of hazards, not {type(model).__name__}")
    table = rows_with_target(model, X, y, sample_weight)
    rows, target = EvaluatedRows(model, table), table.known_numbers
    assert isinstance(target, SurvivalTarget)
    curves = []
    for i in range(len(model)):
        inside = rows.covers[i : i + 1].row_mask()
        sides = (rows.weights * side for side in (inside, ~inside))
        first, second = (kaplan_meier(target.values, target.events, side) for side in sides)
        curves.append((first, second))
    return curves


def _collect(
    model: RatioRules,
    alpha: float,
    found: list[_Ratio],
    sums: list[tuple[float, float]],
    ranks: list[float],
) -> RuleRatios:
    log, error, proportional = np.array(found, dtype=np.float64).reshape(-1, 3).T
    rows, events = np.array(sums, dtype=np.float64).reshape(-1, 2).T
    half = float(ndtri(1 - alpha / 2)) * error
    fitted = np.exp([rule.outcome.value for rule in model.rules])
    p_value = chdtrc(1, (log / error) ** 2)
    ends = np.exp(log - half), np.exp(log + half)
    tests = np.array(ranks, dtype=np.float64), proportional
    return RuleRatios(model, alpha, fitted, np.exp(log), *ends, p_value, rows, events, *tests)


def _fit_ratio(loss: ScoreLoss, inside: BoolArray, offset: FloatArray) -> _Ratio:
    """Fit the logarithm of a ratio, and an intercept if the loss has one."""
    columns = np.array([inside, np.ones(len(inside))], dtype=np.float64)
    columns = columns[: 1 + loss.has_intercept]
    values = np.zeros(len(columns))
    for _ in range(MOST_STEPS):
        scores = offset + values @ columns
        g, h = loss.derivatives(scores)
        second = loss.curvature(scores, columns, columns, h)
        slopes = columns @ g
        if not np.linalg.cond(second) < 1e12:
            return _Ratio(math.nan, math.nan)
        move = np.clip(np.linalg.solve(second, slopes), -1.0, 1.0)
        values -= move
        if abs(move).max() < 1e-10:
            break
    if abs(values[0]) > 15:  # a side without events
        return _Ratio(math.nan, math.nan)
    error = math.sqrt(float(np.linalg.inv(second)[0, 0]) * _dispersion(loss, scores))
    test = math.nan
    if isinstance(loss, CoxLoss):
        test = _test_proportional(loss, columns[0], scores, float(second[0, 0]))
    return _Ratio(float(values[0]), error, test)


def _dispersion(loss: ScoreLoss, scores: FloatArray) -> float:
    """Return Pearson's dispersion of counts, at least 1; of times 1."""
    if not isinstance(loss, PoissonLoss):
        return 1.0
    mu = np.maximum(loss.means(scores), 1e-300)
    squares = float(loss.weights @ ((loss.numbers - mu) ** 2 / mu))
    return max(1.0, squares / max(loss.total - 2, 1.0))


def _test_proportional(
    loss: CoxLoss, column: FloatArray, scores: FloatArray, information: float
) -> float:
    """Test whether Schoenfeld's residuals depend on the ranks of the times of events."""
    residuals, places, weights = loss.schoenfeld(column, scores)
    total = float(weights.sum())
    if total < 3 or information <= 0:
        return math.nan
    ranks = rankdata(places)
    centred = ranks - np.average(ranks, weights=weights)
    spread = information / total * float(weights @ centred**2)
    statistic = float(weights @ (centred * residuals)) ** 2
    return float(chdtrc(1, statistic / spread)) if spread > 0 else math.nan
