"""From raw values to a checked column, numeric or nominal."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.labels import factor, recode
from rulewright.data.schema import BOOLEAN_LABELS, ColumnSchema, Kind, LabelType, label_of
from rulewright.data.source import Raw
from rulewright.data.table import UNSEEN_CODE, Column
from rulewright.data.values import PlainType, check_finite, plain, text_to_number

_LABEL_TYPES: dict[PlainType, LabelType] = {
    "number": "number",
    "boolean": "boolean",
    "string": "string",
    "mixed": "string",
}


def make_column(name: str, raw: Raw, kind: Kind | None = None) -> Column:
    """
    Check a column and give it its kind.

    Parameters
    ----------
    name : str
        Name of the column.
    raw : Raw
        Its values.
    kind : {"numeric", "nominal"}, optional
        The kind asked for; by default numbers are numeric and all else is nominal.

    Returns
    -------
    Column
        The column with the schema found.
    """
    values, type_ = plain(name, raw.values)
    if kind is None:
        kind = "numeric" if type_ == "number" and raw.declared is None else "nominal"
    if kind == "numeric":
        return Column(ColumnSchema(name, "numeric"), _floats(name, values, type_, raw.finite))
    if values.dtype.kind == "f" and not raw.finite:
        check_finite(name, values)
    found, codes = factor(values)
    label_type = _LABEL_TYPES[type_]
    labels = tuple(found)
    if raw.declared is not None:
        labels, label_type = _declared(name, raw.declared)
    elif label_type == "boolean":
        labels = BOOLEAN_LABELS
    schema = ColumnSchema(name, "nominal", labels, label_type)
    return Column(schema, codes if labels == tuple(found) else recode(found, codes, labels, -1))


def column_like(schema: ColumnSchema, raw: Raw) -> Column:
    """Read a column against its known schema: the same kind, the same codes for its labels."""
    values, type_ = plain(schema.name, raw.values)
    if schema.kind == "numeric":
        return Column(schema, _floats(schema.name, values, type_, raw.finite))
    found, codes = factor(values)
    known = [_as_written(label, schema) for label in found]
    return Column(schema, recode(known, codes, schema.labels, UNSEEN_CODE))


def _declared(name: str, declared: tuple[object, ...]) -> tuple[tuple[str, ...], LabelType]:
    categories = np.empty(len(declared), dtype=object)
    categories[:] = declared
    type_ = plain(name, categories)[1] if declared else "string"
    if type_ == "boolean":
        return BOOLEAN_LABELS, "boolean"
    # 1 and "1" are one label
    return tuple(dict.fromkeys(label_of(value) for value in declared)), _LABEL_TYPES[type_]


def _floats(name: str, values: NDArray[Any], type_: PlainType, finite: bool) -> NDArray[np.float64]:
    if type_ == "number":
        with np.errstate(over="ignore"):
            # the fields of a packed structured array are not aligned, which native code needs
            floats = np.require(values, np.float64, "A")
        if values.dtype.kind == "f" and not finite:
            check_finite(name, floats)
        return floats
    if values.dtype.kind == "b":
        return values.astype(np.float64)
    numbers = np.full(len(values), np.nan)
    for row, text in enumerate(values):
        if text is not None:
            numbers[row] = _parsed(name, row, text, type_)
    check_finite(name, numbers)
    return numbers


def _parsed(name: str, row: int, text: str, type_: PlainType) -> float:
    if type_ == "boolean":
        return float(BOOLEAN_LABELS.index(text))
    try:
        return text_to_number(text)
    except ValueError:
        raise DataError(
            f"Column {name!r} must be numeric, but row {row} (counting from 0) holds {text!r:.80}. "
            "Correct the value, or treat the column as nominal."
        ) from None


def _as_written(label: str, schema: ColumnSchema) -> str:
    """Write a label as the schema does: data may hold ``1.0`` for 1, ``True`` or 1 for true."""
    if label in schema.label_index:
        return label
    if schema.label_type == "boolean":
        return {"0": "false", "1": "true"}.get(label, label.lower())
    if schema.label_type == "number":
        try:
            return label_of(text_to_number(label))
        except ValueError:
            return label
    return label
