"""Partial dependence: the mean prediction of a model with some columns set to given values.

For rules this is exact and fast. A conjunction is true where its conditions on the chosen columns
are true at the given values and its other conditions are true for a row. So it adds its response
times the share of rows on which the other conditions are true.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Column, DataError, Table, offer_names, read_like
from rulewright.explain.terms import (
    Additive,
    LineTerm,
    RuleTerm,
    Term,
    additive_terms,
    intercepts,
    n_outputs,
    thresholds,
)
from rulewright.model import to_frame
from rulewright.rules import Conjunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import BoolArray, FloatArray

MOST_POINTS = 200
"""Maximum number of values of one column; for two columns, the root of ten times as many each."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """Mean predictions at values of one or two columns.

    Parameters
    ----------
    columns : tuple of str
        The columns.
    points : list of tuple
        Their values: numbers, labels, or None for missing.
    values : float array of shape (points, scores)
        The mean score of each class, or the mean prediction.
    names : tuple of str
        Names of the scores: the classes, or "prediction".
    spread : tuple of tuples of float
        Distribution of the rows over each column: numeric deciles, from minimum to maximum, or
        the share of each label of the points.
    kinds : tuple of str
        Kinds of the columns; dates are milliseconds since 1970.
    edges : tuple of float or None
        Where the answer jumps: the thresholds on one ordered column, between which it is constant.
        None for other columns, and where a linear term makes it a slope.
    """

    columns: tuple[str, ...]
    points: list[tuple[Any, ...]]
    values: FloatArray
    names: tuple[str, ...]
    spread: tuple[tuple[float, ...], ...] = ()
    kinds: tuple[str, ...] = ()
    edges: tuple[float, ...] | None = None

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns: the values, and the mean of each score."""
        table = {name: [point[j] for point in self.points] for j, name in enumerate(self.columns)}
        return table | {
            self._title(name): self.values[:, k].tolist() for k, name in enumerate(self.names)
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe of the values and the mean of each score."""
        return to_frame(self.to_table(), backend)

    def _title(self, name: str) -> str:
        return name if name == "prediction" else f"score_{name}"


def partial_dependence(
    model: Any,
    X: Any,
    columns: str | Sequence[str],
    *,
    sample_weight: Any = None,
    max_points: int | None = None,
) -> Dependence:
    """Compute how the mean prediction of a model depends on one or two columns.

    Parameters
    ----------
    model : AdditiveRules, RegressionRules or fitted estimator
        The model; for classification, scores are averaged.
    X : table
        Rows to average over; they also provide the values of the columns.
    columns : str or sequence of one or two str
        The columns.
    sample_weight : array-like, optional
        Row weights.
    max_points : int, optional
        Maximum number of values per column; beyond it quantiles are used, and the values next to
        thresholds. By default 200, or 45 for two columns.
    """
    fitted, terms = additive_terms(model, "partial_dependence")
    names = (columns,) if isinstance(columns, str) else tuple(columns)
    if not 1 <= len(set(names)) == len(names) <= 2:
        raise ValueError(f"columns must name one column or two different ones, not {names}")
    for name in names:
        if name not in fitted.schema:
            offer = offer_names(name, fitted.schema.names)
            raise DataError(f"columns: the model has no column {name!r}. {offer}")
    table = read_like(X, fitted.schema, {*fitted.columns, *names}, weights=sample_weight)
    weights = np.ones(len(table)) if table.weights is None else table.weights
    most = max_points or (MOST_POINTS if len(names) == 1 else int((10 * MOST_POINTS) ** 0.5) + 1)
    marks = [thresholds(fitted, n) if table[n].schema.type.ordered else [] for n in names]
    grid = _grid(table, names, most, marks)
    values = np.tile(intercepts(fitted), (len(grid), 1))
    for term in terms:
        mean = mean_added(term, grid, table, weights, names)
        values += mean[:, np.newaxis] * term.sizes(n_outputs(fitted))
    spread = tuple(_measure_spread(table[name], weights) for name in names)
    called = fitted.head_names or ("prediction",)
    kinds = tuple(table[name].schema.kind for name in names)
    sloped = any(isinstance(term, LineTerm) and term.columns == names for term in terms)
    level = len(names) == 1 and table[names[0]].schema.type.ordered and not sloped
    edges = tuple(marks[0]) if level else None
    return Dependence(names, _points(grid, names), values, called, spread, kinds, edges)


def mean_added(
    term: Term, at: Table, rows: Table, weights: FloatArray, columns: Sequence[str]
) -> FloatArray:
    """Average a term over rows, with the values of another table in some columns.

    Returns one mean for each row of `at`.
    """
    if not set(term.columns) & set(columns):
        return np.full(len(at), np.average(term.contributions(rows), weights=weights))
    if set(term.columns) <= set(columns):
        return term.contributions(at)
    if isinstance(term, RuleTerm) and isinstance(term.rule.body, Conjunction):
        response, otherwise = term.amounts
        if not otherwise:
            fixed, free = _split(term.rule.body, columns)
            return response * _hold(fixed, at) * np.average(_hold(free, rows), weights=weights)
    return _by_substitution(term, at, rows, weights, columns)


def _split(body: Conjunction, columns: Sequence[str]) -> tuple[list[Any], list[Any]]:
    fixed = [condition for condition in body.conditions if condition.column in columns]
    return fixed, [condition for condition in body.conditions if condition.column not in columns]


def _hold(conditions: Sequence[Any], table: Table) -> BoolArray:
    held = np.ones(len(table), dtype=np.bool_)
    for condition in conditions:
        held &= condition.holds(table[condition.column])
    return held


def _by_substitution(
    term: Term, at: Table, rows: Table, weights: FloatArray, columns: Sequence[str]
) -> FloatArray:
    """Set the values of each point in all rows: for formulas that do not factor."""
    means = np.empty(len(at))
    for i in range(len(at)):
        means[i] = np.average(
            term.contributions(_with_values(rows, at, i, columns)), weights=weights
        )
    return means


def _with_values(rows: Table, at: Table, i: int, columns: Sequence[str]) -> Table:
    changed = [
        replace(column, values=np.full_like(column.values, at[column.schema.name].values[i]))
        if column.schema.name in columns
        else column
        for column in rows.columns
    ]
    return replace(rows, columns=tuple(changed))


def _grid(table: Table, names: Sequence[str], most: int, marks: Sequence[list[float]]) -> Table:
    """Make a table of all combinations of values of the columns."""
    found = [_values(table[name], most, own) for name, own in zip(names, marks, strict=True)]
    combined = list(zip(*itertools.product(*found), strict=True))
    columns = [
        replace(table[name], values=np.array(values, dtype=table[name].values.dtype))
        for name, values in zip(names, combined, strict=True)
    ]
    return replace(
        table, columns=tuple(columns), n_rows=len(combined[0]), target=None, weights=None
    )


def _values(column: Column, most: int, marks: Sequence[float]) -> list[Any]:
    """Return the known values that occur, or quantiles of too many numbers.

    Values next to the thresholds are kept, so that no step is lost.
    """
    known = np.unique(column.values[~column.is_missing])
    if column.schema.type.ordered and len(known) > most:
        next_to = [
            np.searchsorted(known, marks, side) + k for side in ("left", "right") for k in (-1, 0)
        ]
        kept = np.clip(np.concatenate(next_to).astype(np.intp), 0, len(known) - 1)
        quantiles = np.quantile(known, np.linspace(0, 1, most), method="nearest")
        known = np.unique(np.concatenate([quantiles, known[kept]]))
    if not len(known):
        raise DataError(f"Column {column.schema.name!r} has no known values.")
    return list(known)


def _measure_spread(column: Column, weights: FloatArray) -> tuple[float, ...]:
    """Return the weighted deciles of known numbers, or the shares of labels."""
    known = ~column.is_missing
    values, weights = column.values[known], weights[known]
    if not column.schema.type.ordered:
        sums = np.bincount(np.unique(values, return_inverse=True)[1], weights)
        return tuple((sums / (sums.sum() or 1.0)).tolist())
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    places = np.searchsorted(below, np.linspace(0, 1, 11) * below[-1] * (1 - 1e-12))
    return tuple(values[order][places].tolist())


def _points(grid: Table, names: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(_write_values(grid[name]) for name in names), strict=True))


def _write_values(column: Column) -> list[Any]:
    if column.schema.type.ordered:
        return [float(value) for value in column.values]
    labels = column.schema.labels
    return [labels[code] if code >= 0 else "(unseen label)" for code in column.values]


def centred_dependence(
    model: Additive, terms: Sequence[Term], rows: Table, weights: FloatArray, columns: Sequence[str]
) -> FloatArray:
    """Return the partial dependence at the rows themselves, each score with mean 0."""
    values = np.zeros((len(rows), n_outputs(model)))
    for term in terms:
        if set(term.columns) & set(columns):
            mean = mean_added(term, rows, rows, weights, columns)
            values += mean[:, np.newaxis] * term.sizes(n_outputs(model))
    centred: FloatArray = values - np.average(values, axis=0, weights=weights)
    return centred
