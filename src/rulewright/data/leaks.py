"""Leaks: columns that predict the target alone, as what is known only afterwards does."""

import numpy as np
from numpy.typing import NDArray

from rulewright.data.numbers import Numbers
from rulewright.data.table import Column
from rulewright.data.target import Target

_FEW_ROWS = 30
_MOST_ROWS = 20_000  # examined, drawn at random: rows may have a period
_GROUPS = 64
_ROWS_PER_GROUP = 10
_ACCURACY, _LESS_ERROR = 0.99, 0.1
_EXPLAINED = 0.999


def judge_alone(column: Column, target: Target | Numbers) -> str | None:
    """Return how well a column predicts the target alone, if that is nearly perfect."""
    n_rows = len(column)
    if n_rows < _FEW_ROWS:
        return None
    rows = np.arange(n_rows)
    if n_rows > _MOST_ROWS:
        rows = np.random.default_rng(0).choice(n_rows, _MOST_ROWS, replace=False)
    groups = _groups(column, rows)
    if groups is None:
        return None
    if isinstance(target, Numbers):
        explained = _measure_explained_share(groups, column, rows, target.values[rows])
        return f"R2 {explained:.4f}" if explained >= _EXPLAINED else None
    n_classes = len(target.classes)
    counts = np.bincount(groups * n_classes + target.codes[rows], minlength=n_classes)
    counts = np.pad(counts, (0, -len(counts) % n_classes)).reshape(-1, n_classes)
    totals = counts.sum(axis=1)
    # without one row of each group: a group of one row proves nothing
    accuracy = np.maximum(counts.max(axis=1) - 1, 0).sum() / np.maximum(totals - 1, 0).sum()
    majority = counts.sum(axis=0).max() / len(rows)
    if majority == 1 or accuracy < _ACCURACY or 1 - accuracy > _LESS_ERROR * (1 - majority):
        return None
    return f"accuracy {accuracy:.1%}"


def _groups(column: Column, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the group of each row: its label, or its place among the quantiles; 0 if missing."""
    values, most = column.values[rows], len(rows) // _ROWS_PER_GROUP
    if not column.schema.type.ordered:
        groups = np.maximum(values, -1) + 1
        return groups.astype(np.intp) if len(np.unique(groups)) <= most else None
    known = values[~np.isnan(values)]
    edges = np.unique(known)
    if len(edges) > min(_GROUPS, most):
        edges = np.unique(np.quantile(known, np.linspace(0, 1, min(_GROUPS, most))))
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(edges, values)).astype(np.intp)


def _measure_explained_share(
    groups: NDArray[np.intp], column: Column, rows: NDArray[np.intp], numbers: NDArray[np.float64]
) -> float:
    """Return the share of the variance that group means or, of numbers, a line explains."""
    total = np.var(numbers)
    if total == 0:
        return 0.0
    sizes = np.bincount(groups)
    means = np.bincount(groups, numbers) / np.maximum(sizes, 1)
    within = float(1 - np.var(numbers - means[groups]) / total)
    values = column.values[rows]
    if not column.schema.type.ordered or np.isnan(values).any() or np.ptp(values) == 0:
        return within
    return max(within, float(np.corrcoef(values, numbers)[0, 1] ** 2))
