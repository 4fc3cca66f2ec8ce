"""Random subsamples of rows, one per rule."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.kernels import Subsample

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import IntArray


LEAST_ROWS = 50


class Subsampler:
    """Draws subsamples of the same share of the rows (or columns), without replacement.

    Fewer than `least` rows are never split: half of them would be too few to learn from, and
    integer weights stay equal to repetition.
    """

    def __init__(
        self, n_rows: int, share: float, random: np.random.RandomState, least: int = LEAST_ROWS
    ) -> None:
        self.n_rows = n_rows
        self.size = n_rows if n_rows < least else max(1, int(share * n_rows))
        self.seed = 0 if self.takes_all else int.from_bytes(random.bytes(8), "little")

    @property
    def takes_all(self) -> bool:
        """Whether every draw is the whole set."""
        return self.size == self.n_rows

    @cached_property
    def everyone(self) -> Subsample:
        """The whole set."""
        rows = np.arange(self.n_rows, dtype=kernels.ROW)
        return Subsample(rows, np.ones(self.n_rows, dtype=np.bool_))

    def draw(self) -> Subsample:
        """Draw the next subsample."""
        if self.takes_all:
            return self.everyone
        self.seed = (self.seed + 1) % 2**64  # neighbouring seeds give unrelated streams
        return kernels.draw_rows(self.n_rows, self.size, self.seed)


def split_rows(
    labels: IntArray, fraction: float, random: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Split rows into two ascending lists, `fraction` of every class in the second.

    A class keeps at least one row in the first; the second may lack rare classes.
    """
    aside = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        rows = random.permutation(np.flatnonzero(labels == label))
        aside[rows[: min(round(fraction * len(rows)), len(rows) - 1)]] = True
    if not aside.any():
        raise ValueError(
            f"stopping='validation': {len(labels)} rows are too few to keep {fraction:g} of them "
            "aside; set another stopping or a larger validation_fraction"
        )
    return np.flatnonzero(~aside), np.flatnonzero(aside)
