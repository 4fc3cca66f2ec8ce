"""Why rows got their answers: the rules that fired, and the reasons that the form of model gives.

A form gives the reasons of a row (``reasons_for``), where it can with the scores after each of
them; text, HTML, plain data and dataframes are written here, for all forms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rulewright.html import bold, note, view
from rulewright.model.frame import to_frame
from rulewright.model.reasons import SHOWN_REASONS, reason_html, reason_table
from rulewright.model.text import write_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.model.reasons import Reason, ReasonLine
    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Rule

# What print() shows of many rows.
_SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The rules that fired on each row, strongest first, and what they make of the answer.

    Parameters
    ----------
    model : RuleModel
        The model whose answers are explained.
    table : Table
        The rows.
    fired : bool array of shape (rows, rules)
        Which rule fired on which row.
    scores : float array
        What the model computes for each row: a number, or the scores of the classes.
    evidence : object
        What the form of model has found out for its reasons, if it needs anything.
    """

    model: RuleModel
    table: Table
    fired: NDArray[np.bool_]
    scores: NDArray[np.float64]
    evidence: Any = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.fired)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the model."""
        return self.model.rules

    def rule_ids(self, row: int) -> list[int]:
        """Give the rules that the answer on a row rests on, the strongest first."""
        return self.model.deciding_rules(self, row)

    def answer(self, row: int) -> str:
        """Write what the model answers on a row, in one line."""
        return self._answer(row)[0]

    def _answer(self, row: int) -> list[str]:
        return [f"{self.scores[row]:.6g}"]

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data, with an item of ``rows`` for each row."""
        rows = [
            {
                **self._answer_dict(row),
                "rules": self._fired_dicts(row),
                **self.model.explained_fields(self, row),
            }
            for row in range(len(self))
        ]
        return {**self._shared_dict(), "rows": rows}

    def _shared_dict(self) -> dict[str, Any]:
        return self.model.start_fields()

    def _answer_dict(self, row: int) -> dict[str, Any]:
        return {"prediction": float(self.scores[row])}

    def _fired_dicts(self, row: int) -> list[dict[str, Any]]:
        columns = self._rule_columns(self.rule_ids(row))
        columns = {"id": columns.pop("rule"), **columns}
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, values, strict=True)) for values in rows]

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a line for each row and rule that fired on it."""
        fired = [(row, i) for row in range(len(self)) for i in self.rule_ids(row)]
        rows = {"row": [row for row, _ in fired]}
        return to_frame(rows | self._rule_columns([i for _, i in fired]), backend)

    def _rule_columns(self, ids: Sequence[int]) -> dict[str, list[Any]]:
        """Give number, conditions, classes and amounts of rules."""
        rules, names = [self.rules[i] for i in ids], self.model.head_names
        heads = {"class": [rule.head.text(names) for rule in rules]} if names else {}
        return {
            "rule": list(ids),
            "if": [str(rule.body) for rule in rules],
            **heads,
            self.model.amount: [rule.outcome.value for rule in rules],
        }

    def reason_table(self, row: int, max_reasons: int | None = SHOWN_REASONS) -> list[ReasonLine]:
        """Give the table of reasons for a row: titles, start, reasons and total.

        Parameters
        ----------
        row : int
            The row.
        max_reasons : int, optional
            How many reasons have lines of their own; None for all.
        """
        given = self.model.reasons_for(self, row, max_reasons)
        steps = [*given.start, *given.reasons, *given.rest]
        return [given.titles, *self._lines(row, steps), *given.total]

    def _lines(self, row: int, steps: Sequence[Reason]) -> list[ReasonLine]:
        return [step.line for step in steps]

    def reasons(self, row: int, max_reasons: int | None = SHOWN_REASONS) -> list[str]:
        """Write the strongest reasons for the answer on a row, a text each.

        Parameters
        ----------
        row : int
            The row, counted from 0.
        max_reasons : int, optional
            How many reasons are written; None for all.
        """
        found = self.model.reasons_for(self, row, max_reasons).reasons[:max_reasons]
        return [" ".join(filter(None, (one.amount, one.change, one.text))) for one in found]

    def text(
        self,
        max_reasons: int | None = SHOWN_REASONS,
        max_rows: int | None = _SHOWN_ROWS,
        row_names: Sequence[object] | None = None,
    ) -> str:
        """Write the reasons for each row, strongest first; the others are summed up in one line.

        Parameters
        ----------
        max_reasons : int, optional
            How many reasons are written out; None for all.
        max_rows : int, optional
            How many rows are written; None for all.
        row_names : sequence, optional
            What the rows are called; by default they are numbered from 0.
        """
        names = range(len(self)) if row_names is None else row_names
        shown = range(len(self))[:max_rows]
        blocks = [self.row_text(row, max_reasons, names[row]) for row in shown]
        if hidden := len(self) - len(blocks):
            blocks.append(f"... and {hidden} more rows")
        return "\n".join(blocks) or "no rows"

    def row_text(
        self, row: int, max_reasons: int | None = SHOWN_REASONS, name: object = None
    ) -> str:
        """Write the reasons for one row, by default called by its number."""
        first, *more = self._answer(row)
        called = row if name is None else name
        lines = [f"row {called}: {first}", *(f"  {line}" for line in more)]
        return "\n".join(lines + reason_table(self.reason_table(row, max_reasons)))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        parts = []
        for row in range(len(self))[:_SHOWN_ROWS]:
            first, *more = self._answer(row)
            parts += [bold(f"row {row}: {first}"), *map(note, more)]
            parts.append(reason_html(self.reason_table(row)))
        hidden = len(self) - _SHOWN_ROWS
        more_rows = note(f"... and {write_count(hidden, 'more row')}") if hidden > 0 else None
        return view(*parts, more_rows) if parts else view(note("no rows"))

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} rows by {len(self.rules)} rules>"
