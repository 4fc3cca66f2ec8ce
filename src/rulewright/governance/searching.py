"""Alternatives to a model that treat groups more alike, each with what it costs in loss.

Every alternative is learned like the model, but without some columns, or from rows whose weights
make group and outcome independent (Kamiran and Calders, 2012). Both figures of all of them are
out-of-fold, on the same folds.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from rulewright.data import DataError, Table, read_like
from rulewright.estimators import Folds, find_learner, stratified_folds
from rulewright.evidence import ClassAnswers, mean_interval, row_losses
from rulewright.explain import checked_class_codes
from rulewright.governance.gaps import Gap, find_gaps, rates_of
from rulewright.governance.groups import SMALL, group_codes, group_columns, take_answers
from rulewright.html import escape_line
from rulewright.model import ClassModel, align_cells, class_of_interest, read_class
from rulewright.search import Constraints

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rulewright.evidence import Places
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model import RuleModel

Measured: TypeAlias = Literal["selection", "recall", "false_positive"]
Evaluated: TypeAlias = "tuple[FloatArray, list[Gap], tuple[str, ...]]"
"""The out-of-fold loss of each row, the gaps, and the columns that were used."""
WIDTH = 3
"""Number of alternatives that lose a further column."""


class Recipe(NamedTuple):
    """How an alternative is learned: columns left out, and the strength of new weights."""

    without: tuple[str, ...] = ()
    reweigh: float = 0.0

    def __str__(self) -> str:
        parts = [f"without {', '.join(map(escape_line, self.without))}"] if self.without else []
        parts += [f"rows reweighed by {self.reweigh:g}"] if self.reweigh else []
        return "; ".join(parts) or "as learned"


@dataclass(frozen=True, eq=False)
class Alternative:
    """A way to learn the model, and what it reaches on held-out rows.

    Parameters
    ----------
    recipe : Recipe
        The columns left out, and the strength of the weights.
    loss : float
        Mean log-loss, out-of-fold.
    change, change_low, change_high : float
        The loss minus that of the model as learned, and its 95 percent interval.
    gap : Gap
        The groups that are furthest apart, out-of-fold.
    equal : bool
        Whether the loss rises by no more than allowed.
    columns : tuple of str
        The columns that it uses.
    """

    recipe: Recipe
    loss: float
    change: float
    change_low: float
    change_high: float
    gap: Gap
    equal: bool
    columns: tuple[str, ...]
    _problem: _Problem = field(repr=False)

    @property
    def disparity(self) -> float:
        """The difference between the groups that are furthest apart."""
        return self.gap.difference

    @cached_property
    def model(self) -> RuleModel:
        """The alternative, learned from all rows."""
        found: RuleModel = self._problem.learn(self.recipe, np.full(len(self._problem.table), True))
        return found


@dataclass(frozen=True)
class Alternatives:
    """Alternatives by disparity, the smallest first; `start` is the model as it was learned."""

    start: Alternative
    found: tuple[Alternative, ...]
    max_loss: float

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: int) -> Alternative:
        return self.found[place]

    @property
    def best(self) -> Alternative:
        """The alternative with the smallest disparity whose loss is equal; else the start."""
        return next((one for one in self.found if one.equal), self.start)

    def __str__(self) -> str:
        gap = f"gap: {self.start.gap.figure}"
        head = ["", "log-loss", "change [95 %]", "equal", gap, "learned"]
        cells = [head, _cells("start", self.start)]
        cells += [_cells(str(i), one) for i, one in enumerate(self.found)]
        told = (
            f"Out-of-fold figures; equal: log-loss rises by at most {self.max_loss:g}. The best of "
            f"{len(self.found) + 1} looks better than it is: check it on fresh rows."
        )
        return "\n".join([*align_cells(cells, {0}), told])


def _cells(name: str, one: Alternative) -> list[str]:
    change = f"{one.change:+.4f} [{one.change_low:+.4f}, {one.change_high:+.4f}]"
    return [
        name,
        f"{one.loss:.4f}",
        change,
        "yes" if one.equal else "no",
        one.gap.range,
        str(one.recipe),
    ]


def alternatives(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    protected: str | Mapping[str, Any],
    favourable: Any = None,
    measure: Measured = "selection",
    max_loss: float = 0.01,
    cv: int = 5,
    sample_weight: Any = None,
    random_state: int = 0,
) -> Alternatives:
    """Search for models that treat groups more alike at equal loss.

    The learner of the model is run again without each column that the model uses, and on
    reweighed rows; the best of these lose a further column. No alternative uses a column that the
    learner was not given.

    Parameters
    ----------
    model : fitted classifier or saved model that names its learner
        The model. Alternatives get the same settings and at most as many rules.
    X : table
        Rows to learn from, such as the training rows, with all columns of the training rows.
    y : array-like or str, optional
        Their target, or the name of its column in X.
    protected : str or mapping of str to array-like
        The column of X with the groups, or the groups by name.
    favourable : class label, optional
        The class that the disparity is about; of two classes by default the rarer one.
    measure : {"selection", "recall", "false_positive"}
        The rate whose largest difference between groups is the disparity.
    max_loss : float
        Largest increase of the log-loss that counts as equal.
    cv : int
        Number of folds.
    sample_weight : array-like or str, optional
        Weights of the rows, or the name of their column in X.
    random_state : int
        Seed of the folds and the learner.
    """
    if measure not in get_args(Measured):
        raise ValueError(f"measure={measure!r}: use one of {', '.join(get_args(Measured))}")
    problem = _Problem.of(model, X, y, protected, favourable, sample_weight, (cv, random_state))
    return _search(problem, get_args(Measured).index(measure), max_loss)


@dataclass(frozen=True, eq=False)
class _Problem:
    """A learner and rows in groups and folds."""

    learner: Any
    table: Table
    labels: IntArray
    groups: Places
    names: list[str]
    favourable: int
    class_names: tuple[str, ...]
    folds: Folds
    constraints: Constraints
    seed: int

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any,
        y: Any,
        protected: str | Mapping[str, Any],
        favourable: Any,
        sample_weight: Any,
        drawn: tuple[int, int],
    ) -> _Problem:
        """Read the rows, and rebuild the learner with at most as many rules."""
        fitted, learner = getattr(model, "model_", model), find_learner(model)
        if not isinstance(fitted, ClassModel) or learner is None:
            raise ValueError(
                "alternatives needs a classifier whose learner is known: give a fitted estimator"
            )
        if "constraints" not in learner.DOMAINS:
            raise ValueError(
                f"{type(learner).__name__} has no constraints, so no column can be left out"
            )
        if "size" in learner.DOMAINS:
            learner.set_params(size="max", max_rules=len(fitted))
        schema = fitted.schema
        table = read_like(X, schema, schema.names, target=y, weights=sample_weight)
        labels = checked_class_codes(fitted, table)
        if (labels < 0).any():
            raise DataError("y has classes that the model does not know. Leave these rows out.")
        columns = group_columns(X, fitted, protected)
        if len(columns) != 1:
            raise ValueError("protected: name one column; join several into one before")
        groups, names = group_codes(next(iter(columns.values())))
        place = class_of_interest(fitted)
        if favourable is not None:
            place = read_class(favourable, fitted.class_names, "favourable")
        folds = Folds(stratified_folds(labels, drawn[0], np.random.RandomState(drawn[1])))
        given = Constraints.of(learner.constraints)
        return cls(
            learner, table, labels, groups, names, place, fitted.class_names, folds, given, drawn[1]
        )

    def learn(self, recipe: Recipe, rows: BoolArray) -> Any:
        """Learn an alternative from some of the rows."""
        from sklearn.base import clone  # noqa: PLC0415 - slow to import

        constraints = replace(
            self.constraints, forbidden=(*self.constraints.forbidden, *recipe.without)
        )
        learner = clone(self.learner).set_params(constraints=constraints)
        if "random_state" in learner.DOMAINS:
            learner.set_params(random_state=self.seed)
        table = self.table.take(np.flatnonzero(rows))
        factors = independence_weights(self.groups[rows], self.labels[rows])
        table = replace(table, weights=table.row_weights * factors**recipe.reweigh)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return learner.fit(table).model_

    def evaluate(self, recipe: Recipe) -> Evaluated:
        """Learn without each fold, and measure on it."""
        n = len(self.table)
        chances, chosen, used = np.zeros((n, len(self.class_names))), np.empty(n, int), set[str]()
        for fold in range(len(self.folds)):
            held_out = self.folds.held_out_mask(fold)
            found = self.learn(recipe, ~held_out)
            scores = found.scores(self.table.take(np.flatnonzero(held_out)))
            places = np.array([self.class_names.index(name) for name in found.class_names])
            chances[np.ix_(held_out, places)] = found.probabilities(scores)
            chosen[held_out] = places[found.decide(scores)]
            used |= {*found.columns}
        answers = ClassAnswers(
            "", self.class_names, self.labels, chances, chosen, self.table.row_weights
        )
        rates = {}
        for code, name in enumerate(self.names):
            own = self.groups == code
            part = take_answers(answers, own)
            if own.sum() >= SMALL and isinstance(part, ClassAnswers):
                rates[name] = rates_of(part, self.favourable)
        gaps = find_gaps(rates)
        if len(gaps) < len(get_args(Measured)):
            raise DataError(f"protected: two groups need {SMALL} rows or more, with both outcomes.")
        return row_losses(self.labels, chances), gaps, tuple(sorted(used))


def independence_weights(groups: Places, labels: IntArray) -> FloatArray:
    """Return weights of rows that make the label independent of the group."""
    table = np.zeros((int(groups.max()) + 1, int(labels.max()) + 1))
    np.add.at(table, (groups, labels), 1.0)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / len(groups)
    weights: FloatArray = (expected / np.maximum(table, 1.0))[groups, labels]
    return weights


def _search(problem: _Problem, measure: int, max_loss: float) -> Alternatives:
    """Try one change of the recipe, then a further column for the best of them."""
    first = problem.evaluate(Recipe())
    make = partial(_alternative, problem, first[0], measure, max_loss)
    tried: dict[Recipe, Alternative] = {}

    def attempt(recipes: Iterable[Recipe]) -> None:
        for recipe in recipes:
            if recipe not in tried:
                tried[recipe] = make(recipe, problem.evaluate(recipe))

    start = make(Recipe(), first)
    attempt([Recipe(reweigh=strength) for strength in (0.5, 1.0)])
    attempt(Recipe((name,)) for name in start.columns)
    for one in _ranked(tried.values())[:WIDTH]:
        attempt(
            one.recipe._replace(without=tuple(sorted((*one.recipe.without, name))))
            for name in one.columns
        )
        attempt([one.recipe._replace(reweigh=1.0)])
    return Alternatives(start, tuple(_ranked(tried.values())), max_loss)


def _alternative(
    problem: _Problem,
    start: FloatArray,
    measure: int,
    max_loss: float,
    recipe: Recipe,
    found: Evaluated,
) -> Alternative:
    """Compare the losses of an alternative with those of the start, row by row."""
    losses, gaps, used = found
    weights, moved = problem.table.row_weights, losses - start
    change = float(np.average(moved, weights=weights))
    low, high = mean_interval(change, float(np.var(moved, ddof=1)), len(moved))
    loss, equal = float(np.average(losses, weights=weights)), change <= max_loss
    return Alternative(recipe, loss, change, low, high, gaps[measure], equal, used, problem)


def _ranked(found: Iterable[Alternative]) -> list[Alternative]:
    """Put alternatives of equal loss first, then smaller disparities."""
    return sorted(found, key=lambda one: (not one.equal, one.disparity, one.loss))
