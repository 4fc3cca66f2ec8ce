"""Facts about all rows before coding: columns, classes, weights and a sample.

Every part is summarised; the merged summary is independent of the partitioning. Labels and classes
are sorted; the sample has the rows with the lowest hashes.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import (
    BOOLEAN_LABELS,
    Column,
    ColumnSchema,
    DataError,
    Numbers,
    Schema,
    Table,
    Target,
    Task,
    label_of,
    open_table,
    position,
    read_table,
    recode,
)
from rulewright.model import ColumnNotes, note_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray
    from rulewright.scale.parts import Parts, TablePart

SPAN = 2.0**64
"""Number of hashes."""

_MISSING = 0x9E3779B97F4A7C15
_START = 0x243F6A8885A308D3


@dataclass(frozen=True)
class PartReading:
    """How parts are read: the columns of target and weights, and options of `read_table`."""

    task: Task
    target: str | None = None
    weights: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def table(self, part: TablePart) -> Table | None:
        """Read a part; None if it has no row with a weight."""
        try:
            return self._table(part)
        except DataError as error:
            raise DataError(f"{part.title}: {error}") from None

    def _table(self, part: TablePart) -> Table | None:
        source = open_table(part.X)
        if not source.n_rows:
            return None
        weights = part.sample_weight if self.weights is None else self.weights
        if isinstance(weights, str):  # read separately: all rows of a part may have weight 0
            raw = source.load(position(source, weights, "weights"), "any")
            if raw.values.dtype.kind in "iuf" and not raw.values.any():
                return None
        target = part.y if self.target is None else self.target
        table = read_table(source, target=target, weights=weights, task=self.task, **self.options)
        if table.weights is not None and not table.weights.all():
            table = table.take(np.flatnonzero(table.weights > 0))
        return table


@dataclass(frozen=True)
class PartSummary:
    """Summary of the rows of one part."""

    title: str
    named: bool
    columns: tuple[ColumnSchema, ...]
    known: tuple[bool, ...]  # whether each column has any value
    notes: tuple[ColumnNotes, ...]
    weighted: bool  # whether any row has a weight other than 1
    classes: NDArray[Any] | None
    n_rows: int
    largest_weight: float
    largest_number: float
    sample: Table
    hashes: NDArray[np.uint64]

    def by_name(self) -> dict[str, tuple[str, ColumnSchema, bool]]:
        """Return for each column its source, its schema and whether it has any value."""
        both = zip(self.columns, self.known, strict=True)
        return {column.name: (self.title, column, known) for column, known in both}


def count_rows(part: TablePart) -> int:
    """Return the number of rows of a part."""
    return int(open_table(part.X).n_rows)


def survey_part(part: TablePart, reading: PartReading, share: float) -> PartSummary | None:
    """Read and summarise a part, with about a share of its rows; None if it has no rows."""
    table = reading.table(part)
    if table is None:
        return None
    hashes = row_hashes(table)
    chosen = np.arange(len(hashes))
    if share < 1:
        chosen = np.flatnonzero(is_sampled(hashes, share))
    return PartSummary(
        part.title,
        table.named,
        table.schema.columns,
        tuple(not bool(column.is_missing.all()) for column in table.columns),
        tuple(map(note_column, table.columns)),
        table.weights is not None and bool((table.weights != 1.0).any()),
        table.target.classes if isinstance(table.target, Target) else None,
        table.n_rows,
        1.0 if table.weights is None else float(table.weights.max()),
        float(abs(table.target.values).max()) if isinstance(table.target, Numbers) else 0.0,
        table.take(chosen),
        hashes[chosen],
    )


def is_sampled(hashes: NDArray[np.uint64], share: float) -> NDArray[np.bool_]:
    """Return which rows are in the sample."""
    return hashes < np.uint64(share * SPAN)


@dataclass(frozen=True)
class DataOverview:
    """Summary of all parts.

    `sample` has about `sample_rows` rows in the order of their hashes, all rows if there are no
    more; `classes` is None if the target holds numbers.
    """

    schema: Schema
    classes: NDArray[Any] | None
    n_rows: int
    largest_weight: float
    largest_number: float
    sample: Table
    share: float  # share of the rows in the sample
    notes: Mapping[str, ColumnNotes]
    weighted: bool  # whether any row has a weight other than 1

    @property
    def is_sampled(self) -> bool:
        """Whether some rows are not in the sample."""
        return self.sample.n_rows < self.n_rows

    @property
    def weight_unit(self) -> float:
        """A step for weights: the finest one with a sum over all rows of at most 61 bits."""
        most = self.n_rows * self.largest_weight
        return 2.0 ** max(math.ceil(math.log2(most)) - 61, -1022)


def overview(parts: Parts, reading: PartReading, sample_rows: int) -> DataOverview:
    """Summarise all parts and merge the summaries."""
    n_given = sum(parts.map(count_rows))
    share = min(1.0, sample_rows / max(n_given, 1))
    told = [one for one in parts.map(survey_part, reading, share) if one is not None]
    if not told:
        raise DataError("There is nothing to learn from: no part has a row with a weight.")
    schema, classes = _schema(told), _classes(told)
    tables = [one.sample for one in told if one.sample.n_rows]
    hashes = np.concatenate([one.hashes for one in told])
    if not tables:
        raise DataError(f"sample_rows={sample_rows} chose no row: raise it.")
    order = np.argsort(hashes, kind="stable")
    sample = join_tables([align_table(table, schema, classes) for table in tables]).take(order)
    return DataOverview(
        schema,
        classes,
        sum(one.n_rows for one in told),
        max(one.largest_weight for one in told),
        max(one.largest_number for one in told),
        sample,
        share,
        {column.name: _merge_notes(column, told) for column in schema},
        any(one.weighted for one in told),
    )


def align_table(table: Table, schema: Schema, classes: NDArray[Any] | None) -> Table:
    """Return the table with the codes of the common schema and classes."""
    table = recode(table, schema)
    if not isinstance(table.target, Target) or classes is None:
        return table
    index = {label_of(value): code for code, value in enumerate(classes.tolist())}
    own = [index[label_of(value)] for value in table.target.classes.tolist()]
    codes = np.array(own, dtype=np.int32)[table.target.codes]
    return replace(table, target=Target(classes, codes))


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of tables of one schema in one table."""
    first = tables[0]
    columns = tuple(
        replace(column, values=np.concatenate([table.columns[j].values for table in tables]))
        for j, column in enumerate(first.columns)
    )
    weights = None
    if any(table.weights is not None for table in tables):
        weights = np.concatenate([_weights(table) for table in tables])
    target: Target | Numbers | None
    if isinstance(first.target, Target):
        codes = np.concatenate([table.known_target.codes for table in tables])
        target = Target(first.target.classes, codes)
    else:
        target = Numbers(np.concatenate([table.known_numbers.values for table in tables]))
    n_rows = sum(table.n_rows for table in tables)
    return replace(
        first, columns=columns, n_rows=n_rows, target=target, weights=weights, index=None
    )


def _weights(table: Table) -> NDArray[np.float64]:
    return np.ones(table.n_rows) if table.weights is None else table.weights


def _schema(told: Sequence[PartSummary]) -> Schema:
    first = told[0]
    names = [column.name for column in first.columns]
    for other in told[1:]:
        found = [column.name for column in other.columns]
        if odd := sorted(set(names) ^ set(found)):
            lacking = other if odd[0] in names else first
            raise DataError(
                f"{lacking.title} has no column {odd[0]!r}, but others have. Give all parts the "
                "same columns, or drop it."
            )
    said = [one.by_name() for one in told]
    columns = tuple(_column(name, [one[name] for one in said]) for name in names)
    return replace(first.sample.schema, columns=columns)


def _column(name: str, said: Sequence[tuple[str, ColumnSchema, bool]]) -> ColumnSchema:
    """Merge the schemas of a column; parts in which it is always missing are ignored."""
    telling = [(title, column) for title, column, known in said if known]
    if not telling:  # declared labels, if any part has them
        telling = [(title, column) for title, column, _ in said]
        telling.sort(key=lambda one: (one[1].kind != "nominal", one[1].kind))
        telling = [one for one in telling if one[1].kind == telling[0][1].kind]
    title, column = telling[0]
    for other_title, other in telling[1:]:
        mine, theirs = _describe_column(column), _describe_column(other)
        if mine != theirs:
            raise DataError(
                f"column {name!r} holds {mine} in {title} and {theirs} in {other_title}. Give it "
                "one type everywhere, or name it in categorical_features."
            )
    same = all(one.labels == column.labels for _, one in telling)
    if column.kind != "nominal" or (column.ranked and same):
        return column
    labels = {label for _, one, _ in said if one.kind == "nominal" for label in one.labels}
    return replace(column, labels=_sort_labels(labels, column.label_type), ranked=False)


def _merge_notes(column: ColumnSchema, told: Sequence[PartSummary]) -> ColumnNotes:
    """Merge the notes on a column; parts in which it is always missing have no whole numbers."""
    places = [[each.name for each in one.columns].index(column.name) for one in told]
    pairs = list(zip(told, places, strict=True))
    missing = any(one.notes[at].missing for one, at in pairs)
    ends = [one.notes[at].whole for one, at in pairs if one.known[at]]
    whole = [end for pair in ends if pair is not None for end in pair]
    is_whole = bool(ends) and all(pair is not None for pair in ends)
    return ColumnNotes(missing, [min(whole), max(whole)] if is_whole else None, column.ranked)


def _describe_column(column: ColumnSchema) -> str:
    """Describe the values of a column."""
    if column.kind != "nominal":
        return f"{column.kind} values"
    return {"string": "text", "number": "numbers as labels", "boolean": "Booleans"}[
        column.label_type
    ]


def _sort_labels(labels: set[str], label_type: str) -> tuple[str, ...]:
    if label_type == "boolean":
        return BOOLEAN_LABELS
    if label_type == "number":
        return tuple(sorted(labels, key=lambda label: (float(label), label)))
    return tuple(sorted(labels))


def _classes(told: Sequence[PartSummary]) -> NDArray[Any] | None:
    found = [(one.title, one.classes) for one in told if one.classes is not None]
    if not found:
        return None
    first, classes = found[0]
    for title, other in found[1:]:
        if (classes.dtype.kind in "US") != (other.dtype.kind in "US"):
            raise DataError(
                f"the target holds {_kind(classes)} in {first} and {_kind(other)} in {title}. "
                "Convert all classes to one type."
            )
    return np.unique(np.concatenate([other for _, other in found]))


def _kind(classes: NDArray[Any]) -> str:
    return "text" if classes.dtype.kind in "US" else "numbers"


def mix_bits(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread 64-bit numbers evenly, in place (the finaliser of SplitMix64)."""
    values ^= values >> np.uint64(30)
    values *= np.uint64(0xBF58476D1CE4E5B9)
    values ^= values >> np.uint64(27)
    values *= np.uint64(0x94D049BB133111EB)
    values ^= values >> np.uint64(31)
    return values


def salt_hashes(hashes: NDArray[np.uint64], salt: int) -> NDArray[np.uint64]:
    """Return other, independent hashes of the same rows."""
    return mix_bits(hashes ^ mix_bits(np.array([salt], dtype=np.uint64)))


def row_hashes(table: Table) -> NDArray[np.uint64]:
    """Return a hash of each row: its values, its target and its weight."""
    hashes = np.full(table.n_rows, _START, dtype=np.uint64)
    for column in table.columns:  # a sum: the order of the columns does not matter
        hashes += mix_bits(_column_bits(column) ^ _label_hashes([column.schema.name]))
    if isinstance(table.target, Target):
        classes = _label_hashes(map(label_of, table.target.classes.tolist()))
        hashes ^= classes[table.target.codes]
    elif table.target is not None:
        hashes ^= _number_bits(table.target.values)
    mix_bits(hashes)
    if table.weights is not None:
        hashes ^= _number_bits(table.weights) ^ _number_bits(np.ones(1))
    return mix_bits(hashes)


def _column_bits(column: Column) -> NDArray[np.uint64]:
    """Return 64 bits for each value; missing values of any kind have the same bits."""
    if column.schema.type.ordered:
        bits = _number_bits(column.values)
        bits[np.isnan(column.values)] = _MISSING
        return bits
    labels = _label_hashes(column.schema.labels)
    # Codes -2 (unseen) and -1 (missing) count from the end.
    known: NDArray[np.uint64] = np.concatenate([labels, np.array([0, _MISSING], np.uint64)])
    return np.asarray(known[column.values])


def _number_bits(values: FloatArray) -> NDArray[np.uint64]:
    """Return the bits of floats; 0 and -0 have the same bits."""
    return np.ascontiguousarray(values + 0.0).view(np.uint64)


def _label_hashes(labels: Iterable[str]) -> NDArray[np.uint64]:
    digests = [hashlib.blake2b(label.encode(), digest_size=8).digest() for label in labels]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
