"""Arrays, dataframes that narwhals knows, and plain containers: nested lists, a dict of columns."""

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError, DataTypeError
from rulewright.data.late_imports import optional
from rulewright.data.schema import check_distinct
from rulewright.data.source import Raw, Source, Wanted, as_objects, positional_names
from rulewright.data.values import LARGEST_EXACT

_RESHAPE = (
    "Reshape your data either using array.reshape(-1, 1) if your data has a single feature or "
    "array.reshape(1, -1) if it contains a single sample."
)


def array_source(X: Any) -> Source:
    """Open a 2-D array, a structured array, nested lists or anything NumPy makes an array of."""
    array = as_array(X, "X")
    if array.dtype.names is not None:
        return _structured_source(array)
    if array.ndim != 2:
        raise _dimension_error(array)
    _refuse_complex(array.dtype)
    finite = _all_finite(array)

    def load(position: int, wanted: Wanted) -> Raw:
        return Raw(array[:, position], finite=finite)

    return Source(positional_names(array.shape[1]), False, array.shape[0], load)


def sparse_source(X: Any) -> Source:
    """Open a sparse matrix or array of SciPy, whose cells without a value are 0."""
    if X.ndim != 2:
        raise _dimension_error(X)
    _refuse_complex(X.dtype)
    columns = X.tocsc()

    def load(position: int, wanted: Wanted) -> Raw:
        return Raw(np.asarray(columns[:, [position]].toarray()).ravel())

    names = positional_names(X.shape[1])
    return Source(names, False, X.shape[0], load, sparse=True)


def _refuse_complex(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise DataError("Complex data not supported. Use the real and imaginary parts as columns.")


def dict_source(columns: Mapping[Any, Any]) -> Source:
    """Open a mapping from column names to columns."""
    names = tuple(columns)
    if not all(isinstance(name, str) for name in names):
        raise DataError("The keys of a dict of columns must be strings: the column names.")
    for name, values in columns.items():
        if isinstance(values, str | bytes) or not hasattr(values, "__len__"):
            raise DataError(f"Column {name!r} must be a list or an array, got {values!r:.60}.")
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        listed = ", ".join(f"{name!r} has {length}" for name, length in lengths.items())
        raise DataError(f"All columns must have the same number of rows: {listed}.")

    def load(position: int, wanted: Wanted) -> Raw:
        name = names[position]
        raw = values_of(columns[name], name, wanted)
        if raw.values.ndim != 1:
            raise DataError(f"Column {name!r} must be 1-D, got the shape {raw.values.shape}.")
        return raw

    return Source(names, True, next(iter(lengths.values()), 0), load)


def values_of(values: Any, name: str, wanted: Wanted = "any") -> Raw:
    """Return the values of a list, an array or a dataframe's column."""
    if not isinstance(values, np.ndarray | list | tuple):
        raw = series_of(values, name, wanted)
        if raw is not None:
            return raw
    return Raw(as_array(values, name))


def as_array(values: Any, name: str) -> NDArray[Any]:
    """Make an array without losing types or masks; refuse sparse matrices and ragged lists."""
    if isinstance(values, np.ndarray):
        return unmask(values)
    if hasattr(values, "toarray"):
        raise DataTypeError(
            f"Sparse data was passed as {name}, but dense data is required. "
            "Use '.toarray()' to convert it."
        )
    try:
        # as objects, because NumPy would turn [1, "a"] into text and [True, 2] into numbers
        objects = isinstance(values, list | tuple)
        return np.asarray(values, dtype=object) if objects else np.asarray(values)
    except ValueError:
        raise DataError(
            f"{name} has rows of different lengths. Give every row the same number of values."
        ) from None


def unmask(values: NDArray[Any]) -> NDArray[Any]:
    """Turn the masked values of an array into missing ones: NaN or None."""
    if not isinstance(values, np.ma.MaskedArray):
        return np.asarray(values)
    if values.dtype.names is not None:
        raise DataError("Masked structured arrays are not supported. Pass a dict of columns.")
    if values.dtype.kind in "fmM":
        missing = np.nan if values.dtype.kind == "f" else values.dtype.type("NaT")
        return np.asarray(values.filled(missing))
    objects = np.asarray(values.data.astype(object))
    objects[np.ma.getmaskarray(values)] = None
    return objects


def _structured_source(array: NDArray[Any]) -> Source:
    names: tuple[str, ...] = array.dtype.names or ()
    if array.ndim != 1:
        raise DataError(f"A structured array must be 1-D, got the shape {array.shape}.")
    for name in names:
        if array[name].ndim != 1:
            raise DataError(f"Field {name!r} must hold one value per row. Split it into columns.")

    def load(position: int, wanted: Wanted) -> Raw:
        return Raw(array[names[position]])

    return Source(names, True, len(array), load)


def _all_finite(array: NDArray[Any]) -> bool:
    if array.dtype.kind != "f":
        return False
    with np.errstate(all="ignore"):
        return math.isfinite(array.sum())


def _dimension_error(array: NDArray[Any]) -> DataError:
    if array.ndim > 2:
        return DataError(
            f"Found array with dim {array.ndim}. A table has rows and columns: pass a 2D array."
        )
    found = "1D" if array.ndim == 1 else "scalar"
    return DataError(f"Expected 2D array, got {found} array instead. {_RESHAPE}")


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

    return Source(names, named, len(frame), load, index=_index(frame))


def _index(frame: Any) -> Any:
    """Return the index of a pandas dataframe, unless it only counts the rows from 0."""
    if not frame.implementation.is_pandas_like():
        return None
    index = frame.to_native().index
    counts = (getattr(index, "start", None), getattr(index, "step", None)) == (0, 1)
    return None if counts else index


def series_of(values: Any, name: str, wanted: Wanted) -> Raw | None:
    """Return the values of a dataframe's column, or None when it is not one."""
    if hasattr(values, "categories") and hasattr(values, "codes"):
        # a bare pandas.Categorical
        return _pandas_labels(as_objects(values), values)
    nw = optional("narwhals")
    series = nw.from_native(values, allow_series=True, pass_through=True)
    return _raw(nw, series, name, wanted) if isinstance(series, nw.Series) else None


def _names(columns: list[Any]) -> tuple[tuple[str, ...], bool]:
    """Return the names of columns as text; 0, 1, ... of pandas are places and no names."""
    textual = [isinstance(name, str) for name in columns]
    if all(textual):
        return tuple(columns), True
    if any(textual):
        odd = columns[textual.index(False)]
        raise DataError(
            f"Column names must be all strings or all not: {odd!r} is not. "
            "Convert them with X.columns = X.columns.astype(str)."
        )
    names = tuple(map(_name_text, columns))
    if columns == list(range(len(columns))) or len(set(names)) < len(names):
        return positional_names(len(columns)), False
    return names, True


def _name_text(name: Any) -> str:
    """Write a name that is no text; levels of a MultiIndex are joined, empty levels are skipped."""
    if isinstance(name, tuple):
        return "_".join(part for part in map(str, name) if part)
    return str(name)


def _raw(nw: Any, series: Any, name: str, wanted: Wanted) -> Raw:
    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise DataError(
            f"Column {name!r} holds {dtype} values. Unpack it into numeric or text columns, "
            "or drop it."
        )
    if str(getattr(series.to_native(), "dtype", "")).startswith("interval"):
        native = series.to_native().astype("category").cat.as_ordered()
        return _pandas_labels(as_objects(native), native.cat)
    if isinstance(dtype, nw.Categorical | nw.Enum):
        # by way of a list: pyarrow's dictionaries lose their nulls in to_numpy
        return _categories(nw, series, as_objects(series.to_list()))
    # NumPy has neither decimals nor integers with missing ones among them
    special = dtype.is_decimal() or (dtype.is_integer() and series.null_count() > 0)
    if special and (wanted != "any" or _has_large(series)):
        return Raw(as_objects(map(_whole, series.to_list())))
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    return Raw(np.asarray(series.to_numpy()))


def _has_large(series: Any) -> bool:
    ends = (series.min(), series.max())  # not numbers where all values are missing
    numbers = [end for end in ends if isinstance(end, Integral | Decimal) and math.isfinite(end)]
    return any(abs(int(end)) > LARGEST_EXACT for end in numbers)


def _whole(value: Any) -> Any:
    """Return a whole number as an integer, any other value as it is."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral() else value


def _pandas_labels(values: NDArray[Any], declared: Any) -> Raw:
    """Return labels and their categories; intervals, as of `pandas.cut`, become their text."""
    labels = tuple(declared.categories)
    intervals = [label for label in labels if type(label).__name__ == "Interval"]
    if intervals:
        texts = {label: str(label) for label in intervals}
        values = as_objects(map(texts.get, values))
        labels = tuple(map(str, labels))
    return Raw(values, labels, ordered=bool(declared.ordered))


def _categories(nw: Any, series: Any, values: NDArray[Any]) -> Raw:
    if series.implementation.is_pandas_like():
        return _pandas_labels(values, series.to_native().cat)
    if isinstance(series.dtype, nw.Enum):
        return Raw(values, tuple(series.dtype.categories), ordered=True)
    if series.implementation.is_pyarrow() and series.to_native().type.ordered:
        chunks = series.to_native().unify_dictionaries().chunks
        labels = chunks[0].dictionary.to_pylist() if chunks else []
        return Raw(values, tuple(labels), ordered=True)
    # any other Categorical of polars or pyarrow is an encoding, which declares nothing
    return Raw(values)
