"""Data sets from OpenML: fetched and cached by scikit-learn, then checked against the registry."""

import http.client
import warnings
from typing import Any

import numpy as np

from rulewright.data import (
    MISSING_CODE,
    Column,
    ColumnSchema,
    DataError,
    Table,
    optional,
    read_target,
)
from rulewright_lab.experiments.registry import DatasetInfo, DatasetUnavailableError

# Columns that name the rows; they are not features in the papers.
_NAMES_OF_ROWS = {"promoters": "instance", "splice": "Instance_name", "zoo": "animal"}
# The papers' class; OpenML's own target is the number of drinks.
_TARGETS = {"liver-disorders": "selector"}


def fetch(info: DatasetInfo) -> Table:
    """Fetch a data set from OpenML or from scikit-learn's cache, and check its sizes."""
    bunch = _bunch(info)
    target = np.asarray(bunch.target)
    if target.ndim != 1 or target.dtype.kind in "fiu":
        raise DataError(f"{_title(info)} has no single nominal target.")
    dropped = _NAMES_OF_ROWS.get(info.name)
    columns = tuple(
        _column(name, values, bunch.categories.get(name))
        for name, values in zip(bunch.feature_names, np.asarray(bunch.data).T, strict=True)
        if name != dropped
    )
    table = Table(columns, True, len(target), read_target(target.astype(str)))
    check_sizes(info, table, _title(info))
    return table


def _bunch(info: DatasetInfo) -> Any:
    fetch_openml = optional("sklearn.datasets").fetch_openml
    options = {"target_column": _TARGETS[info.name]} if info.name in _TARGETS else {}
    try:
        with warnings.catch_warnings():
            # about retries and about targets that OpenML ignores; the sizes are checked afterwards
            warnings.simplefilter("ignore")
            return fetch_openml(
                data_id=info.openml,
                as_frame=False,
                parser="liac-arff",  # the other parser needs pandas
                n_retries=1,
                **options,
            )
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise DatasetUnavailableError(f"{_title(info)} cannot be fetched ({error}).") from error


def _column(name: str, values: Any, labels: list[str] | None) -> Column:
    if labels is None:
        return Column(ColumnSchema(name, "numeric"), np.array(values, dtype=np.float64))
    codes = np.where(np.isnan(values), MISSING_CODE, values).astype(np.int32)
    return Column(ColumnSchema(name, "nominal", tuple(map(str, labels))), codes)


def check_sizes(info: DatasetInfo, table: Table, origin: str) -> None:
    """Raise a DataError if the sizes differ from the registry's."""
    found = sizes(table)
    expected = {size: getattr(info, size) for size in found}
    wrong = [f"{found[s]} instead of {n} {s}" for s, n in expected.items() if found[s] != n]
    if wrong:
        raise DataError(
            f"{origin} is another variant than the papers' set: it has {', '.join(wrong)}. "
            "Set RULEWRIGHT_DATA to a folder with the data sets and their manifest.json."
        )


def sizes(table: Table) -> dict[str, int]:
    """Return the sizes of a set that the registry has."""
    kinds = [column.schema.kind for column in table.columns]
    missing = sum(int(np.count_nonzero(column.is_missing)) for column in table.columns)
    return {
        "rows": table.n_rows,
        "numeric": kinds.count("numeric"),
        "nominal": kinds.count("nominal"),
        "classes": 0 if table.target is None else len(np.unique(table.known_target.codes)),
        "missing": missing,
    }


def _title(info: DatasetInfo) -> str:
    return f"OpenML's data set {info.openml} ({info.name})"
