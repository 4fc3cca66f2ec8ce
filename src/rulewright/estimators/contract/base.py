"""Base of all learners: reads data, and delegates to the model after `fit`."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from rulewright.data import (
    DataError,
    RegressionSet,
    TrainingSet,
    offer_names,
    read_like,
    read_table,
)
from rulewright.estimators.contract.evidence import count_evidence
from rulewright.estimators.contract.many_labels import pool_labels
from rulewright.estimators.contract.parameters import (
    CheckedByFit,
    Parameter,
    Parameterised,
    check_parameters,
    to_plain_data,
)
from rulewright.estimators.contract.unpredicted import warn_of_unpredicted
from rulewright.estimators.contract.warn import NO_RULES, warn_of_data, warn_of_no_rules
from rulewright.estimators.contract.weights import (
    WeightMeaning,
    class_weighted,
    count_weights,
    note_weights,
    scale_weights,
)
from rulewright.model import (
    DECISION,
    AdditiveRules,
    ClassModel,
    RegressionRules,
    RuleModel,
    class_names,
    describe_training,
    read_decision,
)
from rulewright.search import count_threads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rulewright.data import LearningRows, Table, Target, Task
    from rulewright.kernels import FloatArray

Model = TypeVar("Model", bound=RuleModel)
Classes = TypeVar("Classes", bound=ClassModel)

ORDINAL = (
    'Whether the classes form a scale: rules then vote for "at least" or "at most" a class. A list '
    "has the classes from low to high; True takes the order that ordered categories declare, or "
    "else numeric order. The order of words is never guessed."
)
"""Documentation of the parameter `ordinal`."""


LARGEST_NUMBER = 1e70
"""Numbers are learned by sums of their squares, and of the squares of these."""


class TableEstimator(
    Parameterised,
    BaseEstimator,  # type: ignore[misc]
):
    """Base of estimators that are fitted to tables: shared parameters, and reading."""

    _is_nested = False  # a copy that another fit makes warns of nothing

    PAPER: ClassVar[Mapping[str, Any]] = {}
    """The settings published with the paper, where they differ from the defaults or may differ."""
    MAIN_EFFECTS: ClassVar[Mapping[str, Any]] = {}
    """Settings that give every rule a single condition, of learners whose model adds up."""

    MOST_WORK: ClassVar[float] = math.inf
    """Maximum work of a fit, in a unit that the learner names; larger tables are refused."""

    categorical_features: Any = Parameter(
        CheckedByFit("list of str or int, or None"),
        "Numeric columns to treat as nominal.",
        default=None,
    )
    random_state: Any = Parameter(
        CheckedByFit("int, RandomState or None"), "Random seed.", default=None
    )
    n_jobs: int | None = Parameter(
        CheckedByFit("int or None"), "Threads; the model does not depend on it.", default=None
    )
    verbose: int = Parameter(CheckedByFit("int"), "1 draws a progress bar.", default=0)

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """Return the settings published with the paper, with any of them overridden."""
        return cls(**{**cls.PAPER, **overrides})

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this learner, or ``name__parameter`` of a nested learner."""
        for name in params:
            if name.partition("__")[0] not in self.DOMAINS:
                offer = offer_names(name, [*self.DOMAINS])
                raise ValueError(f"Invalid parameter {name!r} of {type(self).__name__}. {offer}")
        return cast("Self", super().set_params(**params))

    def _read(self, X: Any, y: Any, sample_weight: Any, task: Task, groups: Any = None) -> Table:
        """Check the parameters, read the table and note down its columns."""
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        count_threads(self.n_jobs)  # a wrong number is reported before any work
        nominal = self.categorical_features
        try:
            given = {"target": y, "weights": sample_weight, "groups": groups}
            table = read_table(X, nominal=nominal, task=task, **given)
        except DataError as error:  # the reader has another name for the option
            if not str(error).startswith("nominal"):
                raise
            text = str(error).removeprefix("nominal")
            raise DataError(f"categorical_features{text}") from None
        if table.target is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        self.n_features_in_ = len(table.columns)
        if table.named:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return table

    @property
    def _n_threads(self) -> int:
        """Threads that `n_jobs` asks for, by scikit-learn's convention."""
        return count_threads(self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.sparse = True
        return tags


class RuleEstimator(TableEstimator, Generic[Model]):
    """Base of all learners: scikit-learn's contract around a rule model.

    A learner declares its parameters and defines `_learn(rows)`, which returns the model. `fit`
    names all steps: check the parameters and read the table, make training rows of it, learn, and
    finish the model. Classifiers and regressors differ in the rows only.
    """

    TASK: ClassVar[Task]
    """The task of the learner."""
    CROSS_VALIDATES: ClassVar[bool] = False
    """Whether `fit` runs folds and keeps their out-of-fold answers in `held_out_`."""
    NO_RULES: ClassVar[str] = NO_RULES
    """Reason that a warning gives for a model without rules."""
    POOLS_LABELS: ClassVar[bool] = False
    """Whether rare labels are pooled in columns with more than 1,000: each is a condition."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        weights: WeightMeaning = "importance",
    ) -> Self:
        """Learn a rule model.

        Parameters
        ----------
        X : array, dataframe, dict of columns, path of a file or Table
            The table; missing values and nominal columns need no preprocessing.
        y : array-like or str, optional
            Class labels or numbers, or the name of the column of X that holds them; by default the
            target that a Table was read with.
        sample_weight : array-like or str, optional
            Row weights, or the name of the column of X that holds them; by default the weights
            that a Table was read with. Rules are learned as if a weight of 2 were a row twice.
            Weights whose sum cannot be a number of rows, such as shares, are scaled to sum to the
            number of rows, with a warning.
        groups : array-like or str, optional
            Group of each row, such as its customer, or the name of the column of X that holds it.
            Folds, subsamples and held-out rows keep groups whole, and figures and intervals count
            groups: rows of a group are no independent evidence.
        weights : {"importance", "counts"}
            What weights say about evidence. "importance": each row was observed once, however
            large its weight, so intervals use the effective number of rows. "counts": a weight is
            a number of equal, independent rows.

        Returns
        -------
        self
        """
        name = type(self).__name__
        table = count_weights(self._read(X, y, sample_weight, self.TASK, groups), weights)
        told = None if self._is_nested else name
        rows = scale_weights(self._training_rows(table), told)
        rows = pool_labels(rows, told) if self._pools_labels else rows
        is_constant = not self._is_nested and warn_of_data(table, name)
        self._warn_of_rows(rows)
        model = count_evidence(self._finished(self._learn(rows), rows), rows)
        model = model.with_summary({**model.summary, **self._describe_rows(model, rows)})
        self.model_ = self._decided(model, rows)
        if not is_constant:
            self._warn_of_model(rows)
        return self

    def _training_rows(self, table: Table) -> Any:
        """Return the training rows of a table."""
        raise NotImplementedError

    @property
    def _pools_labels(self) -> bool:
        """Whether this fit pools rare labels."""
        return self.POOLS_LABELS

    def _warn_of_rows(self, rows: Any) -> None:
        """Warn of problems in the rows, once per `fit`; by default there is no check."""

    def _warn_of_model(self, rows: Any) -> None:
        """Warn of a model without rules, unless `max_rules` is 0."""
        if not self._is_nested and getattr(self, "max_rules", None) != 0:
            warn_of_no_rules(self.model_, rows.n_rows, type(self).__name__, self.NO_RULES)

    def _learn(self, rows: Any) -> Model:
        """Learn the model: each learner defines this."""
        raise NotImplementedError

    def _finished(self, model: Model, rows: Any) -> Model:
        """Take what steps there are after learning; by default none."""
        return model

    def _decided(self, model: Model, rows: Any) -> Model:
        """Return the model with the requested decision; regression has none."""
        return model

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row, as the decision chooses it, or its number."""
        return self._get_model().predict(X, n_threads=self._n_threads)

    def explain(self, X: Any) -> Any:
        """Explain each row: which rules applied and what each added."""
        return self._get_model().explain(X)

    @property
    def feature_importances_(self) -> FloatArray:
        """Importance of each column, summing to 1; only models that add up rules have it."""
        if not isinstance(model := self._get_model(), AdditiveRules | RegressionRules):
            raise AttributeError(f"{type(model).__name__} has no importances of columns")
        from rulewright.explain import feature_importances  # noqa: PLC0415 - no fit needs this room

        return feature_importances(model)

    def _repr_html_inner(self) -> str:
        """Return scikit-learn's diagram and, after `fit`, the model below it."""
        return str(super()._repr_html_inner()) + self._model_html()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] += self._model_html()
        return bundle

    def _model_html(self) -> str:
        return self.model_._repr_html_() if hasattr(self, "model_") else ""

    def _rows_to_score(self, X: Any, y: Any, sample_weight: Any) -> Table:
        """Read rows with their target, as `fit` does, by the schema of the model."""
        schema, needed = self._get_model().schema, self._get_model().columns
        table = read_like(X, schema, needed, target=y, weights=sample_weight, task=self.TASK)
        if table.target is None:
            raise ValueError("score needs y: the target, or the name of its column in X")
        return table

    def _get_model(self) -> Model:
        check_is_fitted(self, "model_")
        model: Model = self.model_
        return model

    def _summary(self, rows: LearningRows[Any]) -> dict[str, Any]:
        """Note down how the model was learned."""
        settings = self.get_params(deep=False)
        named = [n for n in ("class_weight", "positive_class") if settings.get(n) is not None]
        return {
            "learner": type(self).__name__,
            "settings": {name: to_plain_data(settings[name]) for name in self.settable()}
            | {name: str(settings[name]) for name in named},
            "n_rows": rows.n_rows,
            "total_weight": rows.total_weight,
        }

    def _describe_rows(self, model: Model, rows: Any) -> dict[str, Any]:
        """Note down what the training rows, their weights and the target are."""
        target = {} if rows.table.target_name is None else {"target": rows.table.target_name}
        weights = note_weights(rows, getattr(self, "class_weight", None))
        groups = {} if rows.groups is None else {"n_groups": rows.units.n}
        return {**describe_training(model, rows), **weights, **groups, **target}


class RuleClassifier(
    ClassifierMixin,  # type: ignore[misc]
    RuleEstimator[Classes],
):
    """Base of the classifiers."""

    TASK = "classification"

    class_weight: Any = Parameter(
        CheckedByFit('dict, "balanced" or None'),
        "Class weights; they multiply the row weights.",
        default=None,
    )
    decision: Any = Parameter(
        CheckedByFit('"accuracy", "balanced", threshold, mapping or cost matrix'),
        DECISION,
        default="accuracy",
    )

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: second minus first class for two classes, one per class otherwise."""
        return self._get_model().decision_function(X, n_threads=self._n_threads)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of `classes_`."""
        return self._get_model().predict_proba(X, n_threads=self._n_threads)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy on rows; X, y and sample_weight as in `fit`."""
        rows = self._rows_to_score(X, y, sample_weight)
        return float(super().score(rows, rows.y, rows.weights))

    def _training_rows(self, table: Table) -> TrainingSet:
        """Order the classes where the learner has an order, and weigh them."""
        target = ordered_target(table.known_target, getattr(self, "ordinal", False))
        self.classes_ = target.classes
        rows = class_weighted(TrainingSet.of(replace(table, target=target)), self.class_weight)
        # A wrong one is reported before any work.
        read_decision(self.decision, class_names(rows.classes), share_classes(rows.class_weights))
        return rows

    def _decided(self, model: Classes, rows: TrainingSet) -> Classes:
        """Return the model with the requested decision."""
        return self._with_decision(model, rows.class_weights)

    def _warn_of_model(self, rows: TrainingSet) -> None:
        """Warn of a model without rules, or else of classes that it never predicts."""
        super()._warn_of_model(rows)
        if not self._is_nested and self.model_.decision is None and self.model_.columns:
            warn_of_unpredicted(self.model_, rows, type(self).__name__)

    def _with_decision(self, model: Classes, class_weights: FloatArray) -> Classes:
        """Store the class shares of the training rows, and set the requested decision."""
        shares = share_classes(class_weights)
        model = model.with_summary({**model.summary, "class_shares": shares})
        if isinstance(self.decision, str) and self.decision == "accuracy":
            return model  # with the costs that SLIPPER learned by, if any
        return model.with_decision(self.decision)


class RuleRegressor(
    RegressorMixin,  # type: ignore[misc]
    RuleEstimator[RegressionRules],
):
    """Base of the regressors."""

    TASK = "regression"

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return R2 on rows; X, y and sample_weight as in `fit`."""
        rows = self._rows_to_score(X, y, sample_weight)
        return float(super().score(rows, rows.y, rows.weights))

    def _training_rows(self, table: Table) -> RegressionSet:
        rows = RegressionSet.of(table)
        if np.abs(rows.numbers).max() > LARGEST_NUMBER:
            raise DataError(
                f"y: the target has numbers beyond {LARGEST_NUMBER:g}, whose powers are too large "
                "to sum. Divide the target by a constant."
            )
        return rows


def share_classes(class_weights: FloatArray) -> list[float]:
    """Return the share of each class in the weight of all."""
    shares: list[float] = (class_weights / class_weights.sum()).tolist()
    return shares


def positive_of_two(positive_class: Any, rows: TrainingSet) -> int:
    """Return the class that rules describe: the named class, or the one with less weight."""
    if positive_class is None:
        weights = rows.class_weights
        return 0 if weights[0] < weights[1] else 1
    labels = rows.classes.tolist()
    if not np.isscalar(positive_class) or positive_class not in labels:
        names = ", ".join(map(repr, labels))
        raise ValueError(f"positive_class={positive_class!r} is not one of the classes: {names}")
    return int(labels.index(positive_class))


def ordered_target(target: Target, ordinal: Any) -> Target:
    """Return the target with its classes from low to high, as `ordinal` says.

    Parameters
    ----------
    target : Target
        The classes of the rows.
    ordinal : bool or sequence
        False leaves them unordered. True takes the declared order of ordered categories, or else
        numeric order, and is an error for other classes. A sequence lists the classes from low to
        high.
    """
    if ordinal is False:
        return target
    if ordinal is not True:
        try:
            return target.with_order(list(ordinal))
        except DataError as error:
            raise DataError(f"ordinal: {error}") from None
    if target.declared_order is not None:
        return target.with_order(target.declared_order)
    if target.classes.dtype.kind in "iufb":
        return target
    found = target.declared or tuple(map(str, target.classes))
    raise DataError(
        "ordinal=True takes numeric order or the order of ordered categories, but the classes are "
        f"words without an order: {', '.join(map(repr, found))}. List them from low to high, as in "
        "ordinal=['low', 'medium', 'high'], or declare ordered categories."
    )
