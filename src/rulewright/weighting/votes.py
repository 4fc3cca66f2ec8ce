"""What rules vote for, and which statistics of the rows tell about a vote.

A vote is for a union of neighbouring classes. The statistics are pairs (g, h) of derivatives: one
pair for each class, or for each cut between ordered classes, which tells about both of its sides.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright.kernels import Score
from rulewright.rules import Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray, StatArray


def heads(n_classes: int, ordinal: bool) -> tuple[Head, ...]:
    """Return what a rule may vote for; with two classes the order makes no difference."""
    if not ordinal:
        return tuple(Head(k, k) for k in range(n_classes))
    cuts = range(1, n_classes)
    return tuple(head for k in cuts for head in (Head(0, k - 1), Head(k, n_classes - 1)))


def is_cumulative(n_classes: int, ordinal: bool) -> bool:
    """Tell whether votes are for the sides of cuts: two classes are the sides of one cut."""
    return ordinal or n_classes == 2


class VoteLanes:
    """The votes of a fit, and the lanes of the statistics that tell about each.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    ordinal : bool
        Whether the classes are ordered and rules vote for "at least" or "at most" a class.
    unit : float
        What a step of the statistics stands for.
    """

    def __init__(self, n_classes: int, ordinal: bool, unit: float) -> None:
        self.n_classes, self.unit = n_classes, unit
        self.heads = heads(n_classes, ordinal)
        self.cumulative = is_cumulative(n_classes, ordinal)
        self.n_pairs = n_classes - self.cumulative
        self._scores: dict[tuple[str, float, Head | None], Score] = {}  # with their bound structs

    def score(self, kind: str, l2: float, head: Head | None = None) -> Score:
        """Describe the score for the search: over all votes, or for one `head` only."""
        key = kind, l2, head
        if key not in self._scores:
            self._scores[key] = self._new_score(*key)
        return self._scores[key]

    def _new_score(self, kind: str, l2: float, head: Head | None) -> Score:
        if head is None:
            return Score(
                kind, unit=self.unit, n_lanes=2 * self.n_pairs, l2=l2, down=self.cumulative
            )
        pair, down = self.pair_of(head)
        return Score(kind, unit=self.unit, first_lane=2 * pair, l2=l2, up=not down, down=down)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return what the vote of a search with this score speaks for."""
        pair, down = score.first_lane // 2 + vote // 2, vote % 2
        if not self.cumulative:
            return Head(pair, pair)
        return Head(0, pair) if down else Head(pair + 1, self.n_classes - 1)

    def pair_of(self, head: Head) -> tuple[int, bool]:
        """Return the pair that tells about the head, and whether its g is to be negated."""
        if not self.cumulative:
            return head.first, False
        down = head.first == 0
        return (head.last if down else head.first - 1), down

    def best_head(self, totals: StatArray, kind: str, l2: float) -> Head:
        """Return the head whose criterion is lowest, given the sums of the statistics."""
        pairs, signs = self._head_pairs
        criterion = totals[2 * pairs] * self.unit * signs
        if kind == "newton":
            h = totals[2 * pairs + 1] * self.unit
            criterion = criterion / np.sqrt(np.maximum(h + l2, 1e-12))
        return self.heads[int(np.argmin(criterion))]

    @cached_property
    def _head_pairs(self) -> tuple[NDArray[np.intp], FloatArray]:
        """The pair of each head, and the sign with which it reads g."""
        found = [self.pair_of(head) for head in self.heads]
        pairs = np.array([pair for pair, _ in found], dtype=np.intp)
        return pairs, np.array([-1.0 if down else 1.0 for _, down in found])
