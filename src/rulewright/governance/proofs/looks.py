"""What is known of a policy on boxes of cells, for models of all forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.governance.policies import Monotone
from rulewright.governance.proofs.bodies import Answers, Body, Grid, Tests, tests_of
from rulewright.governance.proofs.spaces import SLACK, Space, Value

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Look:
    """What is known of some boxes.

    Parameters
    ----------
    excess : float array
        Upper bounds of how far the policy is broken.
    decided : bool array
        Whether all rows of the box get the same value, so that one of them answers for all.
    urgency : float array of shape (boxes, tests)
        How much a test matters that would divide the box.
    candidates : list of pairs of arrays
        Rows that may break the policy: places of shape (boxes, variables), and for each row of a
        pair the ends of the cells.
    """

    excess: FloatArray
    decided: BoolArray
    urgency: FloatArray
    candidates: list[tuple[Any, dict[str, Any]]]


class Claim(ABC):
    """A policy on a model, evaluated on boxes."""

    def __init__(self, space: Space) -> None:
        self.space, self.tests = space, Tests(space)
        self.value = Value.of(space.model, space.policy)
        self.regions: list[Body] = []
        if space.filters:
            self.regions = [self.tests.body(space.region, row) for row in space.region_rows]
        self._prepare()
        self.grid = Grid(self.tests)

    @abstractmethod
    def _prepare(self) -> None:
        """Make the tests of the rules."""

    @property
    def slack(self) -> float:
        """Values that differ by less are equal."""
        return SLACK * (self.size if self.value.how == "number" else 1.0)

    @property
    def size(self) -> float:
        """The largest size of a sum of points, at least 1."""
        return 1.0

    def improve(self, box: BoolArray, seconds: float) -> None:  # noqa: B027 - lists have none
        """Find better bounds, if that is possible."""

    def shares(self) -> dict[str, Any]:
        """Return what was found, for the certificate."""
        return {}

    def look(self, boxes: BoolArray) -> Look:
        """Evaluate the policy on boxes, an array of shape (boxes, values)."""
        answers = self.grid.answers(boxes)
        look = self._look(boxes, answers)
        undecided = answers.possible & ~answers.sure
        for region in self.regions:
            possible, sure = answers.of(region)
            look.excess[~possible] = -np.inf
            look.decided[possible & ~sure] = False
            tests = np.isin(np.arange(len(self.tests.list)), tests_of(region))
            look.urgency[possible & ~sure] += 1e6 * tests
        look.urgency[...] = (look.urgency * undecided) @ self.grid.splits
        look.urgency[...] += 1e-12 * self.grid.splits.any(axis=0)
        look.urgency[~undecided] = 0.0
        return look

    @abstractmethod
    def _look(self, boxes: BoolArray, answers: Answers) -> Look:
        """Evaluate the policy without its region."""

    def violation(self, look: Look, kept: BoolArray) -> tuple[Any, FloatArray]:
        """Evaluate the candidates of some boxes: the worst row or pair, and each box's excess."""
        worst, found = np.full(len(look.excess), -np.inf), None
        for places, ends in look.candidates:
            stored = self._stored(places[kept], {row: one[kept] for row, one in ends.items()})
            tables = [self.space.table(one) for one in stored.values()]
            values = [self.value.of_scores(self.space.model.scores(table)) for table in tables]
            excess = self.space.excess(values[-1], values[0])
            if self.space.filters:
                for row, table in zip(stored, tables, strict=True):
                    if row in self.space.region_rows:
                        excess[~self.space.region.holds(table)] = -np.inf
            worst[kept] = np.maximum(worst[kept], excess)
            at = int(excess.argmax())
            if excess[at] > self.slack and (found is None or excess[at] > found[0]):
                rows = [{k: v[at] for k, v in one.items()} for one in stored.values()]
                found = float(excess[at]), rows, [float(value[at]) for value in values]
        return found, worst

    def _stored(self, places: Any, ends: dict[str, Any]) -> dict[str, dict[str, Any]]:
        """Return the stored values of rows or pairs, in the order of a monotone policy."""
        space = self.space
        stored = {row: space.stored(places, row, ends[row]) for row in space.rows}
        if isinstance(space.policy, Monotone):
            name = space.policy.column
            one, other = stored["a"][name], stored["b"][name]
            low, high = np.minimum(one, other), np.maximum(one, other)
            rising = space.policy.direction == "increasing"
            stored["a"][name], stored["b"][name] = (low, high) if rising else (high, low)
        return stored

    def _plain_ends(self, n: int) -> dict[str, Any]:
        zeros = np.zeros((n, len(self.space.names)), dtype=np.intp)
        return dict.fromkeys(self.space.rows, zeros)
