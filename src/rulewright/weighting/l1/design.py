"""The rule matrix A: packed covers and linear terms, centred and scaled without unpacking.

Column j is ``A_j = d_j (x_j - m_j)`` with x_j a cover (0 or 1) or a numeric column, m_j its
weighted mean and d_j its scale. Products with rows are weighted: ``A'r`` means ``sum_i w_i A_ij
r_i``, with weights that sum to the number of rows. Constant columns are 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rulewright import kernels

if TYPE_CHECKING:
    from rulewright.encoding import PackedCovers
    from rulewright.kernels import BoolArray, FloatArray, IntArray

RuleScale = Literal["none", "support"]

CONSTANT = 1e-12
"""Columns with a smaller variance count as constant."""


@dataclass(frozen=True, eq=False)
class Design:
    """Columns of rules and of linear terms over weighted rows.

    Attributes
    ----------
    covers : PackedCovers
        Covers of the rules.
    dense : float64 array of shape (columns, rows)
        Linear terms minus their origins.
    origins : float64 array
        What was subtracted from each linear term, for better numerical precision.
    weights : float64 array
        Row weights, normalised to sum to the number of rows.
    scales : float64 array
        Scale of each column, 0 for constant ones.
    n_threads : int
        Number of threads; does not change results.
    """

    covers: PackedCovers
    dense: FloatArray
    origins: FloatArray
    weights: FloatArray
    scales: FloatArray
    n_threads: int = 1

    @classmethod
    def of(
        cls,
        covers: PackedCovers,
        dense: Any = None,
        sample_weight: Any = None,
        rule_scale: RuleScale = "none",
        n_threads: int = 1,
    ) -> Design:
        """Create a design of covers and, as columns of a matrix with their rows, linear terms.

        With `rule_scale` "support" a rule is divided by its standard deviation sqrt(s (1 - s)), so
        that the penalty does not depend on its support s.
        """
        if rule_scale not in ("none", "support"):
            raise ValueError(f"rule_scale must be 'none' or 'support', not {rule_scale!r}")
        weights = normalise_weights(sample_weight, covers.n_rows)
        numbers = _numbers(dense, covers.n_rows)
        origins = numbers @ weights / covers.n_rows
        numbers = np.ascontiguousarray(numbers - origins[:, None])
        unscaled = np.ones(len(covers) + len(numbers))
        plain = cls(covers, numbers, origins, weights, unscaled, n_threads)
        scales = np.where(plain.variances > CONSTANT * np.maximum(1, plain._sizes), 1.0, 0.0)
        if rule_scale == "support":
            rules = np.flatnonzero(scales[: len(covers)])
            scales[rules] /= np.sqrt(plain.variances[rules])
        return replace(plain, scales=scales)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.covers.n_rows

    @property
    def n_columns(self) -> int:
        """Number of columns: rules, then linear terms."""
        return len(self.scales)

    @cached_property
    def matrix(self) -> kernels.RuleMatrix:
        """The raw columns x_j, as kernels see them."""
        return kernels.RuleMatrix(np.ascontiguousarray(self.covers.words), self.dense)

    @cached_property
    def columns(self) -> IntArray:
        """Places of all columns."""
        return np.arange(self.n_columns, dtype=np.int32)

    @cached_property
    def unit(self) -> bool:
        """True if all rows have equal weights: pairs of covers are then counted."""
        return bool(np.all(self.weights == 1.0))

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.weights.sum())

    @cached_property
    def means(self) -> FloatArray:
        """Weighted means m_j of the raw columns."""
        return self.matrix.sums(self.columns, self.weights, self.n_threads) / self.total

    @cached_property
    def variances(self) -> FloatArray:
        """Weighted variances of the raw columns; s (1 - s) for a rule."""
        squares = self.means.copy()  # of a cover, where x^2 = x
        squares[len(self.covers) :] = self.dense**2 @ self.weights / self.total
        return np.maximum(squares - self.means**2, 0.0)

    @property
    def _sizes(self) -> FloatArray:
        """Squares of the means of the columns as given."""
        return np.concatenate([np.zeros(len(self.covers)), self.origins**2])

    @cached_property
    def norms(self) -> FloatArray:
        """Squared norms of the columns of A."""
        return np.asarray(self.total * self.variances * self.scales**2)

    def mean(self, values: FloatArray) -> float:
        """Return the weighted mean of row values, summed in the same order on any machine."""
        return float((self.weights * values).sum()) / self.total

    def adjoint(self, residuals: FloatArray, columns: IntArray | None = None) -> FloatArray:
        """Return A'r for all or some columns."""
        chosen = self.columns if columns is None else columns
        weighted = self.weights * residuals
        sums = self.matrix.sums(chosen, weighted, self.n_threads)
        return np.asarray(self.scales[chosen] * (sums - self.means[chosen] * weighted.sum()))

    def dot(self, a: FloatArray) -> FloatArray:
        """Return A a, row by row."""
        coef = self.scales * a
        products = np.full(self.n_rows, -float(self.means @ coef))
        active = np.flatnonzero(coef).astype(np.int32)
        self.matrix.add(active, coef[active], products)
        return products

    def gram(self, columns: IntArray, others: IntArray | None = None) -> FloatArray:
        """Return A'A of some columns with others, or with all."""
        chosen = self.columns if others is None else others
        shape = len(columns), len(chosen)
        raw = self.cross(columns, chosen).reshape(shape)
        centred = raw - self.total * np.outer(self.means[columns], self.means[chosen])
        return np.asarray(centred * np.outer(self.scales[columns], self.scales[chosen]))

    def cross(self, columns: IntArray, others: IntArray) -> FloatArray:
        """Return the raw cross-products sum_i w_i x_ij x_ik."""
        weights = np.empty(0) if self.unit else self.weights
        return self.matrix.cross(columns, others, weights, self.n_threads)

    def rows(self, places: IntArray) -> FloatArray:
        """Return a few rows of A, unpacked."""
        raw = np.hstack([self.covers.take(places).unpack().T, self.dense[:, places].T])
        return np.asarray((raw - self.means) * self.scales)

    def largest_eigenvalue(self, n_iter: int = 50) -> float:
        """Return a lower estimate of the largest eigenvalue of A'A, by power iteration."""
        v, value = np.sqrt(self.norms), 0.0
        for _ in range(n_iter):
            norm = float(np.linalg.norm(v))
            if norm == 0:
                return 0.0
            v = self.adjoint(self.dot(v / norm))
            before, value = value, float(np.linalg.norm(v))
            if value - before <= 1e-4 * value:
                break
        return value

    def coef(self, a: FloatArray) -> FloatArray:
        """Return the coefficients of the raw columns: on the scale 0/1 for rules."""
        return np.asarray(self.scales * a)

    def intercept(self, a: FloatArray, level: float) -> float:
        """Return the intercept for raw columns and scores ``level + A a``."""
        centre = self.means.copy()
        centre[len(self.covers) :] += self.origins
        return level - float(centre @ self.coef(a))

    def scores(self, coef: FloatArray, intercept: float) -> FloatArray:
        """Return ``intercept + sum_j coef_j x_ij`` for every row."""
        start = intercept + float(self.origins @ coef[len(self.covers) :])
        scores = np.full(self.n_rows, start)
        active = np.flatnonzero(coef).astype(np.int32)
        self.matrix.add(active, coef[active], scores)
        return scores

    def take(self, rows: IntArray | BoolArray) -> Design:
        """Return a subset of the rows with unchanged scales and renormalised weights."""
        weights = normalise_weights(self.weights[rows], None)
        dense = np.ascontiguousarray(self.dense[:, rows])
        return replace(self, covers=self.covers.take(rows), dense=dense, weights=weights)

    def select(self, columns: IntArray) -> Design:
        """Return a subset of the columns, given in ascending order."""
        is_rule = columns < len(self.covers)
        terms = columns[~is_rule] - len(self.covers)
        return Design(
            self.covers[columns[is_rule]],
            np.ascontiguousarray(self.dense[terms]),
            self.origins[terms],
            self.weights,
            self.scales[columns],
            self.n_threads,
        )

    def reweight(self, weights: FloatArray) -> Design:
        """Return the same columns with other row weights, which need not be normalised."""
        other = replace(self, weights=weights)
        other.__dict__["matrix"] = self.matrix
        return other


def normalise_weights(sample_weight: Any, n_rows: int | None) -> FloatArray:
    """Validate weights and scale them to sum to the number of rows."""
    if sample_weight is None:
        return np.ones(n_rows or 0)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim != 1 or (n_rows is not None and len(weights) != n_rows):
        raise ValueError(f"sample_weight must have one number for each of the {n_rows} rows")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative: row {bad[0]} has {weights[bad[0]]}"
        )
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for at least one row")
    if np.all(weights == weights[0]):
        return np.ones(len(weights))
    shares = weights / weights.max()  # avoids overflow of the sum
    return np.asarray(shares * (len(weights) / shares.sum()))


def _numbers(dense: Any, n_rows: int) -> FloatArray:
    """Read linear terms: one line for each column."""
    if dense is None:
        return np.empty((0, n_rows))
    numbers = np.asarray(dense, dtype=np.float64)
    if numbers.ndim != 2 or len(numbers) != n_rows:
        raise ValueError(f"dense must have {n_rows} rows, as the covers have")
    if not np.isfinite(numbers).all():
        column = int(np.flatnonzero(~np.isfinite(numbers).all(axis=0))[0])
        raise ValueError(f"dense column {column} has missing or infinite values")
    return np.ascontiguousarray(numbers.T)
