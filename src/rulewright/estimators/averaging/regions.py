"""Regions of a model, the rows that the same rule decides: class counts, shares and evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from scipy.special import xlogy

from rulewright.model import ClassModel, DecisionList, NearestRules
from rulewright.rules import Says
from rulewright.weighting import ESTIMATORS, log_evidence, region_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray

Estimates: TypeAlias = Literal["model", "ml", "laplace", "m", "integrated"]
ESTIMATES: tuple[Estimates, ...] = get_args(Estimates)
WinCounts: TypeAlias = Literal["loo", "resubstitution"]
WIN_COUNTS: tuple[WinCounts, ...] = get_args(WinCounts)
assert ESTIMATES[1:] == ESTIMATORS

_LEFT_OUT = ("left out", "corrected")
"""Coverage of nearest rules whose counts are rows won when each row is left out."""


@dataclass(frozen=True, eq=False)
class Regions:
    """A model and the rows that class shares in its regions are counted on.

    The regions of lists and nearest rules are the rows that a rule, or the default, decides; those
    of other forms are rows with equal scores.

    Parameters
    ----------
    model : ClassModel
        The model.
    rows : TrainingSet
        Usually the rows that it was learned from.
    wins : {"loo", "resubstitution"}
        Whether nearest rules count the rows that they won when each row was left out, which their
        coverage has, or the rows they decide. Other forms only know the latter.
    """

    model: ClassModel
    rows: TrainingSet
    wins: WinCounts = "loo"

    @cached_property
    def won(self) -> FloatArray | None:
        """Rows won by leave-one-out, as an array of shape (rules, classes), if known."""
        rules = self.model.rules
        if self.wins != "loo" or not isinstance(self.model, NearestRules) or not rules:
            return None
        if any(rule.counts is None or rule.coverage.rows not in _LEFT_OUT for rule in rules):
            return None
        return np.array([rule.counts for rule in rules])

    @cached_property
    def counts(self) -> FloatArray:
        """Row weights by region and class."""
        return _count(self.model, self.rows)[0] if self.won is None else self.won

    @property
    def decided(self) -> bool:
        """Whether single rules decide, so that class probabilities can be replaced."""
        return isinstance(self.model, DecisionList | NearestRules)

    def log_evidence(self, judged: TrainingSet, estimates: Estimates, m: float = 2.0) -> float:
        """Return the log probability of the classes of some rows under the model."""
        own = judged is self.rows
        if estimates == "model":
            if own and self.won is not None:
                return math.fsum(xlogy(self.won, self._said).ravel().tolist())
            chances = self.model.predict_proba(judged.table)[
                np.arange(judged.n_rows), judged.labels
            ]
            with np.errstate(divide="ignore"):
                return math.fsum((judged.weights * np.log(chances)).tolist())
        prior = self.rows.class_weights
        if own:
            return log_evidence(self.counts, estimates, prior=prior, m=m)
        counts, learned = _count(self.model, judged, self.rows)
        learned = learned if self.won is None else self.won
        return log_evidence(counts, estimates, learned=learned, prior=prior, m=m)

    def with_estimates(self, estimates: Estimates, m: float = 2.0) -> ClassModel:
        """Return the model with class probabilities estimated in each region, if rules decide.

        By shares, a rule without rows is sure of its class.
        """
        if estimates == "model" or not self.decided:
            return self.model
        shares = region_shares(self.counts, estimates, prior=self.rows.class_weights, m=m)
        empty = shares.sum(axis=1) == 0.0
        shares[empty] = self._heads[empty]
        return self._with_shares(shares)

    def with_votes(self) -> ClassModel:
        """Return the model with votes as probabilities, if rules decide.

        A vote w = (e + 1) / (n + C) for a class is the distribution of a rule that says it with
        probability w and otherwise guesses: means of such distributions choose the class that the
        sum of the votes chooses.
        """
        if not self.decided:
            return self.model
        n_classes = self.counts.shape[1]
        right = (self.counts * self._heads).sum(axis=1, keepdims=True)
        weights = (right + 1.0) / (self.counts.sum(axis=1, keepdims=True) + n_classes)
        return self._with_shares(weights * self._heads + (1.0 - weights) / n_classes)

    @cached_property
    def _said(self) -> FloatArray:
        """The probabilities of each region."""
        said = [rule.outcome.distribution for rule in self.model.rules]  # type: ignore[union-attr]
        if isinstance(self.model, DecisionList):
            said.append(self.model.default)
        elif isinstance(self.model, NearestRules) and not said:
            said.append(self.model.shares)
        return np.array(said)

    @property
    def _heads(self) -> FloatArray:
        """1 for the class that each region predicts, 0 for the others."""
        heads: FloatArray = np.eye(self._said.shape[1])[self._said.argmax(axis=1)]
        return heads

    def _with_shares(self, shares: FloatArray) -> ClassModel:
        model, says = self.model, [Says(tuple(line)) for line in shares.tolist()]
        rules = tuple(
            replace(rule, outcome=outcome)
            for rule, outcome in zip(model.rules, says, strict=False)  # a default is last
        )
        if isinstance(model, DecisionList):
            return replace(model, rules=rules, default=says[-1].distribution)
        assert isinstance(model, NearestRules)
        return replace(model, rules=rules)


def _count(model: ClassModel, *sets: TrainingSet) -> list[FloatArray]:
    """Sum the row weights of each set by region and class."""
    n_regions = 1
    if isinstance(model, DecisionList | NearestRules):
        regions = np.concatenate([model.deciders(rows.table) for rows in sets])
        n_regions = len(model.rules) + isinstance(model, DecisionList)
    else:
        scores = np.concatenate([model.scores(rows.table) for rows in sets])
        regions = np.unique(scores, axis=0, return_inverse=True)[1].ravel()
    n_regions = max(n_regions, int(regions.max()) + 1)
    split = np.split(regions, np.cumsum([rows.n_rows for rows in sets])[:-1])
    return [_sums(rows, own, n_regions) for rows, own in zip(sets, split, strict=True)]


def _sums(rows: TrainingSet, regions: NDArray[np.intp], n_regions: int) -> FloatArray:
    n_classes = len(rows.classes)
    cells = np.bincount(
        regions * n_classes + rows.labels, rows.weights, minlength=n_regions * n_classes
    )
    return cells.astype(np.float64).reshape(n_regions, n_classes)
