"""Which columns matter: votes of many sparse fits, each on a sample of the rows of its own.

Each sample grows its own rules, and a penalty weighs them. What differs is which terms get a vote,
and how many samples have to agree.
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

    from rulewright.estimators.rulefit.settings import CandidateTerms
    from rulewright.kernels import BoolArray, FloatArray, IntArray

    Places = NDArray[np.integer]

LARGEST, SMALLEST = 0.5, 0.005
"""Penalties that vote, as shares of the penalty from which on all weights are 0."""

PATH_END = 1e-3
"""Share of that penalty where the path of a stability selection ends."""


class Ballot(NamedTuple):
    """The terms of one fit, as texts with their columns, and the problem of weighting them."""

    terms: Sequence[tuple[str, tuple[str, ...]]]
    problem: L1Problem

    @classmethod
    def of(cls, candidates: CandidateTerms, problem: L1Problem) -> Ballot:
        """Describe rules and linear terms in the order of the problem."""
        rules = [(str(rule), tuple(rule.columns)) for rule in candidates.rules.rules]
        lines = [(f"linear({line.column})", (line.column,)) for line in candidates.linear]
        return cls([*rules, *lines], problem)

    def importances(self, solution: L1Solution) -> FloatArray:
        """Return the sizes of the weights times the deviations of what they weigh."""
        return np.asarray(abs(solution.coef) * np.sqrt(self.problem.design.variances))


class Method(ABC):
    """How samples are drawn, which terms get votes, and which columns are kept."""

    @abstractmethod
    def samples(self, labels: IntArray, few: bool, random: np.random.RandomState) -> list[Places]:
        """Draw the rows of each sample, with the classes in proportion; `few` rows stay whole."""

    @abstractmethod
    def votes(self, ballots: Sequence[Ballot], n_columns: int) -> list[IntArray]:
        """Return the votes (terms, penalties) on each ballot of a sample, one for each class."""

    @abstractmethod
    def keeps(self, counts: IntArray, n_samples: int) -> BoolArray:
        """Tell which columns are kept, from the number of samples that vote for each."""

    def expected_false(self, n_columns: int) -> float | None:
        """Return a bound on the number of useless columns kept, if there is one."""
        return None


@dataclass(frozen=True)
class Voting(Method):
    """A column is kept if enough samples have it in a strong term at any penalty.

    Each of the samples fits its rules at several penalties. A term has the vote of a penalty if its
    weight is among the largest there.

    Parameters
    ----------
    n_repetitions : int
        Samples.
    min_repetitions : int
        Samples that must vote for a column.
    n_penalties : int
        Penalties, log-spaced from 0.5 to 0.005 of the largest useful one.
    n_top : int
        Terms that get the vote of a penalty.
    sample_share : float
        Share of the rows in a sample. Fewer than 100 rows are not sampled.
    rank_by : {"coef", "importance"}
        Whether the largest weights are strongest, or the largest weights times the deviation of
        their term, which is small for rules that hold for few or for almost all rows.
    solver : Solver
        How weights are found. The paper has `FPC()`, which finds the same weights more slowly.
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
        """Let each penalty vote for the terms of the largest weights."""
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
        """Keep columns of at least `min_repetitions` samples."""
        return np.asarray(counts >= self.min_repetitions)


@dataclass(frozen=True)
class Stability(Method):
    r"""A column is kept if most halves of the rows have it among the first of their paths.

    Stability selection (Meinshausen and Buehlmann, 2010) with complementary pairs (Shah and
    Samworth, 2013): the rows are halved at random `n_pairs` times, and in each half the first q
    columns that enter the path of the penalty are chosen. The expected number of kept columns that
    are chosen by no more than a share q / p of all halves, p being the number of columns, is at
    most :math:`q^2 / ((2 \pi - 1) p)` with the threshold :math:`\pi`.

    Parameters
    ----------
    n_pairs : int
        Pairs of halves.
    threshold : float
        Share of the halves that must choose a column, above 0.5.
    max_false : float
        The bound that q is computed from.
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
        """Return q: how many columns a half may choose."""
        if self.n_first is not None:
            return min(self.n_first, n_columns)
        return first_for_bound(self.max_false, n_columns, self.threshold)

    def expected_false(self, n_columns: int) -> float:
        """Return the bound on the number of useless columns kept; warn if it is not that asked."""
        bound = pair_bound(self.first(n_columns), n_columns, self.threshold)
        if self.n_first is None and bound > self.max_false * (1 + 1e-9):
            warnings.warn(
                f"max_false={self.max_false:g}: of {n_columns} columns a half chooses at least "
                f"one, so that the bound is {bound:.3g}. Raise the threshold or max_false.",
                stacklevel=4,
            )
        return bound

    def samples(self, labels: IntArray, few: bool, random: np.random.RandomState) -> list[Places]:
        """Halve the rows, however few they are."""
        folds = [stratified_folds(labels, 2, random) for _ in range(self.n_pairs)]
        return [np.flatnonzero(fold == half) for fold in folds for half in (0, 1)]

    def votes(self, ballots: Sequence[Ballot], n_columns: int) -> list[IntArray]:
        """Vote for the terms that enter first and have no more than q columns together.

        A term that would bring more is passed over. The paths of several classes are followed in
        step.
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
        """Keep columns whose share of the halves reaches the threshold."""
        return np.asarray(counts >= self.threshold * n_samples * (1 - 1e-12))


def _entries(ballot: Ballot, q: int) -> list[tuple[int, float, int]]:
    """Follow the path until terms of q columns are in it; return when each term entered.

    Terms that enter at the same penalty come by their importance there.
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
    """Draw a share of the rows of each class, at least one."""
    if share == 1:
        return np.arange(len(labels))
    parts = [random.permutation(np.flatnonzero(labels == label)) for label in np.unique(labels)]
    return np.sort(np.concatenate([part[: max(round(share * len(part)), 1)] for part in parts]))
