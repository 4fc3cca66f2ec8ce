"""Public functions: fit an estimator to a partitioned table, and predict on Dask."""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from rulewright.data import DataError, Table, optional
from rulewright.estimators import MLRulesClassifier, check_parameters
from rulewright.scale.coding import in_memory
from rulewright.scale.mlrules import PartedMLRules
from rulewright.scale.parts import (
    ROWS_PER_PART,
    FileParts,
    LocalParts,
    Parts,
    TablePart,
    map_codes_to_files,
)
from rulewright.scale.sample_fit import learn_sampled
from rulewright.scale.survey import PartReading, overview
from rulewright.search import count_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.scale.coding import Keep

SAMPLE_ROWS = 100_000
"""Number of rows to choose bins on; learners without partitions see only these rows."""


def fit_partitions(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    client: Any = None,
    sample_rows: int = SAMPLE_ROWS,
    rows_per_part: int = ROWS_PER_PART,
    folder: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Any:
    """
    Fit an estimator to a partitioned table; the model does not depend on the partitioning.

    Parameters
    ----------
    estimator : estimator
        `MLRulesClassifier` learns from all rows. Other learners choose their rules on a sample
        and count them on all rows; `docs/scale.md` has the details.
    X : path, list of tables, or Dask dataframe or array
        A path may have wildcards and must name Parquet files, which may be larger than memory.
        A list has arrays, dataframes or Tables with the same columns.
    y, sample_weight : str, list of arrays, or Dask series or array, optional
        Target and weights: the names of their columns in X, or partitioned like X.
    client : distributed.Client, optional
        The client of the cluster that holds a Dask collection; by default the current one.
    sample_rows : int, default=100_000
        Approximate number of rows in the sample that bins are chosen on.
    rows_per_part : int, default=500_000
        Number of rows of a file to read at once.
    folder : path, optional
        Folder for the codes of files during the fit; by default the folder of temporary files.
    **options
        `drop`, `nominal`, `numeric`, `date`, `date_parts` and `missing`, as in `read_table`.

    Returns
    -------
    estimator
        The estimator, fitted.
    """
    check_parameters(type(estimator).__name__, estimator.get_params(deep=False), estimator.DOMAINS)
    for name, value in (("sample_rows", sample_rows), ("rows_per_part", rows_per_part)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number >= 1")
    for part in X if isinstance(X, list | tuple) else [X]:
        _refuse_groups(part.groups if isinstance(part, Table) else None)
    n_threads = count_threads(estimator.n_jobs)
    reading = PartReading(
        estimator.TASK,
        y if isinstance(y, str) else None,
        sample_weight if isinstance(sample_weight, str) else None,
        _checked_options({"nominal": estimator.categorical_features, **options}),
    )
    with _place_parts(X, y, sample_weight, client, rows_per_part, folder, n_threads) as (
        parts,
        keep,
    ):
        found = overview(parts, reading, sample_rows)
        if isinstance(estimator, MLRulesClassifier):
            learned: Any = PartedMLRules(**estimator.get_params(deep=False))
            learned.model_ = learned.learn_parts(parts, reading, found, keep)
        else:
            learned = learn_sampled(estimator, parts, reading, found)
    fitted = {name: value for name, value in vars(learned).items() if name.endswith("_")}
    vars(estimator).update({name: own for name, own in fitted.items() if name[0] != "_"})
    estimator.n_features_in_ = len(found.schema)
    if found.schema.named:
        estimator.feature_names_in_ = np.array(found.schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return estimator


def _checked_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options for reading; unknown options are an error."""
    known = ("nominal", "drop", "numeric", "date", "date_parts", "missing")
    if unknown := sorted(set(options) - set(known)):
        raise TypeError(f"fit_partitions() has no option {unknown[0]!r}; it has {', '.join(known)}")
    return options


@contextmanager
def _place_parts(
    X: Any,
    y: Any,
    sample_weight: Any,
    client: Any,
    rows_per_part: int,
    folder: str | os.PathLike[str] | None,
    n_threads: int,
) -> Iterator[tuple[Parts, Keep]]:
    """Return the parts of a table, and the store of their codes."""
    if isinstance(X, str | os.PathLike):
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None and not isinstance(value, str):
                raise DataError(f"{name}: name a column if X is files.")
        with map_codes_to_files(folder) as keep:
            yield FileParts(_paths(os.fspath(X)), rows_per_part, n_threads), keep
    elif hasattr(X, "dask"):
        from rulewright.scale.dask import dask_parts  # noqa: PLC0415 - an extra

        parts = dask_parts(X, y, sample_weight, client)
        try:
            yield parts, in_memory
        finally:
            parts.close()
    else:
        yield LocalParts(_list_parts(X, y, sample_weight), n_threads), in_memory


def _paths(pattern: str) -> list[str]:
    """Return the Parquet files that a path with wildcards names."""
    found = [pattern] if os.path.lexists(pattern) else sorted(glob.glob(pattern, recursive=True))
    if not found:
        raise DataError(f"{pattern}: no file matches. Check the path.")
    for path in found:
        if not path.lower().endswith((".parquet", ".pq")):
            raise DataError(
                f"{path}: only Parquet files can be read in parts. Convert it, such as by DuckDB: "
                "COPY (FROM 'data.csv') TO 'data.parquet'."
            )
    return found


def _list_parts(X: Any, y: Any, sample_weight: Any) -> list[TablePart]:
    """Return the parts of a list of tables."""
    tables = list(X) if isinstance(X, list | tuple) else [X]
    given: list[Sequence[Any]] = []
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None or isinstance(values, str):
            values = [None] * len(tables)
        elif not isinstance(X, list | tuple):
            values = [values]
        if len(values) != len(tables):
            raise DataError(f"{name} has {len(values)} parts, but X has {len(tables)}.")
        given.append(values)
    return [
        TablePart(f"partition {place}", *one)
        for place, one in enumerate(zip(tables, *given, strict=True))
    ]


def on_dask(estimator: Any, client: Any = None, *, sample_rows: int = SAMPLE_ROWS) -> OnDask:
    """
    Return an estimator that learns from Dask dataframes and arrays.

    Parameters
    ----------
    estimator : estimator
        The learner: `MLRulesClassifier` learns from all rows, others from a sample.
    client : distributed.Client, optional
        The client of the cluster; by default the current one.
    sample_rows : int, default=100_000
        Approximate number of rows in the sample that bins are chosen on.

    Returns
    -------
    OnDask
        An estimator with `fit`, `predict` and `predict_proba`.
    """
    return OnDask(estimator, client, sample_rows=sample_rows)


def _refuse_groups(groups: Any) -> None:
    if groups is not None:
        raise DataError(
            "groups: fits on partitions cannot keep groups of rows whole. Fit in memory, on a "
            "sample of whole groups if the data are too large."
        )


class OnDask(
    BaseEstimator,  # type: ignore[misc]
):
    """An estimator whose rows are partitions of Dask collections; created by `on_dask`.

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn from partitions.

        Parameters
        ----------
        X : Dask dataframe or array
            The rows.
        y, sample_weight : str, Dask series or array, optional
            Target and weights: the names of their columns, or partitioned like X.
        groups : None
            Partitions do not support groups: anything else is an error.

        Returns
        -------
        self
        """
        _refuse_groups(groups)
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
    """Return an array whose blocks have complete rows."""
    return X.rechunk({1: -1})


def _predict_frame(frame: Any, model: Any) -> Any:
    values = model.predict(frame) if len(frame) else []
    return optional("pandas").Series(values, index=frame.index)


def _probabilities(frame: Any, model: Any, names: list[Any]) -> Any:
    values = model.predict_proba(frame) if len(frame) else np.empty((0, len(names)))
    return optional("pandas").DataFrame(values, index=frame.index, columns=names)
