"""Linear terms of rule ensembles: columns clipped at two quantiles, and their scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.model import LinearTerm, units_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.kernels import FloatArray
    from rulewright.search import Constraints

SCALE = 0.4
"""Standard deviation of a linear term: about the mean deviation of rules of any support."""

TAIL = 0.025
"""Share of the rows beyond each clipping bound of a linear term."""


def linear_terms(table: Table, weights: FloatArray, beta: float) -> tuple[LinearTerm, ...]:
    """Return a term with slope 1 for every numeric column that varies between its quantiles.

    Values are clipped at the weighted quantiles of beta and 1 - beta of the known values; missing
    values count as the mean.
    """
    terms = []
    for column in table.columns:
        if not column.schema.type.arithmetic:
            continue
        known = ~column.is_missing & (weights > 0)
        values, own = column.values[known], weights[known]
        if not len(values):
            continue
        low, high = weighted_quantiles(values, own, (beta, 1 - beta))
        held = np.clip(values, low, high)
        with np.errstate(over="ignore", invalid="ignore"):  # no linear term for extreme numbers
            center = float(np.average(held, weights=own))
            deviation = float(np.sqrt(own @ (held - center) ** 2 / weights.sum()))
        if not np.isfinite(deviation):
            continue
        if deviation > 1e-12 * max(1.0, abs(low), abs(high)):
            terms.append(LinearTerm(column.schema.name, low, high, center, deviation, (1.0,)))
    return tuple(terms)


def linear_columns(terms: tuple[LinearTerm, ...], table: Table) -> FloatArray:
    """Return the terms as columns of shape (rows, terms), scaled to deviation `SCALE`."""
    factors = np.array([SCALE / term.deviation for term in terms])
    return np.asarray(units_of(terms, table) * factors)


def weighted_quantiles(
    values: FloatArray, weights: FloatArray, shares: tuple[float, ...]
) -> list[float]:
    """Return the smallest values with at least the given shares of the weight at or below them."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    places = np.searchsorted(reached, np.array(shares) * reached[-1] * (1 - 1e-12))
    return [float(values[order[min(place, len(values) - 1)]]) for place in places]


def allowed_terms(
    table: Table, weights: FloatArray, constraints: Constraints
) -> tuple[LinearTerm, ...]:
    """Return the terms of the columns that may have a linear term.

    A column with named operators has no linear term, because these constrain rules; no column
    has one if rules must use another column.
    """
    refused = {*constraints.forbidden, *constraints.operators}
    return tuple(
        term
        for term in linear_terms(table, weights, TAIL)
        if term.column not in refused and {*constraints.required} <= {term.column}
    )


def directions(terms: Sequence[LinearTerm], constraints: Constraints) -> list[int]:
    """Return 1 for increasing terms, -1 for decreasing ones and 0 for unconstrained ones."""
    signs = {"increasing": 1, "decreasing": -1}
    return [signs.get(constraints.monotone.get(term.column, ""), 0) for term in terms]
