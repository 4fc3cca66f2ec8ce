"""The what-if panel: the model as JavaScript, its inputs, and rows to start from.

The page runs the exported program, so its predictions equal the model's. A second program over the
same columns finds the rules that apply. The panel also has changes that flip the predictions of a
few rows, and rules that cover nearly the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Column, Table, label_of
from rulewright.evidence import format_number
from rulewright.explain import (
    Counterfactuals,
    EvaluatedRows,
    answer_text,
    class_codes,
    count_overlap,
    counterfactual,
)
from rulewright.model import ClassModel, RuleModel, class_of_interest, escape_line
from rulewright.programs import Constant, Program, Term, TermSums, write_javascript
from rulewright.report.rule_lines import order_by_use
from rulewright.rules import Adds, Head, Not

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.evidence import Places

MOST_CELLS = 60_000
"""Values of rows in a report at most, which bounds its size."""
_MOST_LABELS = 200
_NODES, _WORK = 20_000, 4_000_000
"""Predictions of each search at most, and rules to evaluate for them: they bound its time."""
_TWINS = 0.9
_SHOWN_TWINS = 8
_MOST_RULES = 2000
"""Of more rules no pairs are counted."""


@dataclass(frozen=True, eq=False)
class _Truths(Program):
    """For each rule 1 where it applies, -1 where it is false and its outcome has an alternative."""

    @cached_property
    def n_rules(self) -> int:
        return len(self.scores.start.numbers)  # type: ignore[attr-defined]

    @property
    def n_classes(self) -> int:
        """Length of a vector: one number for each rule."""
        return self.n_rules


def panel_script(model: RuleModel) -> str:
    """Write the functions `predictRow` and `ruleTruths` of a row."""
    script = write_javascript(model.program, "predictRow")
    if not model.rules:
        return f"{script}\nconst ruleTruths = () => ({{prediction: []}});"
    terms = []
    for i, rule in enumerate(model.rules):
        terms.append(Term(rule.body, Head(i, i), 1.0))
        if isinstance(rule.outcome, Adds) and rule.outcome.otherwise:
            terms.append(Term(Not(rule.body), Head(i, i), -1.0))
    truths = TermSums(Constant((0.0,) * len(model.rules)), tuple(terms))
    return f"{script}\n{write_javascript(_Truths(model.schema, truths), 'ruleTruths')}"


def panel_columns(model: RuleModel, table: Table | None) -> list[dict[str, Any]]:
    """Describe the inputs; columns that many rules use come first."""
    found = []
    for name in _inputs(model):
        schema = next(column for column in model.schema.given if column.name == name)
        item: dict[str, Any] = {"name": name, "title": escape_line(name), "kind": schema.kind}
        if not schema.type.ordered:
            item["labels"] = list(schema.labels) if len(schema.labels) <= _MOST_LABELS else []
        elif table is not None:
            known = table[name].values[~table[name].is_missing]
            if len(known):
                item["ends"] = [
                    schema.type.to_table_value(float(end)) for end in (known.min(), known.max())
                ]
        found.append(item)
    return found


def _inputs(model: RuleModel) -> list[str]:
    """Return the columns to enter: dates once, for all of their parts."""
    return list(dict.fromkeys(model.schema[name].source for name in order_by_use(model)))


def panel_rows(model: RuleModel, table: Table, places: Places) -> dict[str, Any]:
    """Return the values of some rows, with true values and predictions."""
    part = table.take(places)
    predicted = model.predict(part)
    rows: dict[str, Any] = {
        "places": [int(place) for place in places],
        "values": {name: _values(part[name]) for name in _inputs(model)},
        "predicted": _texts(model, predicted),
    }
    if part.target is not None:
        if isinstance(model, ClassModel):
            target = part.known_target
            names = [escape_line(label_of(label)) for label in target.classes.tolist()]
            rows["truth"] = [names[code] for code in target.codes]
        else:
            rows["truth"] = [format_number(value, 6) for value in part.known_numbers.values]
    return rows


def most_rows(model: RuleModel, asked: int) -> int:
    """Return how many rows a report shows: fewer if there are many columns."""
    return min(asked, MOST_CELLS // max(1, len(model.columns)))


def _texts(model: RuleModel, predicted: Any) -> list[str]:
    if isinstance(model, ClassModel):
        return [escape_line(label_of(label)) for label in predicted.tolist()]
    return [format_number(value, 6) for value in predicted]


def _values(column: Column) -> list[Any]:
    """Return the cells of a table as numbers or text; None for missing."""
    kind = column.schema.type
    if kind.ordered:
        return [
            None if np.isnan(value) else kind.to_table_value(float(value))
            for value in column.values
        ]
    raw = kind.raw(column).values
    return [None if value is None else str(value) for value in raw]


@dataclass(frozen=True)
class RowChange:
    """One row, numbered from 0, and what would change its prediction.

    `title` says why this row is shown; `answers` are changes and what the model then predicts;
    `note` says what is proven, or why there is no answer.
    """

    row: int
    title: str
    goal: str
    answers: list[tuple[list[str], str]]
    note: str


def row_changes(model: RuleModel, table: Table | None, places: Places) -> list[RowChange]:
    """Return changes that flip the predictions of a few rows in the page."""
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
    title = f"Row {row}: predicted {answer_text(told.answer, told.probability)}{why}"
    return RowChange(row, title, told.goal, answers, told.note)


def _of_classes(model: Any, rows: Table) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Choose a row predicted as the class of interest, a wrong row, and the least certain one.

    The class of interest is the rarer one of two, or the one that is predicted least: these rows
    are rejected, or stand out, so that people ask what would change the prediction.
    """
    if len(model.classes) < 2:
        return
    scores = model.scores(rows)
    chosen, ordered = model.decide(scores), np.sort(model.probabilities(scores), axis=1)
    interest = _rare_class(model, chosen)
    other = {"target_class": model.classes[1 - interest]} if len(model.classes) == 2 else {}
    used: list[int] = []
    codes = chosen if rows.target is None else class_codes(model, rows)
    wrong = (codes != chosen) & (codes >= 0)
    for right in (True, False):
        found = np.flatnonzero((chosen == interest) & (wrong != right))
        if len(found) and not used:
            used.append(int(found[0]))
            why = "" if rows.target is None else ", correctly" if right else ", wrongly"
            yield used[0], why, other
    for part in (wrong & (codes == interest), wrong):
        found = np.setdiff1d(np.flatnonzero(part), used)
        if len(found) and len(used) < 2:
            used.append(int(found[0]))
            truth = model.classes[codes[found[0]]]
            why = f", wrongly (true class: {escape_line(label_of(truth))})"
            yield used[-1], why, {"target_class": truth}
    unsure = int(np.argmin(ordered[:, -1] - ordered[:, -2]))
    if unsure not in used:
        yield unsure, ", the least certain row", {}


def _rare_class(model: Any, chosen: Any) -> int:
    """Return the class of interest of two, of more the predicted one with the fewest rows."""
    if len(model.classes) == 2:
        return class_of_interest(model)
    counts = np.bincount(chosen, minlength=len(model.classes))
    return int(np.argmin(np.where(counts > 0, counts, len(chosen) + 1)))


def _of_numbers(model: Any, rows: Table) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Choose the rows with the largest and the smallest prediction, and ask for the mean."""
    said = model.predict(rows)
    mean = float(f"{np.mean(said):.4g}")
    most, least = int(np.argmax(said)), int(np.argmin(said))
    if said[most] > mean:
        yield most, ", the largest prediction", {"target_range": (None, mean)}
    if said[least] < mean:
        yield least, ", the smallest prediction", {"target_range": (mean, None)}


def twin_rules(rows: EvaluatedRows | None) -> list[tuple[int, int, str]]:
    """Return the places of rules that apply to nearly the same rows, the most alike first."""
    if rows is None or not 1 < len(rows.model.rules) <= _MOST_RULES:
        return []
    pairs = count_overlap(rows).pairs(_TWINS)
    return [(a, b, f"{share:.2f}") for a, b, share in pairs[:_SHOWN_TWINS]]
