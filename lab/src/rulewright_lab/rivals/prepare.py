"""What the adapters share: labels as codes, columns as each package documents to take them."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

if TYPE_CHECKING:
    from collections.abc import Sequence

Rows = np.ndarray | pd.DataFrame
# scikit-learn's normalised float32 outputs sum to one this closely.
SUM_TOLERANCE = 1e-5


class Rival:
    """The common half of an adapter; the other half is `_learn` and `_shares`.

    They see an array as it was given, and of a data frame the one that `Columns.frame` makes. The
    labels are codes 0, 1, ..., the positions in `classes_`.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    two_classes_only: ClassVar[bool] = False

    classes_: np.ndarray

    def fit(self, X: Rows, y: np.ndarray) -> Self:
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        n_classes = len(self.classes_)
        if n_classes > 2 and self.two_classes_only:
            raise NotImplementedError(
                f"{self.name} (package {self.package}) learns two classes only, y has {n_classes}"
            )
        self._columns = Columns(X)
        self._learn(self._columns.frame(X), codes)
        return self

    def predict_proba(self, X: Rows) -> np.ndarray:
        shares = np.asarray(self._shares(self._columns.frame(X)))
        expected = (len(X), len(self.classes_))
        if shares.shape != expected:
            raise ValueError(f"{self.name} gave shares of shape {shares.shape}, not {expected}")
        if not np.abs(shares.sum(axis=1) - 1.0).max(initial=0.0) <= SUM_TOLERANCE:
            raise ValueError(f"{self.name} gave shares that do not sum to one or are not finite")
        return shares

    def version(self) -> str:
        return version(self.package)

    def describe(self) -> dict[str, float]:
        return {}

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        raise NotImplementedError

    def _shares(self, X: Rows) -> np.ndarray:
        raise NotImplementedError


class Columns:
    """The columns of the training rows: which are nominal, and which values these took."""

    def __init__(self, X: Rows) -> None:
        self.names = [f"x{i}" for i in range(X.shape[1])]
        self.values: dict[str, list[str]] = {}
        if isinstance(X, pd.DataFrame):
            for i, name in enumerate(self.names):
                if not pd.api.types.is_numeric_dtype(X.iloc[:, i]):
                    seen = sorted(X.iloc[:, i].dropna().astype(str).unique())
                    # XGBoost and ARFF headers refuse a nominal column without any value.
                    self.values[name] = seen or ["no value"]

    @property
    def nominal(self) -> list[str]:
        return list(self.values)

    @property
    def nominal_positions(self) -> list[int]:
        return [i for i, name in enumerate(self.names) if name in self.values]

    def frame(self, X: Rows) -> Rows:
        """Return an array as it is, a data frame with plain names, floats and categories.

        A value that the training rows did not have becomes a missing one.
        """
        if not isinstance(X, pd.DataFrame):
            return X
        columns = {}
        for i, name in enumerate(self.names):
            column = X.iloc[:, i]
            if name in self.values:
                text = column.astype(object).where(column.isna(), column.astype(str)).to_numpy()
                known = np.where(pd.Series(text).isin(self.values[name]), text, None)
                columns[name] = pd.Categorical(known, categories=self.values[name])
            else:
                columns[name] = column.to_numpy(dtype=float, na_value=np.nan)
        return pd.DataFrame(columns)

    def codes(self, X: Rows) -> np.ndarray:
        """Return a float matrix: nominal values as positions in `values`, missing ones as NaN."""
        if not isinstance(X, pd.DataFrame):
            return X
        matrix = np.empty(X.shape)
        for i, name in enumerate(self.names):
            matrix[:, i] = X[name].cat.codes if name in self.values else X[name]
            if name in self.values:
                matrix[matrix[:, i] < 0, i] = np.nan
        return matrix

    def one_hot(self, *, impute: bool = True, scale: bool = False) -> Any:
        """Return a transformer: nominal columns one-hot, the others imputed and scaled or not.

        A missing nominal value is a value of its own, a missing number the training median.
        """
        asked: Sequence[Any] = (
            *([SimpleImputer(strategy="median", keep_empty_features=True)] if impute else []),
            *([StandardScaler()] if scale else []),
        )
        numbers = make_pipeline(*asked) if asked else FunctionTransformer()
        if not self.values:
            return numbers
        indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        return make_column_transformer((indicators, self.nominal), remainder=numbers)
