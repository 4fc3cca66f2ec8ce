"""The front door: an estimator fitted to a table in parts."""

from __future__ import annotations

import glob
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError
from rulewright.estimators import MLRulesClassifier, check_parameters
from rulewright.scale.coding import in_memory
from rulewright.scale.files import ROWS_PER_PART, FileParts, map_codes_to_files
from rulewright.scale.mlrules import PartedMLRules
from rulewright.scale.parts import LocalParts, TablePart
from rulewright.scale.sample_fit import learn_sampled
from rulewright.scale.survey import PartReading, overview
from rulewright.search import count_threads

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulewright.scale.coding import Keep
    from rulewright.scale.parts import Parts

SAMPLE_ROWS = 100_000
"""Rows that bins are chosen on, and all that learners without partitions see."""


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
    Fit an estimator to a table in parts; the model does not depend on how it is parted.

    Parameters
    ----------
    estimator : estimator
        `MLRulesClassifier` learns from all rows. Other learners choose their rules on a sample,
        which is counted on all rows; `docs/scale.md` says what is fitted where.
    X : path, list of tables, or Dask dataframe or array
        A path may have wildcards and names Parquet files, which may be larger than memory. The
        items of a list are arrays, dataframes or Tables with the same columns.
    y, sample_weight : str, list of arrays, or Dask series or array, optional
        Target and weights: the names of their columns in X, or in parts like those of X.
    client : distributed.Client, optional
        Where the parts of a Dask collection are kept and counted; by default the current one.
    sample_rows : int, default=100_000
        About how many rows are in the sample that bins are chosen on.
    rows_per_part : int, default=500_000
        Rows of a file that are read at once.
    folder : path, optional
        Where the codes of files are kept during the fit; by default the folder of temporary files.
    **options
        `drop`, `nominal`, `numeric`, `date` and `missing`, as in `read_table`.

    Returns
    -------
    estimator
        The estimator, fitted.
    """
    check_parameters(type(estimator).__name__, estimator.get_params(deep=False), estimator.DOMAINS)
    for name, value in (("sample_rows", sample_rows), ("rows_per_part", rows_per_part)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise ValueError(f"{name}={value!r} must be a whole number >= 1")
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
    """Return the options of reading; an unknown one is an error."""
    known = ("nominal", "drop", "numeric", "date", "missing")
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
    """Give the parts of a table, and where their codes are kept."""
    if isinstance(X, str | os.PathLike):
        for name, value in (("y", y), ("sample_weight", sample_weight)):
            if value is not None and not isinstance(value, str):
                raise DataError(f"{name} of files must be the name of a column.")
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
        raise DataError(f"{pattern}: no file has such a name. Check the path.")
    for path in found:
        if not path.lower().endswith((".parquet", ".pq")):
            raise DataError(
                f"{path}: files are read in parts from Parquet only. Convert it, as DuckDB does: "
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
