"""Rules that are true, false or unknown for a row (1, -1 or 0), as two packed covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import kernels
from rulewright.encoding.covers import PackedCovers, count_words

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import BoolArray, FloatArray, IntArray, SignArray, StatArray

_FIRST_LINES = 64


@dataclass(frozen=True, eq=False)
class SignedCovers:
    """Rules with values in {-1, 0, 1} on the same rows.

    Attributes
    ----------
    holds, fails : PackedCovers
        Rows where each rule is 1, and where it is -1; no row is in both.
    """

    holds: PackedCovers
    fails: PackedCovers

    def __post_init__(self) -> None:
        if (self.holds.n_rows, len(self.holds)) != (self.fails.n_rows, len(self.fails)):
            raise ValueError(
                f"holds has {len(self.holds)} rules on {self.holds.n_rows} rows, fails "
                f"{len(self.fails)} on {self.fails.n_rows}: both must describe the same rules"
            )

    @classmethod
    def pack(cls, values: ArrayLike) -> SignedCovers:
        """Pack a matrix of -1, 0 and 1 of shape (rules, rows)."""
        signs = np.asarray(values)
        return cls(PackedCovers.pack(signs > 0), PackedCovers.pack(signs < 0))

    @classmethod
    def constant(cls, n_rows: int) -> SignedCovers:
        """Return the rule that is true for every row."""
        every = PackedCovers.all_rows(1, n_rows)
        return cls(every, ~every)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.holds.n_rows

    def __len__(self) -> int:
        return len(self.holds)

    def __getitem__(self, lines: Any) -> SignedCovers:
        """Return some of the rules: a slice, a mask or positions."""
        return SignedCovers(self.holds[lines], self.fails[lines])

    def values(self) -> SignArray:
        """Return the values as a matrix of shape (rules, rows)."""
        return self.holds.unpack().astype(np.int8) - self.fails.unpack().astype(np.int8)

    def maximum(self, other: SignedCovers) -> SignedCovers:
        """Return "or" in Kleene's logic, rule by rule; a single rule is combined with each."""
        return SignedCovers(self.holds | other.holds, self.fails & other.fails)

    def minimum(self, other: SignedCovers) -> SignedCovers:
        """Return "and" in Kleene's logic, rule by rule; a single rule is combined with each."""
        return SignedCovers(self.holds & other.holds, self.fails | other.fails)

    def negated(self) -> SignedCovers:
        """Return the rules with the opposite values."""
        return SignedCovers(self.fails, self.holds)

    def times(self, other: SignedCovers) -> SignedCovers:
        """Return the products of the values, rule by rule; a single rule is combined with each."""
        agree = (self.holds & other.holds) | (self.fails & other.fails)
        return SignedCovers(agree, (self.holds & other.fails) | (self.fails & other.holds))

    def stack(self, *others: SignedCovers) -> SignedCovers:
        """Return these rules followed by others of the same rows; `SignedStack` grows faster."""
        return SignedCovers(
            self.holds.stack(*(other.holds for other in others)),
            self.fails.stack(*(other.fails for other in others)),
        )

    def take(self, rows: IntArray | BoolArray) -> SignedCovers:
        """Return the rules on some rows: a mask or positions."""
        return SignedCovers(self.holds.take(rows), self.fails.take(rows))

    def gram(
        self, lines: ArrayLike | None = None, others: ArrayLike | None = None, n_threads: int = 1
    ) -> StatArray:
        """Return the products of rules over the rows, lines x others (all by default), exact."""
        words = self.holds.words, self.fails.words
        return kernels.signed_products(*words, self._places(lines), self._places(others), n_threads)

    def dot(
        self, row_numbers: FloatArray, lines: ArrayLike | None = None, n_threads: int = 1
    ) -> FloatArray:
        """Return for each rule the sum over the rows of its value times the row's number."""
        numbers = np.ascontiguousarray(row_numbers, dtype=np.float64)
        if len(numbers) != self.n_rows:
            raise ValueError(f"{len(numbers)} numbers for {self.n_rows} rows")
        words = self.holds.words, self.fails.words
        return kernels.signed_sums(*words, self._places(lines), numbers, n_threads)

    def scores(self, weights: ArrayLike) -> FloatArray:
        """Return for each row the sum of the weights of the rules times their values."""
        w = np.asarray(weights, dtype=np.float64)
        return np.asarray(w @ self.values().astype(np.float64))

    def keys(self) -> list[bytes]:
        """Return a key for each rule; a rule and its negation have the same, an unknown one b"".

        The value of the first known row counts as 1.
        """
        return [
            _key(holds, fails)
            for holds, fails in zip(self.holds.words, self.fails.words, strict=True)
        ]

    def _places(self, lines: ArrayLike | None) -> IntArray:
        if lines is None:
            return np.arange(len(self), dtype=np.int32)
        return np.ascontiguousarray(lines, dtype=np.int32)


def _key(holds: Any, fails: Any) -> bytes:
    """Return the words of a rule, with the sign of its first known row made positive."""
    known = holds | fails
    first = int((known != 0).argmax()) if len(known) else 0
    if not len(known) or not known[first]:
        return b""
    lowest = int(known[first]) & -int(known[first])
    both = (holds, fails) if int(holds[first]) & lowest else (fails, holds)
    return b"".join(words.tobytes() for words in both)


class SignedStack:
    """Rules that are appended one by one, in buffers that double when full."""

    def __init__(self, n_rows: int) -> None:
        self._n_rows, self._size = n_rows, 0
        self._words = np.zeros((2, _FIRST_LINES, count_words(n_rows)), dtype=np.uint64)

    def __len__(self) -> int:
        return self._size

    @property
    def covers(self) -> SignedCovers:
        """The rules so far, without a copy."""
        holds, fails = self._words[:, : self._size]
        return SignedCovers(PackedCovers(holds, self._n_rows), PackedCovers(fails, self._n_rows))

    def append(self, covers: SignedCovers) -> None:
        """Append rules; the cost per rule does not grow with their number."""
        if covers.n_rows != self._n_rows:
            raise ValueError(f"rules of {covers.n_rows} rows cannot join rules of {self._n_rows}")
        size = self._size + len(covers)
        if size > self._words.shape[1]:
            grown = max(size, 2 * self._words.shape[1])
            words = np.zeros((2, grown, self._words.shape[2]), dtype=np.uint64)
            words[:, : self._size] = self._words[:, : self._size]
            self._words = words
        self._words[0, self._size : size] = covers.holds.words
        self._words[1, self._size : size] = covers.fails.words
        self._size = size

    def replace(self, place: int, covers: SignedCovers) -> None:
        """Replace a rule by another one."""
        self._words[0, place : place + 1] = covers.holds.words
        self._words[1, place : place + 1] = covers.fails.words
