"""Learners for related tables: derived columns, and any learner of the library on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from rulewright.data import DataError, Table, Target, Task, read_target
from rulewright.estimators import (
    CheckedByFit,
    CompactRulesClassifier,
    CompactRulesRegressor,
    Flag,
    Integer,
    Parameter,
    Real,
    WeightMeaning,
    check_parameters,
)
from rulewright.relational.choosing import DEFAULT_FUNCTIONS, ChoiceSettings, choose_columns
from rulewright.relational.export import relational_sql
from rulewright.relational.fitted import FittedClasses, FittedRules
from rulewright.relational.relations import Relations
from rulewright.relational.verification import verify_relational_sql

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


FUNCTIONS = ("exists", *DEFAULT_FUNCTIONS, "median", "stddev")


class RelationalModel(FittedRules):
    """What models of related tables can do."""

    def to_sql(
        self, dialect: str = "duckdb", *, tables: Mapping[str, str | Sequence[str]] | None = None
    ) -> str:
        """Write the model as one SQL statement over the related tables; see `relational_sql`."""
        return relational_sql(self._fitted(), dialect, tables=tables)

    def verify_sql(self, dialects: Sequence[str] = ("duckdb", "sqlite")) -> Any:
        """Run the SQL on adversarial databases; see `verify_relational_sql`."""
        return verify_relational_sql(self._fitted(), dialects)

    def _check_target(self, table: Table, y: Any) -> None:
        """Reject instances without a target."""
        if table.target is None and y is None:
            raise ValueError(
                f"{type(self).__name__} needs a target: pass y, or Relations(..., target=...)"
            )


class _RelationalEstimator(RelationalModel):
    """Base class of classifier and regressor."""

    TASK: ClassVar[Task]
    DEFAULT: ClassVar[type]

    estimator: Any = Parameter(
        CheckedByFit("estimator or None"),
        "Learner for the flat table; compact rules by default.",
        default=None,
        kw_only=False,
    )
    max_depth: int = Parameter(Integer(1), "Maximum number of joins per path.", default=2)
    functions: Sequence[str] | None = Parameter(
        CheckedByFit("list of str or None"),
        f"Aggregate functions, out of {', '.join(FUNCTIONS)}; by default all except exists (which "
        "equals count >= 1), median (slow, and not available in SQLite) and stddev.",
        default=None,
    )
    windows: Sequence[float] = Parameter(
        CheckedByFit("numeric list"),
        "Time windows before the cutoff, in days (or in units of the time, if it is a number). "
        "Counts and aggregates are also computed within each window.",
        default=(),
    )
    max_labels: int = Parameter(
        Integer(0), "Maximum number of labels per column whose rows are counted.", default=10
    )
    n_thresholds: int = Parameter(
        Integer(0), "Number of thresholds per numeric column, at quantiles.", default=3
    )
    min_support: float = Parameter(
        Real(0, 1), "Minimum share of instances with a label (at least two).", default=0.01
    )
    max_features: int = Parameter(
        Integer(1), "Maximum number of derived columns; simple ones come first.", default=500
    )
    paths: Sequence[str] | None = Parameter(
        CheckedByFit("list of str or None"),
        'Join paths such as "orders -> items"; by default all with at most max_depth joins.',
        default=None,
    )
    compare: bool = Parameter(
        Flag(),
        "Whether columns may compare two rows of a table that an instance refers to by two keys, "
        "such as the two drugs of a pair.",
        default=False,
    )

    def fit(
        self,
        X: Relations,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        weights: WeightMeaning = "importance",
    ) -> Self:
        """Derive columns from related tables and learn a rule model.

        Parameters
        ----------
        X : Relations
            The instances to learn from, with their related tables. Labels, thresholds and columns
            are chosen on the rows that these instances reach.
        y : array-like, optional
            Target of the instances; by default the target of the relations.
        sample_weight : array-like, optional
            Weights of the instances.
        groups : array-like, optional
            Group of each instance; folds, subsamples and figures of the learner respect it.
        weights : {"importance", "counts"}
            Whether an instance of weight 2 is one observation, or two.

        Returns
        -------
        self
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        relations = checked_relations(X)
        recipe, columns, self.n_left_out_ = choose_columns(relations, self._choosing())
        table = relations.training_table(recipe, columns, self.TASK)
        if not table.columns:
            raise DataError(
                "No column varies between the instances, neither their own nor one of the related "
                "tables. Relate other tables, or raise max_depth."
            )
        self._check_target(table, y)
        learner = self.DEFAULT() if self.estimator is None else clone(self.estimator)
        self.estimator_ = learner.fit(table, y, sample_weight, groups=groups, weights=weights)
        self.recipe_, self.model_ = recipe, self.estimator_.model_
        self.n_features_in_ = relations.shape[1]
        return self

    def _choosing(self) -> ChoiceSettings:
        functions = DEFAULT_FUNCTIONS if self.functions is None else tuple(self.functions)
        if unknown := [name for name in functions if name not in FUNCTIONS]:
            known = ", ".join(FUNCTIONS)
            raise ValueError(f"functions: {unknown[0]!r} is unknown. Known functions: {known}")
        for window in self.windows:
            if isinstance(window, bool) or not isinstance(window, int | float) or not window > 0:
                raise ValueError(f"windows: {window!r} must be a number above 0")
        return ChoiceSettings(
            self.max_depth,
            functions,
            tuple(map(float, self.windows)),
            self.max_labels,
            self.n_thresholds,
            self.min_support,
            self.max_features,
            self.paths,
            self.compare,
        )


class RelationalClasses(FittedClasses, RelationalModel):
    """Base class of classifiers."""

    def _check_target(self, table: Table, y: Any) -> None:
        """Reject instances without a target, or with a single class."""
        super()._check_target(table, y)
        check_several_classes(self._target_of(table, y))

    def _target_of(self, table: Table, y: Any) -> Target:
        return table.known_target if y is None else read_target(y, table.n_rows)


class RelationalClassifier(RelationalClasses, _RelationalEstimator):
    """
    Rules over related tables, for classification.

    Columns such as ``count(atoms where element = "cl")`` are derived from the related tables of
    the instances, and a learner of the library creates rules from them. The model stores the recipe
    of its columns: it predicts from `Relations`, also after `load_model`.

    Attributes
    ----------
    model_ : RuleModel
        The rules.
    estimator_ : estimator
        The fitted learner.
    How the derived columns are computed.
        How the columns are derived.
    n_left_out_ : int
        Number of columns dropped because of max_features.
    """

    TASK = "classification"
    DEFAULT = CompactRulesClassifier

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        check_is_fitted(self, "model_")
        return np.asarray(self.estimator_.classes_)


class RelationalRegressor(
    RegressorMixin,  # type: ignore[misc]
    _RelationalEstimator,
):
    """
    Rules over related tables, for regression.

    Attributes
    ----------
    model_, estimator_, recipe_, n_left_out_
        As in `RelationalClassifier`.
    """

    TASK = "regression"
    DEFAULT = CompactRulesRegressor


def checked_relations(X: Any) -> Relations:
    """Return X, or raise an error that shows what is expected."""
    if isinstance(X, Relations):
        return X
    raise DataError(
        f"X must be Relations, not {type(X).__name__}: "
        "Relations(tables, instances='customers', keys={'orders': 'customer_id'}, target='left')."
    )


def check_several_classes(target: Target) -> None:
    """Reject a target with a single class."""
    found = target.classes[np.unique(target.codes)].tolist()
    if len(found) < 2:
        raise DataError(
            f"All {len(target.codes)} instances have class {found[0]!r}, but two classes are "
            "needed. Add instances of other classes."
        )
