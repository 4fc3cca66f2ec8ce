"""Learners on a sample: their rules are counted, and points fitted, on all rows.

The sample is chosen by the hashes of rows, and thus independent of the partitioning. The learner
finds the rules on it. Their coverage is counted on all rows; precision is that on the rows outside
the sample, on which no rule was grown.

A compact model depends on a row only through the rules that apply to it. Rows with the same rules
are merged with their weights added; there are few of these, regardless of the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rulewright.data import Numbers, Schema
from rulewright.encoding import PackedCovers
from rulewright.estimators import (
    ClassLoss,
    CompactRulesClassifier,
    CompactRulesRegressor,
    FittedResponses,
    NumberLoss,
    ResponseProblem,
    are_counts,
)
from rulewright.kernels import STAT, BoolArray, ByteArray, FloatArray, IntArray, StatArray
from rulewright.model import AdditiveRules, RegressionRules, note_training
from rulewright.rules import Adds, Conjunction, Coverage, Head, NumberCoverage
from rulewright.scale.partition import PartSums
from rulewright.scale.survey import DataOverview, PartReading, align_table, is_sampled, row_hashes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.scale.parts import Parts, TablePart


def learn_sampled(estimator: Any, parts: Parts, reading: PartReading, found: DataOverview) -> Any:
    """Fit a copy of an estimator to the sample, and refit its model to all rows."""
    learned = clone(estimator).fit(found.sample)
    model = learned.model_
    if found.is_sampled and isinstance(model, AdditiveRules | RegressionRules):
        compact = isinstance(estimator, CompactRulesClassifier | CompactRulesRegressor)
        if compact and model.rules and not model.linear:
            counting = Counting.of(model, found)
            patterns = parts.total(count_patterns, reading, counting)
            model = refit_responses(model, patterns, counting, learned)
        learned.model_ = _count_rules(model, parts, reading, found)
    return learned


def _count_rules(model: Any, parts: Parts, reading: PartReading, found: DataOverview) -> Any:
    """Return the model with the coverage of its rules on all rows, and notes on these."""
    counting = Counting.of(model, found)
    counting = replace(counting, bodies=(*counting.bodies, Conjunction()))  # covers all rows
    (sums,) = parts.total(count_rules, reading, counting).arrays
    numbers = isinstance(model, RegressionRules)
    *coverages, whole = (
        number_coverage(own, counting) if numbers else Coverage.outside(*(own * counting.worth))
        for own in sums
    )
    rules = zip(model.rules, coverages, strict=True)
    model = replace(model, rules=tuple(replace(rule, coverage=own) for rule, own in rules))
    notes = {"n_rows": found.n_rows, "sample_rows": found.sample.n_rows}
    return model.with_summary({**model.summary, **notes, **_describe_rows(model, whole, found)})


def _describe_rows(model: Any, whole: Coverage | NumberCoverage, found: DataOverview) -> Any:
    """Note down what all rows are, as a fit in memory does of its rows."""
    columns = {name: found.notes[name] for name in model.columns}
    mean = whole.mean if isinstance(whole, NumberCoverage) else None
    notes = note_training(columns, mean, weighted=found.weighted)
    if isinstance(whole, Coverage):
        notes["class_shares"] = (np.array(whole.class_weights) / whole.support).tolist()
    return {**notes, "total_weight": float(whole.support)}


@dataclass(frozen=True, eq=False)
class Counting:
    """The bodies of rules, and how the covered rows are counted.

    `center` is the mean of the sample: sums are over deviations from it, at most `reach`.
    """

    schema: Schema
    classes: NDArray[Any] | None
    bodies: tuple[Any, ...]
    unit: float
    share: float
    center: float = 0.0
    reach: float = 1.0
    scale: float = 1.0  # as `fit` scales weights that cannot be numbers of rows

    @property
    def worth(self) -> float:
        """The scaled weight of one step."""
        return self.unit * self.scale

    @classmethod
    def of(cls, model: Any, found: DataOverview) -> Counting:
        """Create the counting of a model's rules."""
        bodies, center, reach = tuple(rule.body for rule in model.rules), 0.0, 1.0
        if isinstance(found.sample.target, Numbers):
            center = float(np.mean(found.sample.target.values))
            reach = max(found.largest_number + abs(center), 1e-150)
        given = (found.schema, found.classes, bodies, found.weight_unit, found.share)
        weights, scale = found.sample.weights, 1.0
        if weights is not None:
            n_rows, total = int(np.count_nonzero(weights)), float(weights.sum())
            scale = 1.0 if are_counts(n_rows, total) else n_rows / total
        return cls(*given, center, 2.0 ** math.ceil(math.log2(reach)), scale)

    def read(self, part: TablePart, reading: PartReading) -> CountedPart | None:
        """Read a part; return the weights of its rows and the covers of the rules."""
        table = reading.table(part)
        if table is None:
            return None
        inside = is_sampled(row_hashes(table), self.share)
        table = align_table(table, self.schema, self.classes)
        weights = np.ones(table.n_rows) if table.weights is None else table.weights
        steps = np.rint(weights / self.unit).astype(STAT)
        covers = np.zeros((len(self.bodies), table.n_rows), dtype=np.bool_)
        for cover, body in zip(covers, self.bodies, strict=True):
            cover[:] = body.holds(table)
        if not isinstance(table.target, Numbers):
            return CountedPart(covers, inside, steps, table.known_target.codes, None)
        far = (table.target.values - self.center) / self.reach
        moments = [np.rint(weights * far**k / self.unit).astype(STAT) for k in (1, 2)]
        return CountedPart(covers, inside, steps, None, np.stack([steps, *moments], axis=1))


class CountedPart(NamedTuple):
    """The rows of a part: covers, sample, weights in steps, classes or target moments."""

    covers: BoolArray
    inside: BoolArray
    steps: StatArray
    labels: IntArray | None
    moments: StatArray | None

    def lanes(self, n_classes: int) -> StatArray:
        """Return the weight of each row in the lane of its class, or the moments of its number."""
        if self.moments is not None:
            return self.moments
        lanes = np.zeros((len(self.steps), n_classes), dtype=STAT)
        lanes[np.arange(len(self.steps)), self.labels] = self.steps
        return lanes


def count_rules(part: TablePart, reading: PartReading, counting: Counting) -> PartSums:
    """Sum the weights by class of the rows that each rule covers, and of unsampled ones.

    For regression: the weights and the first two moments.
    """
    n_classes = 3 if counting.classes is None else len(counting.classes)
    shape = (
        (len(counting.bodies), n_classes)
        if counting.classes is None
        else (len(counting.bodies), 2, n_classes)
    )
    sums = np.zeros(shape, dtype=STAT)
    counted = counting.read(part, reading)
    if counted is None:
        return PartSums.of(sums)
    lanes = counted.lanes(n_classes)
    for own, cover in zip(sums, counted.covers, strict=True):
        if counting.classes is None:
            own[:] = lanes[cover].sum(axis=0)
        else:
            own[0], own[1] = lanes[cover].sum(axis=0), lanes[cover & ~counted.inside].sum(axis=0)
    return PartSums.of(sums)


def number_coverage(sums: StatArray, counting: Counting) -> NumberCoverage:
    """Return the coverage of a rule from its moments."""
    weight, first, second = (sums * counting.worth).tolist()
    if not weight:
        return NumberCoverage(0.0, 0.0, 0.0)
    mean, square = first / weight, second / weight
    deviation = math.sqrt(max(square - mean * mean, 0.0)) * counting.reach
    return NumberCoverage(weight, counting.center + mean * counting.reach, deviation)


@dataclass(frozen=True, eq=False)
class Patterns:
    """Which rules apply together (bits, one line each), and the sums over such rows."""

    bits: ByteArray
    sums: StatArray

    def __add__(self, other: Patterns) -> Patterns:
        return merge_patterns(
            np.concatenate([self.bits, other.bits]), np.concatenate([self.sums, other.sums])
        )

    def covers(self, n_rules: int) -> BoolArray:
        """Return which rules (lines) apply in which pattern (columns)."""
        return np.unpackbits(self.bits, axis=1, count=n_rules).T.astype(np.bool_)


def merge_patterns(bits: ByteArray, lanes: StatArray) -> Patterns:
    """Sum the lines with equal bits."""
    distinct, places = np.unique(bits, axis=0, return_inverse=True)
    sums = np.zeros((len(distinct), lanes.shape[1]), dtype=STAT)
    np.add.at(sums, places.reshape(-1), lanes)
    return Patterns(distinct, sums)


def count_patterns(part: TablePart, reading: PartReading, counting: Counting) -> Patterns:
    """Sum the weights by class, or the moments of the target, of the rows of each pattern."""
    counted = counting.read(part, reading)
    n_lanes = 3 if counting.classes is None else len(counting.classes)
    if counted is None:
        width = -(-len(counting.bodies) // 8)
        return Patterns(np.empty((0, width), np.uint8), np.empty((0, n_lanes), STAT))
    return merge_patterns(np.packbits(counted.covers.T, axis=1), counted.lanes(n_lanes))


def refit_responses(model: Any, patterns: Patterns, counting: Counting, estimator: Any) -> Any:
    """Return the model with responses refitted to all rows; drop rules that add nothing."""
    covers = patterns.covers(len(model.rules))
    sums: FloatArray = patterns.sums.astype(np.float64) * counting.worth
    if isinstance(model, AdditiveRules):
        heads = [rule.outcome.head for rule in model.rules]
        fitted = _fit_classes(covers, sums, heads, estimator)
        start: Any = {"intercepts": tuple(fitted.intercepts.tolist())}
    else:
        sides = [int(rule.outcome.value > 0) for rule in model.rules]  # whether a rule adds
        heads = [Head(side, side) for side in sides]
        fitted = _fit_numbers(covers, sums, heads, counting, estimator)
        start = {"intercept": float(fitted.intercepts[0])}
    rules = tuple(
        replace(rule, outcome=Adds(rule.outcome.head, response))
        for rule, response in zip(model.rules, fitted.responses.tolist(), strict=True)
        if response != 0
    )
    return replace(model, rules=rules, **start)


def _fit_classes(
    covers: BoolArray, weights: FloatArray, heads: list[Head], estimator: Any
) -> FittedResponses:
    places, classes = np.nonzero(weights)
    own, labels = weights[places, classes], classes.astype(np.int32)
    shares, ordinal = np.eye(weights.shape[1])[labels], estimator.ordinal is not False
    loss = ClassLoss(labels, own, shares, estimator.l2, ordinal)
    return loss.settle(ResponseProblem(PackedCovers.pack(covers[:, places]), heads, {}))


def _fit_numbers(
    covers: BoolArray, sums: FloatArray, heads: list[Head], counting: Counting, estimator: Any
) -> FittedResponses:
    weights = sums[:, 0]
    numbers = counting.center + counting.reach * sums[:, 1] / weights
    loss = NumberLoss(numbers, weights, estimator.l2)
    return loss.settle(ResponseProblem(PackedCovers.pack(covers), heads, {}))
