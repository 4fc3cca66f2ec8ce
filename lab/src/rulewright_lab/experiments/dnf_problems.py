"""Hard k-term DNF consistency problems, and an exact answer to whether one can be solved.

Can at most k terms over m Boolean variables cover all n_p positives and none of n_n negatives? The
rows of *random* problems are uniform; *planted* problems hide a formula that can.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray

    IntArray: TypeAlias = NDArray[np.intp]
    Words: TypeAlias = NDArray[np.uint64]


@dataclass(frozen=True)
class Sizes:
    """Terms, variables and positives of problems."""

    k: int
    m: int
    n_p: int

    def rng(self, *key: int) -> np.random.Generator:
        """Return the random numbers of a problem of this size."""
        return np.random.default_rng([self.k, self.m, self.n_p, *key])


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows of both classes that at most k terms must tell apart."""

    k: int
    positives: BoolArray
    negatives: BoolArray

    @cached_property
    def rows(self) -> BoolArray:
        """The rows of both classes, positives first."""
        return np.vstack([self.positives, self.negatives])

    @cached_property
    def labels(self) -> BoolArray:
        """Whether each row is positive."""
        return np.arange(len(self.rows)) < len(self.positives)

    def first(self, n_n: int) -> Problem:
        """Return the problem with only so many negatives."""
        return Problem(self.k, self.positives, self.negatives[:n_n])


def uniform_rows(sizes: Sizes, n: int, rng: np.random.Generator) -> BoolArray:
    """Draw rows in which every variable is a fair coin."""
    return rng.random((n, sizes.m)) < 0.5


def random_problem(sizes: Sizes, n_n: int, seed: int) -> Problem:
    """Draw uniform rows; with more negatives the first ones stay the same."""
    positives = uniform_rows(sizes, sizes.n_p, sizes.rng(0, seed))
    return Problem(sizes.k, positives, uniform_rows(sizes, n_n, sizes.rng(1, seed)))


def planted_length(sizes: Sizes, n_n: int) -> int:
    """Return how many literals a term needs for k terms to reject n_n random rows half the time.

    Terms of this length stand out least: much shorter ones would reject few random rows, longer
    ones would make the positives of a term more alike than they need to be.
    """
    return min(sizes.m, math.ceil(math.log2(sizes.k * n_n / math.log(2))))


def planted_problem(sizes: Sizes, n_n: int, seed: int) -> Problem:
    """Hide a formula: positives satisfy its terms in turn, negatives none, else all is uniform."""
    rng, length = sizes.rng(2, seed), planted_length(sizes, n_n)
    variables = np.array([rng.permutation(sizes.m)[:length] for _ in range(sizes.k)])
    values = rng.random((sizes.k, length)) < 0.5
    positives = uniform_rows(sizes, sizes.n_p, rng)
    for i, row in enumerate(positives):
        row[variables[i % sizes.k]] = values[i % sizes.k]
    negatives = np.zeros((0, sizes.m), dtype=np.bool_)
    while len(negatives) < n_n:
        drawn = uniform_rows(sizes, n_n, rng)
        covered = (drawn[:, variables] == values).all(axis=2).any(axis=1)
        negatives = np.vstack([negatives, drawn[~covered]])
    return Problem(sizes.k, positives, negatives[:n_n])


class Answer(NamedTuple):
    """Whether a problem can be solved, and how many partial partitions were looked at."""

    solvable: bool
    cost: int


def solve(problem: Problem) -> Answer:
    """Return whether a consistent formula exists, by trying all partitions of the positives.

    If any formula is consistent, so is one whose terms are the literals shared by the parts of
    some partition. Such a term rejects a negative just if some variable differs from it in all
    positives of the part, so a part is kept as those variables: one bit set per negative.
    """
    differs = np.packbits(problem.positives[:, None, :] ^ problem.negatives, axis=2)
    spare = -differs.shape[2] % 8
    words = np.pad(differs, ((0, 0), (0, 0), (0, spare))).view(np.uint64)
    visits = count()
    found = _extend([], np.arange(len(words)), words, problem.k, visits)
    return Answer(found, next(visits))


def _extend(
    parts: list[Words], left: IntArray, differs: Words, k: int, visits: Iterator[int]
) -> bool:
    """Return whether the positives left fit into the parts and those not yet opened."""
    next(visits)
    if not len(left):
        return True
    joined = [part & differs[left] for part in parts]
    if len(parts) < k:
        # Unopened parts are all alike, so one of them is enough.
        joined.append(differs[left])
    fits = np.array([np.all(np.any(both, axis=2), axis=1) for both in joined])
    # The positive with the fewest choices first: most dead ends show at once.
    i = int(fits.sum(axis=0).argmin())
    others = np.delete(left, i)
    return any(
        _extend([*parts[:p], joined[p][i], *parts[p + 1 :]], others, differs, k, visits)
        for p in np.flatnonzero(fits[:, i])
    )


def critical_negatives(sizes: Sizes, seed: int) -> int:
    """Return the most negatives with which a random problem can still be solved.

    More negatives never make a problem solvable, so doubling and halving finds the number.
    """
    low, high = 0, 1
    while solve(random_problem(sizes, high, seed)).solvable:
        low, high = high, 2 * high
    whole = random_problem(sizes, high, seed)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if solve(whole.first(middle)).solvable else (low, middle)
    return low
