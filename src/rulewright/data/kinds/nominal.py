"""Nominal columns: labels, as int32 codes with -1 for missing and -2 for unseen ones."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.frame import LabelColumn
from rulewright.data.json_fields import TEXT, Part, list_of
from rulewright.data.kind import Kind, SqlWords
from rulewright.data.schema import (
    BOOLEAN_LABELS,
    ColumnSchema,
    check_encodable,
    label_of,
    write_labels,
)
from rulewright.data.source import LabelType, PlainType, Raw, Wanted, as_objects
from rulewright.data.table import MISSING_CODE, UNSEEN_CODE, Column
from rulewright.data.values import (
    LARGEST_EXACT,
    as_floats,
    check_finite,
    convert_values,
    factor,
    recode_labels,
    text_to_number,
)

_LABEL_TYPES: dict[PlainType | None, LabelType] = {"number": "number", "boolean": "boolean"}
_UNSEEN = "(unseen label)"
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)


class Nominal(Kind):
    """Labels: text, or numbers and booleans of which only equality counts."""

    name = "nominal"
    ordered = False
    fields: ClassVar[Mapping[str, Part]] = {
        "labels": list_of(TEXT, uniqueItems=True),
        "label_type": {
            "description": "What the labels were before they became text.",
            "enum": get_args(LabelType),
        },
    }
    operators = ("=", "!=", "is missing", "is known")

    def wanted(self, schema: ColumnSchema | None) -> Wanted:
        """Ask for text where the labels are text, else for exact numbers."""
        return "text" if schema is not None and schema.label_type == "string" else "labels"

    def read(self, name: str, raw: Raw) -> Column:
        """Find the labels: the declared ones, or the labels in the data, sorted."""
        raw = convert_values(name, raw)
        if raw.type == "number" and raw.values.dtype.kind in "fO" and not raw.finite:
            check_finite(name, as_floats(name, raw.values))
        found, codes = factor(raw.values)
        label_type = _LABEL_TYPES.get(raw.type, "string")
        labels = tuple(found)
        if raw.declared is not None:
            labels, label_type = _read_declared_labels(name, raw.declared)
        elif label_type == "boolean":
            labels = BOOLEAN_LABELS
        check_encodable(labels, f"label of column {name!r}")
        ranked = raw.ordered and len(labels) > 1
        schema = ColumnSchema(name, self.name, labels, label_type, ranked)
        return Column(
            schema, codes if labels == tuple(found) else recode_labels(found, codes, labels, -1)
        )

    def read_like(self, schema: ColumnSchema, raw: Raw) -> Column:
        """Code the labels that the schema knows; others are unseen."""
        return _code_labels(schema, *factor(convert_values(schema.name, raw).values))

    def recode(self, column: Column, schema: ColumnSchema) -> Column:
        """Code the labels by another schema."""
        return _code_labels(schema, column.schema.labels, column.values)

    def raw(self, column: Column) -> Raw:
        """Return the labels as text, None for missing."""
        labels = np.array([*column.schema.labels, _UNSEEN, None], dtype=object)
        return Raw(labels[column.values])

    def to_frame_values(self, column: Column) -> NDArray[Any] | LabelColumn:
        """Return Booleans, or labels with all that are declared."""
        schema, codes, unseen = column.schema, column.values, column.values == UNSEEN_CODE
        if schema.label_type == "boolean" and not unseen.any():
            values = np.array([False, True, None], dtype=object)[codes]
            return np.asarray(values, object if column.is_missing.any() else np.bool_)
        labels: tuple[Any, ...] = schema.labels
        if unseen.any():
            codes, labels = np.where(unseen, len(labels), codes), (*labels, _UNSEEN)
        else:
            labels = tuple(label_value(label, schema) for label in labels)
        return LabelColumn(codes, labels, ordered=schema.ranked)

    def is_missing(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which codes stand for missing; unseen labels are not missing."""
        return np.asarray(values == MISSING_CODE)

    def to_json(self, schema: ColumnSchema) -> dict[str, Any]:
        """Return the labels and their type."""
        return {"labels": list(schema.labels), "label_type": schema.label_type}

    def from_json(self, name: str, fields: dict[str, Any]) -> dict[str, Any]:
        """Check the labels and their type."""
        labels, label_type = fields["labels"], fields["label_type"]
        if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
            raise DataError(f"Column {name!r}: labels must be a list of strings.")
        if len(set(labels)) != len(labels):
            raise DataError(f"Column {name!r}: labels must be distinct.")
        if label_type not in get_args(LabelType):
            raise DataError(f"Column {name!r}: unknown label_type {label_type!r}.")
        _check_type(name, labels, label_type)
        return {"labels": tuple(labels), "label_type": label_type}

    def describe(self, column: Column, write_label: Callable[[str], str] = str) -> str:
        """List the first labels."""
        return write_labels(column.schema.labels, 6, write_label)

    def reader(self, schema: ColumnSchema) -> str:
        """Read labels of the type of the column."""
        return "label" if schema.label_type == "string" else f"{schema.label_type}_label"

    def sql_value(self, schema: ColumnSchema, expression: str, sql: SqlWords) -> str:
        """Read a column as labels, or as numbers if the labels are numbers or Booleans."""
        if schema.label_type == "number":
            return sql.label_number(schema.name, expression)
        if schema.label_type == "boolean":
            return sql.truth(schema.name, expression)
        return sql.label(schema.name, expression)

    def sql_literal(self, schema: ColumnSchema, value: str, sql: SqlWords) -> str:
        """Write a label to compare with what `sql_value` reads."""
        held = label_value(value, schema)
        if isinstance(held, str):
            return sql.text(held)
        if isinstance(held, bool):
            return str(int(held))
        if abs(held) > LARGEST_EXACT:
            raise ValueError(
                f"label {value} of column {schema.name!r} is too large to be exact in SQL; "
                "learn from the column as text"
            )
        return sql.number(held)


def label_value(label: str, schema: ColumnSchema) -> str | bool | int | float:
    """Return the value that stands in a table for a label."""
    if schema.label_type == "boolean":
        return label == "true"
    if schema.label_type == "string":
        return label
    try:
        return int(label)
    except ValueError:
        return float(label)


def _code_labels(schema: ColumnSchema, found: Sequence[str], codes: NDArray[np.int32]) -> Column:
    known = [_write_label(label, schema) for label in found]
    return Column(schema, recode_labels(known, codes, schema.labels, UNSEEN_CODE))


def _read_declared_labels(
    name: str, declared: tuple[object, ...]
) -> tuple[tuple[str, ...], LabelType]:
    type_ = convert_values(name, Raw(as_objects(declared))).type if declared else "string"
    if type_ == "boolean":
        return BOOLEAN_LABELS, "boolean"
    # 1 and "1" are one label
    return tuple(dict.fromkeys(map(label_of, declared))), _LABEL_TYPES.get(type_, "string")


def _write_label(label: str, schema: ColumnSchema) -> str:
    """Write a label as the schema does: data may hold ``1.0`` for 1, ``True`` or 1 for true.

    Exported programs read labels in the same way.
    """
    if label in schema.label_index:
        return label
    if schema.label_type == "boolean":
        return {"0": "false", "1": "true"}.get(label, label.lower())
    return _number_label(label) if schema.label_type == "number" else label


def _number_label(label: str) -> str:
    """Write a text as the label of its number; integers of 64 bits are exact, others doubles."""
    try:
        if _WHOLE.fullmatch(label) and -(2**63) <= int(label) < 2**63:
            return str(int(label))
        return label_of(text_to_number(label))
    except ValueError:
        return label


def _check_type(name: str, labels: list[str], label_type: LabelType) -> None:
    """Reject labels of a schema that no value of their type has."""
    if label_type == "boolean" and tuple(labels) != BOOLEAN_LABELS:
        raise DataError(f"Column {name!r}: labels of Booleans must be false and true.")
    if label_type == "number":
        for label in labels:
            if not _is_number_label(label):
                raise DataError(
                    f"Column {name!r}: {label!r:.80} is no label of a number: write 1, not 1.0 or "
                    "01, or give the label_type string."
                )


def _is_number_label(label: str) -> bool:
    try:
        number = int(label) if _WHOLE.fullmatch(label) else float(label)
        return label == label_of(number) and label != "nan"
    except ValueError:
        return False
