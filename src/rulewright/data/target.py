"""Targets and weights: the class or number of each row, and its weight."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.findings import Finding
from rulewright.data.frame import LabelColumn
from rulewright.data.late_imports import optional
from rulewright.data.number_texts import NumberTexts, may_be_numbers
from rulewright.data.readers.arrays import values_of
from rulewright.data.schema import check_encodable, label_of
from rulewright.data.source import Raw
from rulewright.data.values import (
    as_floats,
    convert_values,
    factor,
    recode_labels,
    text_to_number,
    unique_numbers,
)

_COLUMN_VECTOR = (
    "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
    "(n_samples, ), for example using ravel()."
)


@dataclass(frozen=True, eq=False)
class Target:
    """The class of each row."""

    classes: NDArray[Any]  # distinct, including declared absent ones; sorted unless `ordered`
    codes: NDArray[np.int32]  # position in ``classes`` of the class of each row
    declared: tuple[str, ...] | None = None  # categories that are text, in order
    declared_order: tuple[Any, ...] | None = None  # from low to high, if declared as ordered

    def with_order(self, order: Iterable[object]) -> Self:
        """Return the target with classes in the given order, from low to high; list each once."""
        if isinstance(order, str) or not isinstance(order, Iterable):
            raise DataError(f"The order of the classes must be a list, not {order!r:.60}.")
        # 1 and "1" refer to the same class.
        known = {label_of(value): code for code, value in enumerate(self.classes.tolist())}
        listed = [label_of(value) for value in order]
        all_classes = ", ".join(map(repr, known))
        if unknown := [label for label in listed if label not in known]:
            raise DataError(
                f"The order of the classes has {unknown[0]!r}, which is not a class of the target. "
                f"The classes are: {all_classes}."
            )
        if absent := [label for label in known if label not in listed]:
            raise DataError(
                f"The order of the classes lacks {absent[0]!r}. List all of: {all_classes}."
            )
        if len(listed) != len(known):
            raise DataError("The order of the classes names a class twice. List each once.")
        places = np.array([known[label] for label in listed], dtype=np.intp)
        ranks = np.argsort(places).astype(np.int32)
        return replace(self, classes=self.classes[places], codes=ranks[self.codes])

    @property
    def values(self) -> NDArray[Any]:
        """The class of each row."""
        labels: NDArray[Any] = self.classes[self.codes]
        return labels

    def to_frame_values(self) -> NDArray[Any] | LabelColumn:
        """Return the classes for a dataframe: ordered text becomes ordered labels."""
        order = self.declared_order
        if order is None or self.classes.dtype.kind != "U":
            return self.values
        ranked = self.with_order(order)
        return LabelColumn(ranked.codes, tuple(ranked.classes.tolist()), ordered=True)

    def take(self, rows: Any) -> Self:
        """Return the target of some rows."""
        return replace(self, codes=self.codes[rows])

    def __len__(self) -> int:
        return len(self.codes)


def read_target(y: Any, n_rows: int | None = None) -> Target:
    """Read classes: strings, integers, Booleans, integral floats or categories, one per row."""
    return target_of(read_one_column(y, "A classifier", n_rows), "y")


def read_one_column(y: Any, learner: str, n_rows: int | None = None) -> Raw:
    """Load a target given as an array, one value per row."""
    if y is None:
        raise DataError(f"{learner} requires y to be passed, but the target y is None.")
    raw = values_of(y, "y")
    if raw.values.ndim == 2 and raw.values.shape[1] == 1:
        warning = optional("sklearn.exceptions").DataConversionWarning
        warnings.warn(_COLUMN_VECTOR, warning, stacklevel=2)
        raw = Raw(raw.values[:, 0])
    if raw.values.ndim != 1:
        shape = raw.values.shape
        raise DataError(f"y should be a 1d array, got an array of shape {shape} instead.")
    _check_length("y", len(raw.values), n_rows)
    return raw


def target_of(raw: Raw, name: str, path: str | None = None) -> Target:
    """Create the target from the values of a column, of a file if there is a path."""
    raw = convert_values(name, raw)
    values = raw.values
    if raw.type == "mixed":
        raise DataError(
            f"Unknown label type: {name} mixes numbers, booleans and text. "
            "Convert all labels to one type."
        )
    refuse_missing(name, values, path)
    if values.dtype.kind == "f":
        _check_whole(name, values)
    if values.dtype.kind in "iufb":
        return _number_target(name, raw)
    if raw.type == "number":
        raise DataError(
            f"Unknown label type: {name} has numbers with more than 64 bits, or numbers beyond "
            "2^53 together with fractions. Convert all labels to text."
        )
    found, codes = factor(values)
    check_encodable(found, f"label of {name}")
    if raw.declared is None:
        return Target(np.array(found), codes)
    declared = tuple(map(str, raw.declared))
    classes = sorted(set(declared) | set(found))
    codes = recode_labels(found, codes, classes, absent=-1)
    return Target(np.array(classes), codes, declared, declared if raw.ordered else None)


def read_weights(weights: Any, n_rows: int) -> NDArray[np.float64]:
    """Read row weights: an array or one number; finite, nonnegative, not all zero."""
    if isinstance(weights, Real):
        weights = np.full(n_rows, float(weights))
    raw = values_of(weights, "sample_weight")
    if raw.values.ndim != 1:
        shape = raw.values.shape
        raise DataError(f"Sample weights must be 1D array or scalar, got the shape {shape}.")
    _check_length("sample_weight", len(raw.values), n_rows)
    return make_weights(raw, "sample_weight")


def make_weights(raw: Raw, name: str) -> NDArray[np.float64]:
    """Create weights from the values of a column."""
    raw = convert_values(name, raw)
    if raw.type != "number":
        raise DataError(f"The weights in {name} must be numbers.")
    weights = raw.values if raw.values.dtype.kind != "O" else as_floats(name, raw.values)
    weights = weights.astype(np.float64, copy=False)
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


def _number_target(name: str, raw: Raw) -> Target:
    if raw.declared is None:
        return Target(*unique_numbers(raw.values))
    listed = convert_values(name, Raw(np.array(raw.declared, dtype=object)))
    if listed.type not in ("number", "boolean"):
        raise DataError(f"Unknown label type: the categories of {name} mix numbers and text.")
    classes = np.unique(np.concatenate([listed.values, raw.values]))
    order = tuple(listed.values.tolist()) if raw.ordered else None
    codes = np.searchsorted(classes, raw.values).astype(np.int32)
    return Target(classes, codes, declared_order=order)


def refuse_missing(name: str, values: NDArray[Any], path: str | None) -> None:
    """Raise an error that names the first row without a target."""
    if values.dtype.kind in "iub":
        return
    missing = values == None if values.dtype.kind == "O" else np.isnan(values)  # noqa: E711
    if missing.any():
        where = name_place(name, int(missing.argmax()), path)
        nan = "Input y contains NaN. " if path is None else ""
        remedy = "" if path is None else ", or use read_table(X, drop_unlabelled=True)"
        raise DataError(f"{nan}The target in {where} is missing: drop the rows without it{remedy}.")


def name_place(name: str, row: int, path: str | None) -> str:
    """Describe the place of a target value; rows of files count from 1."""
    if path is None:
        return f"{name}, row {row} (counting from 0)"
    return f"{path}, {name}, data row {row + 1} (without the header)"


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


MOST_CLASSES = 20
"""Integers with more distinct values than this are a regression target, not classes."""


@dataclass(frozen=True, eq=False)
class Numbers:
    """The number of each row, finite."""

    values: NDArray[np.float64]
    decisions: tuple[Finding, ...] = ()  # findings about reading them

    def to_frame_values(self) -> NDArray[np.float64]:
        """Return the numbers for a dataframe."""
        return self.values

    @property
    def outcomes(self) -> NDArray[np.float64]:
        """The number of each row that statistics of rules compare."""
        return self.values

    def average(self, weights: NDArray[np.float64]) -> float:
        """Return the average number of rows with weights."""
        return float(np.average(self.values, weights=weights))

    def take(self, rows: Any) -> Self:
        """Return the numbers of some rows."""
        return replace(self, values=self.values[rows])

    def __len__(self) -> int:
        return len(self.values)


def read_numbers(y: Any, n_rows: int | None = None) -> Numbers:
    """Read one number per row."""
    return numbers_of(read_one_column(y, "A regressor", n_rows), "y")


def numbers_of(raw: Raw, name: str, path: str | None = None) -> Numbers:
    """Create the target from the values of a column, of a file if there is a path."""
    raw = convert_values(name, raw)
    written = NumberTexts(raw.values) if raw.type == "string" and raw.untyped else None
    if written and written.is_numeric and (decisions := written.decisions(name)):
        numbers = written.numbers()
        refuse_missing(name, numbers, path)
        return Numbers(numbers, tuple(decisions))
    refuse_missing(name, raw.values, path)
    if raw.values.dtype.kind == "O":
        return Numbers(_parse_numbers(name, raw.values, path))
    values = raw.values.astype(np.float64)
    infinite = np.isinf(values)
    if infinite.any():
        raise DataError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            f"See {name_place(name, int(infinite.argmax()), path)}: correct the number or drop the "
            "row."
        )
    return Numbers(values)


def looks_numeric(name: str, raw: Raw) -> bool:
    """Return whether a target has fractions, or integers with many distinct values."""
    raw = convert_values(name, raw)
    if raw.type == "string" and raw.untyped and may_be_numbers(raw.values):
        written = NumberTexts(raw.values)
        if written.is_numeric:
            raw = Raw(written.numbers(), type="number")
    if raw.type != "number" or raw.declared is not None:
        return False
    known = np.asarray([v for v in raw.values.flat if v is not None and v == v], dtype=np.float64)
    return bool((known != np.rint(known)).any()) or len(np.unique(known)) > MOST_CLASSES


def _parse_numbers(name: str, texts: NDArray[Any], path: str | None) -> NDArray[np.float64]:
    numbers = np.empty(len(texts))
    for row, text in enumerate(texts):
        try:
            numbers[row] = text_to_number(str(text))
        except ValueError:
            raise DataError(
                f"Regression needs numbers, but {name_place(name, row, path)} holds {text!r:.80}. "
                "Correct the value, name another target, or learn a classifier."
            ) from None
    return numbers
