"""Figures for groups of rows that the user names, such as regions: size, quality, calibration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.data import DataError, Derivable, Source, Table, open_table, read_columns
from rulewright.evidence import (
    NONE,
    Answers,
    ClassAnswers,
    NumberAnswers,
    effective_number,
    format_number,
    format_percent,
    mean_interval,
    measures,
    share_interval,
    write_interval,
)
from rulewright.governance.gaps import Gap, find_gaps, rates_of
from rulewright.html import cut_line
from rulewright.model import write_count
from rulewright.search import offer_names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.data import Column
    from rulewright.evidence import Places
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel

SMALL, _SMALL_CLASS = 30, 10
"""A group is small below so many rows, or with fewer rows of one of two classes."""
_SHOWN_GROUPS, _VALUES, _PARTS = 12, 8, 4


class Cell(NamedTuple):
    """A figure with its interval, as numbers and as text."""

    value: float
    low: float
    high: float
    text: str
    interval: str = ""


@dataclass(frozen=True)
class GroupLine:
    """One group: its rows, whether they are few, and its figures by title."""

    name: str
    n_rows: int
    is_small: bool
    figures: dict[str, Cell]

    def write(self, title: str) -> str:
        """Write a figure with its interval; nothing if the group does not have it."""
        cell = self.figures.get(title)
        interval = "" if cell is None else cell.interval.replace(", ", ",\N{NO-BREAK SPACE}")
        return "" if cell is None else f"{cell.text} {interval}".strip()


@dataclass(frozen=True)
class GroupTable:
    """The figures of the groups of one column, after the figures of all rows."""

    column: str
    titles: list[str]
    groups: list[GroupLine]
    gaps: list[Gap]
    text: str


def group_columns(
    X: Any, model: RuleModel, by: str | Sequence[str] | Mapping[str, Any]
) -> dict[str, Column]:
    """Read the columns that rows are grouped by; they need not be columns of the model."""
    if isinstance(by, Mapping):
        X = dict(by)
    names = [by] if isinstance(by, str) else list(by)
    if not names:
        return {}
    if X is None:
        raise ValueError(f"by={names[0]!r} names a column of the data: give X")
    if isinstance(X, Derivable):
        X = X.derive(model.schema)
    given: Table | Source = X if isinstance(X, Table) else open_table(X)
    for name in names:
        if name not in given.names:
            raise DataError(
                f"by={name!r}: the data have no such column. {offer_names(name, given.names)}"
            )
    if isinstance(given, Table):
        return {name: given[name] for name in names}
    return dict(zip(names, read_columns(given, names), strict=True))


def group_tables(
    answers: Answers | None,
    columns: Mapping[str, Column],
    target: str,
    favourable: int | None = None,
) -> list[GroupTable]:
    """Measure the answers within the groups of each column.

    Rates are about the class `favourable`; of two classes by default about the one of interest.
    """
    if answers is None:
        if columns:
            raise ValueError("by= needs the target of the rows: give y")
        return []
    if favourable is None and isinstance(answers, ClassAnswers):
        favourable = answers.interest
    return [
        _group_table(answers, favourable, name, column, target) for name, column in columns.items()
    ]


def _group_table(
    answers: Answers, favourable: int | None, name: str, column: Column, target: str
) -> GroupTable:
    if len(column) != len(answers.weights):
        raise DataError(
            f"by={name!r}: {len(column)} rows, but {len(answers.weights)} rows have answers"
        )
    codes, labels = group_codes(column)
    parts = {"all rows": answers}
    for code, label in enumerate(labels):
        inside = codes == code
        if answers.weights[inside].sum() > 0:
            parts[label] = take_answers(answers, inside)
    groups = [_group_line(label, part, favourable, target) for label, part in parts.items()]
    rates = {
        group.name: rates_of(part, favourable)
        for group, part in zip(groups[1:], list(parts.values())[1:], strict=True)
        if not group.is_small and isinstance(part, ClassAnswers) and favourable is not None
    }
    titles = list(groups[0].figures)
    return GroupTable(cut_line(name), titles, groups, find_gaps(rates), _in_words(groups))


def group_codes(column: Column) -> tuple[Places, list[str]]:
    """Return the group of each row and the names of the groups."""
    ordered, missing = column.schema.type.ordered, column.is_missing
    codes = np.full(len(column), -1, dtype=np.int64)
    if ordered:
        found, labels = _cut_numbers(column)
        codes[~missing] = found
    else:
        counts = np.bincount(column.values[column.values >= 0], minlength=1)
        order = [int(k) for k in np.argsort(-counts, kind="stable") if counts[k] > 0]
        labels = [cut_line(column.schema.labels[k]) or "(empty)" for k in order[:_SHOWN_GROUPS]]
        for place, k in enumerate(order):
            codes[column.values == k] = min(place, _SHOWN_GROUPS)
        if len(order) > _SHOWN_GROUPS:
            labels.append(write_count(len(order) - _SHOWN_GROUPS, "other label"))
        unseen = (column.values < 0) & ~missing
        if unseen.any():
            codes[unseen] = len(labels)
            labels.append("labels not seen in training")
    if missing.any():
        codes[missing] = len(labels)
        labels.append("missing")
    return codes, labels


def _cut_numbers(column: Column) -> tuple[Places, list[str]]:
    """Group numbers or dates by value if there are few, else by quartile."""
    kind, known = column.schema.type, column.values[~column.is_missing]
    values = np.unique(known)
    if len(values) <= _VALUES:
        closed: dict[str, Any] = {"low_open": False, "high_open": False}
        names = [write_interval(float(x), float(x), kind, **closed) for x in values]
        return np.searchsorted(values, known), names
    cuts = np.unique(np.quantile(known, np.arange(1, _PARTS) / _PARTS, method="nearest"))
    ends = [-math.inf, *(float(x) for x in cuts if x < values[-1]), math.inf]
    places = np.searchsorted(np.array(ends[1:-1]), known, side="left")
    whole = bool(kind.arithmetic and (known == np.round(known)).all())
    names = [
        write_interval(low, high, kind, low_open=True, high_open=False, whole=whole)
        for low, high in pairwise(ends)
    ]
    return places, names


def take_answers(answers: Answers, inside: BoolArray) -> Answers:
    """Return the answers on some rows, with the figures of these rows alone."""
    if isinstance(answers, NumberAnswers):
        truth, predicted = answers.truth[inside], answers.predicted[inside]
        return NumberAnswers(answers.origin, truth, predicted, answers.weights[inside])
    return replace(
        answers,
        **{
            name: getattr(answers, name)[inside]
            for name in ("codes", "probabilities", "chosen", "weights")
        },
        flags={name: flag[inside] for name, flag in answers.flags.items()},
        estimates={},
    )


def _group_line(name: str, answers: Answers, favourable: int | None, target: str) -> GroupLine:
    n, effective = len(answers.weights), effective_number(answers.weights)
    if isinstance(answers, NumberAnswers):
        return GroupLine(name, n, effective < SMALL, _number_figures(answers, target))
    small, known = effective < SMALL, answers.select_known()
    if len(answers.names) == 2 and not small:
        parts = (known.weights[known.codes == k] for k in (0, 1))
        small = min(effective_number(part) for part in parts) < _SMALL_CLASS
    return GroupLine(name, n, small, _class_figures(answers, known, favourable))


def _class_figures(answers: ClassAnswers, known: ClassAnswers, k: int | None) -> dict[str, Cell]:
    """Return accuracy, rates of a class, AUC, and mean predicted and observed shares."""
    if not len(known.codes):
        return {}
    found = {one.name: one for one in measures(replace(answers, estimates={}))}
    cells = {"Accuracy": _share(*found["Accuracy"][1:4])}
    weights = known.weights
    if k is None:
        cells["Balanced accuracy"] = _share(*found["Balanced accuracy"][1:4])
    else:
        cells |= {title: _weighted_share(*rate) for title, rate in rates_of(known, k).items()}
    area = found.get("AUC")
    ends = (math.nan,) * 3 if area is None else area[1:4]
    cells["AUC"] = _with_interval(*ends, "{:.3f}".format)
    if k is not None:
        name = cut_line(answers.names[k], 20)
        said, seen = known.probabilities[:, k], known.codes == k
        titles = f"Predicted share of {name}", f"Observed share of {name}"
    else:
        said, seen = known.probabilities.max(axis=1), ~known.wrong
        titles = "Mean probability of the prediction", "Predictions that are right"
    mean = float(np.average(said, weights=weights))
    cells[titles[0]] = Cell(mean, mean, mean, format_percent(mean))
    cells[titles[1]] = _weighted_share(seen, weights)
    return cells


def _number_figures(answers: NumberAnswers, target: str) -> dict[str, Cell]:
    """Return bias and mean absolute error, and the mean predicted and true numbers."""
    errors, weights = answers.predicted - answers.truth, answers.weights
    cells = {
        "Bias (predicted minus true)": _mean(errors, weights, signed=True),
        "Mean absolute error": _mean(abs(errors), weights),
    }
    for title, values in (("predicted", answers.predicted), ("true", answers.truth)):
        mean = float(np.average(values, weights=weights))
        cells[f"Mean {title} {target}"] = Cell(mean, mean, mean, format_number(mean))
    return cells


def _mean(values: FloatArray, weights: FloatArray, *, signed: bool = False) -> Cell:
    mean, n = float(np.average(values, weights=weights)), effective_number(weights)
    variance = float(np.average(np.square(values - mean), weights=weights))
    low, high = mean_interval(mean, variance * n / (n - 1) if n > 1 else math.nan, n)
    ends = (mean, float(low) if signed else max(0.0, float(low)), float(high))
    return _with_interval(*ends, format_number)


def _weighted_share(hits: BoolArray, weights: FloatArray) -> Cell:
    if not weights.sum():
        return _share(math.nan, math.nan, math.nan)
    share = float(np.average(hits, weights=weights))
    return _share(share, *share_interval(share, weights))


def _share(value: float, low: float, high: float) -> Cell:
    return _with_interval(value, low, high, format_percent)


def _with_interval(value: float, low: float, high: float, write: Callable[[float], str]) -> Cell:
    if not math.isfinite(value):
        return Cell(value, low, high, NONE)
    ends = [write(end).removesuffix("\N{NO-BREAK SPACE}%") for end in (low, high)]
    return Cell(value, low, high, write(value), f"[{ends[0]}, {ends[1]}]")


def _in_words(groups: Sequence[GroupLine]) -> str:
    """Name the groups whose mean prediction is outside the observed interval."""
    off = []
    for group in groups[1:]:
        if group.is_small or not group.figures:
            continue
        cells = list(group.figures.values())
        if "Bias (predicted minus true)" in group.figures:
            bias = cells[0]
            wrong = bias.low > 0 or bias.high < 0
        else:
            predicted, observed = cells[-2:]
            wrong = not observed.low <= predicted.value <= observed.high
        if wrong:
            off.append(group.name)
    if not off:
        return "In every group with enough rows, the predictions agree with what was observed."
    return (
        f"The predictions are too high or too low on average for: {', '.join(off)}. By chance "
        "alone this happens in about one group of twenty."
    )
