"""Importance of rules, linear terms and columns, over all rows and for single rows.

The importance of a term is the standard deviation of its contribution over the rows: for a rule
with response a and support s, ``|a| sqrt(s (1 - s))``. The columns of a rule share its importance
equally (Friedman and Popescu, 2008).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import read_like
from rulewright.explain.terms import Additive, RuleTerm, Term, additive_terms, intercepts, n_outputs
from rulewright.model import to_frame

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.kernels import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Importance:
    """Importances of the terms of a model.

    Parameters
    ----------
    terms : tuple
        The rules and linear terms.
    values : float array
        The importance of each term: the root mean square over several scores.
    """

    terms: tuple[Term, ...]
    values: FloatArray

    def by_column(self) -> dict[str, float]:
        """Return the importance of each used column, largest first."""
        sums: defaultdict[str, float] = defaultdict(float)
        for term, value in zip(self.terms, self.values, strict=True):
            for column in term.columns:
                sums[column] += float(value) / len(term.columns)
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe of the terms, most important first, scaled to 100."""
        order, largest = np.argsort(-self.values, kind="stable"), self.values.max(initial=0.0)
        scaled = self.values * (100.0 / largest if largest else 1.0)
        table: dict[str, list[Any]] = {
            "term": [str(self.terms[i]) for i in order],
            "importance": [float(scaled[i]) for i in order],
        }
        return to_frame(table, backend)

    def __str__(self) -> str:
        columns = self.by_column()
        largest = max(columns.values(), default=0.0) or 1.0
        lines = [f"{100 * value / largest:5.1f}  {name}" for name, value in columns.items()]
        return "\n".join(["importance of columns", *lines])


def importance(model: Any, X: Any = None, *, sample_weight: Any = None) -> Importance:
    """Compute the importance of each rule and linear term.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table, optional
        Rows to compute the importance on; by default the training rows, by the statistics stored
        in the model.
    sample_weight : array-like, optional
        Row weights.

    Returns
    -------
    Importance
        Importance of each term; ``by_column()`` aggregates it by column.
    """
    fitted, terms = additive_terms(model, "importance")
    if X is None:
        values = [_stated_deviation(fitted, term) for term in terms]
    else:
        table = read_like(X, fitted.schema, fitted.columns, weights=sample_weight)
        weights = np.ones(len(table)) if table.weights is None else table.weights
        values = [
            _deviation(term.contributions(table), weights) * _size(fitted, term) for term in terms
        ]
    return Importance(tuple(terms), np.array(values, dtype=np.float64))


def local_importance(model: Any, X: Any, background: Any = None) -> FloatArray:
    """Compute the importance of each rule and linear term for each row.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        The rows to explain.
    background : table, optional
        Rows that define the mean for comparison; X by default.

    Returns
    -------
    float array of shape (rows, terms)
        Absolute deviation of each term's contribution from its mean. Its root mean square over
        the background is the importance of the term.
    """
    fitted, terms = additive_terms(model, "local_importance")
    table = read_like(X, fitted.schema, fitted.columns)
    other = table if background is None else read_like(background, fitted.schema, fitted.columns)
    found = np.empty((len(table), len(terms)))
    for k, term in enumerate(terms):
        found[:, k] = abs(term.contributions(table) - term.contributions(other).mean()) * _size(
            fitted, term
        )
    return found


def feature_importances(model: Additive) -> FloatArray:
    """Return the importance of every column of a model, summing to 1; all 0 without terms."""
    found: Mapping[str, float] = importance(model).by_column()
    values = np.array([found.get(name, 0.0) for name in model.schema.names])
    total = values.sum()
    return values / total if total > 0 else values


def _size(model: Additive, term: Term) -> float:
    """Return the size of the score contributions per unit: the root mean square."""
    return float(np.sqrt(np.mean(term.sizes(n_outputs(model)) ** 2)))


def _stated_deviation(model: Additive, term: Term) -> float:
    """Return the standard deviation of a term's contribution on the training rows."""
    if not isinstance(term, RuleTerm):
        return term.line.deviation * _size(model, term)
    total = model.summary.get("total_weight")
    if not isinstance(total, int | float) or not total > 0:
        raise ValueError("this model does not store the weight of its training rows: pass X")
    share = min(1.0, term.rule.coverage.support / total)
    response, otherwise = term.amounts
    return abs(response - otherwise) * float(np.sqrt(share * (1 - share))) * _size(model, term)


def _deviation(values: FloatArray, weights: FloatArray) -> float:
    mean = np.average(values, weights=weights)
    return float(np.sqrt(np.average((values - mean) ** 2, weights=weights)))


@dataclass(frozen=True, eq=False)
class Effects:
    """Effects of terms on rows; the effects of a row sum to its score minus the mean score.

    Parameters
    ----------
    terms : tuple
        The rules and linear terms.
    values : float array of shape (rows, terms, scores)
        What a term adds to the scores (or the prediction) of a row, minus its mean.
    holds : bool array of shape (rows, terms)
        Whether the body of a rule is true for a row; always true for linear terms.
    mean : float array
        The mean score of each class, or the mean prediction.
    names : tuple of str
        Names of the scores: the classes, or "prediction".
    """

    terms: tuple[Term, ...]
    values: FloatArray
    holds: BoolArray
    mean: FloatArray
    names: tuple[str, ...]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a line for each row and term, in the order of the model."""
        n_rows, n_terms, _ = self.values.shape
        table: dict[str, list[Any]] = {
            "row": np.repeat(np.arange(n_rows), n_terms).tolist(),
            "term": [str(term) for term in self.terms] * n_rows,
            "holds": self.holds.ravel().tolist(),
        }
        for k, name in enumerate(self.names):
            title = "effect" if name == "prediction" else f"effect_{name}"
            table[title] = self.values[:, :, k].ravel().tolist()
        return to_frame(table, backend)


def local_effects(model: Any, X: Any, background: Any = None) -> Effects:
    """Compute the effect of each rule and linear term on each row.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model.
    X : table
        The rows to explain.
    background : table, optional
        Rows that define the mean for comparison; X by default.
    """
    fitted, terms = additive_terms(model, "local_effects")
    table = read_like(X, fitted.schema, fitted.columns)
    other = table if background is None else read_like(background, fitted.schema, fitted.columns)
    values = np.zeros((len(table), len(terms), n_outputs(fitted)))
    holds = np.ones((len(table), len(terms)), dtype=np.bool_)
    mean = intercepts(fitted).astype(np.float64)
    for k, term in enumerate(terms):
        sizes, usual = term.sizes(n_outputs(fitted)), float(term.contributions(other).mean())
        mean += usual * sizes
        values[:, k] = (term.contributions(table) - usual)[:, np.newaxis] * sizes
        if isinstance(term, RuleTerm):
            holds[:, k] = term.rule.body.holds(table)
    return Effects(tuple(terms), values, holds, mean, fitted.head_names or ("prediction",))
