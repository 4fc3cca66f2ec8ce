"""Policies on decision lists: the values of the rules that may decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.governance.proofs.bodies import Answers, tests_of
from rulewright.governance.proofs.looks import Claim, Look
from rulewright.model import DecisionList
from rulewright.rules import Says

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray


class ListClaim(Claim):
    """A policy on a decision list: the values of the rules that may decide."""

    def _prepare(self) -> None:
        model = self.space.model
        assert isinstance(model, DecisionList)
        said = [rule.outcome.distribution for rule in model.rules if isinstance(rule.outcome, Says)]
        self.values = self.value.of_scores(np.array([*said, model.default]))
        self.bodies = {
            row: [self.tests.body(rule.body, row) for rule in model.rules]
            for row in self.space.rows
        }
        self.moved: list[list[int]] = []
        if self.space.policy.pairs:
            for first, second in zip(*self.bodies.values(), strict=True):
                pairs = zip(tests_of(first), tests_of(second), strict=True)
                moved = [(one, other) for one, other in pairs if one != other]
                self.moved.append(
                    [
                        q
                        for one, other in moved
                        for q in (self.tests.only(one, other), self.tests.only(other, one))
                    ]
                )

    def _look(self, boxes: BoolArray, answers: Answers) -> Look:
        n, n_rules = len(boxes), len(self.space.model.rules)
        urgency = np.zeros((n, len(self.tests.list)))
        weights = 1.0 / (1.0 + np.arange(n_rules)) ** 2
        high, low = {}, {}
        may_differ = np.zeros(n, dtype=np.bool_)
        for row, bodies in self.bodies.items():
            high[row], low[row] = np.full(n, -np.inf), np.full(n, np.inf)
            reached = np.ones(n, dtype=np.bool_)
            for i, body in enumerate(bodies):
                possible, sure = answers.of(body)
                _widen(self.values[i], reached & possible, high[row], low[row])
                open_ = reached & possible & ~sure
                urgency[:, tests_of(body)] += np.outer(open_, weights[i])
                if self.moved and self.moved[i]:
                    moved = answers.possible[:, self.moved[i]].any(axis=1) & reached & possible
                    may_differ |= moved
                    urgency[:, self.moved[i]] += np.outer(moved, 10 * weights[i])
                reached &= ~sure
            _widen(self.values[-1], reached, high[row], low[row])
        excess = self.space.excess(low["b" if "b" in low else "a"], high["a"])
        if self.space.policy.pairs:
            excess[~may_differ] = np.minimum(excess[~may_differ], -self.space.tolerance)
        _, places = self.grid.largest(boxes, np.zeros(boxes.shape))
        return Look(excess, np.zeros(n, dtype=np.bool_), urgency, [(places, self._plain_ends(n))])


def _widen(value: float, where: BoolArray, high: FloatArray, low: FloatArray) -> None:
    high[where] = np.maximum(high[where], value)
    low[where] = np.minimum(low[where], value)
