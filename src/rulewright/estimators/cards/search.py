"""The search for a card: a beam over supports, swaps of items, and integer points.

The beam adds items with real responses and keeps the best few supports. Swaps replace items of
the best supports. Branch and bound turns responses into integer points, and swaps continue while
other items give a better card.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.estimators.cards.items import Item, SingleConditions, flipped, histogram_of
from rulewright.estimators.cards.supports import CardRows, Support, best_of
from rulewright.kernels import PointLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.data import Table
    from rulewright.encoding import BinnedColumns
    from rulewright.kernels import FloatArray, FoundPoints, IntArray, Limits

BEAM_WIDTH = 5
"""Supports that the search keeps while it adds items."""

MOST_CHILDREN = 8
"""Items that are fitted for each support of the beam."""

PER_COLUMN = 2
"""Conditions of one column among them."""

MOST_EXTENDED = 4
"""Items that conjunctions extend, besides those of the support."""

MOST_ROUNDED = 3
"""Supports that get integer points, and whose items are swapped."""

MOST_SWAPPED = 3
"""Items that are tried in the place of another."""

MOST_ROUNDS = 10
"""Rounds of swaps."""

LEAST_KEPT = 0.1
"""Share of the value of a point that is kept at least."""

SAME = 1e-9
"""A loss that is lower by a smaller share is the same."""


@dataclass(frozen=True, kw_only=True)
class CardSettings:
    """What a card may look like, and how long the search may take."""

    max_rules: int
    max_points: int
    max_conditions: int
    max_range: int | None
    min_weight: float
    l2: float
    condition_cost: float
    unit: float
    max_nodes: int
    needed: frozenset[int]
    signs: dict[int, int]


class Card(NamedTuple):
    """Items with their integer points, the value of a point and the intercept in log-odds.

    `shrinkage` is what the best value of a point on training rows was multiplied by.
    """

    items: tuple[Item, ...]
    found: FoundPoints
    shrinkage: float = 1.0

    @property
    def loss(self) -> float:
        """Negative log-likelihood with the ridge penalty."""
        return self.found.loss


class CardSearch:
    """Searches the card of one class.

    Parameters
    ----------
    binned : BinnedColumns
        The columns of the rows.
    limits : Limits
        Constraints on the items.
    rows : CardRows
        Classes and weights.
    settings : CardSettings
        Settings.
    advance : callable
        Called before each item is added.
    """

    def __init__(
        self,
        binned: BinnedColumns,
        limits: Limits,
        rows: CardRows,
        settings: CardSettings,
        advance: Callable[[], None],
    ) -> None:
        self.binned, self.rows, self.settings, self.advance = binned, rows, settings, advance
        self.single = SingleConditions(binned, limits)
        self._items: dict[tuple[object, ...], Item] = {}
        self.n_possible = self.single.count_possible(rows.weight_steps, rows.is_positive)
        self.charge = settings.condition_cost * np.log(max(len(self.single), 2))

    def run(self) -> Card:
        """Return the best card that is found."""
        supports = self._grow()
        supports = best_of([self._swap_real(one) for one in supports[:MOST_ROUNDED]], MOST_ROUNDED)
        first, *others = supports
        best = Card(first.items, self._round(first, np.inf))
        for support in others:
            best = self._better(support, best)
        return self._swap_points(best)

    def shrink(self, card: Card) -> Card:
        """Lower the value of a point by what the choice of the items has gained.

        Chance alone lowers twice the loss by about 2 ln p for each condition that is chosen from p
        (the risk inflation of Foster and George). The rest of the gain is kept.
        """
        support, found = self._support_of(card.items), card.found
        gain = 2 * (Support.start(self.rows, self.settings.l2).loss - found.loss)
        used = [item for item, z in zip(card.items, found.points.tolist(), strict=True) if z]
        n_conditions = sum(len(item.found.grown) for item in used)
        by_chance = 2 * np.log(max(self.n_possible, 2)) * n_conditions
        kept = max(1 - by_chance / gain, LEAST_KEPT) if gain > 0 else 1.0
        unit, points = found.unit * kept, found.points
        if self.settings.unit:  # the scale fixes the value of a point, so points are smaller
            points = self._round(support, np.inf, self.settings.unit / kept).points
            unit = self.settings.unit
        fitted = self._fix(support, points, unit)
        found = found._replace(points=points, unit=unit, intercept=fitted.intercept)
        return card._replace(found=found, shrinkage=kept)

    def refit(self, card: Card, table: Table, rows: CardRows) -> Card:
        """Find the points of the same items on other rows."""
        self.rows = rows
        covers = [item.body.holds(table).astype(np.uint8) for item in card.items]
        pairs = zip(card.items, covers, strict=True)
        items = tuple(replace(item, cover=cover) for item, cover in pairs)
        return Card(items, self._round(self._support_of(items), np.inf))

    def _grow(self) -> list[Support]:
        """Add items one by one; of each size keep the best supports."""
        settings = self.settings
        beam = [Support.start(self.rows, settings.l2)]
        for size in range(settings.max_rules):
            self.advance()
            found = [
                child
                for parent in beam
                for child in self._children(parent, settings.max_rules - size, MOST_CHILDREN)
            ]
            if not found:
                break
            beam = best_of(found, BEAM_WIDTH)
        return beam

    def _children(self, parent: Support, n_left: int, n: int) -> Iterator[Support]:
        """Yield supports with another item that lowers the loss."""
        for item in self._propose(parent, n_left, n):
            child = parent.extend(item, self.rows, self.settings.l2)
            n_more = len(item.found.grown) - 1
            if child.is_allowed and child.loss < parent.loss * (1 - SAME) - self.charge * n_more:
                yield child

    def _propose(self, parent: Support, n_left: int, n: int) -> list[Item]:
        """Return the items with the largest gains, few of them of one column."""
        settings = self.settings
        stats, totals = parent.statistics(self.rows)
        whole = histogram_of(self.binned, None, stats)
        options = totals, self.rows.unit, settings.l2, settings.min_weight
        gains = np.where(self.single.mirrors, 0.0, self.single.gains(whole, *options))
        missing = settings.needed - {j for item in parent.items for j in item.columns}
        if missing and n_left <= len(missing):
            gains = np.where(np.isin(self.single.columns, list(missing)), gains, 0.0)
            return [self._item(place) for place in _largest(gains, self.single.columns, n)]
        places = _largest(gains, self.single.columns, n)
        ranked = [(float(gains[place]), self._item(place)) for place in places]
        heads = [item for _, item in ranked[:MOST_EXTENDED]] + list(parent.items)
        turned = [flipped(item, self.single) for item in heads]
        open_items = [*heads, *(item for item in turned if item is not None)]
        for _ in range(1, settings.max_conditions):
            longer = [pair for item in open_items for pair in self._extend(item, stats, options)]
            longer.sort(key=lambda pair: -pair[0])
            ranked += longer[:n]
            open_items = [item for _, item in longer[:MOST_EXTENDED]]
        known = {item.key for item in parent.items}
        ranked.sort(key=lambda pair: -(pair[0] - self.charge * (len(pair[1].found.grown) - 1)))
        unique = {item.key: item for _, item in ranked if item.key not in known}
        return list(unique.values())[:n]

    def _extend(
        self, item: Item, stats: np.ndarray, options: tuple[FloatArray, float, float, float]
    ) -> Iterator[tuple[float, Item]]:
        """Yield the best conjunctions of an item and another condition."""
        if len(item.found.grown) >= self.settings.max_conditions:
            return
        part = histogram_of(self.binned, item.cover > 0, stats)
        gains = self.single.gains(part, *options)
        gains = np.where(self.single.may_extend(item), gains, 0.0)
        for place in _largest(gains, self.single.columns, MOST_EXTENDED):
            longer = self._item(place, item)
            if 0 < longer.cover.sum() < item.cover.sum():
                yield float(gains[place]), longer

    def _item(self, place: int, parent: Item | None = None) -> Item:
        key = (place, None if parent is None else parent.key)
        if key not in self._items:
            item = self.single.item(place, parent)
            signs = {self.settings.signs.get(column, 0) for column in item.columns} - {0}
            rises, falls = item.may_rise and -1 not in signs, item.may_fall and 1 not in signs
            self._items[key] = Item(item.found, item.cover, rises, falls)
        return self._items[key]

    def _swap_real(self, support: Support) -> Support:
        """Replace items while that lowers the loss of real responses."""
        for _ in range(MOST_ROUNDS):
            found = best_of([support, *self._swaps(support)], 1)[0]
            if not found.loss < support.loss * (1 - SAME):
                break
            support = found
        return support

    def _swaps(self, support: Support) -> Iterator[Support]:
        """Yield supports with one other item."""
        for place in range(len(support.items)):
            rest = support.without(place, self.settings.l2)
            if rest.is_allowed:
                yield from self._children(rest, 1, MOST_SWAPPED)

    def _swap_points(self, best: Card) -> Card:
        """Replace items while that gives a better card."""
        for _ in range(MOST_ROUNDS):
            support = self._support_of(best.items)
            found = best
            for other in best_of(list(self._swaps(support)), 2 * MOST_SWAPPED):
                found = self._better(other, found)
            if found is best:
                return best
            best = found
        return best

    def _support_of(self, items: Sequence[Item]) -> Support:
        support = Support.start(self.rows, self.settings.l2)
        for item in items:
            support = support.extend(item, self.rows, self.settings.l2)
        return support

    def _better(self, support: Support, best: Card) -> Card:
        """Return the card of a support if it is better than the best one."""
        least = best.loss * (1 - SAME)
        if support.loss >= least:
            return best
        found = self._round(support, best.loss)
        return Card(support.items, found) if found.loss < least else best

    def _fix(self, support: Support, points: IntArray, unit: float) -> FoundPoints:
        """Fit the intercept to given points and their value."""
        limits = PointLimits(
            lowest=points,
            highest=points,
            max_items=len(points),
            l2=self.settings.l2,
            unit=unit,
            max_nodes=0,
        )
        groups = support.covers, support.positives, support.negatives
        return kernels.solve_points(*groups, limits)

    def _round(self, support: Support, cutoff: float, unit: float | None = None) -> FoundPoints:
        """Find the integer points of a support."""
        settings, most = self.settings, self.settings.max_points
        ends = [(-most * item.may_fall, most * item.may_rise) for item in support.items]
        for column in settings.needed:
            places = [k for k, item in enumerate(support.items) if column in item.columns]
            if len(places) == 1:  # its points are not 0
                (k,) = places
                ends[k] = (1, most) if support.responses[k] >= 0 else (-most, -1)
        low, high = np.array(ends, dtype=np.int32).reshape(-1, 2).T
        return kernels.solve_points(
            support.covers,
            support.positives,
            support.negatives,
            PointLimits(
                lowest=np.ascontiguousarray(low),
                highest=np.ascontiguousarray(high),
                max_items=len(support.items),
                max_range=-1 if settings.max_range is None else settings.max_range,
                l2=settings.l2,
                unit=settings.unit if unit is None else unit,
                max_nodes=settings.max_nodes,
                cutoff=cutoff,
            ),
        )


def _largest(gains: FloatArray, columns: np.ndarray, n: int) -> list[int]:
    """Return the places of the largest gains, few of one column; of equal gains only the first."""
    order = np.argsort(-gains, kind="stable")
    chosen: list[int] = []
    seen: dict[int, int] = {}
    last = -1.0
    for place in order.tolist():
        if gains[place] <= 0 or len(chosen) == n:
            break
        column = int(columns[place])
        if gains[place] == last:
            continue  # a copy of a column, or the other of two labels
        last = float(gains[place])
        if seen.get(column, 0) < PER_COLUMN:
            seen[column] = seen.get(column, 0) + 1
            chosen.append(place)
    return chosen
