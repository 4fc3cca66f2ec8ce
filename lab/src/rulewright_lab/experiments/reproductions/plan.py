"""A reproduction: trials to run, and the report of their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.comparison import Job, Record, Report


@dataclass(frozen=True)
class Extent:
    """How much of a reproduction is run: a `quick` part, some of the sets (all if empty).

    `runs` are repetitions with other splits and random numbers.
    """

    quick: bool = False
    sets: tuple[str, ...] = ()
    runs: int = 1
    seed: int = 0

    def choose_sets(self, known: Sequence[str]) -> list[str]:
        """Return the data sets to run, in the order of the paper."""
        if unknown := [name for name in self.sets if name not in known]:
            raise ValueError(f"--sets {unknown[0]}: unknown. Known are: {', '.join(known)}.")
        return [name for name in known if not self.sets or name in self.sets]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of a paper, by its name on the command line.

    `quick` says what a quick run leaves out; `trials` lists the trials of an `Extent`, and `report`
    writes the report of their records.
    """

    name: str
    title: str
    quick: str
    trials: Callable[[Extent], Sequence[Job]]
    report: Callable[[Sequence[Record], Extent], Report]

    def about(self, extent: Extent) -> list[str]:
        """Return paragraphs about the extent of the run."""
        lines = [f"Quick run: {self.quick}."] if extent.quick else []
        return lines + ([f"Only {', '.join(extent.sets)}."] if extent.sets else [])
