"""Packed covers: sets of rows as bits, 64 rows per word. No other module packs or unpacks bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, CoverGroups, FloatArray, IntArray, WordArray

WORD = 64
"""Number of rows per word."""

_BLOCK = 128
"""Number of words to unpack at a time when counting shared rows."""


@dataclass(frozen=True, eq=False)
class PackedCovers:
    """Sets of rows, one line of words each.

    Attributes
    ----------
    words : uint64 array of shape (covers, words)
        Row i is bit ``i % 64`` of word ``i // 64``; bits beyond the last row are 0.
    n_rows : int
        Number of rows.
    """

    words: WordArray
    n_rows: int

    @classmethod
    def pack(cls, covers: BoolArray) -> PackedCovers:
        """Pack a Boolean matrix of shape (covers, rows)."""
        n_covers, n_rows = covers.shape
        flat = np.zeros((n_covers, count_words(n_rows) * 8), dtype=np.uint8)
        flat[:, : -(-n_rows // 8)] = np.packbits(covers, axis=1, bitorder="little")
        return cls(flat.view("<u8").astype(np.uint64, copy=False), n_rows)

    @classmethod
    def pack_lines(cls, lines: Iterable[BoolArray], n_rows: int) -> PackedCovers:
        """Pack Boolean arrays one by one, so that only one of them is in memory."""
        none = cls.pack(np.empty((0, n_rows), dtype=np.bool_))
        return none.stack(*(cls.pack(line[np.newaxis]) for line in lines))

    @classmethod
    def all_rows(cls, n_covers: int, n_rows: int) -> PackedCovers:
        """Return covers that contain every row."""
        words = np.full((n_covers, count_words(n_rows)), ~np.uint64(0))
        if n_rows % WORD:
            words[:, -1] = np.uint64(2 ** (n_rows % WORD) - 1)
        return cls(words, n_rows)

    def __len__(self) -> int:
        return len(self.words)

    def __getitem__(self, lines: Any) -> PackedCovers:
        """Return some of the covers: a slice, a mask or positions."""
        return PackedCovers(self.words[lines], self.n_rows)

    def unpack(self) -> BoolArray:
        """Return the covers as a Boolean matrix of shape (covers, rows)."""
        return unpack_words(self.words, self.n_rows)

    def row_mask(self) -> BoolArray:
        """Return a single cover as a Boolean array."""
        (mask,) = self.unpack()
        return np.asarray(mask)

    def __and__(self, other: PackedCovers) -> PackedCovers:
        return PackedCovers(self.words & other.words, self.n_rows)

    def __or__(self, other: PackedCovers) -> PackedCovers:
        return PackedCovers(self.words | other.words, self.n_rows)

    def __invert__(self) -> PackedCovers:
        return PackedCovers(self.words ^ self.all_rows(1, self.n_rows).words, self.n_rows)

    def intersection(self, literals: Iterable[tuple[int, bool]]) -> PackedCovers:
        """Return one cover: the rows in every cover with True and in no cover with False."""
        held = self.all_rows(1, self.n_rows).words
        for line, inside in literals:
            held &= self.words[line] if inside else ~self.words[line]
        return PackedCovers(held, self.n_rows)

    def stack(self, *others: PackedCovers) -> PackedCovers:
        """Return these covers followed by others of the same rows."""
        words = [self.words, *(other.words for other in others)]
        return PackedCovers(np.ascontiguousarray(np.vstack(words)), self.n_rows)

    def take(self, rows: IntArray | BoolArray) -> PackedCovers:
        """Return the covers restricted to some rows: a mask or positions."""
        taken = np.arange(self.n_rows, dtype=kernels.ROW)[rows]
        words = kernels.take_rows(np.ascontiguousarray(self.words), taken, 1)
        return PackedCovers(words.reshape(len(self), count_words(len(taken))), len(taken))

    def transpose(self) -> PackedCovers:
        """Return for each row the set of covers that contain it."""
        return self.pack(self.unpack().T)

    def count(self) -> IntArray:
        """Return the number of rows of each cover."""
        return kernels.count_held(np.ascontiguousarray(self.words)).astype(np.int32)

    def pair_counts(self, other: PackedCovers) -> NDArray[np.int64]:
        """Return the number of rows that each of these covers shares with each other one."""
        counts = np.zeros((len(self), len(other)), dtype=np.int64)
        for first in range(0, self.words.shape[1], _BLOCK):
            block = slice(first, first + _BLOCK)
            # Products of zeros and ones are summed exactly in float32 below 2**24 rows.
            own, rest = (
                unpack_words(covers.words[:, block]).astype(np.float32) for covers in (self, other)
            )
            counts += (own @ rest.T).astype(np.int64)
        return counts

    def dot(self, weights: FloatArray) -> FloatArray:
        """Return the sum of the weights of the rows of each cover."""
        return np.asarray(self.unpack() @ weights)

    def row_keys(self) -> NDArray[np.void]:
        """Return a key for each row; rows in the same covers have equal keys."""
        rows = np.ascontiguousarray(np.packbits(self.unpack(), axis=0).T)
        return rows.view(np.dtype((np.void, rows.shape[1]))).ravel()

    def group_rows(self, weights: FloatArray, shares: FloatArray) -> CoverGroups:
        """Group rows in the same covers, and sum their weights and shares."""
        return kernels.group_rows(np.ascontiguousarray(self.words), weights, shares)


def unpack_words(words: WordArray, n_rows: int | None = None) -> BoolArray:
    """Return the bits of words along the last axis, for all or `n_rows` bits."""
    flat = np.ascontiguousarray(words).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(flat, axis=-1, count=n_rows, bitorder="little").view(np.bool_)


def count_words(n_rows: int) -> int:
    """Return the number of words of a cover."""
    return -(-n_rows // WORD)
