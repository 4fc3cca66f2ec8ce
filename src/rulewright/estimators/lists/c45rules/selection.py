"""The subset of the rules of a class with the shortest description of rules and exceptions.

Up to ten rules all subsets are tried, otherwise single rules are added or dropped while that makes
the description shorter, from eleven random subsets. Only rows that no rule or one rule covers
change sides when a rule comes or goes; what they weigh in every rule is kept up to date.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import PackedCovers
from rulewright.stopping import (
    c45_book_exception_bits,
    c45_exception_bits,
    c45_rule_bits,
    c45_theory_bits,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.encoding import Test
    from rulewright.estimators.lists.c45rules.simplification import SimplifiedRule
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.search import Brancher

    Places = NDArray[np.intp]

EXHAUSTIVE = 10
"""Up to this many rules all subsets are tried."""

N_STARTS = 11
TIE = 1e-9

EXCEPTIONS = {"release": c45_exception_bits, "book": c45_book_exception_bits}


def rule_description_bits(brancher: Brancher, tests: Sequence[Test]) -> float:
    """Return the bits of a rule: each condition names a column and one of its outcomes."""
    n_usable = int(np.count_nonzero(brancher.n_values > 1))
    bits = 0.0
    for column, *_ in tests:
        n_outcomes = int(brancher.n_values[column])
        if not brancher.binned.codes.nominal[column]:
            n_outcomes -= 1  # cuts
        bits += math.log2(n_usable * n_outcomes)
    return float(c45_rule_bits(bits, len(tests)))


class RuleSubsets:
    """Subsets of the rules of one class, and how long their descriptions are.

    Parameters
    ----------
    covers : bool array of shape (rules, rows)
        What the rules cover.
    positive : bool array
        The rows of the class.
    weights : float array
        Weights of the rows, whose sums are exact.
    bits : float array
        Bits of each rule.
    exceptions : {"release", "book"}
        How exceptions are coded.
    """

    def __init__(
        self,
        covers: BoolArray,
        positive: BoolArray,
        weights: FloatArray,
        bits: FloatArray,
        exceptions: str,
    ) -> None:
        # Rows that the same rules cover count together.
        keys = PackedCovers.pack(covers).row_keys() if len(covers) else np.zeros(len(weights))
        _, places, groups = np.unique(keys, return_index=True, return_inverse=True)
        sides = [np.bincount(groups, weights * side) for side in (~positive, positive)]
        self._covers, self._sides = covers[:, places], np.stack(sides).astype(np.float64)
        self._rows_of = [np.flatnonzero(cover) for cover in self._covers]
        # The rules of row i are those from starts[i] on, n_rules[i] of them.
        self._n_rules = self._covers.sum(axis=0, dtype=np.intp)
        self._starts = np.cumsum(self._n_rules) - self._n_rules
        self._rules = np.nonzero(self._covers.T)[1]
        self._bits, self._totals = bits, self._sides.sum(axis=1)
        self._exceptions = EXCEPTIONS[exceptions]

    def best(self, random: np.random.RandomState) -> Places:
        """Return the rules of the best subset found."""
        if len(self._bits) <= EXHAUSTIVE:
            return self._exhaustive()
        draws = random.uniform(size=(N_STARTS, len(self._bits)))
        results = [self.climb(draw < i / (N_STARTS - 1)) for i, draw in enumerate(draws)]
        _, chosen = min(results, key=lambda result: round(result[0], 6))
        return np.flatnonzero(chosen)

    def length(self, bits: Any, n_rules: Any, covered: FloatArray) -> FloatArray:
        """Return the bits of rules and exceptions; `covered` has false and true positives."""
        fp, tp = covered
        total = self._totals.sum()
        exceptions = self._exceptions(fp + tp, total - fp - tp, fp, self._totals[1] - tp)
        return np.asarray(c45_theory_bits(bits, n_rules) + exceptions)

    def _exhaustive(self) -> Places:
        n = len(self._bits)
        subsets = (np.arange(2**n)[:, np.newaxis] >> np.arange(n)) & 1
        keys = self._covers.T @ (1 << np.arange(n)) if n else np.zeros(self._sides.shape[1], int)
        weights: FloatArray = np.stack(
            [np.bincount(keys, side, minlength=2**n) for side in self._sides]
        )
        met = (np.arange(2**n)[:, np.newaxis] & np.arange(2**n)) > 0
        lengths = self.length(subsets @ self._bits, subsets.sum(axis=1), weights @ met)
        order = np.flatnonzero(lengths <= lengths.min() + TIE)
        return np.flatnonzero(subsets[order[0]])

    def climb(self, start: BoolArray) -> tuple[float, BoolArray]:
        """Add or drop the best single rule until nothing gets shorter."""
        chosen, times = start.copy(), self._covers[start].sum(axis=0, dtype=np.int32)
        # What rows that no rule, or just one, covers weigh in each rule.
        weigh = [self._in_rules(np.flatnonzero(times == k)) for k in (0, 1)]
        covered: FloatArray = self._sides[:, times > 0].sum(axis=1)
        length = float(self.length(self._bits[chosen].sum(), chosen.sum(), covered))
        while True:
            sign = np.where(chosen, -1, 1)
            after = covered[:, np.newaxis] + np.where(chosen, -weigh[1], weigh[0])
            bits = self._bits[chosen].sum() + sign * self._bits
            lengths = self.length(bits, chosen.sum() + sign, after)
            best = int(np.flatnonzero(lengths <= lengths.min() + TIE)[0])
            if not lengths[best] < length - TIE:
                return length, chosen
            rows = self._rows_of[best]
            before = times[rows]
            times[rows] += sign[best]
            fewer = np.minimum(before, times[rows])
            # Rows between none and one rule, and between one and two.
            low, high = (self._in_rules(rows[fewer == k]) for k in (0, 1))
            weigh[0] -= sign[best] * low
            weigh[1] += sign[best] * (low - high)
            chosen[best] = not chosen[best]
            covered, length = after[:, best], float(lengths[best])

    def _in_rules(self, rows: Places) -> FloatArray:
        """Return what some rows weigh in each rule, by side."""
        n = self._n_rules[rows]
        ends = np.cumsum(n)
        offsets = np.repeat(self._starts[rows] - (ends - n), n)
        rules, n_all = self._rules[offsets + np.arange(len(offsets))], len(self._bits)
        sums = [np.bincount(rules, np.repeat(side[rows], n), n_all) for side in self._sides]
        return np.stack(sums).astype(np.float64)  # those of no rows are whole numbers


def select_rules(
    brancher: Brancher,
    own: Sequence[SimplifiedRule],
    head: int,
    exceptions: str,
    random: np.random.RandomState,
) -> list[SimplifiedRule]:
    """Choose a subset of the rules of one class."""
    weights = brancher.weights
    covers = np.array([rule.cover for rule in own], dtype=np.bool_).reshape(-1, len(weights))
    bits = np.array([rule_description_bits(brancher, rule.tests) for rule in own])
    subsets = RuleSubsets(covers, brancher.labels == head, weights, bits, exceptions)
    return [own[i] for i in subsets.best(random).tolist()]
