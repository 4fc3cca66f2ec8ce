"""An estimator on Dask: fitted to partitions, predicting lazily."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from rulewright.data import optional
from rulewright.scale.fitting import SAMPLE_ROWS, fit_partitions


def on_dask(estimator: Any, client: Any = None, *, sample_rows: int = SAMPLE_ROWS) -> OnDask:
    """
    Return an estimator that learns from Dask dataframes and arrays.

    Parameters
    ----------
    estimator : estimator
        What learns: `MLRulesClassifier` from all rows, others from a sample of them.
    client : distributed.Client, optional
        The client of the cluster; by default the current one.
    sample_rows : int, default=100_000
        About how many rows are in the sample that bins are chosen on.

    Returns
    -------
    OnDask
        An estimator with `fit`, `predict` and `predict_proba`.
    """
    return OnDask(estimator, client, sample_rows=sample_rows)


class OnDask(
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator whose rows are partitions of Dask collections; made by `on_dask`.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator, which predicts in memory.
    model_ : RuleModel
        Its model: prints, saves and exports like any other.
    """

    def __init__(
        self, estimator: Any, client: Any = None, *, sample_rows: int = SAMPLE_ROWS
    ) -> None:
        self.estimator, self.client, self.sample_rows = estimator, client, sample_rows

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from partitions.

        Parameters
        ----------
        X : Dask dataframe or array
            The rows.
        y, sample_weight : str, Dask series or array, optional
            Target and weights: the names of their columns, or in the partitions of X.

        Returns
        -------
        self
        """
        self.estimator_ = fit_partitions(
            clone(self.estimator),
            X,
            y,
            sample_weight,
            client=self.client,
            sample_rows=self.sample_rows,
        )
        self.model_ = self.estimator_.model_
        return self

    def predict(self, X: Any) -> Any:
        """Predict lazily: a Dask series for a dataframe, an array for an array."""
        check_is_fitted(self, "model_")
        model = self.model_
        classes = getattr(model, "classes", None)
        dtype = np.dtype(float) if classes is None else np.asarray(classes).dtype
        if hasattr(X, "map_partitions"):
            series = optional("pandas").Series
            meta = series(dtype=object if dtype.kind == "U" else dtype)
            return X.map_partitions(_predict_frame, model, meta=meta)
        return _rows_of(X).map_blocks(model.predict, drop_axis=1, dtype=dtype)

    def predict_proba(self, X: Any) -> Any:
        """Predict probabilities lazily, one column for each class."""
        check_is_fitted(self, "model_")
        model = self.model_
        names = model.classes.tolist()
        if hasattr(X, "map_partitions"):
            frame = optional("pandas").DataFrame
            meta = frame({name: np.empty(0) for name in names})
            return X.map_partitions(_probabilities, model, names, meta=meta)
        rows = _rows_of(X)
        chunks = (rows.chunks[0], (len(names),))
        return rows.map_blocks(model.predict_proba, chunks=chunks, dtype=float)


def _rows_of(X: Any) -> Any:
    """Return an array whose blocks hold whole rows."""
    return X.rechunk({1: -1})


def _predict_frame(frame: Any, model: Any) -> Any:
    values = model.predict(frame) if len(frame) else []
    return optional("pandas").Series(values, index=frame.index)


def _probabilities(frame: Any, model: Any, names: list[Any]) -> Any:
    values = model.predict_proba(frame) if len(frame) else np.empty((0, len(names)))
    return optional("pandas").DataFrame(values, index=frame.index, columns=names)
