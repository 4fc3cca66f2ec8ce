"""Any dataframe that narwhals knows: pandas, polars, pyarrow and others."""

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.late_imports import optional
from rulewright.data.schema import check_distinct
from rulewright.data.source import Raw, Source, Wanted, as_objects, positional_names


def frame_source(X: Any) -> Source | None:
    """Open a dataframe, or return None when X is not one."""
    nw = optional("narwhals")
    try:
        frame = nw.from_native(X, pass_through=True)
    except nw.exceptions.DuplicateError:
        # pyarrow keeps the data in "columns" and the names in "column_names"
        names = getattr(X, "column_names", None) or list(X.columns)
        check_distinct([str(name) for name in names])
        raise
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if not isinstance(frame, nw.DataFrame):
        return None
    series = list(frame.iter_columns())
    names, named = _names(frame.columns)

    def load(position: int, wanted: Wanted) -> Raw:
        return _raw(nw, series[position], names[position], wanted)

    return Source(names, named, len(frame), load)


def series_of(values: Any, name: str, wanted: Wanted) -> Raw | None:
    """Return the values of a dataframe's column, or None when it is not one."""
    if hasattr(values, "categories") and hasattr(values, "codes"):
        # a bare pandas.Categorical
        objects, ordered = as_objects(values), bool(getattr(values, "ordered", False))
        return Raw(objects, tuple(values.categories), ordered=ordered)
    nw = optional("narwhals")
    series = nw.from_native(values, allow_series=True, pass_through=True)
    return _raw(nw, series, name, wanted) if isinstance(series, nw.Series) else None


def _names(columns: list[Any]) -> tuple[tuple[str, ...], bool]:
    textual = [isinstance(name, str) for name in columns]
    if all(textual):
        return tuple(columns), True
    if any(textual):
        odd = columns[textual.index(False)]
        raise DataError(
            f"Column names must be all strings or all not: {odd!r} is not. "
            "Convert them with X.columns = X.columns.astype(str)."
        )
    return positional_names(len(columns)), False


def _raw(nw: Any, series: Any, name: str, wanted: Wanted) -> Raw:
    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise DataError(
            f"Column {name!r} holds {dtype} values. Unpack it into columns of numbers or text, "
            "or drop it."
        )
    if isinstance(dtype, nw.Categorical | nw.Enum):
        # by way of a list: pyarrow's dictionaries lose their nulls in to_numpy
        return _categories(nw, series, as_objects(series.to_list()))
    exact = wanted != "any"  # labels: NumPy has no integers with missing ones among them
    if exact and (dtype.is_decimal() or (dtype.is_integer() and series.null_count() > 0)):
        return Raw(as_objects(map(_whole, series.to_list())))
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    return Raw(np.asarray(series.to_numpy()))


def _whole(value: Any) -> Any:
    """Return a whole number as an integer, any other value as it is."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral() else value


def _categories(nw: Any, series: Any, values: NDArray[Any]) -> Raw:
    if series.implementation.is_pandas_like():
        declared = series.to_native().cat
        return Raw(values, tuple(declared.categories), ordered=bool(declared.ordered))
    if isinstance(series.dtype, nw.Enum):
        return Raw(values, tuple(series.dtype.categories), ordered=True)
    if series.implementation.is_pyarrow() and series.to_native().type.ordered:
        chunks = series.to_native().unify_dictionaries().chunks
        labels = chunks[0].dictionary.to_pylist() if chunks else []
        return Raw(values, tuple(labels), ordered=True)
    # any other Categorical of polars or pyarrow is an encoding, which declares nothing
    return Raw(values)
