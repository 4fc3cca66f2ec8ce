"""Summary of the data: rows, the target, and each column."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import UNSEEN_CODE, Column, Finding, Table, Target, label_of
from rulewright.evidence import Answers, ClassAnswers, format_number
from rulewright.html import cut_line
from rulewright.model import RuleModel, escape_line, write_count

if TYPE_CHECKING:
    from collections.abc import Sequence


_SHOWN_CLASSES = 12
_SHOWN_FINDINGS, _LETTERS = 30, 200


@dataclass(frozen=True)
class ColumnLine:
    """One column: its kind and values, how many are missing, and how many rules use it."""

    name: str
    kind: str
    values: str
    missing: int | None
    missing_share: float
    n_rules: int


@dataclass(frozen=True)
class ClassLine:
    """One class: its weight and its share."""

    name: str
    weight: float
    share: float


@dataclass(frozen=True)
class FindingLine:
    """One data problem: the column, the problem, and the option that fixes it."""

    column: str
    text: str
    remedy: str


@dataclass(frozen=True)
class DataSummary:
    """A summary of the data; without data, of the columns that the model knows."""

    n_rows: int
    columns: list[ColumnLine]
    classes: list[ClassLine]
    more_classes: int
    numbers: str
    notes: list[str]
    findings: list[FindingLine]
    more_findings: int


def data_summary(
    model: RuleModel, table: Table | None, answers: Answers | None, findings: Sequence[Finding] = ()
) -> DataSummary:
    """Sum up data; columns that are not in the table are described by the model."""
    uses = Counter(name for rule in model.rules for name in set(rule.body.columns))
    columns = [_line(name, model, table, uses[name]) for name in model.schema.names]
    classes, more, numbers = _target(table)
    return DataSummary(
        0 if table is None else table.n_rows,
        columns,
        classes,
        more,
        numbers,
        [] if table is None else _notes(table, answers),
        [_finding_line(finding) for finding in findings[:_SHOWN_FINDINGS]],
        max(0, len(findings) - _SHOWN_FINDINGS),
    )


def _finding_line(finding: Finding) -> FindingLine:
    name = "" if finding.column is None else cut_line(finding.column)
    return FindingLine(name, cut_line(finding.text, _LETTERS), cut_line(finding.remedy, _LETTERS))


def _line(name: str, model: RuleModel, table: Table | None, n_rules: int) -> ColumnLine:
    schema = model.schema[name]
    if table is None or name not in table.schema:
        text = ", ".join(map(cut_line, schema.labels[:6])) + (
            ", …" if len(schema.labels) > 6 else ""
        )
        values = text if table is None else "not in the data; no rule needs it"
        return ColumnLine(escape_line(name), schema.kind, values, None, 0.0, n_rules)
    column = table[name]
    missing = int(np.count_nonzero(column.is_missing))
    values = schema.type.describe(column, cut_line)
    return ColumnLine(
        escape_line(name), schema.kind, values, missing, missing / len(column), n_rules
    )


def _target(table: Table | None) -> tuple[list[ClassLine], int, str]:
    """Describe the classes, the most frequent first, or the numbers."""
    if table is None or table.target is None:
        return [], 0, ""
    weights = table.row_weights
    if isinstance(table.target, Target):
        totals = np.bincount(table.target.codes, weights, len(table.target.classes))
        order = [int(k) for k in np.argsort(-totals, kind="stable") if totals[k] > 0]
        lines = [
            ClassLine(
                cut_line(label_of(table.target.classes[k])),
                float(totals[k]),
                totals[k] / totals.sum(),
            )
            for k in order[:_SHOWN_CLASSES]
        ]
        return lines, max(0, len(order) - _SHOWN_CLASSES), ""
    numbers = table.target.values
    mean = np.average(numbers, weights=weights)
    deviation = np.sqrt(np.average((numbers - mean) ** 2, weights=weights))
    text = (
        f"mean {format_number(mean)}, standard deviation {format_number(deviation)}, from "
        f"{format_number(numbers.min(), 6)} to {format_number(numbers.max(), 6)}"
    )
    return [], 0, text


def _notes(table: Table, answers: Answers | None) -> list[str]:
    """Warn of unseen labels, unknown classes and weights, which affect the figures."""
    notes = []
    for column in table.columns:
        if unseen := _unseen(column):
            rows = write_count(unseen, "row")
            notes.append(
                f"{cut_line(column.schema.name)}: {rows} with a label not seen in training"
            )
    if isinstance(answers, ClassAnswers) and (strange := int((answers.codes < 0).sum())):
        notes.append(
            f"{write_count(strange, 'row')} of a class that the model does not know: they count as "
            "errors in the accuracy and are left out of the other figures"
        )
    if table.weights is not None:
        notes.append("rows are weighted: intervals count them as their effective number")
    return notes


def _unseen(column: Column) -> int:
    return 0 if column.schema.type.ordered else int((column.values == UNSEEN_CODE).sum())
