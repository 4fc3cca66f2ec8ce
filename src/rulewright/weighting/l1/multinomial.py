"""Selection and refit of a few rules: multinomial responses by coordinate descent, elimination.

The objective is ``L / W + penalty sum_j |b_j| + l2 / (2 W) sum_j b_j^2`` with the negative
log-likelihood ``L = sum_i w_i (log sum_k exp f_ik - sum_k q_ik f_ik)``, the total weight W, the
share q_ik of class k in row i (1 for its label), and free intercepts. Responses keep their signs,
so that a monotone model stays monotone.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.encoding import PackedCovers
from rulewright.weighting.l1.problem import L1Solution, strong_columns, violators

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.kernels import FloatArray, IntArray, SignArray, WordArray


L2 = 20.0
"""Ridge penalty of the responses, in rows: refitting on the rows that chose the rules would
otherwise overestimate the responses (`docs/research/defaults.md`)."""

TOLERANCE = 1e-4
"""Sweeps continue until they lower the objective by less than about this, to choose rules."""

MOST_SWEEPS = 1000
"""Maximum number of sweeps over given rules; a few dozen are usual."""

LEAST_RIDGE, LARGEST_RIDGE = 1e-9, 1e300
"""Ridge penalty, relative to the total weight: with less, second derivatives may be singular; with
more, responses stay 0."""

PATH_RATIO = 0.8
"""Ratio of successive penalties of a path."""

LEAST_PENALTY = 1e-300
"""Smaller penalties count as 0."""

PATH_END = 1e-4
"""Minimum penalty of a path, as a share of the maximum."""


class Multinomial:
    """Responses of rules, intercepts of classes and probabilities of rows, updated together.

    Parameters
    ----------
    covers : uint64 array of shape (rules, words)
        Packed covers, as `RuleModel.cover_bits` gives them.
    heads : int32 array of shape (rules, 2)
        First and last class of each rule.
    signs : int8 array
        1 for a rule that raises the scores of its classes, -1 for one that lowers them.
    labels : int32 array
        Class of each row.
    weights : float64 array
        Row weights; rows of weight 0 get probabilities, but do not count.
    n_classes : int
        Number of classes, at least 2.
    shares : float64 array of shape (rows, classes), optional
        Class shares of each row; by default 1 for its label.
    first : float64 array of shape (rows, classes), optional
        Initial probabilities of the rows; by default uniform.
    l2 : float
        Ridge penalty of the responses.
    tolerance : float
        Sweeps continue until they lower the objective by less than about this.
    start : float64 array, optional
        Start responses of the rules, then intercepts of all classes except the first.
    n_threads : int
        Number of threads; does not change the result.
    """

    def __init__(
        self,
        covers: WordArray,
        heads: IntArray,
        signs: SignArray,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        *,
        shares: FloatArray | None = None,
        first: FloatArray | None = None,
        l2: float = L2,
        tolerance: float = TOLERANCE,
        start: FloatArray | None = None,
        n_threads: int = 1,
    ) -> None:
        n_rows = len(labels)
        # Scaling by a power of two changes no response, and avoids overflow of sums of weights.
        shift = -int(np.frexp(weights.sum())[1])
        weights, self.n_threads = np.ldexp(weights, shift), n_threads
        with np.errstate(over="ignore"):
            self.l2, self.ridge = l2, min(float(np.ldexp(l2, shift)), LARGEST_RIDGE)
        self.total = float(weights.sum())
        self.least_change = tolerance * self.total
        self.signs, self.n_rules, self.covers = signs, len(covers), covers
        self.shares = np.eye(n_classes)[labels] if shares is None else shares
        self.weights = weights
        self.rules = np.arange(self.n_rules, dtype=np.int32)
        # An intercept is an unpenalised rule that covers every row; class 0 needs none.
        classes = np.arange(1, n_classes, dtype=np.int32)
        self.free = self.n_rules + classes - 1
        equal = np.full((n_rows, n_classes), 1 / n_classes)
        self.probabilities = equal if first is None else first.copy()
        self.state = kernels.ResponseFit(
            self.shares,
            weights,
            self.probabilities,
            np.vstack([covers, PackedCovers.all_rows(n_classes - 1, n_rows).words]),
            np.vstack([heads, np.stack([classes, classes], axis=1)]),
            np.concatenate([signs, np.zeros(n_classes - 1, dtype=np.int8)]),
        )
        self.values = np.zeros(self.n_rules + n_classes - 1)
        if start is None:
            self._descend(self.free, 0.0)
        else:
            self.move(np.flatnonzero(start).astype(np.int32), start[start != 0])
        self._pulls = self._find_pulls()
        self.penalty = self.largest_penalty = float(self._pulls.max(initial=0.0)) / self.total

    @property
    def responses(self) -> FloatArray:
        """Responses of the rules."""
        return self.values[: self.n_rules]

    @property
    def intercepts(self) -> FloatArray:
        """Intercepts of the classes; the first is 0."""
        return np.concatenate([[0.0], self.values[self.n_rules :]])

    @property
    def active(self) -> IntArray:
        """Rules with nonzero responses."""
        return np.flatnonzero(self.responses).astype(np.int32)

    def solve(self, penalty: float) -> None:
        """Minimise the objective; call it with slowly decreasing penalties.

        Sweeps cover only rules that may become active (the sequential strong rule); derivatives
        then confirm that no other rule should be active.
        """
        l1 = penalty * self.total
        chosen = strong_columns(self._pulls, l1, self.penalty * self.total) | (self.responses != 0)
        left = MOST_SWEEPS
        while True:
            left = self._converge(self.rules[chosen], l1, left)
            self._pulls = self._find_pulls()
            missed = violators(self._pulls, l1, chosen)
            if left <= 0 or not missed.any():
                break
            chosen |= missed
        self.penalty = penalty

    def solution(self) -> L1Solution:
        """Describe the fit as the solution of its penalty; the duality gap is unknown."""
        b, pulls = self.responses, self._find_pulls() - self.ridge * np.abs(self.responses)
        counted = self.weights[:, np.newaxis] * self.shares > 0
        logs = np.log(self.probabilities, where=counted, out=np.zeros_like(self.probabilities))
        loss = -float(self.weights @ (self.shares * logs).sum(axis=1)) / self.total
        charged = self.penalty * float(np.abs(b).sum())
        charged += self.ridge * float(b @ b) / (2 * self.total)
        excess = pulls / self.total - self.penalty
        level = np.abs(self.state.gradients(self.free, self.n_threads)) / self.total
        kkt = np.where(b != 0, np.abs(excess), excess).max(initial=level.max())
        return L1Solution(
            self.penalty, b.copy(), self.intercepts, loss + charged, loss, float(kkt), np.nan
        )

    def keep(self, rules: IntArray) -> None:
        """Set the responses of all other rules to 0 and refit these without the penalty."""
        dropped = np.setdiff1d(self.active, rules).astype(np.int32)
        self.move(dropped, -self.responses[dropped])
        self._descend(np.concatenate([self.free, rules]), 0.0)

    def overlaps(self, rules: IntArray) -> FloatArray:
        """Return the Jaccard overlap of each pair of rules, by weight.

        The diagonal is 0.
        """
        covers = PackedCovers(self.covers[rules], len(self.weights)).unpack().astype(float)
        common = (covers * self.weights) @ covers.T
        own = np.diag(common)
        either = own[:, np.newaxis] + own - common
        shares: FloatArray = common / np.maximum(either, LEAST_PENALTY)
        np.fill_diagonal(shares, 0.0)
        return shares

    @contextmanager
    def restore_after(self) -> Iterator[None]:
        """Restore the state at the end of the context."""
        values, probabilities = self.values.copy(), self.probabilities.copy()
        yield
        self.values[:], self.probabilities[:] = values, probabilities

    def _find_pulls(self) -> FloatArray:
        """Return the gradient of each response in the direction of its sign."""
        pulls: FloatArray = -self.signs * self.state.gradients(self.rules, self.n_threads)
        return pulls

    def _converge(self, rules: IntArray, l1: float, left: int) -> int:
        """Sweep over the active rules to convergence, then over all, until nothing changes.

        Return the remaining number of sweeps.
        """
        while left > 0 and self._sweep(np.concatenate([self.free, rules]), l1):
            left = self._descend(np.concatenate([self.free, self.active]), l1, left - 1)
        return left

    def _descend(self, ids: IntArray, l1: float, most: int = MOST_SWEEPS) -> int:
        """Sweep until little changes; return the remaining number of sweeps."""
        while most > 0 and self._sweep(ids, l1):
            most -= 1
        return most

    def _sweep(self, ids: IntArray, l1: float) -> bool:
        """Return whether the sweep changed much; NaN counts as no change."""
        return self.state.sweep(ids, self.values, l1, self.ridge) > self.least_change

    def move(self, ids: IntArray, steps: FloatArray) -> None:
        """Add steps to responses and intercepts."""
        self.state.move(ids, steps)
        self.values[ids] += steps


def path(fit: Multinomial, check: Callable[[], None]) -> Iterator[float]:
    """Lower the penalty step by step; solve for each and yield it."""
    penalty, last = PATH_RATIO * fit.largest_penalty, PATH_END * fit.largest_penalty
    while penalty > last:
        if penalty < LEAST_PENALTY:  # avoids underflow
            return
        check()
        fit.solve(penalty)
        yield penalty
        penalty *= PATH_RATIO


SPARE_RULES = 20
"""Number of additional active rules at the start of the elimination."""

OVERLAP_PENALTY = 0.5
"""Share of a rule's value lost if another covers the same rows (`docs/research/defaults.md`)."""


def selections(
    fit: Multinomial, sizes: Sequence[int], check: Callable[[], None]
) -> Iterator[tuple[int, float]]:
    """Yield each size and its penalty while the fit has enough rules.

    For each size the path is followed until `SPARE_RULES` additional rules are active. These are
    refitted without the penalty and then eliminated one by one.
    """
    waiting = sorted(sizes)
    for penalty in path(fit, check):
        n_ready = sum(size + SPARE_RULES <= len(fit.active) for size in waiting)
        if n_ready:
            yield from _eliminate(fit, waiting[:n_ready], penalty)
        waiting = waiting[n_ready:]
        if not waiting:
            return
    yield from _eliminate(fit, waiting, fit.penalty)


def _eliminate(
    fit: Multinomial, sizes: Sequence[int], penalty: float
) -> Iterator[tuple[int, float]]:
    with fit.restore_after():
        fit.keep(fit.active)
        for size in reversed(sizes):
            if size < len(fit.active):
                drop(fit, size)
            yield size, penalty


def drop(fit: Multinomial, n_kept: int) -> None:
    """Eliminate active rules until `n_kept` remain, each time the rule with the smallest loss.

    Without rule j the loss rises by about ``b_j^2 / (2 C_jj)`` after the others change by
    ``-C_kj b_j / C_jj``, where C is the inverse of the second derivatives. A rule that covers
    nearly the same rows as another one is discounted, because people read rules one by one.
    """
    rules = fit.active
    ids = np.concatenate([rules, fit.free])
    is_rule, signs = ids < fit.n_rules, np.append(fit.signs, 0 * fit.free)[ids]
    second = fit.state.hessian(ids, fit.n_threads).reshape(len(ids), len(ids))
    second[np.diag_indices(len(ids))] += np.where(
        is_rule, max(fit.ridge, LEAST_RIDGE * fit.total), LEAST_RIDGE * fit.total
    )
    inverse, values = np.linalg.inv(second), fit.values[ids]
    kept, overlaps = np.ones(len(ids), dtype=np.bool_), fit.overlaps(rules)
    for _ in range(len(rules) - n_kept):
        costs = values**2 / np.maximum(np.diag(inverse), 1e-300)
        costs[: len(rules)] *= 1 - OVERLAP_PENALTY * overlaps.max(axis=1)
        j = int(np.argmin(np.where(kept & is_rule, costs, np.inf)))
        column = inverse[:, j] / max(inverse[j, j], 1e-300)
        values = values - column * values[j]
        inverse = inverse - np.outer(column, inverse[j])
        kept[j] = False
        overlaps[:, j] = 0.0
        values[is_rule & (~kept | (values * signs <= 0))] = 0.0
    fit.move(ids, values - fit.values[ids])
    fit.keep(ids[kept & is_rule])
