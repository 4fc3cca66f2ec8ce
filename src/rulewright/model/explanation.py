"""Why rows got their answers: the rules that apply, and the reasons that the form of model gives.

A form gives the reasons of a row (``reasons_for``), where it can with the scores after each of
them; text, HTML, plain data and dataframes are written here, for all forms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from rulewright.data import Table, to_frame
from rulewright.html import bold, draw_move, note, table, view
from rulewright.model.rule_table import body_text
from rulewright.model.text import align_cells, escape_line, write_count
from rulewright.rules import write_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from markupsafe import Markup
    from numpy.typing import NDArray

    from rulewright.model.rule_model import RuleModel
    from rulewright.rules import Rule

SHOWN_REASONS = 5
T = TypeVar("T")
# What print() shows of many rows.
_SHOWN_ROWS = 20


class ReasonLine(NamedTuple):
    """A line of the table of reasons: the addition, its effect, the reason, and the size.

    `moves` is the change of the probability or of the number, None if it is not known.
    """

    amount: str
    change: str
    text: str
    moves: float | None = None


class Reason(NamedTuple):
    """A rule, a line or a member of a model, with its outcome and its reason.

    Either the form gives the scores after this reason and those before it, and what it changes is
    the difference of their probabilities; or it writes the change itself.
    """

    amount: str
    text: str
    scores: NDArray[np.float64] | None = None
    change: str = ""
    moves: float | None = None
    is_line: bool = False

    @property
    def line(self) -> ReasonLine:
        """The reason in the table, with the change that the form has written."""
        return ReasonLine(self.amount, self.change, self.text, self.moves)


class RowReasons(NamedTuple):
    """The explanation of one row: titles, start, shown reasons, other reasons, and sum.

    `rest` is one reason for all that are not shown; start, rest and total may be missing.
    """

    titles: ReasonLine
    reasons: Sequence[Reason]
    start: Sequence[Reason] = ()
    rest: Sequence[Reason] = ()
    total: Sequence[ReasonLine] = ()


def plain_reasons(texts: Sequence[str], rest: Sequence[str] = ()) -> RowReasons:
    """Return reasons that are nothing but texts."""
    titles = ReasonLine("", "", "reason")
    others = [Reason("", text) for text in rest]
    return RowReasons(titles, [Reason("", text) for text in texts], rest=others)


def rule_text(model: RuleModel, i: int) -> str:
    """Write the printed number of a rule and its conditions."""
    return f"rule {model.numbers[i]}: {body_text(model, model.rules[i])}"


def value_text(table: Table, name: str, row: int) -> str:
    """Write the value of a column in a row."""
    column = table[name]
    if column.is_missing[row]:
        return f"{escape_line(name)} is missing"
    kind = column.schema.type
    if kind.ordered:
        return f"{escape_line(name)} is {escape_line(kind.write(column.values[row].item()))}"
    return f"{escape_line(name)} is {escape_line(kind.raw(column).values[row])}"


def select_shown(reasons: Sequence[T], max_reasons: int | None) -> Sequence[T]:
    """Return the reasons that are written out."""
    if max_reasons is not None and max_reasons < 0:
        raise ValueError(f"max_reasons={max_reasons}: must be 0 or more, or None for all")
    return reasons if max_reasons is None else reasons[:max_reasons]


def others_text(reasons: Sequence[Reason]) -> str:
    """Write how many rules and lines are not written out."""
    lines = sum(reason.is_line for reason in reasons)
    numbers = {"rule": len(reasons) - lines, "line": lines}
    return " and ".join(write_count(n, f"more {noun}") for noun, n in numbers.items() if n)


def used_columns(rows: Sequence[ReasonLine]) -> list[list[str]]:
    """Return amounts, changes and reasons; a column without entries is left out."""
    cells = [row[:3] for row in rows]
    used = [any(column) for column in zip(*cells[1:], strict=True)]
    return [[cell for cell, use in zip(row, used, strict=True) if use] for row in cells]


def reason_table(rows: Sequence[ReasonLine]) -> list[str]:
    """Write amounts, changes and reasons below each other."""
    return [f"  {line}" for line in align_cells(used_columns(rows))]


def reason_html(rows: Sequence[ReasonLine]) -> Markup:
    """Write the same as a table, with bars for the effect of each reason if known."""
    cells: list[list[str]] = used_columns(rows)
    largest = max((abs(row.moves) for row in rows if row.moves is not None), default=0.0)
    if largest:
        drawn = ["" if row.moves is None else draw_move(row.moves, largest) for row in rows]
        cells = [[*line[:-1], mark, line[-1]] for line, mark in zip(cells, drawn, strict=True)]
    return table(cells[:1], cells[1:], text={len(cells[0]) - 1})


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The rules that apply to each row, strongest first, and how they lead to the prediction.

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
        """Return the rules that the answer on a row rests on, the strongest first."""
        return self.model.deciding_rules(self, row)

    def answer(self, row: int) -> str:
        """Write the prediction for a row in one line."""
        return self._answer(row)[0]

    def _answer(self, row: int) -> list[str]:
        return [write_number(float(self.scores[row]), digits=6)]

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain data, with an item of ``rows`` for each row."""
        names = self.table.row_names
        rows = [
            {
                "row": names[row],
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
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, values, strict=True)) for values in rows]

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a line for each row and rule that fired on it."""
        fired = [(row, i) for row in range(len(self)) for i in self.rule_ids(row)]
        names = self.table.row_names
        rows = {"row": [names[row] for row, _ in fired]}
        return to_frame(rows | self._rule_columns([i for _, i in fired]), backend)

    def _rule_columns(self, ids: Sequence[int]) -> dict[str, list[Any]]:
        """Return number, conditions, classes and amounts of rules."""
        rules, names = [self.rules[i] for i in ids], self.model.head_names
        heads = {"class": [rule.head.text(names) for rule in rules]} if names else {}
        return {
            "id": list(ids),
            "rule": [self.model.numbers[i] for i in ids],
            "if": [str(rule.body) for rule in rules],
            **heads,
            self.model.amount: [rule.outcome.value for rule in rules],
        }

    def reason_table(self, row: int, max_reasons: int | None = SHOWN_REASONS) -> list[ReasonLine]:
        """Return the table of reasons for a row: titles, start, reasons and total.

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
            What the rows are called; by default as in the index of their dataframe, or numbered
            from 0.
        """
        names = self.table.row_names if row_names is None else row_names
        shown = range(len(self))[:max_rows]
        blocks = [self.row_text(row, max_reasons, names[row]) for row in shown]
        if hidden := len(self) - len(blocks):
            blocks.append(f"... and {hidden} more rows")
        return "\n".join(blocks) or "no rows"

    def row_text(
        self, row: int, max_reasons: int | None = SHOWN_REASONS, name: object = None
    ) -> str:
        """Write the reasons for one row, by default called by its name in the table."""
        first, *more = self._answer(row)
        called = self.table.row_names[row] if name is None else name
        lines = [f"row {escape_line(str(called))}: {first}", *(f"  {line}" for line in more)]
        return "\n".join(lines + reason_table(self.reason_table(row, max_reasons)))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        parts = []
        for row, name in enumerate(self.table.row_names[:_SHOWN_ROWS]):
            first, *more = self._answer(row)
            parts += [bold(f"row {escape_line(str(name))}: {first}"), *map(note, more)]
            parts.append(reason_html(self.reason_table(row)))
        hidden = len(self) - _SHOWN_ROWS
        more_rows = note(f"... and {write_count(hidden, 'more row')}") if hidden > 0 else None
        return view(*parts, more_rows) if parts else view(note("no rows"))

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} rows by {len(self.rules)} rules>"
