"""Columns with too many labels for their rows, and the labels that a split may use.

A tree sorts labels by their mean target and splits the order. The means of K labels without any
effect explain about 0.6 K deviations of noise, a split of a numeric column about five: with
thousands of rare labels every split fits noise. `find_frequent_labels` is the only place that
decides how many labels are too many; trees pool all other labels.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.findings import Finding, format_count
from rulewright.data.schema import ColumnSchema

FEW_LABELS = 32
"""Maximum number of labels that are always allowed."""

FEWEST_ROWS = 10
"""Minimum number of rows of a frequent label."""

_MOST_ROWS = 2.0**53  # larger weights are not numbers of rows


def count_effective_rows(weights: NDArray[np.float64]) -> float:
    """Return the number of rows for integer weights, else the effective number of rows."""
    if (weights == np.rint(weights)).all():
        return float(weights.sum())
    shares = weights / weights.max()  # weights of any size
    return float(shares.sum() ** 2 / (shares**2).sum())


def count_labels(
    codes: NDArray[Any], n_labels: int, weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the effective rows of each label; other codes are ignored."""
    known = (codes >= 0) & (codes < n_labels)
    shares = weights / weights.max()  # weights of any size
    sums = np.bincount(codes[known], shares[known], minlength=n_labels)
    n_rows = min(count_effective_rows(weights), _MOST_ROWS)
    counts: NDArray[np.float64] = sums * (n_rows / shares.sum())
    return counts.round(6)  # the order of rows affects the last digits of sums


def find_frequent_labels(counts: NDArray[Any]) -> NDArray[np.intp] | None:
    """Return the labels that a tree distinguishes, ascending; None for all.

    Up to 32 labels, or half the square root of the number of rows, are not too many. Beyond,
    as many are kept at most, each with at least 10 rows and half that root.
    """
    half_root = math.sqrt(float(counts.sum())) / 2
    most = max(FEW_LABELS, int(half_root))
    if np.count_nonzero(counts) <= most:
        return None
    first = np.argsort(-counts, kind="stable")[:most]
    return np.sort(first[counts[first] >= max(FEWEST_ROWS, half_root)])


def find_many_labels(schema: ColumnSchema, counts: NDArray[Any], remedy: str) -> Finding | None:
    """Report a column with too many labels for its rows, given the rows per label."""
    frequent = find_frequent_labels(counts)
    if frequent is None:
        return None
    labels, rows = np.count_nonzero(counts), round(float(counts.sum()))
    kept = format_count(len(frequent), "label has", "labels have") if len(frequent) else "none has"
    text = f"{labels:,} labels are too many for {format_count(rows, 'row')}; {kept} enough rows"
    text += " for a split"
    return Finding("many labels", schema.name, text, remedy)
