"""Which columns matter: votes of many sparse fits, each on its own sample of the rows.

Each sample grows its own rules, weighted under an L1 penalty. The methods differ in which terms get
a vote, and in how many samples must agree.
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.estimators.folds.folds import stratified_folds
from rulewright.evidence import check_max_false, check_threshold, first_for_bound, pair_bound
from rulewright.search import check_whole
from rulewright.weighting import CoordinateDescent, L1Problem, L1Solution, Solver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.rulefit.terms import CandidateTerms
    from rulewright.kernels import BoolArray, FloatArray, IntArray

    Places = NDArray[np.integer]

LARGEST, SMALLEST = 0.5, 0.005
"""Penalties with votes, as shares of the smallest penalty at which all weights are 0."""

PATH_END = 1e-3
"""End of the path of a stability selection, as a share of the same penalty."""


class Ballot(NamedTuple):
    """The terms of one fit (texts and columns), and their weighting problem."""

    terms: Sequence[tuple[str, tuple[str, ...]]]
    problem: L1Problem

    @classmethod
    def of(cls, candidates: CandidateTerms, problem: L1Problem) -> Ballot:
        """Describe rules and linear terms in the order of the problem."""
        rules = [(str(rule), tuple(rule.columns)) for rule in candidates.rules.rules]
        lines = [(f"linear({line.column})", (line.column,)) for line in candidates.linear]
        return cls([*rules, *lines], problem)

    def importances(self, solution: L1Solution) -> FloatArray:
        """Return absolute weights times the standard deviations of their terms."""
        return np.asarray(abs(solution.coef) * np.sqrt(self.problem.design.variances))


class Method(ABC):
    """How samples are drawn, which terms get votes, and which columns are selected."""

    @abstractmethod
    def samples(self, labels: IntArray, few: bool, random: np.random.RandomState) -> list[Places]:
        """Draw the rows of each sample, stratified by class; `few` rows are all taken."""

    @abstractmethod
    def votes(self, ballots: Sequence[Ballot], n_columns: int) -> list[IntArray]:
        """Return the votes (terms, penalties) of a sample, one array per class."""

    @abstractmethod
    def keeps(self, counts: IntArray, n_samples: int) -> BoolArray:
        """Return which columns are selected, given how many samples vote for each."""

    def expected_false(self, n_columns: int) -> float | None:
        """Return a bound on the expected number of useless columns selected, if there is one."""
        return None


@dataclass(frozen=True)
class Voting(Method):
    """Select a column if enough samples have it in a strong term at any penalty.

    Each sample is fitted at several penalties. At each penalty the terms with the largest weights
    get a vote.

    Parameters
    ----------
    n_repetitions : int
        Number of samples.
    min_repetitions : int
        Minimum number of samples that vote for a selected column.
    n_penalties : int
        Number of penalties, log-spaced from 0.5 to 0.005 of the largest useful one.
    n_top : int
        Number of terms that get a vote at each penalty.
    sample_share : float
        Share of the rows in a sample. With fewer than 100 rows all are used.
    rank_by : {"coef", "importance"}
        Rank terms by their weight, or by weight times standard deviation ("importance"), which is
        small for rules that apply to few or to almost all rows.
    solver : Solver
        How weights are computed. The paper uses `FPC()`: the same weights, more slowly.
    """

    n_repetitions: int = 5
    min_repetitions: int = 3
    n_penalties: int = 13
    n_top: int = 20
    sample_share: float = 0.5
    rank_by: str = "coef"
    solver: Solver = field(default_factory=CoordinateDescent)

    def __post_init__(self) -> None:
        for name in ("n_repetitions", "min_repetitions", "n_penalties", "n_top"):
            check_whole(name, getattr(self, name), 1)
        if self.min_repetitions > self.n_repetitions:
            raise ValueError(
                f"min_repetitions={self.min_repetitions} must not exceed "
                f"n_repetitions={self.n_repetitions}"
            )
        if not 0 < self.sample_share <= 1:
            raise ValueError(f"sample_share={self.sample_share!r} must be above 0 and at most 1")
        if self.rank_by not in ("coef", "importance"):
            raise ValueError(f"rank_by={self.rank_by!r} must be 'coef' or 'importance'")
        if not isinstance(self.solver, Solver):
            raise ValueError(f"solver={self.solver!r} must be a Solver, such as FPC()")

    def samples(self, labels: IntArray, few: bool, random: np.random.RandomState) -> list[Places]:
        """Draw rows without replacement."""
        share = 1.0 if few else self.sample_share
        return [_draw_rows(labels, share, random) for _ in range(self.n_repetitions)]

    def votes(self, ballots: Sequence[Ballot], n_columns: int) -> list[IntArray]:
        """Return a vote to the terms with the largest weights at each penalty."""
        return [self._top(ballot) for ballot in ballots]

    def _top(self, ballot: Ballot) -> IntArray:
        problem, votes = ballot.problem, np.zeros((len(ballot.terms), self.n_penalties), np.int32)
        if problem.largest_penalty == 0:
            return votes
        grid = problem.largest_penalty * np.geomspace(LARGEST, SMALLEST, self.n_penalties)
        for place, solution in enumerate(self.solver.follow(problem, grid)):
            sizes, importances = abs(solution.coef), ballot.importances(solution)
            keys = (sizes, importances) if self.rank_by == "coef" else (importances, sizes)
            strongest = np.lexsort((-keys[1], -keys[0]))[: self.n_top]
            votes[strongest[sizes[strongest] > 0], place] = 1
        return votes

    def keeps(self, counts: IntArray, n_samples: int) -> BoolArray:
        """Select the columns with votes of at least `min_repetitions` samples."""
        return np.asarray(counts >= self.min_repetitions)


@dataclass(frozen=True)
class Stability(Method):
    r"""Select a column if it enters first on the paths of most half-samples.

    Stability selection (Meinshausen and Buehlmann, 2010) with complementary pairs (Shah and
    Samworth, 2013): the rows are split into random halves `n_pairs` times, and each half selects
    the first q columns that enter its path. Let p be the number of columns, and call a column
    useless if a half selects it with probability at most q / p. The expected number of useless
    columns selected is at most :math:`q^2 / ((2 \pi - 1) p)` at the threshold :math:`\pi`.

    Parameters
    ----------
    n_pairs : int
        Number of pairs of halves.
    threshold : float
        Minimum share of the halves that select a column, above 0.5.
    max_false : float
        Bound on the expected number of useless columns; determines q.
    n_first : int, optional
        q itself, instead of `max_false`.
    """

    n_pairs: int = 50
    threshold: float = 0.75
    max_false: float = 1.0
    n_first: int | None = None

    def __post_init__(self) -> None:
        check_whole("n_pairs", self.n_pairs, 1)
        check_threshold(self.threshold)
        check_max_false(self.max_false)
        if self.n_first is not None:
            check_whole("n_first", self.n_first, 1)

    def first(self, n_columns: int) -> int:
        """Return q, the number of columns that a half selects."""
        if self.n_first is not None:
            return min(self.n_first, n_columns)
        return first_for_bound(self.max_false, n_columns, self.threshold)

    def expected_false(self, n_columns: int) -> float:
        """Return the bound on the number of useless columns; warn if it exceeds `max_false`."""
        bound = pair_bound(self.first(n_columns), n_columns, self.threshold)
        if self.n_first is None and bound > self.max_false * (1 + 1e-9):
            warnings.warn(
                f"max_false={self.max_false:g}: each half selects one of {n_columns} columns, "
                f"so the bound is {bound:.3g}. Raise threshold or max_false.",
                stacklevel=4,
            )
        return bound

    def samples(self, labels: IntArray, few: bool, random: np.random.RandomState) -> list[Places]:
        """Split the rows into halves, even if they are few."""
        folds = [stratified_folds(labels, 2, random) for _ in range(self.n_pairs)]
        return [np.flatnonzero(fold == half) for fold in folds for half in (0, 1)]

    def votes(self, ballots: Sequence[Ballot], n_columns: int) -> list[IntArray]:
        """Vote for the first terms of the path that use at most q columns together.

        Terms that would exceed q are skipped. The paths of several classes are followed in step.
        """
        q = self.first(n_columns)
        entries = [
            (*entry, which) for which, ballot in enumerate(ballots) for entry in _entries(ballot, q)
        ]
        votes = [np.zeros((len(ballot.terms), 1), np.int32) for ballot in ballots]
        found: set[str] = set()
        for _, _, term, which in sorted(entries):
            wider = found.union(ballots[which].terms[term][1])
            if len(wider) <= q:
                found, votes[which][term] = wider, 1
        return votes

    def keeps(self, counts: IntArray, n_samples: int) -> BoolArray:
        """Select the columns whose share of the halves reaches the threshold."""
        return np.asarray(counts >= self.threshold * n_samples * (1 - 1e-12))


def _entries(ballot: Ballot, q: int) -> list[tuple[int, float, int]]:
    """Follow the path until its terms use q columns; return when each term entered.

    Terms that enter at the same penalty are sorted by importance.
    """
    problem = ballot.problem
    if problem.largest_penalty == 0:
        return []
    entries: list[tuple[int, float, int]] = []
    entered: set[int] = set()
    columns: set[str] = set()
    grid = problem.largest_penalty * np.geomspace(1.0, PATH_END, 100)
    for place, solution in enumerate(CoordinateDescent().follow(problem, grid)):
        importances = ballot.importances(solution)
        for term in np.flatnonzero(solution.coef).tolist():
            if term not in entered:
                entered.add(term)
                entries.append((place, -float(importances[term]), term))
                wider = columns.union(ballot.terms[term][1])
                columns = wider if len(wider) <= q else columns
        if len(columns) == q:
            break
    return entries


def _draw_rows(labels: IntArray, share: float, random: np.random.RandomState) -> Places:
    """Draw a share of the rows of each class, at least one row."""
    if share == 1:
        return np.arange(len(labels))
    parts = [random.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return np.sort(np.concatenate([part[: max(round(share * len(part)), 1)] for part in parts]))
