"""Well-known learners of other packages that accept tables directly, if installed.

The adapters of ``rulewright-lab``, which also set sizes and report more, take precedence.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from rulewright.data import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import Table
    from rulewright.kernels import FloatArray, IntArray

    Prepared = tuple[FloatArray, IntArray]

_MOST_LABELS = 100  # maximum number of one-hot encoded labels
_MOST_CODES = 255  # maximum number of labels for histogram boosting


class Rival(NamedTuple):
    """A learner of another package."""

    title: str
    module: str
    package: str
    make: Callable[[Columns, int, dict[str, Any]], Any]


class Columns(NamedTuple):
    """Positions of the columns of a table, by kind."""

    ordered: list[int]
    nominal: list[int]
    few_labels: list[int]

    @classmethod
    def of(cls, table: Table) -> Columns:
        """Sort the columns."""
        ordered = [at for at, c in enumerate(table.columns) if c.schema.type.ordered]
        nominal = [at for at in range(len(table.columns)) if at not in ordered]
        few = [at for at in nominal if len(table.columns[at].schema.labels) <= _MOST_CODES]
        return cls(ordered, nominal, few)

    def one_hot(self, *steps: Any) -> Any:
        """Encode each label as a column, and transform numbers."""
        numbers = make_pipeline(*steps) if steps else "passthrough"
        labels = OneHotEncoder(handle_unknown="infrequent_if_exist", max_categories=_MOST_LABELS)
        return make_column_transformer((numbers, self.ordered), (labels, self.nominal))


def _forest(columns: Columns, seed: int, settings: dict[str, Any]) -> Any:
    options = {"random_state": seed, "n_jobs": 1} | settings
    return make_pipeline(columns.one_hot(), RandomForestClassifier(**options))


def _boosting(columns: Columns, seed: int, settings: dict[str, Any]) -> Any:
    options = {"random_state": seed, "categorical_features": columns.few_labels} | settings
    return HistGradientBoostingClassifier(**options)


def _logistic(columns: Columns, seed: int, settings: dict[str, Any]) -> Any:
    options = {"random_state": seed, "max_iter": 1000} | settings
    scaled = SimpleImputer(add_indicator=True, keep_empty_features=True), StandardScaler()
    return make_pipeline(columns.one_hot(*scaled), LogisticRegression(**options))


def _lightgbm(columns: Columns, seed: int, settings: dict[str, Any]) -> Any:
    options = {"random_state": seed, "n_jobs": 1, "verbosity": -1} | settings
    options |= {"categorical_feature": columns.nominal}
    return optional("lightgbm").LGBMClassifier(**options)


def _xgboost(columns: Columns, seed: int, settings: dict[str, Any]) -> Any:
    options = {"random_state": seed, "n_jobs": 1} | settings
    return make_pipeline(columns.one_hot(), optional("xgboost").XGBClassifier(**options))


def _ebm(columns: Columns, seed: int, settings: dict[str, Any]) -> Any:
    n_columns = len(columns.ordered) + len(columns.nominal)
    kinds = ["nominal" if at in columns.nominal else "continuous" for at in range(n_columns)]
    options = {"random_state": seed, "n_jobs": 1, "feature_types": kinds} | settings
    return optional("interpret.glassbox").ExplainableBoostingClassifier(**options)


RIVALS_OF_TABLES: dict[str, Rival] = {
    "hgb": Rival("histogram boosting", "sklearn", "scikit-learn", _boosting),
    "forest": Rival("random forest", "sklearn", "scikit-learn", _forest),
    "logistic": Rival("logistic regression", "sklearn", "scikit-learn", _logistic),
    "lightgbm": Rival("LightGBM", "lightgbm", "lightgbm", _lightgbm),
    "xgboost": Rival("XGBoost", "xgboost", "xgboost", _xgboost),
    "ebm": Rival("explainable boosting machine", "interpret", "interpret-core", _ebm),
}


def is_installed(name: str) -> bool:
    """Return whether the package of a rival can be imported."""
    return find_spec(RIVALS_OF_TABLES[name].module) is not None


class TableRival:
    """A rival fitted to the numbers of a table and to its label codes.

    `name` is one of `RIVALS_OF_TABLES`; `settings` override the learner's defaults.
    """

    def __init__(self, name: str, seed: int, settings: Mapping[str, Any]) -> None:
        self._rival, self._seed, self._settings = RIVALS_OF_TABLES[name], seed, dict(settings)
        self._model: Any = None

    def prepare(self, table: Table) -> tuple[Columns, Prepared]:
        """Return an array of values and label codes, NaN for missing and unseen values."""
        values = np.empty((table.n_rows, len(table.columns)))
        for at, column in enumerate(table.columns):
            values[:, at] = column.values
            if not column.schema.type.ordered:
                values[column.values < 0, at] = np.nan
        return Columns.of(table), (values, table.known_target.codes)

    def fit(self, rows: tuple[Columns, Prepared]) -> Self:
        """Learn from prepared rows."""
        columns, (values, codes) = rows
        self._model = self._rival.make(columns, self._seed, self._settings)
        self._classes, places = np.unique(codes, return_inverse=True)
        self._model.fit(values, places)
        return self

    def predict(self, rows: tuple[Columns, Prepared], table: Table) -> tuple[IntArray, FloatArray]:
        """Return codes and probabilities; unseen classes have 0."""
        shares = np.zeros((table.n_rows, len(table.known_target.classes)))
        shares[:, self._classes] = self._model.predict_proba(rows[1][0])
        return shares.argmax(axis=1).astype(np.int32), shares

    def describe(self) -> dict[str, float]:
        """Return no sizes, because people do not read these models."""
        return {}

    def versions(self) -> dict[str, str]:
        """Return the version of the package."""
        found = optional(self._rival.module).__version__
        return {self._rival.package: str(found)}
