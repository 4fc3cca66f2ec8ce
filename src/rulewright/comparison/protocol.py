"""Training and test rows: the same for every learner, by seed.

A protocol knows its places, pairs (repeat, fold), without seeing data; `split` returns the rows of
one place. Folds are stratified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias

import numpy as np

from rulewright.estimators import stratified_folds

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


class Splits(Protocol):
    """The methods of a dataclass that tells training rows from test rows."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def places(self) -> list[Place]:
        """List all splits."""

    def split(self, codes: IntArray, place: Place, seed: int) -> Split:
        """Return the rows of one place."""


def seed_random(seed: int, repeat: int) -> np.random.RandomState:
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
        folds = stratified_folds(codes, self.n_folds, seed_random(seed, place.repeat))
        return Split(np.flatnonzero(folds != place.fold), np.flatnonzero(folds == place.fold))

    def __str__(self) -> str:
        times = "" if self.n_repeats == 1 else f"{self.n_repeats} times "
        some = "" if self.used is None else f" (the first {self.used} folds only)"
        return f"{times}stratified {self.n_folds}-fold cross-validation{some}"
