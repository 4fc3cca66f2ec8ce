"""Compact rules for numbers: the squared error as their loss, and boosted trees to compare with.

As a teacher of numbers such trees do not pay (`docs/defaults.md`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import BinnedColumns, PackedCovers
from rulewright.estimators.compact import settings
from rulewright.estimators.compact.expansion import Expansion
from rulewright.estimators.compact.held_out import HeldOutRows, note_held_out
from rulewright.estimators.compact.losses import FittedResponses
from rulewright.estimators.compact.members import Member, ResponseProblem, fitted_lines, n_lines
from rulewright.estimators.compact.settings import CompactRules
from rulewright.estimators.contract.base import RuleRegressor
from rulewright.estimators.contract.parameters import CheckedByFit, Parameter
from rulewright.estimators.folds.folds import Folds, number_folds
from rulewright.estimators.rulefit.regressor import scale_numbers
from rulewright.kernels import ROW, STAT, BoolArray, FloatArray, IntArray, RowArray, Score
from rulewright.model import RegressionRules
from rulewright.rules import Adds, Head, NumberCoverage, Rule
from rulewright.search import LEAST_ROWS, Constraints, SearchLimits, Subsampler, TreeGrower

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import RegressionSet
    from rulewright.estimators.compact.members import Candidate, RuleOnRows

N_TREES, N_LEAVES, LEARNING_RATE, SUBSAMPLE, LEAST_WEIGHT = 100, 6, 0.1, 0.5, 5.0


class CompactRulesRegressor(CompactRules[RegressionRules], RuleRegressor):
    """Few rules that people can read, as good as few rules can be, for numbers.

    See `CompactRulesClassifier`; the loss is the squared error.

    Attributes
    ----------
    model_ : RegressionRules
        The rules: prints, predicts, explains, saves and exports. Its summary has the entries
        `validation`, figures of out-of-fold rows, corrected for the choice of the size, `size`, the
        out-of-fold squared error of each number of rules (not corrected), and `price`, R2 and RMSE
        of few rules and of boosted trees on out-of-fold rows.
    size_ : Size
        Number of rules, with what cross-validation says of other sizes.
    held_out_ : HeldOutRows or None
        Out-of-fold answers of all sizes; None if the model has no rules or there were no folds.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from rulewright import CompactRulesRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> est = CompactRulesRegressor(8, size="max", random_state=0).fit(X, y)
    >>> len(est.model_) <= 8, est.score(X, y) > 0.4
    (True, True)
    """

    constraints: Any = Parameter(
        CheckedByFit("Constraints, dict or None"),
        "Limits by column; see `Constraints`.",
        default=None,
    )

    def _learn(self, rows: RegressionSet) -> RegressionRules:
        constraints = Constraints.of(self.constraints)
        constraints.check(rows.schema)
        random, sample = check_random_state(self.random_state), rows
        if rows.n_rows > settings.MOST_ROWS:
            drawn = random.permutation(rows.n_rows)[: settings.MOST_ROWS]
            sample = rows.take(np.sort(drawn))
        y, unit = scale_numbers(rows.numbers, rows.weights)
        own, repeats = sample.numbers / unit, []
        if sample.n_rows >= LEAST_ROWS:
            repeats = self._repeat_folds(
                sample.n_rows, lambda cv: number_folds(sample.n_rows, cv, sample.places, random)
            )
        lessons = NumberLessons(own, sample.weights, self.l2)
        outcome = self._search(sample, lessons, constraints, repeats, random, 1)
        members, fitted = outcome.model
        if sample is not rows:
            placed = [member.on(rows.table) for member in members]
            problem = ResponseProblem.of(placed, rows.n_rows)
            fitted = NumberLoss(y, rows.weights, self.l2).settle(problem)
        found = []
        for member, response in zip(members, fitted.responses.tolist(), strict=True):
            if isinstance(member, Member) and response != 0:
                body = member.body
                coverage = NumberCoverage.of(body.holds(rows.table), rows.numbers, rows.weights)
                found.append(Rule(body, Adds(Head(0, 0), unit * response), coverage))
        lines = fitted_lines(members, fitted.responses, 1, unit)
        summary = {**self._summary(rows), "size": self.size_.to_json(sample.weights)}
        answers = self.size_.out_of_fold
        if answers is not None:
            price = price_of_numbers(
                answers[:, 0],
                len(found) + n_lines(members),
                self._bin_columns(sample, constraints),
                own,
                sample.weights,
                repeats[0],
                int(random.randint(2**31)),
                self._n_threads,
            )
            summary["price"] = [{**one, "rmse": unit * one["rmse"]} for one in price]
        start = unit * float(fitted.intercepts[0])
        model = RegressionRules(rows.schema, start, tuple(found), summary, linear=lines)
        known = (sample.numbers, sample.weights, repeats, self.size)
        self.held_out_ = HeldOutRows.of(self.size_, *known, unit)
        return note_held_out(model, self.held_out_)


class NumberLessons:
    """Losses of numbers, for the rows that a fold trains on."""

    def __init__(self, numbers: FloatArray, weights: FloatArray, l2: float) -> None:
        self.numbers, self.weights, self.l2 = numbers, weights, l2
        self.targets = numbers[:, np.newaxis]

    def loss(self, train: BoolArray, place: tuple[int, int] | None, n_threads: int) -> NumberLoss:
        """Return the loss of training rows."""
        return NumberLoss(self.numbers, np.where(train, self.weights, 0.0), self.l2)


class _Rows(NamedTuple):
    """Groups of rows: columns, weights, sums of weighted deviations, group of each row."""

    problem: ResponseProblem
    columns: FloatArray
    weights: FloatArray
    pulls: FloatArray
    groups: IntArray


class NumberLoss:
    """The squared error of numbers, as the negative log-likelihood of errors of unknown variance.

    A rule of head 1 adds to the number, one of head 0 takes away.
    """

    heads: tuple[Head, ...] = (Head(0, 0), Head(1, 1))
    has_teacher = False

    def __init__(self, numbers: FloatArray, weights: FloatArray, l2: float) -> None:
        self.numbers, self.weights, self.l2 = numbers, weights, l2
        self.total = float(weights.sum())
        self.unit = 2.0 ** max(math.ceil(math.log2(self.total)) - 55, -1022)
        self.stats = np.zeros((len(numbers), 3), dtype=STAT)
        self.stats[:, 2] = np.rint(weights / self.unit).astype(STAT)
        self.center = float(np.average(numbers, weights=weights))
        self.deviations = numbers - self.center
        self.squares = float(weights @ self.deviations**2)
        self.floor = 1e-12 * max(self.squares, 1e-300)
        self.scale = 1.0
        self.residuals = self.deviations

    def fit(
        self, problem: ResponseProblem, tolerance: float, start: FloatArray | None = None
    ) -> FittedResponses:
        """Solve the normal equations; rules whose response turns round are fitted as 0."""
        rows = self._group_rows(problem)
        signs = np.array([1.0 if head.first else -1.0 for head in problem.heads])
        columns = rows.columns * signs[:, np.newaxis]
        means = columns @ rows.weights / self.total
        centred = columns - means[:, np.newaxis]
        gram = (centred * rows.weights) @ centred.T + self.l2 * np.eye(len(columns))
        b = _not_negative(gram, centred @ rows.pulls)
        moved = b @ centred
        # The squares of a model without rules, and what the rules change of them.
        squares = self.squares + float(moved @ (rows.weights * moved - 2 * rows.pulls))
        squares += self.l2 * float(b @ b)
        loss = 0.5 * self.total * math.log(max(squares, self.floor) / self.total)
        intercept = np.array([self.center - float(b @ means)])
        answers = (self.center + moved)[:, np.newaxis]
        found = rows.problem, rows.weights, rows.groups
        return FittedResponses(loss, signs * b, intercept, answers, *found)

    def _group_rows(self, problem: ResponseProblem) -> _Rows:
        """Put rows together that the same rules cover; a line has a value for each row."""
        if not problem.lines:
            found = problem.covers.group_rows(self.weights, self.deviations[:, np.newaxis])
            grouped = problem._replace(covers=PackedCovers(found.words, len(found.weights)))
            return _Rows(grouped, grouped.columns, found.weights, found.sums[:, 0], found.groups)
        every = np.arange(len(self.weights), dtype=np.int32)
        pulls = self.weights * self.deviations
        return _Rows(problem, problem.columns, self.weights, pulls, every)

    def settle(self, problem: ResponseProblem) -> FittedResponses:
        """Fit as always: the normal equations are exact."""
        return self.fit(problem, 0.0)

    def fit_labels(self, problem: ResponseProblem, start: FloatArray) -> FittedResponses:
        """Fit the numbers: no teacher has changed them."""
        return self.fit(problem, 1e-7, start)

    def hits(self, rows: RowArray, head: Head, values: FloatArray | None) -> float:
        """Return the sum of the weighted numbers, in the direction of a head."""
        own = self.weights[rows] if values is None else self.weights[rows] * values
        return (1 if head.first else -1) * float(own @ self.numbers[rows])

    def expand(self, fitted: FittedResponses, candidates: Sequence[Candidate]) -> Expansion:
        """Compute the derivatives of the squares, in units of the variance of the residuals."""
        problem, answers = fitted.problem, fitted.by_group[:, 0]
        signs = np.array([1.0 if head.first else -1.0 for head in problem.heads])
        values = np.concatenate(
            [problem.columns * signs[:, np.newaxis], np.ones((1, len(answers)))]
        )
        second = (values * fitted.weights) @ values.T
        places = np.arange(len(signs))
        second[places, places] += self.l2
        own_signs = np.array([1.0 if one.head.first else -1.0 for one in candidates])
        weights = fitted.weights_of(candidates, self.weights)
        pulls = np.array([one.hits for one in candidates]) - own_signs * (weights @ answers)
        own = fitted.squares_of(candidates, weights, self.weights).sum(axis=1)
        across = own_signs[:, np.newaxis] * (weights @ values.T)
        variance = self.scale**2
        return Expansion.of(
            signs * fitted.responses,
            second / variance,
            pulls / variance,
            (own + self.l2) / variance,
            across / variance,
        )

    def look(self, fitted: FittedResponses) -> None:
        """Take the residuals in units of their deviation."""
        self.residuals = self.numbers - fitted.answers[:, 0]
        squares = max(float(self.weights @ self.residuals**2), self.floor)
        self.scale = math.sqrt(squares / self.total)
        g = -self.weights * np.clip(self.residuals / self.scale, -16.0, 16.0)
        self.stats[:, 0] = np.rint(g / self.unit).astype(STAT)
        self.stats[:, 1] = self.stats[:, 2]

    def score(self, head: Head | None) -> Score:
        """Describe the decrease of the squares."""
        up, down = (True, True) if head is None else (bool(head.first), not head.first)
        return Score("newton", unit=self.unit, n_lanes=2, l2=self.l2, up=up, down=down)

    def head_of(self, score: Score, vote: int) -> Head:
        """Return 1 for a rule that adds, 0 for one that takes away."""
        return self.heads[1 - vote % 2]

    def gain(self, rows: RowArray, head: Head) -> float:
        """Return what a step of this rule alone gains."""
        weights = self.weights[rows]
        pull = float(weights @ self.residuals[rows]) / self.scale * (1 if head.first else -1)
        return pull * pull / (2 * (float(weights.sum()) + self.l2)) if pull > 0 else 0.0

    def prefix_gains(self, rule: RuleOnRows) -> FloatArray:
        """Return what steps of the first 1, 2, ... tests gain."""
        lengths = range(1, len(rule.tests) + 1)
        return np.array(
            [self.gain(rule.find_covered(range(length)), rule.head) for length in lengths]
        )

    def part_gains(self, rule: RuleOnRows) -> FloatArray | None:
        """Say nothing: the statistics cut off large residuals."""
        return None

    def loss_of(self, fitted: FittedResponses, rows: BoolArray) -> FloatArray:
        """Return the squared errors of some rows."""
        return np.asarray((self.numbers[rows] - fitted.answers[rows, 0]) ** 2)


def _not_negative(gram: FloatArray, pulls: FloatArray) -> FloatArray:
    """Solve the normal equations; columns whose coefficient is negative are left out."""
    b, kept = np.zeros(len(pulls)), np.ones(len(pulls), dtype=np.bool_)
    while kept.any():
        b[:] = 0.0
        b[kept] = np.linalg.solve(gram[np.ix_(kept, kept)], pulls[kept])
        if not (b < 0).any():
            return b
        kept &= b > 0
    return np.zeros(len(pulls))


class _BoostedAnswers(NamedTuple):
    """Answers of rows, and the number of rules: leaves of trees."""

    answers: FloatArray
    n_rules: int


def price_of_numbers(
    few: FloatArray,
    n_rules: int,
    binned: BinnedColumns,
    numbers: FloatArray,
    weights: FloatArray,
    folds: Folds,
    seed: int,
    n_threads: int,
) -> list[dict[str, Any]]:
    """Compare the answers of few rules with those of boosted trees, on rows left out."""

    def boosted(fold: int, check: Callable[[], None]) -> _BoostedAnswers:
        found = _boost(binned, numbers, weights, folds.train_mask(fold), seed + fold, check)
        return found._replace(answers=found.answers[folds.held_out_mask(fold)])

    runs = folds.run(boosted, n_threads)
    many = folds.scatter([run.answers for run in runs])
    n_many = round(float(np.mean([run.n_rules for run in runs])))
    seen = folds.ever_held_out
    compared = (("CompactRules", n_rules, few), ("boosted trees", n_many, many))
    return [
        {"learner": name, "n_rules": n, **_figures(numbers[seen], answers[seen], weights[seen])}
        for name, n, answers in compared
    ]


def _boost(
    binned: BinnedColumns,
    numbers: FloatArray,
    weights: FloatArray,
    train: BoolArray,
    seed: int,
    check: Callable[[], None],
) -> _BoostedAnswers:
    rows = np.flatnonzero(train).astype(ROW)
    sampler = Subsampler(len(rows), SUBSAMPLE, np.random.RandomState(seed % 2**32))
    grower = TreeGrower(binned, weights, SearchLimits(min_weight=LEAST_WEIGHT))
    answers = np.full(len(numbers), np.average(numbers[train], weights=weights[train]))
    n_rules = 0
    for _ in range(N_TREES):
        check()
        S = rows[sampler.draw().rows]
        tree = grower.grow(S, (numbers[S] - answers[S])[:, np.newaxis], N_LEAVES)
        answers += LEARNING_RATE * tree.values[tree.reach(binned.codes), 0]
        n_rules += (tree.n_nodes + 1) // 2 if tree.n_nodes > 1 else 0
    return _BoostedAnswers(answers, n_rules)


def _figures(numbers: FloatArray, answers: FloatArray, weights: FloatArray) -> dict[str, float]:
    """Return R2 and the root of the mean squared error."""
    error = float(np.average((numbers - answers) ** 2, weights=weights))
    center = np.average(numbers, weights=weights)
    whole = float(np.average((numbers - center) ** 2, weights=weights))
    return {"r2": 1 - error / whole if whole > 0 else 0.0, "rmse": float(np.sqrt(error))}
