"""A simplex method for the hinge loss in the 1-norm ball, which goes on when rules come.

The ball is the convex hull of the signed rules and of 0, times the budget: atoms have weights with
that sum. The kernel (`native/weighting/elbow.hpp`) goes from vertex to vertex; here rules are
priced and enter.

Rules are 1 or -1 on most rows, so that margins coincide everywhere: the 1 of each row is raised by
a tiny amount of its own. Prices stay feasible for the true loss, whose gap tells what that cost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels

if TYPE_CHECKING:
    from rulewright.kernels import FloatArray
    from rulewright.weighting.margins.working_set import KeptRules, MarginRows

NOTHING = -1
"""The atom 0, which is no rule."""

_RAISED = 3e-8
_TINY = 1e-10


class Simplex:
    """Weights of rules at a vertex of the program.

    Parameters
    ----------
    rows : MarginRows
        Classes and weights of the rows.
    budget : float
        The sum of the |weights| that may be used.
    """

    def __init__(self, rows: MarginRows, budget: float) -> None:
        self._y = rows.y
        targets = 1 + _RAISED * np.random.default_rng(0).random(len(rows.y))
        self._elbow = kernels.Elbow(rows.a, targets, budget)

    def solve(self, rules: KeptRules, most_steps: int) -> None:
        """Go from vertex to vertex to the best one, as far as the steps last."""
        while most_steps > 0:
            most_steps -= 1 + self._elbow.settle(most_steps)
            level, paid = self._elbow.level(), rules.dot(self.prices * self._y)
            j = int(np.abs(paid).argmax()) if len(paid) else NOTHING
            gain = float(abs(paid[j])) - level if len(paid) else 0.0
            if -level > max(gain, _TINY):
                self._elbow.enter(NOTHING, 1.0, np.zeros(len(self._y)), -level)
            elif gain > _TINY:
                sign = 1.0 if paid[j] > 0 else -1.0
                self._elbow.enter(j, sign, sign * self._y * rules.rule(j).values()[0], gain)
            else:
                break

    def weights(self, n_rules: int) -> FloatArray:
        """Return the weights of all rules."""
        atoms, weights = self._elbow.support()
        w = np.zeros(n_rules)
        np.add.at(w, atoms, weights)
        return w

    @property
    def prices(self) -> FloatArray:
        """What a unit of margin of each row is worth."""
        return self._elbow.prices()

    def reset(self) -> None:
        """Begin with no weights."""
        self._elbow.reset()

    def remove(self, j: int) -> None:
        """Forget rule j, whose weight others take; later rules move up."""
        self._elbow.remove(j)
