"""Compact rules for regression, and boosted trees to compare with.

As teachers such trees do not improve the rules (`docs/research/defaults.md`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.compact import settings
from rulewright.estimators.compact.held_out import HeldOutRows
from rulewright.estimators.compact.members import Member, ResponseProblem, fitted_lines, n_lines
from rulewright.estimators.compact.number_loss import NumberLessons, rank_numbers
from rulewright.estimators.compact.score_loss import ScoreLessons
from rulewright.estimators.compact.settings import CompactRules, lines_parameter
from rulewright.estimators.contract.base import RuleRegressor
from rulewright.estimators.contract.parameters import CheckedByFit, Choice, Parameter, Real
from rulewright.estimators.rulefit.regressor import robust_deviation, scale_numbers
from rulewright.kernels import ROW, BoolArray, FloatArray
from rulewright.model import RegressionRules
from rulewright.rules import Adds, Head, NumberCoverage, Rule
from rulewright.search import LEAST_ROWS, Constraints, SearchLimits, Subsampler, TreeGrower
from rulewright.weighting import HuberScoreLoss, QuantileLoss

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.data import RegressionSet
    from rulewright.encoding import BinnedColumns
    from rulewright.estimators.compact.settings import Lessons
    from rulewright.estimators.folds.folds import Folds
    from rulewright.weighting import ScoreLoss

SMOOTH_WIDTH = 0.02
"""Half the smooth part of the quantile loss, in units near the deviation of the numbers."""

N_TREES, N_LEAVES, LEARNING_RATE, SUBSAMPLE, LEAST_WEIGHT = 100, 6, 0.1, 0.5, 5.0


class CompactRulesRegressor(CompactRules[RegressionRules], RuleRegressor):
    """Compact regressor: a few readable rules, chosen and fitted together.

    See `CompactRulesClassifier`. The loss is the squared error, or one that large errors affect
    less, or that of a quantile.

    Attributes
    ----------
    model_ : RegressionRules
        The rules. Its summary has three entries of this learner. `validation`: out-of-fold
        figures, corrected for the choice of the size. `size`: the uncorrected out-of-fold squared
        error of each number of rules. `price`: out-of-fold R2 and RMSE of the rules and of boosted
        trees.
    size_ : Size
        Number of rules, with the cross-validated losses of other sizes.
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
        "Constraints per column; see `Constraints`.",
        default=None,
    )
    linear: bool | str = lines_parameter(default="auto")
    loss: str = Parameter(
        Choice(("squared", "huber", "quantile")),
        'Loss. "huber" counts errors beyond the 90th percentile of the deviations from the median '
        'linearly. "quantile" learns the number that a share `quantile` of rows stays below.',
        default="squared",
    )
    quantile: float = Parameter(
        Real(0.001, 0.999),
        "Share of rows below the prediction, for the quantile loss.",
        default=0.5,
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
            repeats = self._repeat_folds(sample, random)
        lessons = self._lessons(own, sample.weights)
        outcome = self._search(sample, lessons, constraints, repeats, random, 1)
        members, fitted = outcome.model
        if sample is not rows:
            placed = [member.on(rows.table) for member in members]
            problem = ResponseProblem.of(placed, rows.n_rows)
            every = np.ones(rows.n_rows, dtype=np.bool_)
            whole = self._lessons(y, rows.weights).loss(every, None, self._n_threads)
            fitted = whole.settle(problem)
        found = []
        for member, response in zip(members, fitted.responses.tolist(), strict=True):
            if isinstance(member, Member) and response != 0:
                body = member.body
                coverage = NumberCoverage.of(body.holds(rows.table), rows.numbers, rows.weights)
                found.append(Rule(body, Adds(Head(0, 0), unit * response), coverage))
        lines = fitted_lines(members, fitted.responses, 1, unit)
        summary = {
            **self._summary(rows),
            "size": {**self.size_.to_json(sample.weights), "unit": unit},
        }
        answers = self.size_.out_of_fold
        if answers is not None and self.loss == "squared":
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
        self.held_out_ = HeldOutRows.of(self.size_, *known, unit, sample.groups)
        return model

    def _lessons(self, numbers: FloatArray, weights: FloatArray) -> Lessons:
        """Return the losses of the folds, for numbers in units near their deviation."""
        if self.loss == "squared":
            return NumberLessons(numbers, weights, self.l2)
        make: Callable[[FloatArray], ScoreLoss]
        if self.loss == "quantile":
            make = partial(_quantile_loss, numbers, self.quantile)
        else:
            make = partial(_huber_loss, numbers, max(robust_deviation(numbers, weights), 1e-6))
        return ScoreLessons(make, weights, self.l2, rank_numbers(numbers, weights))


def _quantile_loss(numbers: FloatArray, quantile: float, weights: FloatArray) -> QuantileLoss:
    return QuantileLoss(numbers, weights, quantile, SMOOTH_WIDTH)


def _huber_loss(numbers: FloatArray, delta: float, weights: FloatArray) -> HuberScoreLoss:
    return HuberScoreLoss(numbers, weights, delta)


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
    """Compare the rules with boosted trees on held-out rows."""

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
