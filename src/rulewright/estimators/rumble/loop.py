"""The loop of RUMBLE: after every rule the best weights, and of all prefixes the best one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.weighting import MarginWeights

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.search import Repository
    from rulewright.weighting import CriterionState

NOTHING_BETTER = "no later prefix can be better"
ALL_RULES = "all rules"


class TraceStep(NamedTuple):
    """A prefix whose weights differ from those before: what it is worth and what it costs."""

    n_generated: int
    objective: float
    penalty: float
    score: float
    support: int


@dataclass(frozen=True, eq=False)
class Prefix:
    """The best prefix: its weights, and how it was found."""

    n_generated: int
    solution: MarginWeights
    trace: tuple[TraceStep, ...]
    stop_reason: str


@dataclass(frozen=True)
class Selection:
    """How a prefix is chosen.

    Parameters
    ----------
    penalty : callable
        What a prefix is charged, by the number of rules generated; it grows with it.
    largest : float
        What no objective exceeds.
    cap : int
        Most rules in the working set.
    max_candidates : int, optional
        Most rules generated.
    deadline : float, optional
        Time by the monotonic clock when the best prefix so far is taken.
    """

    penalty: Callable[[int], float]
    largest: float
    cap: int
    max_candidates: int | None = None
    deadline: float | None = None

    def stop_reason(self, n_generated: int, best: float) -> str | None:
        """Tell why no further rule is asked for, or None."""
        if self.largest - self.penalty(n_generated) < best:
            return NOTHING_BETTER
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time_limit"
        return None


def find_best_prefix(
    repository: Repository, state: CriterionState, selection: Selection, check: Callable[[], None]
) -> Prefix:
    """Add rules one by one and return the prefix with the best score.

    The score is the objective minus the penalty; of equal scores the shorter prefix wins. A rule
    that cannot change the best weights is not solved for: the objective stays, the penalty grows.

    Parameters
    ----------
    repository : Repository
        The rules.
    state : CriterionState
        A criterion without rules.
    selection : Selection
        Penalty and limits.
    check : callable
        Called before every rule; it may raise to end the loop.
    """
    best, trace, reason = None, [], None
    score = -np.inf
    for number, line in repository:
        check()
        if selection.max_candidates is not None and number > selection.max_candidates:
            reason = "max_candidates"
            break
        changed = state.add(repository.covers[line : line + 1]) or best is None
        if changed:
            state.solve()
        state.drop_to(selection.cap)
        if changed:
            solution, penalty = state.solution, selection.penalty(number)
            step = TraceStep(
                number, solution.value, penalty, solution.value - penalty, len(solution.lines)
            )
            trace.append(step)
            if best is None or step.score > score:
                best, score = (number, solution), step.score
        reason = selection.stop_reason(number, score)
        if reason is not None:
            break
    assert best is not None, "rule 0 is always there"
    return Prefix(*best, tuple(trace), reason or ALL_RULES)


def constant_prefix(sign: float, penalty: float) -> Prefix:
    """Return the prefix of the constant rule where all rows are of one class: no rule is better."""
    line, weight = np.zeros(1, dtype=np.int32), np.array([float(sign)])
    step = TraceStep(1, 1.0, penalty, 1.0 - penalty, 1)
    return Prefix(1, MarginWeights(line, weight, 1.0, 0.0, 1.0, 0.0), (step,), NOTHING_BETTER)
