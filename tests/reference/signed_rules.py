"""Twins of `native/weighting/signed_rules.cpp`, on the dense matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels.structs import FloatArray, IntArray, StatArray, WordArray


def signed_products(
    holds: WordArray, fails: WordArray, lines: IntArray, others: IntArray, n_threads: int = 1
) -> StatArray:
    """Give sum_i x_ij x_ik of rules in {-1, 0, 1}: lines x others."""
    x = _values(holds, fails).astype(np.int64)
    return np.asarray(x[lines] @ x[others].T)


def signed_sums(
    holds: WordArray, fails: WordArray, lines: IntArray, values: FloatArray, n_threads: int = 1
) -> FloatArray:
    """Give sum_i x_ij v_i of the lines."""
    x = _values(holds, fails)[:, : len(values)]
    return np.asarray(x[lines] @ values, dtype=np.float64)


def _values(holds: WordArray, fails: WordArray) -> FloatArray:
    """Return 1 where a rule holds and -1 where it fails."""
    bits = [
        np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
        for words in (holds, fails)
    ]
    return bits[0].astype(np.float64) - bits[1]
