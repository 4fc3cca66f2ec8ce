"""The search for a proof or a counterexample: boxes of cells, divided until each is decided."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.governance.proofs.additive import AdditiveClaim
from rulewright.governance.proofs.lists import ListClaim
from rulewright.governance.proofs.spaces import Space, model_of_policy
from rulewright.model import DecisionList

if TYPE_CHECKING:
    from rulewright.governance.policies import Policy
    from rulewright.governance.proofs.looks import Claim
    from rulewright.kernels import BoolArray
    from rulewright.model import RuleModel

_BATCH = 64
_FIRST_TRIAL = 128
"""So many boxes are looked at before better bounds are computed."""
_LP_SHARE = 0.5
"""Share of the time that better bounds may take."""


@dataclass(frozen=True, eq=False)
class Finding:
    """What a search found out.

    Parameters
    ----------
    state : str
        "proved", "violated" or "undecided".
    n_boxes : int
        Number of boxes that were looked at.
    certificate : dict, optional
        The tree of boxes of a proof, and the shares of its bounds, as plain data.
    rows : list of dict
        Stored values of the row, or of the two rows, that break the policy.
    excess : float
        How far the policy is broken, or may be at most.
    """

    state: str
    n_boxes: int
    certificate: dict[str, Any] | None = None
    rows: list[dict[str, Any]] = field(default_factory=list)
    excess: float = 0.0


class Search:
    """Boxes of a claim: open ones by falling excess, and the tree of all."""

    def __init__(self, claim: Claim, deadline: float) -> None:
        self.claim, self.deadline = claim, deadline
        self.n_boxes = 0
        self.found: Any = None
        self._restart()

    def _restart(self) -> None:
        root = np.ones(int(self.claim.grid.starts[-1]), dtype=np.bool_)
        self.boxes: dict[int, BoolArray] = {0: root}
        self.heap: list[tuple[float, int]] = [(-np.inf, 0)]
        self.splits, self.children = [-1], [(-1, -1)]
        self.stuck: list[float] = []

    def run(self) -> Finding:
        """Search until the policy is decided or time runs out."""
        self._divide(_FIRST_TRIAL)
        seconds = _LP_SHARE * (self.deadline - time.monotonic())
        if self.found is None and self.heap and seconds > 0:
            root = np.ones(int(self.claim.grid.starts[-1]), dtype=np.bool_)
            self.claim.improve(root, seconds)
            self._restart()
            self._divide(None)
        if self.found is not None:
            excess, rows, _ = self.found
            return Finding("violated", self.n_boxes, rows=rows, excess=excess)
        remaining = [*self.stuck, *(-excess for excess, _ in self.heap)]
        if remaining:
            return Finding("undecided", self.n_boxes, excess=max(remaining))
        return Finding("proved", self.n_boxes, self._certificate())

    def _divide(self, most: int | None) -> None:
        """Look at open boxes, the worst first, and divide them."""
        limit = None if most is None else self.n_boxes + most
        while self.heap and self.found is None:
            late = time.monotonic() > self.deadline and self.n_boxes > 0
            if late or (limit is not None and self.n_boxes >= limit):
                return
            batch = [heapq.heappop(self.heap)[1] for _ in range(min(_BATCH, len(self.heap)))]
            self._examine(batch, np.array([self.boxes.pop(box) for box in batch]))

    def _examine(self, names: list[int], boxes: BoolArray) -> None:
        claim = self.claim
        self.n_boxes += len(boxes)
        look = claim.look(boxes)
        open_ = look.excess > claim.slack / 2
        if not open_.any():
            return
        self.found, worst = claim.violation(look, open_)
        if self.found is not None:
            return
        open_ &= ~(look.decided & (worst <= claim.slack / 2))
        best = look.urgency.argmax(axis=1)
        for i in np.flatnonzero(open_).tolist():
            if not look.urgency[i, best[i]]:
                self.stuck.append(float(look.excess[i]))
                continue
            self.splits[names[i]] = int(best[i])
            parts = claim.grid.divide(boxes[i], int(best[i]))
            self.children[names[i]] = (len(self.splits), len(self.splits) + 1)
            for part in parts:
                heapq.heappush(self.heap, (-float(look.excess[i]), len(self.splits)))
                self.boxes[len(self.splits)] = part
                self.splits.append(-1)
                self.children.append((-1, -1))

    def _certificate(self) -> dict[str, Any]:
        """Return the tree of boxes, first the box, then its two parts, and the shares."""
        used = sorted({split for split in self.splits if split >= 0})
        tests = [self.claim.tests.list[q] for q in used]
        number = {q: i for i, q in enumerate(used)} | {-1: -1}
        tree, waiting = [], [0]
        while waiting:
            box = waiting.pop()
            tree.append(number[self.splits[box]])
            if self.splits[box] >= 0:
                waiting += reversed(self.children[box])
        splits = [[test.row, test.condition.to_json()] for test in tests if test.condition]
        return {"splits": splits, "tree": tree, "shares": self.claim.shares()}


def decide(model: RuleModel, policy: Policy, time_limit: float) -> tuple[Space, Finding]:
    """Prove a policy, break it, or bound how far it may be broken."""
    deadline = time.monotonic() + time_limit
    space = Space(model_of_policy(model, policy), policy)
    claim = ListClaim(space) if isinstance(space.model, DecisionList) else AdditiveClaim(space)
    return space, Search(claim, deadline).run()
