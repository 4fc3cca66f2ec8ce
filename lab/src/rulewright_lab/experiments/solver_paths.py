"""The same rules weighted by the four solvers of the rule-ensemble paper, at many settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.encoding import PackedCovers, bin_table
from rulewright.programs import Coder
from rulewright.search import Generation, generate_rules
from rulewright.weighting import (
    FPC,
    SPGL1,
    CoordinateDescent,
    L1Problem,
    PathBuild,
    Ramp,
    SquaredLoss,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.rules import Conjunction
    from rulewright.weighting import L1Solution

N_RULES, MEAN_LEAVES = 600, 20.0
SHARES = np.geomspace(0.5, 0.005, 13)
"""Penalties as shares of the penalty that leaves no rule; the paper has 13 values of mu."""
TAUS = np.linspace(0, 1, 11)
MAX_STEPS = 2000
"""Of PATHBUILD, whose paper stops at the best point of a validation set."""


class Setting(NamedTuple):
    """The value of a solver's own parameter, and the solution there."""

    value: float
    solution: L1Solution


@dataclass(frozen=True)
class GrownRules:
    """Rules of two-class rows, the rows that they cover, and the classes as -1 and 1."""

    rules: Sequence[Conjunction]
    covers: PackedCovers
    signs: FloatArray

    @classmethod
    def grow(cls, train: Table, seed: int, n_rules: int = N_RULES) -> GrownRules:
        """Grow rules as the paper does: trees of about 20 leaves on random subsets."""
        y, weights = signs_of(train), np.ones(train.n_rows)
        found = generate_rules(
            bin_table(train, 255),
            weights,
            SquaredLoss(y, weights),
            Generation(max_rules=n_rules, mean_leaves=MEAN_LEAVES),
            np.random.RandomState(seed),
        )
        return cls(found.rules, found.covers, y)

    def solve(self, name: str) -> list[Setting]:
        """Return the solutions of the solver with a setting, by the values of that setting.

        The paper calls the bound of SPGL1 on the sum of the weights sigma.
        """
        problem = L1Problem.of(self.covers, self.signs)
        grid = problem.largest_penalty * SHARES
        if name == "mu":
            fpc, n_rows = FPC().path(problem, grid).solutions, len(self.signs)
            return [Setting(1 / (n_rows * one.penalty), one) for one in fpc]
        if name == "tau":
            ramp = L1Problem.of(self.covers, self.signs, datafit=Ramp())
            builders = [(tau, PathBuild(tau=tau, max_steps=MAX_STEPS)) for tau in TAUS.tolist()]
            return [Setting(tau, builder.solve(ramp, grid[-1])) for tau, builder in builders]
        exact = CoordinateDescent().path(problem, grid).solutions
        if name == "lambda":
            return [Setting(one.penalty, one) for one in exact]
        bounds = [float(abs(one.coef).sum()) for one in exact]
        return [Setting(bound, SPGL1().lasso(problem, bound)) for bound in bounds]

    def covered(self, table: Table) -> BoolArray:
        """Return which rules cover which rows, shape (rules, rows)."""
        coder = Coder(self.rules, table.schema)
        bits = coder.compile(self.rules).bits(coder.codes(table, 1), 1)
        covers: BoolArray = PackedCovers(bits, table.n_rows).unpack()
        return covers


SOLVERS = {
    "tau": "PATHBUILD",
    "lambda": "GLMNET (coordinate descent)",
    "sigma": "SPGL1",
    "mu": "FPC",
}
"""The solvers by their setting."""


def signs_of(table: Table) -> FloatArray:
    """Return the classes as -1 and 1."""
    return np.where(table.known_target.codes == 1, 1.0, -1.0)


def error_rates(solution: L1Solution, covers: BoolArray, truth: FloatArray) -> dict[str, float]:
    """Return the overall error, and the errors of the negative and of the positive rows."""
    wrong = np.where(solution.intercept + solution.coef @ covers > 0, 1.0, -1.0) != truth
    return {
        "error": float(wrong.mean()),
        "false positives": float(wrong[truth < 0].mean()),
        "false negatives": float(wrong[truth > 0].mean()),
    }
