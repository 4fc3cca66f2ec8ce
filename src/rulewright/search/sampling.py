"""Samples to grow rules on: random subsamples, or blocks of rows with cached histograms."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.data import Units
from rulewright.kernels import (
    BoolArray,
    CodeColumns,
    IntArray,
    Limits,
    RowArray,
    Score,
    StatArray,
    Subsample,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rulewright.search.growth import FoundRule, RuleGrower


LEAST_ROWS = 50


class Subsampler:
    """Draws subsamples with a fixed share of the rows (or columns), without replacement.

    Fewer than `least` rows are never split: half of them would be too few to learn from, and
    integer weights stay equal to repetition. With units of rows, a share of the units is drawn.
    """

    def __init__(
        self,
        n_rows: int,
        share: float,
        random: np.random.RandomState,
        least: int = LEAST_ROWS,
        units: Units | None = None,
    ) -> None:
        self.n_rows, self.units = n_rows, Units(n_rows) if units is None else units
        n = self.units.n
        self.size = n if n_rows < least else max(1, int(share * n))
        self.seed = 0 if self.takes_all else int.from_bytes(random.bytes(8), "little")

    @property
    def takes_all(self) -> bool:
        """Whether every draw is the whole set."""
        return self.size == self.units.n

    @cached_property
    def everyone(self) -> Subsample:
        """The whole set."""
        rows = np.arange(self.n_rows, dtype=kernels.ROW)
        return Subsample(rows, np.ones(self.n_rows, dtype=np.bool_))

    def draw(self) -> Subsample:
        """Draw the next subsample."""
        if self.takes_all:
            return self.everyone
        self.seed = (self.seed + 1) % 2**64  # adjacent seeds give independent streams
        found = kernels.draw_rows(self.units.n, self.size, self.seed)
        if self.units.of_rows is None:
            return found
        drawn = self.units.spread(found.drawn)
        return Subsample(np.flatnonzero(drawn).astype(kernels.ROW), drawn)


def split_rows(
    labels: IntArray, fraction: float, random: np.random.RandomState, units: Units | None = None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows into two ascending lists, with `fraction` of every class in the second.

    A class keeps at least one row in the first list; the second may lack rare classes. Units of
    rows stay together.
    """
    if units is not None and units.of_rows is not None:
        pair = split_rows(units.labels(labels), fraction, random)
        return units.rows(pair[0]), units.rows(pair[1])
    aside = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        rows = random.permutation(np.flatnonzero(labels == label))
        aside[rows[: min(round(fraction * len(rows)), len(rows) - 1)]] = True
    if not aside.any():
        raise ValueError(
            f"stopping='validation': {len(labels)} rows are too few to hold out {fraction:g} of "
            "them; choose another stopping or a larger validation_fraction"
        )
    return np.flatnonzero(~aside), np.flatnonzero(aside)


def split_by_weight(
    steps: StatArray, strata: IntArray, share: float, seed: int, units: Units | None = None
) -> BoolArray:
    """Mark a random share of the weight of each stratum; units of rows stay together."""
    if units is None or units.of_rows is None:
        return kernels.split_by_weight(steps, strata, share, seed).astype(np.bool_, copy=False)
    sums = np.zeros(units.n, dtype=steps.dtype)
    np.add.at(sums, units.of_rows, steps)
    taken = kernels.split_by_weight(sums, units.labels(strata), share, seed)
    return units.spread(taken.astype(np.bool_) | (not taken.any()))


N_BLOCKS = 20
"""Number of blocks: enough for different choices, and few enough for fast sums."""

LEAST_BLOCKED_ROWS = 50_000
"""Below this number of rows, rows are drawn one by one: counting them is as fast."""

MOST_MISSES = 3
"""Consecutive choices without a rule before rows are drawn one by one."""

FARTHEST = 0.02
"""Maximum deviation of the share of chosen blocks from the requested share."""


def count_blocks(codes: CodeColumns, n_rows: int, share: float) -> int:
    """Return the number of blocks for draws of this share; 0 if rows are drawn one by one."""
    n_blocks = N_BLOCKS if share < 1 else 1
    chosen = round(share * N_BLOCKS)
    near = share == 1 or (0 < chosen < N_BLOCKS and abs(chosen / N_BLOCKS - share) <= FARTHEST)
    small = 4 * n_blocks * int((codes.n_bins + 1).sum()) <= n_rows * len(codes.n_bins)
    return n_blocks if n_rows >= LEAST_BLOCKED_ROWS and near and small else 0


class RowDraws:
    """Grows every rule on its own random draw of rows.

    Parameters
    ----------
    grower : RuleGrower
        Grows the rules.
    codes, stats : CodeColumns, int64 array
        All rows and their statistics.
    share : float
        Share of the rows to draw.
    random : RandomState
        Random numbers for the draws.
    telling : function, optional
        Returns the drawn rows that are informative for the rule; only these are counted.
    units : Units, optional
        Units of rows that are drawn together.
    """

    def __init__(
        self,
        grower: RuleGrower,
        codes: CodeColumns,
        stats: StatArray,
        share: float,
        random: np.random.RandomState,
        telling: Callable[[RowArray], RowArray] = lambda rows: rows,
        units: Units | None = None,
    ) -> None:
        self.grower, self.codes, self.stats, self.telling = grower, codes, stats, telling
        self.sampler = Subsampler(codes.n_rows, share, random, units=units)
        self.takes_all = self.sampler.takes_all

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, BoolArray]:
        """Grow a rule on the next draw; return it with the drawn rows."""
        rows, drawn = self.sampler.draw()
        search = self.codes, self.telling(rows), self.stats, score, limits
        return self.grower.grow(*search), drawn

    def following(self, rows: RowArray) -> AbstractContextManager[None]:
        """Allow the statistics of the rows to change inside the context."""
        return nullcontext()


class BlockDraws(RowDraws):
    """Grows rules on blocks of consecutive rows, in random order if some are drawn.

    If no condition helps alone, chance finds the first one, and twenty blocks leave little
    variation: after `MOST_MISSES` rejected rules, rows are drawn one by one.

    Instead of `telling` it takes the number of blocks, and the number of bits that bounds every
    statistic.
    """

    def __init__(
        self,
        grower: RuleGrower,
        codes: CodeColumns,
        stats: StatArray,
        share: float,
        random: np.random.RandomState,
        n_blocks: int,
        bits: int,
    ) -> None:
        super().__init__(grower, codes, stats, share, random)
        # a sampler of blocks with the same share as the rows
        self.blocks = Subsampler(n_blocks, round(share * n_blocks) / n_blocks, random, least=1)
        self.n_missed = 0  # rules since the last accepted one
        self.sizes = np.diff(np.arange(n_blocks + 1) * codes.n_rows // n_blocks)
        self.roots = kernels.Roots(codes, stats, n_blocks, grower.n_threads, bits)

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, BoolArray]:
        """Grow a rule on the next choice of blocks, or rows; return it with its rows."""
        reads_all = score.n_lanes + (limits.min_weight > 0) == self.stats.shape[1]
        self.n_missed += 1
        if not (reads_all and (self.n_missed <= MOST_MISSES or self.takes_all)):
            return super().grow(score, limits)
        chosen = self.blocks.draw().drawn
        drawn = np.repeat(chosen, self.sizes)
        return self.grower.grow_from(self.roots, chosen, score, limits), drawn

    def following(self, rows: RowArray) -> AbstractContextManager[None]:
        """Allow the statistics of the (ascending) rows to change inside the context."""
        self.n_missed = 0
        return self.roots.following(rows)
