"""Twins of `native/weighting/sorted_covers.cpp`, on unpacked covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rulewright.kernels.structs import ByteArray, FloatArray, RowArray, WordArray


def take_rows(covers: WordArray, rows: RowArray, n_threads: int) -> WordArray:
    """Give rows of each cover in the order given: the words of all covers in one array."""
    n_words = -(-len(rows) // 64)
    taken = np.zeros((len(covers), n_words * 64), dtype=np.uint8)
    taken[:, : len(rows)] = _bits(covers)[:, rows]
    words: WordArray = np.packbits(taken, axis=1, bitorder="little").view("<u8").ravel()
    return words.astype(np.uint64, copy=False)


def count_shared(
    covers: WordArray, others: WordArray, weights: FloatArray, block: int, n_threads: int
) -> FloatArray:
    """Give sum_i w_i x_ij x_ik of covers with others; `block` words have the weight of theirs."""
    rows = np.repeat(weights, block)[: covers.shape[1]].repeat(64)
    return np.asarray((_bits(covers) * rows) @ _bits(others).T.astype(np.float64)).ravel()


def _bits(covers: WordArray) -> ByteArray:
    return np.unpackbits(covers.astype("<u8").view(np.uint8), axis=1, bitorder="little")
