"""Statistics of the rules of a model on given rows, with false discovery control over all rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.bounds import checked_delta
from rulewright.data import DataError, Table, draw_one_each
from rulewright.evidence import (
    Observations,
    benjamini_yekutieli,
    clopper_pearson,
    difference_interval,
    e_bh,
    mean_interval,
    rank_e_value,
    rank_p_value,
    share_e_value,
    share_p_value,
)
from rulewright.explain import (
    EvaluatedRows,
    claims_less,
    model_of,
    rows_with_target,
)
from rulewright.model import ClassModel, RuleModel
from rulewright.trust.rule_table import ClassRuleStatistics, NumberRuleStatistics, RuleStatistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.encoding import PackedCovers
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.rules import Head, Rule

# Effective numbers of rows are integers up to rounding if all weights are equal.
_DIGITS = 6


def rule_statistics(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    alpha: float = 0.05,
    q: float = 0.1,
    groups: Any = None,
) -> RuleStatistics:
    r"""Count what each rule covers on given rows, and test its claim.

    Use new rows: drawn independently of each other and of the training rows. On rows that chose the
    rules, precision and lift are optimistic, intervals miss the precision on new rows more often
    than alpha, and p-values, e-values and discoveries are meaningless, because the learner selected
    rules that are good on these rows. The function cannot detect whether rows are new.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model for classification (additive rules, DNF, votes of rule sets) or regression.
    X, y : rows and their targets
        New rows; ``y`` may be the name of a column of X. A class unknown to the model belongs to
        no head.
    sample_weight : array-like, optional
        Row weights. Weighted rows count as (sum w)\ :sup:`2` / sum w\ :sup:`2` rows of equal
        weight, the effective number (Kish): intervals and tests are then approximate. A weight of
        2 on every row changes nothing, so repeat rows that were observed twice.
    alpha : float
        Error probability of each interval, not adjusted for the number of rules.
    q : float
        False discovery rate: bound on the expected share of untrue claims among the discoveries,
        for any overlap of the rules.
    groups : array-like or str, optional
        Group of each row, such as its customer, or the name of the column of X that holds it; by
        default the groups that a Table was read with. Intervals then use effective numbers, by the
        correlation within groups, and are approximate. Tests use one row drawn from each group, so
        they stay exact.

    Returns
    -------
    ClassRuleStatistics or NumberRuleStatistics
        One number per rule in each field; prints as a table, ``to_frame()`` returns a dataframe.

    Notes
    -----
    A rule claims that its head is more frequent on the rows where its body is true (in a list: and
    no earlier rule applies) than on all other rows, including rows with an unknown body. A rule
    with a negative response (less than what it adds otherwise) claims a lower frequency. The null
    hypothesis is that the probability of the head is at most (at least) as large inside as outside.
    The p-value comes from Fisher's exact test; the e-value is a mixture of likelihood ratios given
    the same totals. Both are exact for unweighted rows. Effective numbers are rounded against the
    claim.

    A rule for regression claims that numbers are larger (smaller) inside. The null hypothesis is
    that inside and outside have the same distribution. P-value (Mann-Whitney) and e-value use
    ranks; weights only matter by being positive or not. Intervals of means (Student, Welch) are
    approximate.

    Discoveries by p-values follow Benjamini and Yekutieli (2001); by e-values, e-BH (Wang and
    Ramdas, 2022). Both hold for any dependence between rules. Choose one of them before looking at
    the results.
    """
    model = model_of(model, "rule_statistics")
    levels = checked_delta(alpha, "alpha"), checked_delta(q, "q")
    return compute_statistics(
        EvaluatedRows(model, rows_with_target(model, X, y, sample_weight, groups)), *levels
    )


def compute_statistics(rows: EvaluatedRows, alpha: float = 0.05, q: float = 0.1) -> RuleStatistics:
    """Count what each rule covers and test its claim; see `rule_statistics`."""
    of = _of_classes if isinstance(rows.model, ClassModel) else _of_numbers
    return of(_Rows.of(rows), alpha, q)


class _Side(NamedTuple):
    """Rows inside or outside a rule: weight, effective number, mean and variance."""

    weight: float
    effective: float
    mean: float
    variance: float

    @classmethod
    def of(cls, observed: Observations, values: FloatArray, correlation: float = 0.0) -> _Side:
        """Summarise rows; the variance is unbiased for rows of equal weight."""
        weights = observed.weights
        largest = float(weights.max(initial=0.0))
        if not largest:
            return cls(0.0, 0.0, np.nan, np.nan)
        scaled = weights / largest
        total = float(scaled.sum())
        effective = round(total**2 / _sum(scaled, scaled), _DIGITS)
        if observed.groups is not None:
            effective = round(observed.count(correlation), _DIGITS)
        mean = _sum(scaled, values) / total
        variance = _sum(scaled, (values - mean) ** 2) / total
        unbiased = variance * effective / (effective - 1) if effective > 1 else np.nan
        return cls(float(weights.sum()), effective, mean, unbiased)


def _sum(weights: FloatArray, values: FloatArray) -> float:
    """Sum products; a matrix product would start its threads for every rule."""
    return float((weights * values).sum())


class _Rows(NamedTuple):
    """The given rows of positive weight, the covers of the rules, correlation within groups."""

    model: RuleModel
    table: Table
    weights: FloatArray
    covers: PackedCovers
    truth: IntArray | FloatArray
    correlation: float = 0.0

    @classmethod
    def of(cls, rows: EvaluatedRows) -> _Rows:
        kept = rows.weights > 0
        if not kept.any():
            raise DataError("Statistics of rules need at least one row of positive weight.")
        found = cls(rows.model, rows.table, rows.weights, rows.decided, rows.truth)
        return (found if kept.all() else found.take(kept)).correlate()

    def take(self, kept: BoolArray) -> _Rows:
        """Return some of the rows."""
        table = self.table.take(np.flatnonzero(kept))
        covers, truth = self.covers.take(kept), self.truth[kept]
        return self._replace(table=table, weights=self.weights[kept], covers=covers, truth=truth)

    def correlate(self) -> _Rows:
        """Estimate the correlation within groups, from the values that rules predict."""
        if self.observed.groups is None:
            return self
        parts = ((inside, self.values(rule)) for rule, inside in self.rules)
        return self._replace(correlation=self.observed.correlate(parts))

    @property
    def observed(self) -> Observations:
        """Weights and groups of the rows."""
        return Observations(self.weights, self.table.groups)

    def values(self, rule: Rule) -> FloatArray:
        """Return what a rule predicts: whether rows belong to its head, or their numbers."""
        if not isinstance(self.model, ClassModel):
            return np.asarray(self.truth, dtype=np.float64)
        inside = (self.truth >= rule.head.first) & (self.truth <= rule.head.last)
        return inside.astype(np.float64)

    @property
    def independent(self) -> _Rows:
        """The rows, or one row of each group."""
        if self.table.groups is None:
            return self
        drawn = np.zeros(len(self.weights), dtype=np.bool_)
        drawn[draw_one_each(self.table.groups)] = True
        found = self.take(drawn)
        return found._replace(table=replace(found.table, groups=None))

    @property
    def rules(self) -> Iterator[tuple[Rule, BoolArray]]:
        """Each rule with the rows that it covers."""
        for i, rule in enumerate(self.model.rules):
            yield rule, self.covers[i : i + 1].row_mask()

    def sides(self, inside: BoolArray, values: FloatArray) -> tuple[_Side, _Side]:
        """Summarise the rows where a rule applies, and the others."""
        one, other = (
            _Side.of(self.observed.take(part), values[part], self.correlation)
            for part in (inside, ~inside)
        )
        return one, other

    def _count_for_share(self, covered: BoolArray) -> float:
        """Return the effective number of rows for the share that a rule covers."""
        observed = self.observed
        return _Side.of(
            observed, self.weights, observed.correlate([(slice(None), covered.astype(np.float64))])
        ).effective

    def common(
        self, inside: list[_Side], p: FloatArray, e: FloatArray, alpha: float, q: float
    ) -> dict[str, Any]:
        """Return the fields shared by statistics for classification and regression."""
        total = _Side.of(self.observed, np.zeros(len(self.weights)), self.correlation)
        share = np.array([side.weight for side in inside]) / total.weight
        sizes = np.array([self._count_for_share(covered) for _, covered in self.rules])
        low, high = clopper_pearson(share * sizes, sizes, alpha)
        adjusted = benjamini_yekutieli(p)
        return {
            "model": self.model,
            "alpha": alpha,
            "q": q,
            "n_rows": len(self.weights),
            "n_effective": total.effective,
            "less": np.array([claims_less(rule) for rule in self.model.rules], dtype=np.bool_),
            "support": np.array([side.weight for side in inside]),
            "effective_support": np.array([side.effective for side in inside]),
            "share": share,
            "share_low": low,
            "share_high": high,
            "p_value": p,
            "p_adjusted": adjusted,
            "e_value": e,
            "discovered_by_p": adjusted <= q,
            "discovered_by_e": e_bh(e, q),
        }


def _of_classes(rows: _Rows, alpha: float, q: float) -> ClassRuleStatistics:
    assert isinstance(rows.model, ClassModel)
    sides, base, tables, tested = [], [], [], rows.independent
    shares: dict[Head, float] = {}
    for (rule, inside), (_, drawn) in zip(rows.rules, tested.rules, strict=True):
        of_head = rows.values(rule)
        sides.append(rows.sides(inside, of_head))
        if rule.head not in shares:
            shares[rule.head] = _Side.of(rows.observed, of_head).mean
        base.append(shares[rule.head])
        pair = sides[-1] if tested is rows else tested.sides(drawn, tested.values(rule))
        tables.append(_counts(*pair, less=claims_less(rule)))
    counted = np.array(tables).reshape(-1, 2, 2)
    p, e = (value(counted[:, 0], counted[:, 1]) for value in (share_p_value, share_e_value))
    common = rows.common([side for side, _ in sides], p, e, alpha, q)
    precision, outside = np.array([[a.mean, b.mean] for a, b in sides]).reshape(-1, 2).T
    effective, base_rate = common["effective_support"], np.array(base)
    low, high = clopper_pearson(np.nan_to_num(precision) * effective, effective, alpha)
    unknown = np.full(len(base), np.nan)
    return ClassRuleStatistics(
        **common,
        base_rate=base_rate,
        outside=outside,
        precision=precision,
        precision_low=low,
        precision_high=high,
        lift=np.divide(precision, base_rate, out=unknown, where=base_rate > 0),
    )


def _of_numbers(rows: _Rows, alpha: float, q: float) -> NumberRuleStatistics:
    numbers, tested = np.asarray(rows.truth, dtype=np.float64), rows.independent
    sides, p, e, means, differences = [], [], [], [], []
    for (rule, inside), (_, drawn) in zip(rows.rules, tested.rules, strict=True):
        pair = one, other = rows.sides(inside, numbers)
        sides.append(pair)
        signed = tested.values(rule) * (-1.0 if claims_less(rule) else 1.0)
        claimed = signed[drawn], signed[~drawn]
        p.append(rank_p_value(*claimed))
        e.append(rank_e_value(*claimed))
        means.append(mean_interval(one.mean, one.variance, one.effective, alpha))
        both = (one.mean, other.mean), (one.variance, other.variance)
        sizes = one.effective, other.effective
        differences.append(difference_interval(*both, sizes, alpha))
    mean, outside = np.array([[a.mean, b.mean] for a, b in sides]).reshape(-1, 2).T
    mean_ends, difference_ends = (np.array(x).reshape(-1, 2).T for x in (means, differences))
    common = rows.common([side for side, _ in sides], np.array(p), np.array(e), alpha, q)
    return NumberRuleStatistics(
        **common,
        mean=mean,
        mean_low=mean_ends[0],
        mean_high=mean_ends[1],
        outside=outside,
        difference=mean - outside,
        difference_low=difference_ends[0],
        difference_high=difference_ends[1],
    )


def _counts(inside: _Side, outside: _Side, *, less: bool) -> list[list[float]]:
    """Return integer numbers of rows for and against the claim, rounded against it."""
    of_head = [np.nan_to_num(side.mean) * side.effective for side in (inside, outside)]
    others = [
        side.effective - heads for side, heads in zip((inside, outside), of_head, strict=True)
    ]
    claimed, rest = (others, of_head) if less else (of_head, others)
    claimed, rest = ([round(x, _DIGITS) for x in part] for part in (claimed, rest))
    return [
        [np.floor(claimed[0]), np.ceil(rest[0])],
        [np.ceil(claimed[1]), np.floor(rest[1])],
    ]
