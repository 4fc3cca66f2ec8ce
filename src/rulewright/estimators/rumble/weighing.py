"""Weights for the rules of a repository: the best prefix for the score of each class."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.rumble.criteria import balanced_rows, criterion_of, penalty_of
from rulewright.estimators.rumble.loop import Prefix, Selection, constant_prefix, find_best_prefix
from rulewright.weighting import keep_few

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.estimators.rumble.criteria import WeightNorm
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.search import Repository

LEAST_COUNT = 2.0
"""Number of rows that weights stand for at least: of fewer there is no variance."""


@dataclass(frozen=True)
class Weighing:
    """How rules are weighed; the fields are parameters of `RumbleClassifier`."""

    criterion: str
    norm: WeightNorm
    budget: float
    capacity: float | None
    delta: float
    max_active: int
    max_candidates: int | None
    max_rules: int | None

    def prefixes(
        self,
        repository: Repository,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        check: Callable[[], None],
        seconds: float | None = None,
    ) -> list[Prefix]:
        """Find the best prefix of each score: one of two classes, else one for each class.

        Parameters
        ----------
        repository : Repository
            The rules, on the rows.
        labels, weights : arrays
            Class and weight of each row; some weights may be 0.
        n_classes : int
            Number of classes.
        check : callable
            Called before every rule; it may raise.
        seconds : float, optional
            Time for all scores together.
        """
        n_scores = n_classes if n_classes > 2 else 1
        started, found = time.monotonic(), []
        for head in range(n_scores):
            deadline = None if seconds is None else started + seconds * (head + 1) / n_scores
            signs = np.where(labels == head, 1.0, -1.0)
            found.append(self._best(repository, signs, weights, deadline, check))
        return found

    def _best(
        self,
        repository: Repository,
        signs: FloatArray,
        weights: FloatArray,
        deadline: float | None,
        check: Callable[[], None],
    ) -> Prefix:
        """Find the best prefix of rows of the classes +1 and -1."""
        shares = weights / weights.max()
        shares /= shares.sum()
        n = max(count_effective_rows(weights), LEAST_COUNT)
        charged = balanced_rows(shares[signs > 0].sum(), n) if self.criterion == "margin" else n
        penalty = penalty_of(self.criterion, charged, self.delta, self.capacity)
        if abs(signs.sum()) == len(signs):
            next(iter(repository))  # the constant rule, which is always right
            return constant_prefix(signs[0], penalty(1))
        criterion = criterion_of(self.criterion, self.norm, self.budget, self.capacity)
        selection = Selection(
            penalty, criterion.largest_value, self.max_active, self.max_candidates, deadline
        )
        prefix = find_best_prefix(repository, criterion.start(signs, shares, n), selection, check)
        if self.max_rules is None:
            return prefix
        lines = prefix.solution.lines
        path = keep_few(criterion, repository.covers[lines], signs, shares, self.max_rules, n)
        # The constant rule is no rule to read.
        few = next(one for one in path if np.count_nonzero(lines[one.lines]) <= self.max_rules)
        return replace(prefix, solution=replace(few, lines=lines[few.lines]))
