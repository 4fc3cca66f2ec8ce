"""The doctor: what a person should know of the columns of a table before learning from it.

A column that predicts the target alone may be a leak: what is known only afterwards does so.
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
from rulewright.data.number_texts import NumberTexts
from rulewright.data.schema import label_of
from rulewright.data.table import Column, Table
from rulewright.data.target import MOST_CLASSES, Numbers, Target

LEFT_OUT = ("id", "free text")
"""Kinds of findings about labels that nearly never occur again: `learn` leaves them out."""

_FEW_ROWS = 20  # of which nothing is concluded
_NEARLY_NUMERIC = 0.8
_NEARLY_UNIQUE, _MOSTLY_UNIQUE = 0.9, 0.5  # labels per known row
_WORDS_OF_TEXT = 3  # per label, on average
_RARE_ROWS = 5
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
    found: list[Finding] = list(table.decisions)
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
        if constant and table.n_rows > 1:
            yield Finding("constant", name, text, f"--drop {quote(name)} leaves it out")
        return
    yield from (_of_numbers if column.schema.type.ordered else _of_labels)(name, column, known)
    if table.target is not None and (share := judge_alone(column, table.target)):
        text = f"alone it predicts the target nearly perfectly ({share})"
        remedy = f"--drop {quote(name)} leaves it out, unless it is known beforehand"
        yield Finding("leak", name, text, remedy)


def _of_numbers(name: str, column: Column, known: NDArray[np.float64]) -> Iterator[Finding]:
    if column.schema.kind != "numeric" or len(known) < _FEW_ROWS:
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
    whole = len(values) == len(known) and np.ptp(values) == len(values) - 1
    if whole and (np.diff(known) > 0).all():
        text = "the numbers count the rows"
        yield Finding("row number", name, text, f"--drop {quote(name)} leaves it out")


def _of_labels(name: str, column: Column, codes: NDArray[np.int32]) -> Iterator[Finding]:
    schema = column.schema
    counts = np.bincount(codes[codes >= 0], minlength=len(schema.labels))
    if schema.label_type == "string":
        held = {label: int(n) for label, n in zip(schema.labels, counts, strict=True) if n}
        written = NumberTexts(counts=held)
        if written.share >= _NEARLY_NUMERIC and not written.is_numeric:
            yield written.near_miss(name)
            return
        if unique := _unique(name, held):
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
    """Tell of labels that may stand for missing values."""
    for code, rows in held.items():
        if code in _LABEL_CODES or not code.strip():
            text = f"label {code!r} in {format_count(rows, 'row')} may stand for missing"
            remedy = f"--missing {quote(f'{name}:{code}')} reads it as missing"
            yield Finding("missing code", name, text, remedy)


def _unique(name: str, held: dict[str, int]) -> Finding | None:
    """Tell of labels that nearly never occur again."""
    rows = sum(held.values())
    share = len(held) / rows
    if rows < _FEW_ROWS or share < _MOSTLY_UNIQUE:
        return None
    words = sum(len(label.split()) for label in held) / len(held)
    if words < _WORDS_OF_TEXT and share < _NEARLY_UNIQUE:
        return None
    kind, what = ("free text", "free text") if words >= _WORDS_OF_TEXT else ("id", "an id")
    labels = f"{len(held):,} different labels in {format_count(rows, 'row')}"
    text = f"{labels} look like {what}, left out by learn"
    return Finding(kind, name, text, f"--keep {quote(name)} learns from it")


def _similar(name: str, labels: Iterable[str], what: str) -> Iterator[Finding]:
    """Tell of labels that differ by blanks or case only."""
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
    """Tell of classes that look like numbers or like an id."""
    written = NumberTexts(counts=held)
    if numbers and len(held) >= _MANY_NUMBERS:
        text = f"whole numbers of {len(held)} values are taken as classes"
        return Finding("task", name, text, "--task regression takes them as numbers")
    if not numbers and len(held) > MOST_CLASSES and written.share >= _NEARLY_NUMERIC:
        text = f"{len(held)} classes look like numbers: {written.summary}"
        return Finding("task", name, text, "correct them in the file, or name another target")
    if len(held) > max(MOST_CLASSES, _MOSTLY_UNIQUE * sum(held.values())):
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


_FEW_LEAK_ROWS = 30
_MOST_ROWS = 20_000  # examined, drawn at random: rows may have a period
_GROUPS = 64
_ROWS_PER_GROUP = 10
_ACCURACY, _LESS_ERROR = 0.99, 0.1
_EXPLAINED = 0.999


def judge_alone(column: Column, target: Target | Numbers) -> str | None:
    """Return how well a column predicts the target alone, if that is nearly perfect."""
    n_rows = len(column)
    if n_rows < _FEW_LEAK_ROWS:
        return None
    rows = np.arange(n_rows)
    if n_rows > _MOST_ROWS:
        rows = np.random.default_rng(0).choice(n_rows, _MOST_ROWS, replace=False)
    groups = _groups(column, rows)
    if groups is None:
        return None
    if isinstance(target, Numbers):
        explained = _measure_explained_share(groups, column, rows, target.values[rows])
        return f"R2 {explained:.4f}" if explained >= _EXPLAINED else None
    n_classes = len(target.classes)
    counts = np.bincount(groups * n_classes + target.codes[rows], minlength=n_classes)
    counts = np.pad(counts, (0, -len(counts) % n_classes)).reshape(-1, n_classes)
    totals = counts.sum(axis=1)
    # without one row of each group: a group of one row proves nothing
    accuracy = np.maximum(counts.max(axis=1) - 1, 0).sum() / np.maximum(totals - 1, 0).sum()
    majority = counts.sum(axis=0).max() / len(rows)
    if majority == 1 or accuracy < _ACCURACY or 1 - accuracy > _LESS_ERROR * (1 - majority):
        return None
    return f"accuracy {accuracy:.1%}"


def _groups(column: Column, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
    """Return the group of each row: its label, or its place among the quantiles; 0 if missing."""
    values, most = column.values[rows], len(rows) // _ROWS_PER_GROUP
    if not column.schema.type.ordered:
        groups = np.maximum(values, -1) + 1
        return groups.astype(np.intp) if len(np.unique(groups)) <= most else None
    known = values[~np.isnan(values)]
    edges = np.unique(known)
    if len(edges) > min(_GROUPS, most):
        edges = np.unique(np.quantile(known, np.linspace(0, 1, min(_GROUPS, most))))
    return np.where(np.isnan(values), 0, 1 + np.searchsorted(edges, values)).astype(np.intp)


def _measure_explained_share(
    groups: NDArray[np.intp], column: Column, rows: NDArray[np.intp], numbers: NDArray[np.float64]
) -> float:
    """Return the share of the variance that group means or, of numbers, a line explains."""
    total = np.var(numbers)
    if total == 0:
        return 0.0
    sizes = np.bincount(groups)
    means = np.bincount(groups, numbers) / np.maximum(sizes, 1)
    within = float(1 - np.var(numbers - means[groups]) / total)
    values = column.values[rows]
    if not column.schema.type.ordered or np.isnan(values).any() or np.ptp(values) == 0:
        return within
    return max(within, float(np.corrcoef(values, numbers)[0, 1] ** 2))
