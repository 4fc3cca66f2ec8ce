"""Signs that a table is not what a person means to learn from: a leak, an id, a constant target.

`examine` and every fit use the same functions. A fit cannot afford to examine whole columns: it
sorts a few hundred rows by all columns at once and looks closer only where the target then hardly
changes from row to row.
"""

import re
from shlex import quote
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulewright.data.findings import Finding, format_count
from rulewright.data.schema import label_of
from rulewright.data.table import Column, Table
from rulewright.data.target import Numbers, Target

LEAST_ROWS = 50
"""Of fewer rows a fit concludes nothing."""

NEARLY_UNIQUE, MOSTLY_UNIQUE = 0.9, 0.5
"""Labels per known row of an id and of free text."""
WORDS_OF_TEXT = 3  # per label, on average
FEW_ROWS = 20  # of which nothing is concluded

_FEW_LEAK_ROWS = 30
_MOST_ROWS = 20_000  # examined, drawn at random: rows may have a period
_GROUPS = 64
_ROWS_PER_GROUP = 10
_ACCURACY, _LESS_ERROR = 0.99, 0.1
_EXPLAINED = 0.999
_SCREENED_ROWS, _SCREENED_COLUMNS = 500, 256
_ROUGHNESS, _SLACK = 0.3, 2
_REPEATED_SHARE, _CONSTANT = 0.1, 0.95
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_KEY_NAME = re.compile(
    r"(^|[_ .-])(id|key|uuid|customer|client|patient|person|user|subject|household|account)s?"
    r"([_ .-]?(id|no|nr|number|key))?$|[a-z](Id|ID|Key)$",
)
_MOST_SPREAD = 2  # range of the numbers of an id, in rows


def find_signs(table: Table) -> list[Finding]:
    """Return what is suspicious about a table that is to be learned from, from 50 rows on.

    A single column is never suspicious, nor are leaks if half of the columns or more look like one:
    the classes are then simply easy to separate.
    """
    if table.n_rows < LEAST_ROWS or table.target is None:
        return []
    if value := _constant_value(table.target):
        return [Finding("constant target", None, f"the target is {value} in all rows")]
    if len(table.columns) < 2:
        return []
    rows = _draw_rows(table.n_rows, _SCREENED_ROWS)
    leaks, ids = [], find_repeated_rows(table)
    for start in range(0, len(table.columns), _SCREENED_COLUMNS):
        part = table.columns[start : start + _SCREENED_COLUMNS]
        rough, unique = _screen(part, table.target, rows)
        leaks += [f for k in np.flatnonzero(rough) if (f := find_leak(part[k], table.target))]
        ids += [f for k in np.flatnonzero(unique) if (f := find_id(part[k]))]
    return [*(leaks if 2 * len(leaks) < len(table.columns) else []), *ids]


def find_repeated_rows(table: Table) -> list[Finding]:
    """Return a finding where many rows repeat another one exactly, and no groups are given.

    Rows of a few labels repeat by chance, which is no finding. They hardly do where a numeric
    column differs between most distinct rows, or where every row occurs equally often.
    """
    if table.groups is not None or table.n_rows < LEAST_ROWS or table.target is None:
        return []
    keys = np.zeros(table.n_rows, dtype=np.uint64)
    for values in (*(column.values for column in table.columns), _target_values(table.target)):
        keys = keys * _FACTOR + _number_values(values)
        keys ^= keys >> np.uint64(29)
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    copies = table.n_rows - len(counts)
    if copies < _REPEATED_SHARE * table.n_rows or len(counts) < FEW_ROWS:
        return []
    if np.gcd.reduce(counts) == 1 and not _has_unique_numbers(table, first):
        return []
    share = f"{copies / table.n_rows:.0%}"
    text = f"{copies:,} of {format_count(table.n_rows, 'row')} ({share}) repeat another one exactly"
    remedy = "deduplicate them, or --group COL names a column whose rows belong together"
    return [Finding("repeated rows", None, text, remedy)]


def _target_values(target: Target | Numbers) -> NDArray[Any]:
    return target.values if isinstance(target, Numbers) else target.codes


def _number_values(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return equal numbers for equal values; missing values are equal, too."""
    floats = values.astype(np.float64) + 0.0  # one zero
    floats[np.isnan(floats)] = np.nan
    return floats.view(np.uint64)


def _has_unique_numbers(table: Table, first: NDArray[np.intp]) -> bool:
    """Return whether a numeric column mostly differs between distinct rows."""
    ordered = (c.values[first] for c in table.columns if c.schema.type.ordered)
    return any(len(np.unique(values)) > MOSTLY_UNIQUE * len(first) for values in ordered)


def find_group_key(column: Column, table: Table) -> Finding | None:
    """Return a finding where a column looks like the key of groups of rows.

    Its values occur a few times each; its name says so, or other columns hardly vary within it.
    """
    values, missing = column.values, column.is_missing
    if table.groups is not None or missing.any() or table.n_rows < LEAST_ROWS:
        return None
    distinct, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    n_keys, whole = len(distinct), not column.schema.type.ordered or bool((distinct % 1 == 0).all())
    if not (whole and FEW_ROWS <= n_keys <= table.n_rows / 2 and counts.max() <= 0.1 * len(values)):
        return None
    others = [one for one in table.columns if one is not column]
    if not (_KEY_NAME.search(column.schema.name) or _determines(codes, counts, others)):
        return None
    name = column.schema.name
    text = f"{n_keys:,} values, {len(values) / n_keys:.3g} rows each, look like the key of groups"
    return Finding("group key", name, text, f"--group {quote(name)} keeps their rows together")


def _determines(codes: NDArray[np.intp], counts: NDArray[Any], others: list[Column]) -> bool:
    """Return whether half of the other columns, and two at least, are constant within values."""
    order = np.argsort(codes, kind="stable")
    same = np.diff(codes[order]) == 0
    constant = 0
    for column in others:
        ordered = _number_values(column.values[order])
        varies = len(np.unique(ordered)) > len(counts) / 10
        constant += bool(varies and (ordered[1:] == ordered[:-1])[same].mean() > _CONSTANT)
    return constant >= max(2, len(others) / 2)


def _constant_value(target: Target | Numbers) -> str:
    """Return the only class or number of a target as text; "" if there are several."""
    values = target.values if isinstance(target, Numbers) else target.codes
    if (values != values[0]).any():
        return ""
    return repr(label_of(values[0] if isinstance(target, Numbers) else target.classes[values[0]]))


def _draw_rows(n_rows: int, most: int) -> NDArray[np.intp]:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.random.default_rng(0).choice(n_rows, most, replace=False)


def _screen(
    columns: tuple[Column, ...], target: Target | Numbers, rows: NDArray[np.intp]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which columns may predict the target alone, and which may identify rows."""
    values = np.stack([column.values[rows] for column in columns], axis=1).astype(np.float64)
    order = np.argsort(values, axis=0)
    if isinstance(target, Numbers):
        own = target.values[rows]
        changes = np.square(np.diff(own[order], axis=0)).sum(axis=0)
        expected, slack = 2 * np.var(own) * len(rows), 0.0
    else:
        codes = target.codes[rows]
        changes = (np.diff(codes[order], axis=0) != 0).sum(axis=0)
        shares = np.bincount(codes) / len(rows)
        expected, slack = (1 - np.square(shares).sum()) * len(rows), _SLACK
    ordered = np.take_along_axis(values, order, axis=0)
    unequal = (np.diff(ordered, axis=0) > 0).mean(axis=0)
    return changes <= _ROUGHNESS * expected + slack, unequal >= MOSTLY_UNIQUE


def find_leak(column: Column, target: Target | Numbers) -> Finding | None:
    """Return a finding where a column alone predicts the target nearly perfectly, or is a copy."""
    share = judge_alone(column, target)
    if share is None:
        return None
    name = column.schema.name
    if _is_copy(column, target):
        remedy = f"--drop {quote(name)} leaves it out"
        return Finding("copy", name, "it repeats the target, perhaps with other labels", remedy)
    text = f"alone it predicts the target nearly perfectly ({share})"
    remedy = f"--drop {quote(name)} leaves it out, unless it is known beforehand"
    return Finding("leak", name, text, remedy)


def _is_copy(column: Column, target: Target | Numbers) -> bool:
    """Return whether the target follows from a column and the column from the target."""
    values = column.values
    if isinstance(target, Numbers):
        return bool(column.schema.type.ordered and (values == target.values).all())
    if column.schema.type.ordered and np.isnan(values).any():
        return False
    _, codes = np.unique(values, return_inverse=True)
    n_values, n_classes = int(codes.max()) + 1, len(np.unique(target.codes))
    pairs = np.unique(codes * len(target.classes) + target.codes)
    return n_values == n_classes == len(pairs)


def find_id(column: Column) -> Finding | None:
    """Return a finding where the values of a column count or name the rows."""
    name, values = column.schema.name, column.values
    if column.schema.type.ordered:
        known = values[~np.isnan(values)]
        if column.schema.kind == "numeric" and counts_rows(known):
            text = "the numbers count the rows"
            return Finding("row number", name, text, f"--drop {quote(name)} leaves it out")
        return None
    if column.schema.label_type != "string":
        return None
    counts = np.bincount(values[values >= 0], minlength=len(column.schema.labels))
    labels = column.schema.labels
    return name_rows(name, {x: int(n) for x, n in zip(labels, counts, strict=True) if n})


def counts_rows(known: NDArray[np.float64]) -> bool:
    """Return whether different whole numbers lie as close together as ids."""
    n = len(known)
    if n < FEW_ROWS or np.ptp(known) >= _MOST_SPREAD * n:
        return False
    return bool((known == np.rint(known)).all() and len(np.unique(known)) == n)


def name_rows(name: str, held: dict[str, int]) -> Finding | None:
    """Return a finding where labels nearly never occur again."""
    rows = sum(held.values())
    share = len(held) / max(rows, 1)
    if rows < FEW_ROWS or share < MOSTLY_UNIQUE:
        return None
    words = sum(len(label.split()) for label in held) / len(held)
    if words < WORDS_OF_TEXT and share < NEARLY_UNIQUE:
        return None
    kind, what = ("free text", "free text") if words >= WORDS_OF_TEXT else ("id", "an id")
    labels = f"{len(held):,} different labels in {format_count(rows, 'row')}"
    text = f"{labels} look like {what}"
    return Finding(kind, name, text, f"left out by learn; --keep {quote(name)} learns from it")


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
    if column.schema.type.ordered:
        accuracy = max(accuracy, _measure_neighbours(column.values[rows], target.codes[rows]))
    majority = counts.sum(axis=0).max() / len(rows)
    if majority == 1 or accuracy < _ACCURACY or 1 - accuracy > _LESS_ERROR * (1 - majority):
        return None
    return f"accuracy {accuracy:.1%}"


def _measure_neighbours(values: NDArray[np.float64], codes: NDArray[np.int32]) -> float:
    """Return the share of rows with the class of the row before, in the order of a column.

    Groups of rows are too coarse where the values of a class are few and close together.
    """
    ordered = codes[np.argsort(values, kind="stable")]
    return float(np.mean(ordered[1:] == ordered[:-1]))


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
    """Return the variance share that group means explain, or a line if the column is numeric."""
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
