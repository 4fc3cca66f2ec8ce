"""Upper bounds of sums of points on boxes of cells.

A sum adds an amount for each rule that applies. The amount of a rule is shared among the columns
that it tests: an upper bound of the sum is then the sum over the columns of the largest total of
one cell. For an amount a > 0 of a rule with tests t1, ..., tn any shares with sum 1 are valid,
because the product of the tests is at most their average. For a < 0 the product is at least
t1 + ... + tn - (n - 1) and at least 0: any factor m from 0 to 1 gives a (m (t1 + ... + tn - n + 1))
as upper bound. The best shares for a box are the dual solution of a linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import optional

if TYPE_CHECKING:
    from rulewright.governance.proofs.bodies import Answers, Body, Grid
    from rulewright.kernels import BoolArray, FloatArray

_DIGITS = 6
"""Digits of shares in certificates."""


@dataclass(frozen=True, eq=False)
class Sums:
    """Several sums over the same rules.

    Parameters
    ----------
    grid : Grid
        The tests.
    bodies : list of Body
        What the terms test.
    amounts : float array of shape (sums, terms)
        What each term adds where it applies.
    starts : float array
        What each sum starts with.
    lines : float array of shape (sums, values)
        The most that lines add at each value of each variable.
    """

    grid: Grid
    bodies: list[Body]
    amounts: FloatArray
    starts: FloatArray
    lines: FloatArray

    def __post_init__(self) -> None:
        plain = np.array([type(body) is tuple for body in self.bodies], dtype=np.bool_)
        pairs = [(t, q) for t, b in enumerate(self.bodies) if plain[t] for q in b]
        term, test = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        sparse = optional("scipy.sparse")
        shape = (len(pairs), len(self.bodies)), (len(pairs), len(self.grid.tests))
        rows, ones = np.arange(len(pairs)), np.ones(len(pairs))
        vars(self).update(
            plain=plain,
            term=term,
            test=test,
            of_term=sparse.csr_matrix((ones, (rows, term)), shape[0]),
            of_test=sparse.csr_matrix((ones, (rows, test)), shape[1]),
            shares=np.ones((len(self.amounts), len(pairs))),
        )
        counts = np.bincount(term, minlength=len(self.bodies))
        # Uniform shares of positive amounts; nothing of negative ones with several tests.
        below = (self.amounts < 0) & (counts != 1)
        self.shares[below[:, term]] = 0.0

    plain: BoolArray = None  # type: ignore[assignment]
    term: Any = None
    test: Any = None
    of_term: Any = None
    of_test: Any = None
    shares: FloatArray = None  # type: ignore[assignment]

    def truths(self, answers: Answers) -> tuple[BoolArray, BoolArray]:
        """Return on which boxes each term possibly and surely applies, as (boxes, terms)."""
        n = len(answers.possible)
        failed = (~answers.possible)[:, self.test].astype(np.float32) @ self.of_term
        unsure = (~answers.sure)[:, self.test].astype(np.float32) @ self.of_term
        possible, sure = failed == 0, unsure == 0
        for t in np.flatnonzero(~self.plain):
            possible[:, t], sure[:, t] = answers.of(self.bodies[t])
        return possible.reshape(n, -1), sure.reshape(n, -1)

    def bound(
        self, g: int, boxes: BoolArray, answers: Answers, truths: tuple[BoolArray, BoolArray]
    ) -> tuple[FloatArray, Any]:
        """Return upper bounds of a sum on boxes, and the values where they would be reached."""
        possible, sure = truths
        amounts, open_ = self.amounts[g], possible & ~sure
        start = self.starts[g] + sure @ amounts
        start += (open_ & ~self.plain) @ np.maximum(amounts, 0.0)
        undecided = (answers.possible & ~answers.sure)[:, self.test] & open_[:, self.term]
        shares = undecided * self.shares[g]
        amount = amounts[self.term]
        total, left = shares @ self.of_term, undecided.astype(np.float64) @ self.of_term
        # Positive amounts: shares of the tests that are still open, with sum 1.
        rising = amount > 0
        none = (total == 0)[:, self.term]
        with np.errstate(invalid="ignore", divide="ignore"):
            even = np.where(none, undecided / left[:, self.term], shares / total[:, self.term])
        # Negative amounts: a single open test has them all.
        alone = left[:, self.term] == 1
        factor = np.where(alone & undecided, 1.0, shares)
        worth = np.where(undecided, np.where(rising, even, factor), 0.0) * amount
        falling = np.where(rising, 0.0, worth)
        terms = falling @ self.of_term
        with np.errstate(invalid="ignore", divide="ignore"):
            per = np.where(left > 0, terms / left, 0.0)
        start -= (per * np.maximum(left - 1, 0)).sum(axis=1)
        cells = (worth @ self.of_test) @ self.grid.masks + self.lines[g]
        best, places = self.grid.largest(boxes, cells)
        return start + best, places

    def improve(self, g: int, box: BoolArray, answers: Answers, seconds: float) -> None:
        """Find the best shares of a sum on one box, by linear programming."""
        possible, sure = self.truths(answers)
        terms = np.flatnonzero((possible & ~sure)[0] & self.plain & (self.amounts[g] != 0))
        if not len(terms) or seconds <= 0:
            return
        open_ = (answers.possible & ~answers.sure)[0][self.test] & np.isin(self.term, terms)
        multipliers = self._solve(g, box, terms, np.flatnonzero(open_), seconds)
        if multipliers is not None:
            self.shares[g][open_] = multipliers

    def _solve(self, g: int, box: BoolArray, terms: Any, pairs: Any, seconds: float) -> Any:
        """Return the share of each pair of term and test, or the factor of a negative amount."""
        sparse, linprog = optional("scipy.sparse"), optional("scipy.optimize").linprog
        grid, amounts = self.grid, self.amounts[g][terms]
        values = np.flatnonzero(box)
        n_x, n_z = len(values), len(terms)
        column = np.searchsorted(terms, self.term[pairs])
        tests = sparse.csr_matrix(grid.masks[self.test[pairs]][:, values])
        rising = amounts[column] > 0
        # z <= test for each test of a positive term.
        upper = sparse.csr_matrix(
            (np.ones(rising.sum()), (np.arange(rising.sum()), column[rising])),
            (rising.sum(), n_z),
        )
        # z >= sum of the tests - (n - 1) for a negative term.
        falling = np.flatnonzero(amounts < 0)
        member = sparse.csr_matrix(
            (
                np.ones((~rising).sum()),
                (np.searchsorted(falling, column[~rising]), np.arange((~rising).sum())),
            ),
            (len(falling), (~rising).sum()),
        )
        lower = sparse.csr_matrix(
            (-np.ones(len(falling)), (np.arange(len(falling)), falling)), (len(falling), n_z)
        )
        left = sparse.vstack([-tests[rising], member @ tests[~rising]])
        rows = sparse.hstack([left, sparse.vstack([upper, lower])]).tocsr()
        counts = np.asarray(member.sum(axis=1)).ravel()
        limits = np.concatenate([np.zeros(rising.sum()), counts - 1])
        owner = np.searchsorted(grid.starts, values, side="right") - 1
        one = sparse.csr_matrix(
            (np.ones(n_x), (owner, np.arange(n_x))), (len(grid.starts) - 1, n_x + n_z)
        )
        cost = -np.concatenate([self.lines[g][values], amounts])
        found = linprog(
            cost, A_ub=rows, b_ub=limits, A_eq=one, b_eq=np.ones(one.shape[0]),
            bounds=(0, 1), method="highs", options={"time_limit": max(seconds, 0.01)},
        )  # fmt: skip
        if found.status != 0:
            return None
        price = -found.ineqlin.marginals
        multipliers = np.zeros(len(pairs))
        multipliers[rising] = price[: rising.sum()] / amounts[column[rising]]
        factor = np.zeros(n_z)
        factor[falling] = price[rising.sum() :] / -amounts[falling]
        multipliers[~rising] = factor[column[~rising]]
        return np.clip(np.round(multipliers, _DIGITS), 0.0, 1.0)
