"""A table at a glance: one line of text, and its first rows as HTML."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data.findings import format_count
from rulewright.data.numbers import Numbers
from rulewright.data.schema import label_of
from rulewright.html import bold, cut_line, note, table, view

if TYPE_CHECKING:
    from rulewright.data.table import Column, Table
    from rulewright.data.target import Target

_SHOWN_ROWS = 5
_SHOWN_COLUMNS = 20
_SHOWN_CLASSES = 5
_MISSING = "\N{EN DASH}"


def summary(found: Table) -> str:
    """Say how large a table is, which kinds of columns it has, how much is missing, the target."""
    kinds = Counter(column.schema.kind for column in found.columns)
    listed = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    missing = sum(int(column.is_missing.sum()) for column in found.columns)
    parts = [
        (
            f"{format_count(found.n_rows, 'row')} x "
            f"{format_count(len(found.columns), 'column')} ({listed})"
        ),
        format_count(missing, "missing value") if missing else "nothing missing",
    ]
    if found.target is not None:
        name = "target" if found.target_name is None else f"target {cut_line(found.target_name)}"
        parts.append(f"{name}: {_describe_spread(found.target)}")
    if found.weights is not None:
        parts.append("weighted")
    return ", ".join(parts)


def table_html(found: Table) -> str:
    """Write the first rows below names, kinds and missing values, and what was decided on reading.

    The target comes first.
    """
    shown, columns = found.head(_SHOWN_ROWS), found.columns[:_SHOWN_COLUMNS]
    titles = [[cut_line(c.schema.name), c.schema.kind, _missing(c)] for c in columns]
    cells = [_texts(column) for column in shown.columns[:_SHOWN_COLUMNS]]
    text = [not column.schema.type.arithmetic for column in columns]
    if shown.target is not None:
        titles.insert(0, [cut_line(found.target_name or "target"), "target", ""])
        cells.insert(0, [cut_line(label_of(value)) for value in shown.target.values.tolist()])
        text.insert(0, not isinstance(found.target, Numbers))
    rows = table(
        list(zip(*titles, strict=True)),
        zip(*cells, strict=True),
        text=[place for place, is_text in enumerate(text) if is_text],
        wrap=False,
    )
    hidden = {"more row": len(found) - len(shown), "more column": found.shape[1] - len(columns)}
    more = " and ".join(format_count(number, noun) for noun, number in hidden.items() if number)
    notes = [*found.decisions, *(said for c in found.columns for said in c.decisions)]
    return view(
        bold(summary(found)),
        rows,
        note(f"{more} not shown") if more else None,
        *(note(cut_line(str(said), 200)) for said in notes),
    )


def _missing(column: Column) -> str:
    missing = int(column.is_missing.sum())
    return f"{missing:,} missing" if missing else ""


def _texts(column: Column) -> list[str]:
    """Write the values of a column."""
    kind = column.schema.type
    if kind.arithmetic:
        written = [f"{value:.6g}" for value in column.values]
    elif kind.ordered:
        written = [kind.write(0.0 if np.isnan(value) else value) for value in column.values]
    else:
        written = [cut_line(str(label)) for label in kind.raw(column).values]
    pairs = zip(written, column.is_missing, strict=True)
    return [_MISSING if missing else text for text, missing in pairs]


def _describe_spread(target: Target | Numbers) -> str:
    """Say how many rows each class has, or between which ends numbers lie."""
    if isinstance(target, Numbers):
        return f"{target.values.min():.6g} to {target.values.max():.6g}"
    numbers = np.bincount(target.codes, minlength=len(target.classes))
    order = [k for k in np.argsort(-numbers, kind="stable").tolist() if numbers[k]]
    shown = order[:_SHOWN_CLASSES]
    listed = ", ".join(f"{cut_line(label_of(target.classes[k]))} {numbers[k]:,}" for k in shown)
    more = len(order) - len(shown)
    return f"{listed} and {format_count(more, 'more class', 'more classes')}" if more else listed
