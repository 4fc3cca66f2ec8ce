"""The thesis's two ways to prepare a table: Boolean columns, and intervals as labels."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rulewright.data import Column, ColumnSchema
from rulewright.encoding import attributes, encode_booleans

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import Table

Encoding: TypeAlias = Literal["raw", "boolean", "bins"]


def boolean_columns(table: Table) -> Table:
    """Turn labels, ten intervals of each numeric column and "is missing" into Boolean columns."""
    encoding, covers = encode_booleans(table)
    answers = covers.unpack()
    columns = [
        Column(
            ColumnSchema(str(variable), "nominal", ("false", "true"), "boolean"),
            answers[j].astype(np.int32),
        )
        for j, variable in enumerate(encoding.variables)
    ]
    return replace(table, columns=tuple(columns), named=True)


def binned_columns(table: Table) -> Table:
    """Turn numeric columns into ten intervals as labels, and missing into a label."""
    return replace(table, columns=tuple(map(_bin_column, table.columns)))


def _bin_column(column: Column) -> Column:
    ((attribute, questions),) = attributes(column, 10, "value", thresholds=False)
    codes = np.full(len(column), -1, dtype=np.int32)
    for condition, (value,) in questions:
        codes[condition.holds(column)] = value
    labels = tuple(map(str, attribute.values))
    return Column(ColumnSchema(column.schema.name, "nominal", labels, "string"), codes)


ENCODINGS: Mapping[Encoding, Callable[[Table], Table]] = {
    "raw": lambda table: table,
    "boolean": boolean_columns,
    "bins": binned_columns,
}
