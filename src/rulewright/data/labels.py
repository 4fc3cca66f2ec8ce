"""Labels and codes: the distinct values of a column and their positions in a list of labels."""

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.schema import BOOLEAN_LABELS, label_of

_SMALL_RANGE = 1 << 12


def factor(values: NDArray[Any]) -> tuple[list[str], NDArray[np.int32]]:
    """
    Return the sorted distinct labels of plain values and the code of each row, -1 if missing.

    Numbers are sorted by value, text by code points.
    """
    kind = values.dtype.kind
    if kind == "b":
        return list(BOOLEAN_LABELS), values.astype(np.int32)
    if kind in "iuf":
        distinct, codes = unique_numbers(values.astype(np.float64) if kind == "f" else values)
        known = distinct[distinct == distinct].tolist()
        codes[codes >= len(known)] = -1
        return [label_of(value) for value in known], codes
    return _factor_text(values)


def _factor_text(values: NDArray[Any]) -> tuple[list[str], NDArray[np.int32]]:
    """Code text that may be None; the hash table of pandas, if it is loaded, is twice as fast."""
    pandas = sys.modules.get("pandas")
    if pandas is not None:
        firsts, distinct = pandas.factorize(values)
        order = sorted(range(len(distinct)), key=distinct.__getitem__)
        ranks = np.empty(len(order) + 1, dtype=np.int32)
        ranks[order], ranks[-1] = np.arange(len(order)), -1
        return [label_of(distinct[place]) for place in order], ranks[firsts]
    found: list[Any] = sorted(set(values) - {None})
    index = {label: code for code, label in enumerate(found)}
    index[None] = -1
    codes = np.fromiter(map(index.__getitem__, values), dtype=np.int32, count=len(values))
    return [label_of(label) for label in found], codes


def recode_labels(
    found: Sequence[str], codes: NDArray[np.int32], labels: Sequence[str], absent: int
) -> NDArray[np.int32]:
    """Translate codes into ``found`` to codes into ``labels``; other labels get ``absent``."""
    index = {label: code for code, label in enumerate(labels)}
    # the codes -1 (missing) and -2 (unseen) count from the end
    lookup = np.array([*(index.get(label, absent) for label in found), absent, -1], dtype=np.int32)
    return lookup[codes]


def unique_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return the sorted distinct numbers and the position of each row's number among them."""
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        # counting beats sorting for the few small integers that classes usually are
        if high - low < _SMALL_RANGE and abs(low) < 1 << 62 and abs(high) < 1 << 62:
            shifted = values.astype(np.int64) - low
            present = np.bincount(shifted) > 0
            ranks = np.cumsum(present, dtype=np.int32) - 1
            distinct = (np.flatnonzero(present) + low).astype(values.dtype)
            return distinct, ranks[shifted].astype(np.int32, copy=False)
    distinct, codes = np.unique(values, return_inverse=True)
    return distinct, codes.astype(np.int32)
