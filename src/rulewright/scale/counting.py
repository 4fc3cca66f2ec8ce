"""What rules cover in all rows, counted in whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import Numbers
from rulewright.kernels import STAT
from rulewright.rules import NumberCoverage
from rulewright.scale.hashing import row_hashes
from rulewright.scale.scores import PartSums
from rulewright.scale.survey import align_table, is_sampled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Schema
    from rulewright.kernels import BoolArray, IntArray, StatArray
    from rulewright.scale.parts import TablePart
    from rulewright.scale.survey import DataOverview, PartReading


@dataclass(frozen=True, eq=False)
class Counting:
    """The bodies of rules, and how the rows that they cover are counted.

    `center` is the mean number of the sample: sums are of deviations from it, at most `reach`.
    """

    schema: Schema
    classes: NDArray[Any] | None
    bodies: tuple[Any, ...]
    unit: float
    share: float
    center: float = 0.0
    reach: float = 1.0

    @classmethod
    def of(cls, model: Any, found: DataOverview) -> Counting:
        """Take the rules of a model."""
        bodies, center, reach = tuple(rule.body for rule in model.rules), 0.0, 1.0
        if isinstance(found.sample.target, Numbers):
            center = float(np.mean(found.sample.target.values))
            reach = max(found.largest_number + abs(center), 1e-150)
        given = (found.schema, found.classes, bodies, found.weight_unit, found.share)
        return cls(*given, center, 2.0 ** math.ceil(math.log2(reach)))

    def read(self, part: TablePart, reading: PartReading) -> CountedPart | None:
        """Read a part and find what its rows weigh and which rules cover them."""
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
    """The rows of a part: covers, sample, weights in steps, and classes or moments of numbers."""

    covers: BoolArray
    inside: BoolArray
    steps: StatArray
    labels: IntArray | None
    moments: StatArray | None

    def lanes(self, n_classes: int) -> StatArray:
        """Return the weight of each row at its class, or the moments of its number."""
        if self.moments is not None:
            return self.moments
        lanes = np.zeros((len(self.steps), n_classes), dtype=STAT)
        lanes[np.arange(len(self.steps)), self.labels] = self.steps
        return lanes


def count_rules(part: TablePart, reading: PartReading, counting: Counting) -> PartSums:
    """Sum the weights by class of the rows that each rule covers, and of those not sampled.

    Of numbers: the weights and the first two moments.
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
    weight, first, second = (sums * counting.unit).tolist()
    if not weight:
        return NumberCoverage(0.0, 0.0, 0.0)
    mean, square = first / weight, second / weight
    deviation = math.sqrt(max(square - mean * mean, 0.0)) * counting.reach
    return NumberCoverage(weight, counting.center + mean * counting.reach, deviation)
