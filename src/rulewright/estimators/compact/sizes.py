"""Sizes of compact models: what folds say of each number of rules, and the choice of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.estimators.compact.members import LineMember, Member
    from rulewright.estimators.compact.search import CompactSearch
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray

PATIENCE = 6
"""Sizes without a gain on rows left out before a fold stops."""


@dataclass(frozen=True, eq=False)
class Size:
    """How many rules there are to be, and what is known of other sizes.

    Attributes
    ----------
    n_rules : int
        Number of rules.
    losses : float64 array of shape (sizes, rows) or None
        Losses of the rows by the fold that left them out, for 0, 1, 2, ... rules.
    out_of_fold : float64 array of shape (rows, outputs) or None
        Answers of the rows by the fold that left them out, at the chosen size.
    """

    n_rules: int
    losses: FloatArray | None = None
    out_of_fold: FloatArray | None = None

    def to_json(self, weights: FloatArray) -> dict[str, Any]:
        """Give the size and the curve of losses as plain data."""
        known: dict[str, Any] = {"n_rules": self.n_rules}
        if self.losses is not None:
            seen = ~np.isnan(self.losses[0])
            means = np.average(self.losses[:, seen], axis=1, weights=weights[seen])
            known["left_out_loss"] = means.tolist()
        return known


@dataclass(frozen=True, eq=False)
class Trace:
    """What a fold shows: losses (sizes, rows) and answers (sizes, rows, outputs) of its rows.

    The members are the rules in the order in which they came in.
    """

    losses: FloatArray
    answers: FloatArray
    members: list[Member | LineMember]


def follow_search(
    search: CompactSearch, left_out: BoolArray, cap: int, check: Callable[[], None]
) -> Trace:
    """Add rules one by one until several in turn have gained nothing on the rows left out."""
    losses, answers = [], []
    while True:
        check()
        losses.append(search.loss.loss_of(search.fitted, left_out))
        answers.append(search.fitted.answers[left_out].copy())
        best = int(np.argmin([loss.mean() for loss in losses]))
        if len(losses) > cap or len(losses) - best > PATIENCE or not search.grow():
            return Trace(np.array(losses), np.array(answers), search.members)


def join_traces(traces: Sequence[Trace], folds: Folds, cap: int) -> tuple[FloatArray, FloatArray]:
    """Put the rows of all folds together; a fold that stopped early stays as it was."""
    places = [np.minimum(np.arange(cap + 1), len(trace.losses) - 1) for trace in traces]
    pairs = list(zip(traces, places, strict=True))
    losses = folds.scatter([trace.losses[place] for trace, place in pairs], axis=1)
    answers = folds.scatter([trace.answers[place] for trace, place in pairs], axis=1)
    return losses, answers


def choose_size(losses: FloatArray, weights: FloatArray) -> int:
    """Return the smallest number of rules within one standard error of the best.

    The standard error is that of the difference of the losses row by row.
    """
    seen = ~np.isnan(losses[0])
    own = weights[seen]
    means = np.average(losses[:, seen], axis=1, weights=own)
    least = int(np.argmin(means))
    differences = losses[:, seen] - losses[least, seen]
    spread = np.average((differences - differences.mean(axis=1)[:, None]) ** 2, axis=1, weights=own)
    errors = np.sqrt(spread / np.count_nonzero(seen))
    return int(np.argmax(means <= means[least] + errors))


def run_search(search: CompactSearch, n_rules: int) -> None:
    """Add rules up to a number while they pay, and improve them."""
    while len(search.members) < n_rules and search.grow():
        pass
    search.improve()
    while len(search.members) < n_rules and search.grow():
        pass
    search.settle()
