"""Items of a card: conditions and conjunctions, and how much each would lower the loss.

Sums of the row statistics over all single conditions follow from one histogram: a condition is an
interval of the codes of its column. Conjunctions extend the best items, on the rows they cover.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import GROUP, ROW, GrownCondition, Op
from rulewright.search import FoundRule

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.encoding import BinnedColumns
    from rulewright.kernels import BoolArray, ByteArray, FloatArray, Limits, StatArray
    from rulewright.rules import Conjunction

_OTHER_END = {Op.GREATER_EQUAL: Op.LESS_EQUAL, Op.LESS_EQUAL: Op.GREATER_EQUAL}


@dataclass(frozen=True, eq=False)
class Item:
    """A conjunction that may get points, and which signs these may have.

    Attributes
    ----------
    found : FoundRule
        The conditions; the vote has no meaning.
    cover : uint8 array
        1 for the rows that it covers.
    may_rise, may_fall : bool
        Whether its points may be positive, or negative.
    """

    found: FoundRule
    cover: ByteArray
    may_rise: bool
    may_fall: bool

    @property
    def body(self) -> Conjunction:
        """The conditions on values."""
        return self.found.body

    @property
    def key(self) -> tuple[tuple[int, ...], ...]:
        """The tests, in an order of their own: equal conjunctions have the same."""
        return tuple(sorted(self.found.tests))

    @cached_property
    def columns(self) -> frozenset[int]:
        """Positions of its columns."""
        return frozenset(condition.column for condition in self.found.grown)

    def allows(self, response: float) -> bool:
        """Return whether a response has an allowed sign."""
        return self.may_rise if response >= 0 else self.may_fall


class SingleConditions:
    """All single conditions on binned columns, as intervals of the codes of all columns.

    Parameters
    ----------
    binned : BinnedColumns
        The columns.
    limits : Limits
        Operators that a column may use to raise or lower the score.
    """

    def __init__(self, binned: BinnedColumns, limits: Limits) -> None:
        self.binned, self.limits = binned, limits
        n_bins = binned.codes.n_bins
        starts = np.concatenate([[0], np.cumsum(n_bins + 1)])
        parts = [
            self._conditions_of(j, int(n), int(starts[j])) for j, n in enumerate(n_bins.tolist())
        ]
        lines = np.concatenate([np.empty((0, 5), dtype=np.int64), *parts])
        self.columns, self.operators, self.codes = lines[:, 0], lines[:, 1], lines[:, 2]
        self.low, self.high = lines[:, 3], lines[:, 4]
        bits = 1 << self.operators
        self.may_rise = (limits.up_operators[self.columns] & bits) > 0
        self.may_fall = (limits.down_operators[self.columns] & bits) > 0
        kept = self.may_rise | self.may_fall
        for name in ("columns", "operators", "codes", "low", "high", "may_rise", "may_fall"):
            setattr(self, name, getattr(self, name)[kept])
        self.mirrors = self._find_mirrors()

    def __len__(self) -> int:
        return len(self.columns)

    def _find_mirrors(self) -> BoolArray:
        """Flag upper bounds that are lower bounds with the opposite points: no value is missing."""
        columns, limits = self.binned.codes, self.limits
        complete = np.array(
            [
                not (columns.codes[j // GROUP, :, j % GROUP] == n).any()
                for j, n in enumerate(columns.n_bins.tolist())
            ],
            dtype=np.bool_,
        )
        above = 1 << Op.GREATER_EQUAL
        rises = (limits.up_operators[self.columns] & above) > 0
        falls = (limits.down_operators[self.columns] & above) > 0
        covered = (falls | ~self.may_rise) & (rises | ~self.may_fall)
        is_upper = self.operators == Op.LESS_EQUAL
        return np.asarray(is_upper & covered & complete[self.columns])

    def _conditions_of(self, j: int, n: int, start: int) -> NDArray[np.int64]:
        """Return (column, operator, code, first place, place after the last) of each condition."""
        rows: list[tuple[int, ...]] = []
        if self.binned.codes.nominal[j]:
            rows += [(j, Op.EQUAL, code, start + code, start + code + 1) for code in range(n)]
        else:
            rows += [(j, Op.GREATER_EQUAL, c, start + c, start + n) for c in range(1, n)]
            rows += [(j, Op.LESS_EQUAL, c, start, start + c + 1) for c in range(n - 1)]
        rows.append((j, Op.MISSING, n, start + n, start + n + 1))
        return np.array(rows, dtype=np.int64).reshape(-1, 5)

    def gains(
        self, histogram: StatArray, totals: FloatArray, unit: float, l2: float, least: float
    ) -> FloatArray:
        """Return the gain of a Newton step of each condition and the intercept.

        The lanes of the histogram are g, h and the weight; `totals` are their sums over all rows.
        Conditions that cover less than the `least` weight, or all but that, gain nothing.
        """
        zero = np.zeros((1, histogram.shape[1]), dtype=histogram.dtype)
        sums = np.concatenate([zero, np.cumsum(histogram, axis=0)])
        g, h, weight = ((sums[self.high] - sums[self.low]) * unit).T
        rest = np.maximum(totals[1] - h, 0.0)
        curved = h * rest / max(totals[1], 1e-300) + l2
        g = g - totals[0] * h / max(totals[1], 1e-300)
        rises = g < 0
        allowed = np.where(rises, self.may_rise, self.may_fall)
        allowed &= (weight >= least) & (weight > 0) & (totals[2] - weight >= least)
        allowed &= weight < totals[2] * (1 - 1e-12)
        gains = np.where(allowed, g * g / (2 * curved), 0.0)
        # Ties stay ties.
        return np.asarray(np.round(gains, 9 - _digits(float(gains.max(initial=0.0)))))

    def count_possible(self, weight_steps: StatArray, is_positive: BoolArray) -> int:
        """Count the conditions that cover some rows; those of equal counts by class count once."""
        stats = np.column_stack([weight_steps, weight_steps * is_positive])
        histogram = histogram_of(self.binned, None, stats)
        zero = np.zeros((1, 2), dtype=histogram.dtype)
        sums = np.concatenate([zero, np.cumsum(histogram, axis=0)])
        covered = (sums[self.high] - sums[self.low])[~self.mirrors]
        inside = (covered[:, 0] > 0) & (covered[:, 0] < weight_steps.sum())
        return len(np.unique(covered[inside], axis=0))

    def grown(self, place: int) -> GrownCondition:
        """Return a condition in the words of the search."""
        op, code = int(self.operators[place]), int(self.codes[place])
        beyond = {Op.GREATER_EQUAL: code - 1, Op.LESS_EQUAL: code + 1}.get(Op(op), -1)
        return GrownCondition(int(self.columns[place]), op, code, beyond, 0.0)

    def item(self, place: int, parent: Item | None = None) -> Item:
        """Return an item: a condition, or an item that is extended by it."""
        condition = self.grown(place)
        test = self.binned.test(condition, "short")
        before = ((), ()) if parent is None else (parent.found.grown, parent.found.tests)
        found = FoundRule(0, (*before[0], condition), (*before[1], test), self.binned, "short")
        cover = self.cover(found)
        rises, falls = bool(self.may_rise[place]), bool(self.may_fall[place])
        if parent is not None:
            rises, falls = rises and parent.may_rise, falls and parent.may_fall
        return Item(found, cover, rises, falls)

    def cover(self, found: FoundRule) -> ByteArray:
        """Flag the rows that conditions cover."""
        cover = np.zeros(self.binned.codes.n_rows, dtype=np.uint8)
        cover[found.cover(self.binned.codes)] = 1
        return cover

    def may_extend(self, item: Item) -> BoolArray:
        """Flag the conditions that may join an item: in a common group, the other end of a range.

        A condition on a column of the item must be its opposite bound.
        """
        groups, own = self.limits.groups, ~np.uint64(0)
        for column in item.columns:
            own &= groups[column]
        fits = (groups[self.columns] & own) > 0
        for condition in item.found.grown:
            end = _OTHER_END.get(Op(condition.op), -1)
            fits &= (self.columns != condition.column) | (self.operators == end)
        return np.asarray(fits)


def _digits(value: float) -> int:
    """Return the decimal exponent of a number."""
    return int(np.floor(np.log10(value))) if value > 0 else 0


def histogram_of(binned: BinnedColumns, rows: BoolArray | None, stats: StatArray) -> StatArray:
    """Sum the statistics of some rows, or of all, per code."""
    n_rows = binned.codes.n_rows
    places = np.arange(n_rows, dtype=ROW) if rows is None else np.flatnonzero(rows).astype(ROW)
    return kernels.count_histogram(binned.codes, places, stats)


def flipped(item: Item, single: SingleConditions) -> Item | None:
    """Return the opposite of a single threshold, if it covers all other rows."""
    if len(item.found.grown) != 1:
        return None
    (condition,) = item.found.grown
    bins = len(single.binned.bins[condition.column])
    op = _OTHER_END.get(Op(condition.op))
    if op is None:
        return None
    code = condition.beyond
    beyond = condition.code
    if not 0 <= code < bins:
        return None
    other = condition._replace(op=int(op), code=code, beyond=beyond)
    found = replace(
        item.found, grown=(other,), tests=(single.binned.test(other, item.found.threshold),)
    )
    cover = single.cover(found)
    if not (cover + item.cover == 1).all():
        return None
    bit = 1 << int(op)
    up, down = (
        bool(single.limits.up_operators[condition.column] & bit),
        bool(single.limits.down_operators[condition.column] & bit),
    )
    return Item(found, cover, up, down)
