"""What a reproduction is: trials to run, and the report of their records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rulewright.experiments.trial import Trial

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rulewright.experiments.learners import Learner
    from rulewright.experiments.protocol import Protocol
    from rulewright.experiments.report import Report
    from rulewright.experiments.trial import Data, Record


@dataclass(frozen=True)
class Extent:
    """How much of a reproduction is run.

    Parameters
    ----------
    quick : bool
        A small part of it, to see that it works and about where it leads.
    sets : tuple of str
        Some of the data sets; all if empty.
    runs : int
        Repetitions with other splits and other random numbers.
    seed : int
        Seed of the splits and the learners.
    """

    quick: bool = False
    sets: tuple[str, ...] = ()
    runs: int = 1
    seed: int = 0

    def chosen(self, known: Sequence[str]) -> list[str]:
        """Return the data sets to run, in the order of the paper."""
        if unknown := [name for name in self.sets if name not in known]:
            raise ValueError(f"--sets {unknown[0]}: unknown. Known are: {', '.join(known)}.")
        return [name for name in known if not self.sets or name in self.sets]


@dataclass(frozen=True)
class Reproduction:
    """A table or figure of a paper that can be made again.

    Parameters
    ----------
    name : str
        Name on the command line.
    title : str
        What it is.
    quick : str
        What a quick run leaves out.
    trials : callable
        Lists the trials for an `Extent`.
    report : callable
        Writes the report of the records of those trials.
    """

    name: str
    title: str
    quick: str
    trials: Callable[[Extent], list[Trial]]
    report: Callable[[Sequence[Record], Extent], Report]

    def about(self, extent: Extent) -> list[str]:
        """Say what was run."""
        lines = [f"Quick run: {self.quick}."] if extent.quick else []
        return lines + ([f"Only {', '.join(extent.sets)}."] if extent.sets else [])


def all_trials(
    learners: Iterable[Learner], sets: Iterable[Data], protocol: Protocol, extent: Extent
) -> list[Trial]:
    """List every learner on every split of every set; the learners of a split come together."""
    learners = list(learners)
    return [
        Trial(learner, data, protocol, place, extent.seed)
        for data in sets
        for place in protocol.places()
        for learner in learners
    ]
