"""Points of few rules, fitted to all rows exactly.

A compact model sees a row only through the rules that hold for it. Rows for which the same rules
hold are one row with their weights added; there are few of these, whatever the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.estimators import ClassLoss, NumberLoss, ResponseProblem
from rulewright.kernels import STAT
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Head

if TYPE_CHECKING:
    from rulewright.estimators import FittedResponses
    from rulewright.kernels import BoolArray, ByteArray, FloatArray, StatArray
    from rulewright.scale.counting import Counting
    from rulewright.scale.parts import TablePart
    from rulewright.scale.survey import PartReading


@dataclass(frozen=True, eq=False)
class Patterns:
    """Which rules hold together (bits, one line each), and the sums of such rows."""

    bits: ByteArray
    sums: StatArray

    def __add__(self, other: Patterns) -> Patterns:
        return merge_patterns(
            np.concatenate([self.bits, other.bits]), np.concatenate([self.sums, other.sums])
        )

    def covers(self, n_rules: int) -> BoolArray:
        """Return which rules (lines) hold in which pattern (columns)."""
        return np.unpackbits(self.bits, axis=1, count=n_rules).T.astype(np.bool_)


def merge_patterns(bits: ByteArray, lanes: StatArray) -> Patterns:
    """Add up the lines of equal bits."""
    distinct, places = np.unique(bits, axis=0, return_inverse=True)
    sums = np.zeros((len(distinct), lanes.shape[1]), dtype=STAT)
    np.add.at(sums, places.reshape(-1), lanes)
    return Patterns(distinct, sums)


def count_patterns(part: TablePart, reading: PartReading, counting: Counting) -> Patterns:
    """Sum the weights by class, or the moments of numbers, of the rows of each pattern."""
    counted = counting.read(part, reading)
    n_lanes = 3 if counting.classes is None else len(counting.classes)
    if counted is None:
        width = -(-len(counting.bodies) // 8)
        return Patterns(np.empty((0, width), np.uint8), np.empty((0, n_lanes), STAT))
    return merge_patterns(np.packbits(counted.covers.T, axis=1), counted.lanes(n_lanes))


def refit_responses(model: Any, patterns: Patterns, counting: Counting, estimator: Any) -> Any:
    """Return the model with the responses that fit all rows best; rules that add nothing go."""
    covers = patterns.covers(len(model.rules))
    sums: FloatArray = patterns.sums.astype(np.float64) * counting.unit
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
