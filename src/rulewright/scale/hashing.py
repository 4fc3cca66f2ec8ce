"""Hashes of rows by their content: what is drawn by them does not depend on partitions.

A hash sees values, labels as text, the target and the weight, never the place of a row. Equal rows
have equal hashes.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import Target, label_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rulewright.data import Column, Table
    from rulewright.kernels import FloatArray

SPAN = 2.0**64
"""How many hashes there are."""

_MISSING = 0x9E3779B97F4A7C15
_START = 0x243F6A8885A308D3


def mix_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread 64-bit numbers evenly, in place (the finaliser of SplitMix64)."""
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def salt_hashes(hashes: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Return other hashes of the same rows, as if they were drawn anew."""
    return mix_bits(hashes ^ mix_bits(np.array([salt], dtype=np.uint64)))


def row_hashes(table: Table) -> NDArray[np.uint64]:
    """Return a hash of each row: its values, its target and its weight."""
    hashes = np.full(table.n_rows, _START, dtype=np.uint64)
    for column in table.columns:  # a sum: the order of the columns does not matter
        hashes += mix_bits(_column_bits(column) ^ _label_hashes([column.schema.name]))
    if isinstance(table.target, Target):
        classes = _label_hashes(map(label_of, table.target.classes.tolist()))
        hashes ^= classes[table.target.codes]
    elif table.target is not None:
        hashes ^= _number_bits(table.target.values)
    mix_bits(hashes)
    if table.weights is not None:
        hashes ^= _number_bits(table.weights) ^ _number_bits(np.ones(1))
    return mix_bits(hashes)


def _column_bits(column: Column) -> NDArray[np.uint64]:
    """Return 64 bits for each value; a missing value of any kind has the same."""
    if column.schema.type.ordered:
        bits = _number_bits(column.values)
        bits[np.isnan(column.values)] = _MISSING
        return bits
    labels = _label_hashes(column.schema.labels)
    # codes -2 (unseen) and -1 (missing) count from the end
    known: NDArray[np.uint64] = np.concatenate([labels, np.array([0, _MISSING], np.uint64)])
    return np.asarray(known[column.values])


def _number_bits(values: FloatArray) -> NDArray[np.uint64]:
    """Return the bits of numbers; 0 and -0 are one number."""
    return np.ascontiguousarray(values + 0.0).view(np.uint64)


def _label_hashes(labels: Iterable[str]) -> NDArray[np.uint64]:
    digests = [hashlib.blake2b(label.encode(), digest_size=8).digest() for label in labels]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
