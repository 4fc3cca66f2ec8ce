"""Target and weights: the class and the weight of each row."""

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.labels import factor, recode, unique_numbers
from rulewright.data.optional import optional
from rulewright.data.readers.arrays import values_of
from rulewright.data.source import Raw
from rulewright.data.values import plain

_COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
    "(n_samples, ), for example using ravel()."
)


@dataclass(frozen=True, eq=False)
class Target:
    """
    The class of each row.

    Attributes
    ----------
    classes : array
        Sorted classes (strings, integers, booleans or whole floats), declared but absent ones
        included.
    codes : int32 array
        Position of each row's class in ``classes``.
    declared : tuple of str, optional
        The classes in the order in which categories declared them.
    """

    classes: NDArray[Any]
    codes: NDArray[np.int32]
    declared: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.codes)


def read_target(y: Any, n_rows: int | None = None) -> Target:
    """
    Read class labels.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Strings, integers, booleans or whole floats; categories may declare absent classes.
    n_rows : int, optional
        Number of rows that the labels must have.

    Returns
    -------
    Target
        Sorted classes and codes.
    """
    if y is None:
        raise DataError("A classifier requires y to be passed, but the target y is None.")
    raw = values_of(y, "y")
    if raw.values.ndim == 2 and raw.values.shape[1] == 1:
        warning = optional("sklearn.exceptions").DataConversionWarning
        warnings.warn(_COLUMN_VECTOR, warning, stacklevel=2)
        raw = Raw(raw.values[:, 0])
    if raw.values.ndim != 1:
        shape = raw.values.shape
        raise DataError(f"y should be a 1d array, got an array of shape {shape} instead.")
    _check_length("y", len(raw.values), n_rows)
    return target_of(raw, "y")


def target_of(raw: Raw, name: str, path: str | None = None) -> Target:
    """Make the target from the values of one column, of a file if there is a path."""
    values, type_ = plain(name, raw.values)
    if type_ == "mixed":
        raise DataError(
            f"Unknown label type: {name} mixes numbers, booleans and text. "
            "Convert all labels to one type."
        )
    _refuse_missing(name, values, path)
    if values.dtype.kind == "f":
        _check_whole(name, values)
    if values.dtype.kind in "iufb":
        return _number_target(name, values, raw.declared)
    found, codes = factor(values)
    if raw.declared is None:
        return Target(np.array(found), codes)
    declared = tuple(map(str, raw.declared))
    classes = sorted(set(declared) | set(found))
    return Target(np.array(classes), recode(found, codes, classes, absent=-1), declared)


def read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """
    Read row weights: finite, not negative, not all zero.

    Parameters
    ----------
    weights : array-like of shape (n_rows,) or number
        The weights; a number stands for equal weights.
    n_rows : int
        Number of rows that the weights must have.

    Returns
    -------
    float64 array
        The weights.
    """
    if isinstance(weights, Real):
        weights = np.full(n_rows, float(weights))
    raw = values_of(weights, "sample_weight")
    if raw.values.ndim != 1:
        shape = raw.values.shape
        raise DataError(f"Sample weights must be 1D array or scalar, got the shape {shape}.")
    _check_length("sample_weight", len(raw.values), n_rows)
    return weights_of(raw, "sample_weight")


def weights_of(raw: Raw, name: str) -> NDArray[np.float64]:
    """Make weights from the values of one column."""
    values, type_ = plain(name, raw.values)
    if type_ != "number":
        raise DataError(f"The weights in {name} must be numbers.")
    weights = values.astype(np.float64, copy=False)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(
            f"The weights in {name} must be finite and not negative: row {row} (counting from 0) "
            f"is {weights[row]}."
        )
    if not weights.any():
        raise DataError(f"The weights in {name} are all zero: at least one must be positive.")
    return weights


def _number_target(name: str, values: NDArray[Any], declared: tuple[object, ...] | None) -> Target:
    if declared is None:
        return Target(*unique_numbers(values))
    listed, type_ = plain(name, np.array(declared, dtype=object))
    if type_ not in ("number", "boolean"):
        raise DataError(f"Unknown label type: the categories of {name} mix numbers and text.")
    classes = np.unique(np.concatenate([listed, values]))
    return Target(classes, np.searchsorted(classes, values).astype(np.int32))


def _refuse_missing(name: str, values: NDArray[Any], path: str | None) -> None:
    if values.dtype.kind in "iub":
        return
    missing = values == None if values.dtype.kind == "O" else np.isnan(values)  # noqa: E711
    if missing.any():
        row = int(missing.argmax())
        # a file is looked at with an editor, which counts from 1
        where = f"Input y contains NaN. The label in {name}, row {row} (counting from 0),"
        if path is not None:
            where = f"{path}, data row {row + 1} (without the header): the label in {name}"
        raise DataError(f"{where} is missing: drop the rows without a label.")


def _check_whole(name: str, values: NDArray[Any]) -> None:
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            f"See {name}, row {int(infinite.argmax())} (counting from 0)."
        )
    if (values != np.rint(values)).any():
        raise DataError(
            "Unknown label type: continuous. Maybe you are trying to fit a classifier, which "
            "expects discrete classes on a regression target with continuous values."
        )


def _check_length(name: str, found: int, n_rows: int | None) -> None:
    if n_rows is not None and found != n_rows:
        raise DataError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows, "
            f"but {name} has {found}."
        )
