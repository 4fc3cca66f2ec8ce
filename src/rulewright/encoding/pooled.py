"""Pooled labels: columns with too many labels for their rows, as trees split them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright import kernels
from rulewright.data import count_labels, find_frequent_labels
from rulewright.encoding.binned import FAST_BINS
from rulewright.kernels import CodeColumns

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rulewright.encoding.binned import BinnedColumns
    from rulewright.kernels import FloatArray, GrownSplit, IntArray


@dataclass(frozen=True, eq=False)
class PooledColumns:
    """Columns in which one code represents all infrequent labels.

    Attributes
    ----------
    codes : CodeColumns
        Input of the tree; codes of other columns are unchanged.
    groups : mapping of int to int32 array
        For each pooled column, the new code of every old one; the last is for missing values.
    """

    codes: CodeColumns
    groups: Mapping[int, IntArray]

    def unfold(self, split: GrownSplit) -> GrownSplit:
        """Convert a split of pooled columns to a split of all labels."""
        groups = self.groups.get(split.column)
        if groups is None:
            return split
        chosen = np.zeros(groups[-1] + 1, dtype=np.bool_)
        chosen[split.codes] = True
        return split._replace(codes=np.flatnonzero(chosen[groups]).tolist())


def pool_labels(binned: BinnedColumns, weights: FloatArray) -> PooledColumns:
    """Pool the infrequent labels of columns with too many labels; otherwise copy nothing."""
    groups = {}
    for column in np.flatnonzero(binned.codes.nominal).tolist():
        (group, place), n_labels = divmod(column, kernels.GROUP), len(binned.bins[column])
        counts = count_labels(binned.codes.codes[group, :, place], n_labels, weights)
        frequent = find_frequent_labels(counts)
        if frequent is not None:
            groups[column] = _number_groups(frequent, n_labels)
    return PooledColumns(_recode(binned, groups) if groups else binned.codes, groups)


def _number_groups(frequent: NDArray[np.intp], n_labels: int) -> IntArray:
    """Assign a code to each frequent label, the next to all others, the last to missing."""
    groups = np.full(n_labels + 1, len(frequent), dtype=np.int32)
    groups[frequent] = np.arange(len(frequent))
    groups[-1] += 1
    return groups


def _recode(binned: BinnedColumns, groups: Mapping[int, IntArray]) -> CodeColumns:
    old, n_bins = binned.codes, binned.codes.n_bins.copy()
    for column, numbers in groups.items():
        n_bins[column] = numbers[-1]
    codes = np.zeros(old.codes.shape, dtype=np.uint8 if n_bins.max() <= FAST_BINS else np.uint16)
    for column in range(len(n_bins)):
        group, place = divmod(column, kernels.GROUP)
        own = old.codes[group, :, place]
        codes[group, :, place] = groups[column][own] if column in groups else own
    return CodeColumns(codes, n_bins, old.nominal)
