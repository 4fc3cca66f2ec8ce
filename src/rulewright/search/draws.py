"""What a rule is grown on: rows drawn for it, or blocks of rows whose histograms are kept."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.search.sampling import Subsampler

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from rulewright.kernels import BoolArray, CodeColumns, Limits, RowArray, Score, StatArray
    from rulewright.search.growth import FoundRule, RuleGrower

N_BLOCKS = 20
"""Blocks to choose from: a choice is unlike the others, and a sum of histograms is quick."""

LEAST_BLOCKED_ROWS = 50_000
"""Fewer rows are drawn one by one: they are counted as fast as histograms of blocks are added."""

FARTHEST = 0.02
"""How far the share of the blocks chosen may be from the share that was asked for."""


def count_blocks(codes: CodeColumns, n_rows: int, share: float) -> int:
    """Return the blocks that draws of this share choose from; 0 if rows are drawn one by one."""
    n_blocks = N_BLOCKS if share < 1 else 1
    chosen = round(share * n_blocks)
    near = chosen > 0 and abs(chosen / n_blocks - share) <= FARTHEST
    small = 4 * n_blocks * int((codes.n_bins + 1).sum()) <= n_rows * len(codes.n_bins)
    return n_blocks if n_rows >= LEAST_BLOCKED_ROWS and near and small else 0


class RowDraws:
    """Grows every rule on rows that are drawn for it.

    Parameters
    ----------
    grower : RuleGrower
        Grows the rules.
    codes, stats : CodeColumns, int64 array
        All rows and their statistics.
    share : float
        Share of the rows to draw.
    random : RandomState
        Source of the draws.
    """

    def __init__(
        self,
        grower: RuleGrower,
        codes: CodeColumns,
        stats: StatArray,
        share: float,
        random: np.random.RandomState,
    ) -> None:
        self.grower, self.codes, self.stats = grower, codes, stats
        self.sampler = Subsampler(codes.n_rows, share, random)
        self.takes_all = self.sampler.takes_all

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, BoolArray]:
        """Grow a rule on the next draw; tell also which rows were drawn."""
        rows, drawn = self.sampler.draw()
        return self.grower.grow(self.codes, rows, self.stats, score, limits), drawn

    def following(self, rows: RowArray) -> AbstractContextManager[None]:
        """Let the statistics of the rows change in the body."""
        return nullcontext()


class BlockDraws(RowDraws):
    """Grows every rule on blocks of consecutive rows, which are in random order if some are drawn.

    Takes `n_blocks` after the parameters of `RowDraws`.
    """

    def __init__(
        self,
        grower: RuleGrower,
        codes: CodeColumns,
        stats: StatArray,
        share: float,
        random: np.random.RandomState,
        n_blocks: int,
    ) -> None:
        self.grower, self.codes, self.stats = grower, codes, stats
        # a sampler of blocks whose share is that of the rows
        self.sampler = Subsampler(n_blocks, round(share * n_blocks) / n_blocks, random, least=1)
        self.takes_all = self.sampler.takes_all
        self.starts = np.arange(n_blocks + 1) * codes.n_rows // n_blocks
        self.roots = kernels.Roots(codes, stats, n_blocks, grower.n_threads)

    def grow(self, score: Score, limits: Limits) -> tuple[FoundRule | None, BoolArray]:
        """Grow a rule on the next choice of blocks; tell also which rows are in them."""
        chosen = self.sampler.draw().drawn
        drawn = np.repeat(chosen, np.diff(self.starts))
        if score.n_lanes + (limits.min_weight > 0) < self.stats.shape[1]:
            rows = np.flatnonzero(drawn).astype(kernels.ROW)
            return self.grower.grow(self.codes, rows, self.stats, score, limits), drawn
        return self.grower.grow_from(self.roots, chosen, score, limits), drawn

    def following(self, rows: RowArray) -> AbstractContextManager[None]:
        """Let the statistics of the rows, which ascend, change in the body."""
        return self.roots.following(rows)
