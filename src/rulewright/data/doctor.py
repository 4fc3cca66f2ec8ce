"""Data checks: problems in the columns of a table that matter before learning.

A column that predicts the target alone may be a leak: known only after the target.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from shlex import quote

import numpy as np
from numpy.typing import NDArray

from rulewright.data.findings import Finding, format_count, quote_examples
from rulewright.data.frequent_labels import find_many_labels
from rulewright.data.moments import DAY, to_text
from rulewright.data.number_texts import NumberTexts
from rulewright.data.schema import label_of
from rulewright.data.signs import (
    FEW_ROWS,
    MOSTLY_UNIQUE,
    find_group_key,
    find_id,
    find_leak,
    find_repeated_rows,
    name_rows,
)
from rulewright.data.table import Column, Table
from rulewright.data.target import MOST_CLASSES, Numbers, Target

LEFT_OUT = ("id", "free text")
"""Kinds of findings about labels that nearly never occur again: `learn` leaves them out."""

_NEARLY_NUMERIC = 0.8
_RARE_ROWS = 5
_YEAR = 366 * DAY
_MANY_NUMBERS = 10  # classes that are numbers, from which on they may be meant as numbers
_LABEL_CODES = ("-", "--", ".", "n/a", "N/A", "na", "None", "#N/A", "#NA", "?", "NaN", "null")
_CODE_DIGITS = re.compile(r"-?9{2,}|-?9{2,}\.9|-1")
_CODE_ROWS = 2


def examine(table: Table, target: str = "y") -> tuple[Finding, ...]:
    """
    Return what a person should know of a table.

    Parameters
    ----------
    table : Table
        The table, as `read_table` returns it.
    target : str, default="y"
        What the findings call the target.

    Returns
    -------
    tuple of Finding
        What was decided when the table was read, then what looks wrong, column by column.
    """
    found: list[Finding] = [*table.decisions, *find_repeated_rows(table)]
    for column in table.columns:
        found += column.decisions
        found += _of_column(column, table)
    if table.target is not None:
        found += _of_target(table.target, target)
    return tuple(found)


def _of_column(column: Column, table: Table) -> Iterator[Finding]:
    name, missing = column.schema.name, column.is_missing
    known = column.values[~missing]
    if len(known) == 0 or (known == known[0]).all():
        text = "all values are missing" if len(known) == 0 else "all known values are equal"
        constant = len(known) == 0 or not missing.any()
        if constant and table.n_rows > 1 and column.schema.part is None:
            yield Finding("constant", name, text, f"--drop {quote(name)} leaves it out")
        return
    if column.schema.kind == "date":
        yield from _of_dates(column, known, table)
    yield from (_of_numbers if column.schema.type.ordered else _of_labels)(name, column, known)
    if table.target is not None and (leak := find_leak(column, table.target)):
        yield leak
    if key := find_group_key(column, table):
        yield key


def _of_dates(column: Column, known: NDArray[np.float64], table: Table) -> Iterator[Finding]:
    """Offer the parts of dates that recur: months, where dates span more than a year."""
    name = column.schema.name
    taken = any(one.part and one.source == name for one in table.schema)
    if not taken and np.ptp(known) > _YEAR:
        text = f"dates from {to_text(known.min())[:10]} to {to_text(known.max())[:10]}"
        remedy = f"--date-parts {quote(name)} adds month and weekday as columns"
        yield Finding("date parts", name, text, remedy)


def _of_numbers(name: str, column: Column, known: NDArray[np.float64]) -> Iterator[Finding]:
    if column.schema.kind != "numeric" or len(known) < FEW_ROWS:
        return
    values, counts = np.unique(known, return_counts=True)
    for at, rest in ((0, values[1:]), (-1, values[:-1])):
        code, rows = values[at], int(counts[at])
        far = len(rest) > 1 and min(abs(code - rest)) > np.ptp(rest)
        if far and rows >= _CODE_ROWS and _CODE_DIGITS.fullmatch(label_of(float(code))):
            text = (
                f"{label_of(float(code))} in {format_count(rows, 'row')} is far from the "
                f"other values"
            )
            remedy = f"--missing {quote(f'{name}:{label_of(float(code))}')} reads it as missing"
            yield Finding("missing code", name, text, remedy)
    if row_number := find_id(column):
        yield row_number


def _of_labels(name: str, column: Column, codes: NDArray[np.int32]) -> Iterator[Finding]:
    schema = column.schema
    counts = np.bincount(codes[codes >= 0], minlength=len(schema.labels))
    if schema.label_type == "string":
        held = {label: int(n) for label, n in zip(schema.labels, counts, strict=True) if n}
        written = NumberTexts(counts=held)
        if written.share >= _NEARLY_NUMERIC and not written.is_numeric:
            yield written.near_miss(name)
            return
        if unique := name_rows(name, held):
            yield unique
            return
        yield from _codes(name, held)
        yield from _similar(name, held, "labels")
    remedy = (
        f"RuleFit pools the others; group labels in the file, or --drop {quote(name)} leaves it out"
    )
    if many := find_many_labels(schema, counts, remedy):
        yield many


def _codes(name: str, held: dict[str, int]) -> Iterator[Finding]:
    """Find labels that may stand for missing values."""
    for code, rows in held.items():
        if code in _LABEL_CODES or not code.strip():
            text = f"label {code!r} in {format_count(rows, 'row')} may stand for missing"
            remedy = f"--missing {quote(f'{name}:{code}')} reads it as missing"
            yield Finding("missing code", name, text, remedy)


def _similar(name: str, labels: Iterable[str], what: str) -> Iterator[Finding]:
    """Find labels that differ only in blanks or case."""
    groups: dict[str, list[str]] = defaultdict(list)
    for label in labels:
        groups["".join(label.split()).casefold()].append(label)
    same = [label for group in groups.values() if len(group) > 1 for label in group]
    if same:
        text = f"{what} {quote_examples(same, 4)} differ only by blanks or case"
        yield Finding("similar labels", name, text, "write them alike in the file")


def _of_target(target: Target | Numbers, name: str) -> Iterator[Finding]:
    if isinstance(target, Numbers):
        yield from (replace(finding, column=name, remedy="") for finding in target.decisions)
        values = np.unique(target.values)
        if len(values) <= 2:
            text = f"{len(values)} different numbers look like classes"
            yield Finding("task", name, text, "--task classification takes them as classes")
        return
    counts = np.bincount(target.codes, minlength=len(target.classes))
    held = {label_of(c): int(n) for c, n in zip(target.classes.tolist(), counts, strict=True) if n}
    if other := _task(name, held, numbers=target.classes.dtype.kind in "iuf"):
        yield other
        return
    yield from _similar(name, held, "classes")
    rare = [label for label, rows in held.items() if rows < _RARE_ROWS]
    if rare and len(held) > 1:
        are = "has" if len(rare) == 1 else "have"
        text = f"{format_count(len(rare), 'class', 'classes')} {quote_examples(rare)} {are} "
        text += f"fewer than {_RARE_ROWS} rows"
        yield Finding("rare class", name, text, "merge them with others or drop their rows")


def _task(name: str, held: dict[str, int], *, numbers: bool) -> Finding | None:
    """Find classes that look like numbers or like an id."""
    written = NumberTexts(counts=held)
    if numbers and len(held) >= _MANY_NUMBERS:
        text = f"whole numbers of {len(held)} values are taken as classes"
        return Finding("task", name, text, "--task regression takes them as numbers")
    if not numbers and len(held) > MOST_CLASSES and written.share >= _NEARLY_NUMERIC:
        text = f"{len(held)} classes look like numbers: {written.summary}"
        return Finding("task", name, text, "correct them in the file, or name another target")
    if len(held) > max(MOST_CLASSES, MOSTLY_UNIQUE * sum(held.values())):
        text = f"{len(held)} classes in {format_count(sum(held.values()), 'row')} look like an id"
        return Finding("task", name, text, "name another target")
    return None


def list_left_out(findings: Sequence[Finding], keep: Iterable[str] = ()) -> list[str]:
    """Return the columns that findings advise to leave out, without those to keep."""
    kept = set(keep)
    return [
        finding.column
        for finding in findings
        if finding.kind in LEFT_OUT and finding.column is not None and finding.column not in kept
    ]
