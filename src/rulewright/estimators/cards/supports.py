"""Supports: the items of a card with real responses, fitted on groups of rows.

Rows that the same items cover share their probability, so a fit costs as much as there are groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from rulewright import kernels
from rulewright.kernels import STAT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.cards.items import Item
    from rulewright.kernels import BoolArray, ByteArray, FloatArray, StatArray

STEPS = 2.0**50
"""Steps of the fixed-point statistics in the total weight."""


@dataclass(frozen=True, eq=False)
class CardRows:
    """Rows to learn a card from.

    Attributes
    ----------
    is_positive : bool array
        Whether a row has the class that points count for.
    weights : float64 array
        Row weights.
    """

    is_positive: BoolArray
    weights: FloatArray

    @cached_property
    def unit(self) -> float:
        """Value of a step of the statistics."""
        return float(2.0 ** (np.ceil(np.log2(self.weights.sum())) + 1) / STEPS)

    @cached_property
    def hits(self) -> FloatArray:
        """Weight of the positive rows, 0 of the others."""
        return np.where(self.is_positive, self.weights, 0.0)

    @cached_property
    def weight_steps(self) -> StatArray:
        """Row weights in steps."""
        return np.rint(self.weights / self.unit).astype(STAT)


@dataclass(frozen=True, eq=False)
class Support:
    """Items of a card, the groups of rows that they cover alike, and their responses.

    Attributes
    ----------
    covers : uint8 array of shape (groups, items)
        Which items cover a group.
    groups : array
        Group of each row.
    positives, negatives : float64 arrays
        Weight of the classes in each group.
    responses : float64 array
        Real response of each item, then the intercept.
    loss : float
        Negative log-likelihood with the ridge penalty.
    """

    items: tuple[Item, ...]
    covers: ByteArray
    groups: NDArray[np.intp]
    positives: FloatArray
    negatives: FloatArray
    responses: FloatArray
    loss: float

    @classmethod
    def start(cls, rows: CardRows, l2: float) -> Self:
        """Return the support without items."""
        hits, total = rows.hits.sum(), rows.weights.sum()
        covers = np.empty((1, 0), dtype=np.uint8)
        groups = np.zeros(len(rows.weights), dtype=np.intp)
        counts = np.array([hits]), np.array([total - hits])
        return cls._fit((), covers, groups, *counts, l2, np.zeros(1))

    @classmethod
    def _fit(
        cls,
        items: tuple[Item, ...],
        covers: ByteArray,
        groups: NDArray[np.intp],
        positives: FloatArray,
        negatives: FloatArray,
        l2: float,
        start: FloatArray,
    ) -> Self:
        found = kernels.fit_scores(covers, positives, negatives, l2, start)
        return cls(items, covers, groups, positives, negatives, found.responses, found.loss)

    @property
    def key(self) -> tuple[object, ...]:
        """Identity of the items, in any order."""
        return tuple(sorted(item.key for item in self.items))

    @property
    def is_allowed(self) -> bool:
        """Whether the responses have allowed signs."""
        pairs = zip(self.items, self.responses.tolist(), strict=False)
        return all(item.allows(response) for item, response in pairs)

    def extend(self, item: Item, rows: CardRows, l2: float) -> Self:
        """Add an item and fit all responses."""
        places = 2 * self.groups + item.cover
        n = 2 * len(self.covers)
        totals, positives = (_sums(places, values, n) for values in (rows.weights, rows.hits))
        used = np.flatnonzero(totals > 0)
        negatives = np.maximum(totals - positives, 0.0)
        covers = np.column_stack([np.repeat(self.covers, 2, axis=0), np.arange(n) % 2])[used]
        new = np.zeros(n, dtype=np.intp)
        new[used] = np.arange(len(used))
        start = np.concatenate([self.responses[:-1], [0.0], self.responses[-1:]])
        return self._fit(
            (*self.items, item),
            np.ascontiguousarray(covers, dtype=np.uint8),
            new[places],
            positives[used],
            negatives[used],
            l2,
            start,
        )

    def without(self, place: int, l2: float) -> Self:
        """Take an item out and fit the others."""
        kept = [k for k in range(len(self.items)) if k != place]
        covers, new = np.unique(self.covers[:, kept], axis=0, return_inverse=True)
        new = new.ravel()
        n = len(covers)
        return self._fit(
            tuple(self.items[k] for k in kept),
            np.ascontiguousarray(covers),
            new[self.groups],
            _sums(new, self.positives, n),
            _sums(new, self.negatives, n),
            l2,
            self.responses[[*kept, -1]],
        )

    def statistics(self, rows: CardRows) -> tuple[StatArray, FloatArray]:
        """Return (g, h, weight) of each row in steps, and their sums."""
        scores = self.covers @ self.responses[:-1] + self.responses[-1]
        p = 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
        g = rows.weights * p[self.groups] - rows.hits
        h = rows.weights * (p * (1 - p))[self.groups]
        stats = np.empty((len(g), 3), dtype=STAT)
        stats[:, 0] = np.rint(g / rows.unit)
        stats[:, 1] = np.rint(h / rows.unit)
        stats[:, 2] = rows.weight_steps
        return stats, stats.sum(axis=0) * rows.unit


def _sums(places: NDArray[np.intp], values: FloatArray, n: int) -> FloatArray:
    """Sum values by place."""
    return np.bincount(places, values, n).astype(np.float64, copy=False)


def best_of(supports: Sequence[Support], n: int) -> list[Support]:
    """Return the supports of the lowest loss; of equal items only the first counts."""
    kept: dict[object, Support] = {}
    for support in sorted(supports, key=lambda one: (float(f"{one.loss:.9e}"), one.key)):
        kept.setdefault(support.key, support)
        if len(kept) == n:
            break
    return list(kept.values())
