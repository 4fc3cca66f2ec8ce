"""Statistics of single rules: covered classes, leave-one-out densities, false positives."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from rulewright.model import ClassModel, DecisionList, UnorderedRules
from rulewright.rules import Adds, Formula
from rulewright.weighting import BETAS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class CoveredRows:
    """Rules with the rows that they cover; rules without rows are dropped.

    Parameters
    ----------
    rows : TrainingSet
        The rows.
    bodies : tuple of Formula
        Formulas of the rules.
    heads : int array
        The class that each rule predicts.
    covers : bool array of shape (rows, rules)
        Which rule covers which row.
    counts : float array of shape (rules, classes)
        Weight of the covered rows of each class.
    """

    rows: TrainingSet
    bodies: tuple[Formula, ...]
    heads: NDArray[np.intp]
    covers: BoolArray
    counts: FloatArray

    @classmethod
    def of(cls, model: ClassModel, rows: TrainingSet) -> CoveredRows:
        """Count what the rules of a model cover; warn about rules that cover nothing."""
        covers = model.covers(rows.table)
        by_class = rows.weights[:, None] * np.eye(len(rows.classes))[rows.labels]
        counts = covers.T.astype(np.float64) @ by_class
        kept = np.flatnonzero(counts.sum(axis=1) > 0.0)
        if len(kept) < len(counts):
            empty = np.setdiff1d(np.arange(len(counts)), kept)
            warnings.warn(
                f"rule {empty[0]} covers no row: rules without rows are dropped",
                UserWarning,
                stacklevel=3,
            )
        heads = [
            int(np.argmax(counts[i])) if isinstance(rule.outcome, Adds) else rule.head.first
            for i, rule in enumerate(model.rules)
        ]
        bodies = tuple(model.rules[i].body for i in kept)
        return cls(rows, bodies, np.array(heads, np.intp)[kept], covers[:, kept], counts[kept])

    @cached_property
    def accuracies(self) -> FloatArray:
        """The Laplace accuracy of each rule: (e + 1) / (n + C) of its class."""
        right = self.counts[np.arange(len(self.heads)), self.heads]
        found: FloatArray = (right + 1.0) / (self.counts.sum(axis=1) + self.counts.shape[1])
        return found

    def shares(self, estimator: str) -> FloatArray:
        """Estimate the class probabilities where each rule applies."""
        more = 1.0 if estimator == "laplace" else 0.0
        smoothed = self.counts + more
        found: FloatArray = smoothed / smoothed.sum(axis=1, keepdims=True)
        return found

    def default_of(self, model: ClassModel) -> FloatArray:
        """Return the probabilities where no rule applies; the model's own if it has them."""
        if isinstance(model, DecisionList):
            return np.array(model.default)
        if isinstance(model, UnorderedRules):
            return np.array(model.start) / sum(model.start)
        rest = self.rows.weights_by_class(~self.covers.any(axis=1))
        shares = (self.rows.class_weights + 1.0) / (self.rows.class_weights + 1.0).sum()
        found: FloatArray = (rest + 2.0 * shares) / (rest.sum() + 2.0)
        return found


def densities_of_rules(covered: CoveredRows) -> tuple[FloatArray, FloatArray]:
    """Return leave-one-out log densities (rows, rules) by rule, and the row weights.

    A rule predicts the smoothed shares of the rows that it covers, and elsewhere the shares of its
    complement, each without the row itself.
    """
    rows = covered.rows
    outside = np.maximum(rows.class_weights - covered.counts, 0.0)
    held, own = covered.covers, rows.weights[:, None]
    same = np.where(held, covered.counts[:, rows.labels].T, outside[:, rows.labels].T)
    total = np.where(held, covered.counts.sum(axis=1), outside.sum(axis=1))
    lp = np.log(np.maximum(same - own, 0.0) + 1.0)
    lp -= np.log(np.maximum(total - own, 0.0) + len(rows.classes))
    return lp, rows.weights


def beta_of_rules(covered: CoveredRows, log_weights: FloatArray) -> float:
    """Choose the power of the weights with minimum leave-one-out log-loss on the covered rows."""
    seen = covered.covers.any(axis=1)
    if not seen.any():
        return 1.0
    lp, sizes = densities_of_rules(covered)
    hidden = np.where(covered.covers[seen], 0.0, -np.inf)
    losses = []
    for beta in BETAS:
        logs = hidden + beta * log_weights
        shares = logs - logsumexp(logs, axis=1, keepdims=True)
        losses.append(-np.average(logsumexp(shares + lp[seen], axis=1), weights=sizes[seen]))
    return float(BETAS[int(np.argmin(losses))])


def order_by_false_positives(covered: CoveredRows) -> NDArray[np.intp]:
    """Sort rules by the false positives of all rules of their class; ties keep their order."""
    rows, wrong = covered.rows, np.zeros(len(covered.rows.classes))
    for k in range(len(wrong)):
        reached = covered.covers[:, covered.heads == k].any(axis=1)
        wrong[k] = rows.weights[reached & (rows.labels != k)].sum()
    return np.lexsort([np.arange(len(covered.heads)), covered.heads, wrong[covered.heads]])
