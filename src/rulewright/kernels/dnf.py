"""The door to the native search for k-term DNF formulas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.kernels import _core
from rulewright.kernels.structs import DnfBest, DnfState

if TYPE_CHECKING:
    from rulewright.kernels.structs import DnfSettings, IntArray, WordArray


class DnfSearch:
    """Parallel restarts of the stochastic local search, advanced in slices of steps.

    What is found does not depend on the slices or on the number of threads.

    Parameters
    ----------
    bits : uint64 array of shape (variables, words)
        Packed columns: positives first, negatives from the next full word on; spare bits are 0.
    weights : int32 array
        Weight of each positive, then of each negative, at least 1.
    n_positives : int
        Number of positives.
    settings : DnfSettings
        How to search.
    """

    def __init__(
        self, bits: WordArray, weights: IntArray, n_positives: int, settings: DnfSettings
    ) -> None:
        self._native = _core.DnfSearch(bits, weights, n_positives, settings.native)

    def advance(self, n_steps: int, n_threads: int = 1) -> int:
        """Take so many steps in every restart; return how many restarts go on."""
        return self._native.advance(n_steps, n_threads)

    @property
    def n_steps(self) -> int:
        """Steps taken so far by all restarts together."""
        return self._native.n_steps()

    def state(self, restart: int) -> DnfState:
        """Return where a restart stands."""
        return DnfState(*self._native.state(restart))

    def best(self) -> DnfBest | None:
        """Return the best formula: the lowest (score, literals, restart)."""
        found = self._native.best()
        return DnfBest(*found[0]) if found else None


def find_partition(
    positives: WordArray,
    negatives: WordArray,
    n_parts: int,
    one_new: bool,
    seed: int,
    first_restart: int,
    n_restarts: int,
    n_threads: int = 1,
) -> tuple[int, IntArray]:
    """Return the first restart whose partition works (-1: none) and the part of every positive.

    Rows are packed, with variable v as bit v % 64 of word v // 64 (see
    `native/search/dnf_partition.hpp`).
    """
    return _core.find_partition(
        positives, negatives, n_parts, one_new, seed, first_restart, n_restarts, n_threads
    )
