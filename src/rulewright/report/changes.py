"""What would change the answer for some rows of a report, and rules that say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import label_of
from rulewright.explain import answer_text, class_codes, count_overlap, counterfactual
from rulewright.model import ClassModel, escape_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.data import Table
    from rulewright.explain import Counterfactuals, EvaluatedRows
    from rulewright.model import RuleModel
    from rulewright.report.answers import Places

_NODES, _WORK = 20_000, 4_000_000
"""Predictions of each search at most, and rules to evaluate for them: they bound its time."""
_TWINS = 0.9
_SHOWN_TWINS = 8
_MOST_RULES = 2000
"""Of more rules no pairs are counted."""


@dataclass(frozen=True)
class RowChange:
    """One row, and what would change its answer.

    Parameters
    ----------
    row : int
        Number of the row, from 0.
    title : str
        Why this row is shown, and what the model answers.
    goal : str
        What is looked for.
    answers : list of pairs
        Changes, and what the model then answers.
    note : str
        What is proven, or why there is no answer.
    """

    row: int
    title: str
    goal: str
    answers: list[tuple[list[str], str]]
    note: str


def row_changes(model: RuleModel, table: Table | None, places: Places) -> list[RowChange]:
    """Tell of a few of the rows that the page holds what would change their answers."""
    if table is None or not len(places) or not model.columns:
        return []
    rows = table.take(places)
    choose = _of_classes if isinstance(model, ClassModel) else _of_numbers
    found, nodes = [], min(_NODES, max(1, _WORK // max(len(model.rules), 1)))
    for at, why, options in choose(model, rows):
        one = rows.take(np.array([at], dtype=np.intp))
        told = counterfactual(model, one, X=table, max_nodes=nodes, **options)
        found.append(_row_change(int(places[at]), why, told))
    return found


def _row_change(row: int, why: str, told: Counterfactuals) -> RowChange:
    answers = [
        (
            [str(change).replace(" -> ", " → ") for change in one.changes],
            answer_text(one.answer, one.probability),
        )
        for one in told.found
    ]
    title = f"Row {row}, {why}: the model says {answer_text(told.answer, told.probability)}"
    return RowChange(row, title, told.goal, answers, told.note)


def _of_classes(model: Any, rows: Table) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Choose the first row that is wrong, and the one whose classes are closest."""
    if len(model.classes) < 2:
        return
    scores = model.scores(rows)
    chosen, ordered = model.decide(scores), np.sort(model.probabilities(scores), axis=1)
    wrong = np.zeros(0, dtype=np.intp)
    if rows.target is not None:
        codes = class_codes(model, rows)
        wrong = np.flatnonzero((codes != chosen) & (codes >= 0))
    if len(wrong):
        truth = model.classes[codes[wrong[0]]]
        why = f"the first that is wrong (truly {escape_line(label_of(truth))})"
        yield int(wrong[0]), why, {"target_class": truth}
    unsure = int(np.argmin(ordered[:, -1] - ordered[:, -2]))
    yield unsure, "the least certain", {}


def _of_numbers(model: Any, rows: Table) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Choose the rows with the largest and the smallest prediction, and ask for the mean."""
    said = model.predict(rows)
    mean = float(f"{np.mean(said):.4g}")
    most, least = int(np.argmax(said)), int(np.argmin(said))
    if said[most] > mean:
        yield most, "the largest prediction", {"target_range": (None, mean)}
    if said[least] < mean:
        yield least, "the smallest prediction", {"target_range": (mean, None)}


def twin_rules(rows: EvaluatedRows | None) -> list[tuple[int, int, str]]:
    """Give the pairs of rules that cover nearly the same rows, the most alike first."""
    if rows is None or not 1 < len(rows.model.rules) <= _MOST_RULES:
        return []
    pairs = count_overlap(rows).pairs(_TWINS)
    return [(a, b, f"{share:.2f}") for a, b, share in pairs[:_SHOWN_TWINS]]
