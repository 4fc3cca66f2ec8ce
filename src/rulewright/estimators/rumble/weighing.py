"""Weights for the rules of a repository: the best prefix per class, and the resulting model."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from rulewright.estimators.contract.parameters import Choice, Domain, Real, check_parameters
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Head, Rule
from rulewright.stopping import margin_penalty, mmv_penalty
from rulewright.weighting import MMV, EmpiricalMargin, MarginWeights, OneNormSVM, keep_few

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray, IntArray
    from rulewright.search import Repository
    from rulewright.weighting import Criterion, CriterionState

DRAWN = "margin_subsample"
"""The mean margin of classes that are balanced by drawing rows, as the thesis says."""

PRACTICAL = {"mmv": 1.0, "margin": 0.1, DRAWN: 0.1, "svm1": 0.1}
"""The criteria, with the constants of the thesis inside the root of the penalty."""

NOTHING_BETTER = "no later prefix can be better"
ALL_RULES = "all rules"

LEAST_COUNT = 2.0
"""Minimum number of rows that weights represent: fewer have no variance."""

CONSTANT = 0
"""Line of the constant rule."""


@dataclass(frozen=True)
class WeightNorm:
    """Constraint on the weights: a norm up to a radius.

    Parameters
    ----------
    p : float
        The norm, at least 1; infinity is the maximum absolute weight. 1 gives few rules.
    radius : float
        Maximum norm of the weights. A larger one penalises the variance more, and allows weights
        closer to Fisher's discriminant.
    shape : {"ball", "sphere"}
        Whether the norm is at most the radius, or equal to it ("sphere", only for p = 2).
    """

    p: float = 1.0
    radius: float = 1.0
    shape: str = "ball"

    DOMAINS: ClassVar[Mapping[str, Domain]] = {
        "radius": Real(0, above=True),
        "shape": Choice(("ball", "sphere")),
    }

    def __post_init__(self) -> None:
        if not (Real(1).accepts(self.p) or self.p == math.inf):
            raise ValueError(f"WeightNorm: p={self.p!r} must be a number >= 1 or inf")
        check_parameters(type(self).__name__, vars(self), self.DOMAINS)


NORMS: dict[str, Callable[..., WeightNorm]] = {
    "l1": WeightNorm,
    "l2": partial(WeightNorm, p=2.0),
    "max": partial(WeightNorm, p=math.inf),
}
"""The norms by name."""


def criterion_of(
    name: str, norm: WeightNorm, budget: float, constant: float | None = None
) -> Criterion:
    """Return the named criterion with its settings.

    Without a penalty for rules, only the norm limits the weights.
    """
    if name == "mmv":
        sphere = norm.shape == "sphere"
        return MMV(norm.p, in_one_norm=constant != 0, radius=norm.radius, sphere=sphere)
    return OneNormSVM(budget) if name == "svm1" else EmpiricalMargin()


def penalty_of(name: str, n: float, delta: float, constant: float | None) -> Callable[[int], float]:
    """Return the penalty of a criterion as a function of the number of rules generated."""
    c = PRACTICAL[name] if constant is None else constant
    if name == "mmv":
        return partial(mmv_penalty, n=n, delta=delta, constant=c)
    p = 1.0 if name == "svm1" else 2.0
    return partial(margin_penalty, n=n, delta=delta, constant=c, p=p)


def balanced_rows(share: float, n: float) -> float:
    """Return the effective number of n rows if each class gets half of the weight."""
    return 4 * n * share * (1 - share) if 0 < share < 1 else n


def balance_by_drawing(
    signs: FloatArray, weights: FloatArray, random: np.random.RandomState
) -> FloatArray:
    """Return weights that keep rows of the heavier class, drawn at random, up to equal weight."""
    totals = [weights[signs == sign].sum() for sign in (-1, 1)]
    larger = np.flatnonzero(signs == (-1 if totals[0] > totals[1] else 1))
    if min(totals) == 0:
        return weights
    drawn = random.permutation(larger)
    before = np.cumsum(weights[drawn]) - weights[drawn]
    balanced = weights.copy()
    balanced[drawn] = np.clip(min(totals) - before, 0.0, weights[drawn])
    return balanced


class TraceStep(NamedTuple):
    """A prefix with new weights: its objective and its penalty."""

    n_generated: int
    objective: float
    penalty: float
    score: float
    support: int


@dataclass(frozen=True, eq=False)
class Prefix:
    """The best prefix: its weights, and how it was found."""

    n_generated: int
    solution: MarginWeights
    trace: tuple[TraceStep, ...]
    stop_reason: str


@dataclass(frozen=True)
class Selection:
    """How a prefix is chosen.

    Parameters
    ----------
    penalty : callable
        Penalty by the number of generated rules; increasing.
    largest : float
        Upper bound of all objectives.
    cap : int
        Maximum number of rules in the working set.
    max_candidates : int, optional
        Maximum number of generated rules.
    deadline : float, optional
        Time limit on the monotonic clock; the best prefix so far is then used.
    """

    penalty: Callable[[int], float]
    largest: float
    cap: int
    max_candidates: int | None = None
    deadline: float | None = None

    def stop_reason(self, n_generated: int, best: float) -> str | None:
        """Return why no further rule is generated, or None."""
        if self.largest - self.penalty(n_generated) < best:
            return NOTHING_BETTER
        if self.deadline is not None and time.monotonic() >= self.deadline:
            return "time_limit"
        return None


def find_best_prefix(
    repository: Repository, state: CriterionState, selection: Selection, check: Callable[[], None]
) -> Prefix:
    """Add rules one by one and return the prefix with the best score.

    The score is the objective minus the penalty; ties go to the shorter prefix. Rules that cannot
    change the best weights are skipped by the solver: the objective stays, the penalty grows.

    Parameters
    ----------
    repository : Repository
        The rules.
    state : CriterionState
        A criterion without rules.
    selection : Selection
        Penalty and limits.
    check : callable
        Called before every rule; may raise to stop the loop.
    """
    best, trace, reason = None, [], None
    score = -np.inf
    for number, line in repository:
        check()
        if selection.max_candidates is not None and number > selection.max_candidates:
            reason = "max_candidates"
            break
        changed = state.add(repository.covers[line : line + 1]) or best is None
        if changed:
            state.solve()
        state.drop_to(selection.cap)
        if changed:
            solution, penalty = state.solution, selection.penalty(number)
            step = TraceStep(
                number, solution.value, penalty, solution.value - penalty, len(solution.lines)
            )
            trace.append(step)
            if best is None or step.score > score:
                best, score = (number, solution), step.score
        reason = selection.stop_reason(number, score)
        if reason is not None:
            break
    assert best is not None, "rule 0 always exists"
    return Prefix(*best, tuple(trace), reason or ALL_RULES)


def constant_prefix(sign: float, penalty: float) -> Prefix:
    """Return the prefix of the constant rule for rows of a single class: no rule is better."""
    line, weight = np.zeros(1, dtype=np.int32), np.array([float(sign)])
    step = TraceStep(1, 1.0, penalty, 1.0 - penalty, 1)
    return Prefix(1, MarginWeights(line, weight, 1.0, 0.0, 1.0, 0.0), (step,), NOTHING_BETTER)


@dataclass(frozen=True)
class Weighing:
    """How rules are weighted; the fields but the seed are parameters of `RumbleClassifier`."""

    criterion: str
    norm: WeightNorm
    budget: float
    capacity: float | None
    delta: float
    max_active: int
    max_candidates: int | None
    max_rules: int | None
    seed: int

    def prefixes(
        self,
        repository: Repository,
        labels: IntArray,
        weights: FloatArray,
        n_classes: int,
        check: Callable[[], None],
        seconds: float | None = None,
    ) -> list[Prefix]:
        """Find the best prefix of each score: one for two classes, else one per class.

        Parameters
        ----------
        repository : Repository
            The rules, on the rows.
        labels, weights : arrays
            Class and weight of each row; weights may be 0.
        n_classes : int
            Number of classes.
        check : callable
            Called before every rule; may raise.
        seconds : float, optional
            Time limit for all scores together.
        """
        n_scores = n_classes if n_classes > 2 else 1
        started, found = time.monotonic(), []
        for head in range(n_scores):
            deadline = None if seconds is None else started + seconds * (head + 1) / n_scores
            signs = np.where(labels == head, 1.0, -1.0)
            found.append(self._best(repository, signs, weights, deadline, check))
        return found

    def _best(
        self,
        repository: Repository,
        signs: FloatArray,
        weights: FloatArray,
        deadline: float | None,
        check: Callable[[], None],
    ) -> Prefix:
        """Find the best prefix for rows of the classes +1 and -1."""
        if self.criterion == DRAWN:
            weights = balance_by_drawing(signs, weights, np.random.RandomState(self.seed))
        shares = weights / weights.max()
        shares /= shares.sum()
        n = max(count_effective_rows(weights), LEAST_COUNT)
        charged = balanced_rows(shares[signs > 0].sum(), n) if self.criterion == "margin" else n
        penalty = penalty_of(self.criterion, charged, self.delta, self.capacity)
        if abs(signs.sum()) == len(signs):
            next(iter(repository))  # the constant rule, which is always right
            return constant_prefix(signs[0], penalty(1))
        criterion = criterion_of(self.criterion, self.norm, self.budget, self.capacity)
        selection = Selection(
            penalty, criterion.largest_value, self.max_active, self.max_candidates, deadline
        )
        prefix = find_best_prefix(repository, criterion.start(signs, shares, n), selection, check)
        if self.max_rules is None:
            return prefix
        lines = prefix.solution.lines
        path = keep_few(criterion, repository.covers[lines], signs, shares, self.max_rules, n)
        # The constant rule is not shown.
        few = next(one for one in path if np.count_nonzero(lines[one.lines]) <= self.max_rules)
        return replace(prefix, solution=replace(few, lines=lines[few.lines]))


@dataclass(frozen=True, eq=False)
class ClassScore:
    """The score of a class against all others: lines and weights of rules."""

    head: int
    lines: IntArray
    weights: FloatArray

    @property
    def start(self) -> float:
        """Weight of the constant rule."""
        return float(self.weights[self.lines == CONSTANT].sum())

    def rules(self, n_classes: int) -> Iterator[tuple[int, int, float]]:
        """Yield line, class and response of the rules with nonzero weights, without the constant.

        With two classes a negative weight raises the other class; with several it lowers its own.
        """
        for line, weight in zip(self.lines.tolist(), self.weights.tolist(), strict=True):
            if line != CONSTANT and weight != 0:
                yield line, *_find_class(self.head, weight, n_classes)


def collect_class_scores(prefixes: Sequence[Prefix]) -> list[ClassScore]:
    """Return the scores of the best prefixes, one per class or one for two classes."""
    solutions = (prefix.solution for prefix in prefixes)
    return [ClassScore(head, best.lines, best.weights) for head, best in enumerate(solutions)]


def rule_model(
    scores: Sequence[ClassScore], repository: Repository, rows: TrainingSet, summary: dict[str, Any]
) -> AdditiveRules:
    """Create the model from scores; with two classes one score serves both."""
    n_classes, holds = len(rows.classes), repository.covers.holds
    intercepts, rules = np.zeros(n_classes), []
    for score in scores:
        head, start = _find_class(score.head, score.start, n_classes)
        intercepts[head] += start
        for line, head, response in score.rules(n_classes):
            counted = rows.weights_by_class(holds[line : line + 1].row_mask())
            coverage = Coverage.of(tuple(counted.tolist()))
            adds = Adds(Head(head, head), response, -response)
            rules.append(Rule(repository.body(line), adds, coverage))
    starts = tuple(intercepts.tolist())
    return AdditiveRules(rows.schema, rows.classes, starts, tuple(rules), summary)


def _find_class(head: int, weight: float, n_classes: int) -> tuple[int, float]:
    """Return the class that a weight raises, and by how much."""
    return (1 - head, -weight) if n_classes == 2 and weight < 0 else (head, weight)
