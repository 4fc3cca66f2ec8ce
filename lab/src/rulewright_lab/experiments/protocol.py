"""Splits of the papers other than folds: random ones, a hold-out, growing samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.comparison import FoldProtocol, Place, Split, seed_random

if TYPE_CHECKING:
    from rulewright.kernels import IntArray


@dataclass(frozen=True)
class RandomSplits:
    """Random stratified splits: a third of the rows is the test set."""

    n_splits: int = 50

    def places(self) -> list[Place]:
        """List all splits."""
        return [Place(repeat, 0) for repeat in range(self.n_splits)]

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""
        return FoldProtocol(3).split(codes, place, seed)

    def __str__(self) -> str:
        return f"{self.n_splits} random stratified splits, 66% to learn from and 33% to judge on"


@dataclass(frozen=True)
class Holdout:
    """Random training rows; the test rows are all others, or those from `pool` on (a test file)."""

    n_train: int
    pool: int | None = None
    n_repeats: int = 1

    def places(self) -> list[Place]:
        """List all splits."""
        return [Place(repeat, 0) for repeat in range(self.n_repeats)]

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""
        pool = len(codes) if self.pool is None else self.pool
        if self.n_train >= len(codes) or self.n_train > pool:
            raise ValueError(f"{self.n_train} training rows, of {min(pool, len(codes) - 1)}")
        order = seed_random(seed, place.repeat).permutation(pool)
        rest = order[self.n_train :] if self.pool is None else np.arange(pool, len(codes))
        return Split(np.sort(order[: self.n_train]), np.sort(rest))

    def __str__(self) -> str:
        times = "one random split" if self.n_repeats == 1 else f"{self.n_repeats} random splits"
        return f"{times} with {self.n_train} rows to learn from"


@dataclass(frozen=True)
class Sizes:
    """Growing samples: fold i has ``sizes[i]`` training rows, a subset of those of fold i + 1.

    The last `n_test` rows of the same random order are the test rows of all.
    """

    sizes: tuple[int, ...]
    n_test: int
    n_repeats: int = 1

    def places(self) -> list[Place]:
        """List all splits."""
        return [Place(r, i) for r in range(self.n_repeats) for i in range(len(self.sizes))]

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""
        size = self.sizes[place.fold]
        if size + self.n_test > len(codes):
            raise ValueError(f"{size} training and {self.n_test} test rows, of {len(codes)}")
        order = seed_random(seed, place.repeat).permutation(len(codes))
        return Split(np.sort(order[:size]), np.sort(order[len(order) - self.n_test :]))

    def __str__(self) -> str:
        return f"samples of {', '.join(map(str, self.sizes))} rows, judged on {self.n_test} others"
