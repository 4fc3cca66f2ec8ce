"""The what-if panel: the model as JavaScript, its inputs, and rows to start from.

The page computes with the exported program, so its answers are those of the model; the rules that
hold are a second program over the same columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import label_of
from rulewright.model import ClassModel, escape_line
from rulewright.programs import Constant, Program, Term, TermSums, write_javascript
from rulewright.report.rule_lines import order_by_use
from rulewright.rules import Adds, Head, Not

if TYPE_CHECKING:
    from rulewright.data import Column, Table
    from rulewright.model import RuleModel
    from rulewright.report.answers import Places

MOST_CELLS = 60_000
"""Values of rows in a report at most, which bounds its size."""
_MOST_LABELS = 200


@dataclass(frozen=True, eq=False)
class _Truths(Program):
    """For each rule 1 where it holds, -1 where it is known to fail if it says something there."""

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
    """Describe the inputs: those of the columns of the most rules come first."""
    found = []
    for name in order_by_use(model):
        schema = model.schema[name]
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


def panel_rows(model: RuleModel, table: Table, places: Places) -> dict[str, Any]:
    """Give the values of some rows, with what is true and what the model says."""
    part = table.take(places)
    predicted = model.predict(part)
    rows: dict[str, Any] = {
        "places": [int(place) for place in places],
        "values": {name: _values(part[name]) for name in order_by_use(model)},
        "predicted": _texts(model, predicted),
    }
    if part.target is not None:
        if isinstance(model, ClassModel):
            target = part.known_target
            names = [escape_line(label_of(label)) for label in target.classes.tolist()]
            rows["truth"] = [names[code] for code in target.codes]
        else:
            rows["truth"] = [f"{value:.6g}" for value in part.known_numbers.values]
    return rows


def most_rows(model: RuleModel, asked: int) -> int:
    """Return how many rows a report shows: fewer of many columns."""
    return min(asked, MOST_CELLS // max(1, len(model.columns)))


def _texts(model: RuleModel, predicted: Any) -> list[str]:
    if isinstance(model, ClassModel):
        return [escape_line(label_of(label)) for label in predicted.tolist()]
    return [f"{value:.6g}" for value in predicted]


def _values(column: Column) -> list[Any]:
    """Give what a table holds, numbers or text; None for missing."""
    kind = column.schema.type
    if kind.ordered:
        return [
            None if np.isnan(value) else kind.to_table_value(float(value))
            for value in column.values
        ]
    raw = kind.raw(column).values
    return [None if value is None else str(value) for value in raw]
