"""Training and test rows: the same for every learner, by seed.

A protocol knows its places, pairs (repeat, fold), without seeing data; `split` returns the rows of
one place. Folds are stratified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from rulewright.estimators.folds.folds import stratified_folds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import IntArray

    Rows: TypeAlias = NDArray[np.intp]


class Place(NamedTuple):
    """Which split of a protocol."""

    repeat: int
    fold: int


class Split(NamedTuple):
    """Training rows and test rows."""

    train: Rows
    test: Rows


def seeded(seed: int, repeat: int) -> np.random.RandomState:
    """Return the random numbers of one repetition."""
    return np.random.RandomState(np.random.SeedSequence((seed, repeat)).generate_state(4))


@dataclass(frozen=True)
class Folds:
    """Cross-validation, once or repeated; only the first `used` folds of a repetition are run."""

    n_folds: int = 10
    n_repeats: int = 1
    used: int | None = None

    def places(self) -> list[Place]:
        """List all splits."""
        used = self.n_folds if self.used is None else min(self.used, self.n_folds)
        return [Place(r, fold) for r in range(self.n_repeats) for fold in range(used)]

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""
        folds = stratified_folds(codes, self.n_folds, seeded(seed, place.repeat))
        return Split(np.flatnonzero(folds != place.fold), np.flatnonzero(folds == place.fold))

    def __str__(self) -> str:
        times = "" if self.n_repeats == 1 else f"{self.n_repeats} times "
        some = "" if self.used is None else f" (the first {self.used} folds only)"
        return f"{times}stratified {self.n_folds}-fold cross-validation{some}"


@dataclass(frozen=True)
class RandomSplits:
    """Random stratified splits: a third of the rows is the test set."""

    n_splits: int = 50

    def places(self) -> list[Place]:
        """List all splits."""
        return [Place(repeat, 0) for repeat in range(self.n_splits)]

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""
        return Folds(3).split(codes, place, seed)

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
        order = seeded(seed, place.repeat).permutation(pool)
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
        order = seeded(seed, place.repeat).permutation(len(codes))
        return Split(np.sort(order[:size]), np.sort(order[len(order) - self.n_test :]))

    def __str__(self) -> str:
        return f"samples of {', '.join(map(str, self.sizes))} rows, judged on {self.n_test} others"


Protocol: TypeAlias = Folds | RandomSplits | Holdout | Sizes
