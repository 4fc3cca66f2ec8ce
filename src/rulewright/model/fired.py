"""What all explanations share: the rules that fired on each row, and how reasons are written."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.html import bold, note, view
from rulewright.model.frame import to_frame
from rulewright.model.reasons import SHOWN_REASONS, reason_html, reason_table
from rulewright.model.text import counted
from rulewright.rules import Adds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.reasons import ReasonLine
    from rulewright.rules import Rule

# What print() shows of many rows.
_SHOWN_ROWS = 20


@dataclass(frozen=True, eq=False, repr=False)
class FiredRules(ABC):
    """The rules that fired on each row, strongest first: what all explanations share.

    Parameters
    ----------
    rules : tuple of Rule
        The rules of the model.
    fired : bool array of shape (rows, rules)
        Which rule fired on which row.
    failed : bool array of shape (rows, rules) or None
        Which rule is known not to hold on which row, where some rule adds something there.
    """

    rules: tuple[Rule, ...]
    fired: NDArray[np.bool_]
    failed: NDArray[np.bool_] | None = field(default=None, kw_only=True)

    amount: ClassVar[str] = "added"
    """What the number of a rule is called in tables."""

    def __len__(self) -> int:
        return len(self.fired)

    def rule_ids(self, row: int) -> list[int]:
        """Give the rules that fired on a row, those with the largest responses first."""
        ids: list[int] = np.flatnonzero(self.fired[row]).tolist()
        return sorted(ids, key=lambda i: -abs(self.rules[i].outcome.value))

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a line for each row and rule that fired on it."""
        fired = [(row, i) for row in range(len(self)) for i in self.rule_ids(row)]
        table: dict[str, list[Any]] = {
            "row": [row for row, _ in fired],
            "rule": [i for _, i in fired],
            "if": [str(self.rules[i].body) for _, i in fired],
            **self._spoken_for([i for _, i in fired]),
            self.amount: [self.rules[i].outcome.value for _, i in fired],
        }
        return to_frame(table, backend)

    def _rule_amounts(self, row: int) -> list[tuple[int, float, str]]:
        """Give what rules add to a row and why, the largest first."""
        found = [
            (i, self.rules[i].outcome.value, f"rule {i}: IF {self.rules[i].body}")
            for i in self.rule_ids(row)
        ]
        for i in [] if self.failed is None else np.flatnonzero(self.failed[row]).tolist():
            outcome = self.rules[i].outcome
            assert isinstance(outcome, Adds)
            if outcome.otherwise:
                text = f"rule {i}: IF not ({self.rules[i].body})"
                found.append((i, outcome.otherwise, text))
        return sorted(found, key=lambda part: -abs(part[1]))

    def _spoken_for(self, ids: Sequence[int]) -> dict[str, list[str]]:
        """Give the column of what some rules speak for."""
        return {}

    def _fired_dicts(self, row: int) -> list[dict[str, Any]]:
        return [
            {
                "id": i,
                "if": str(self.rules[i].body),
                **{name: values[0] for name, values in self._spoken_for([i]).items()},
                self.amount: self.rules[i].outcome.value,
            }
            for i in self.rule_ids(row)
        ]

    @abstractmethod
    def _answer(self, row: int) -> list[str]:
        """Write what the model answers on a row."""

    @abstractmethod
    def _table(self, row: int, max_reasons: int | None) -> list[ReasonLine]:
        """Give titles, start, reasons and total of a row."""

    def answer(self, row: int) -> str:
        """Write what the model answers on a row, in one line."""
        return self._answer(row)[0]

    def reasons(self, row: int, max_reasons: int | None = SHOWN_REASONS) -> list[ReasonLine]:
        """Give the table of reasons for a row: titles, start, reasons and total.

        Parameters
        ----------
        row : int
            The row.
        max_reasons : int, optional
            How many reasons have lines of their own; None for all.
        """
        return self._table(row, max_reasons)

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
        return "\n".join(lines + reason_table(self._table(row, max_reasons)))

    def __str__(self) -> str:
        return self.text()

    def _repr_html_(self) -> str:
        parts = []
        for row in range(len(self))[:_SHOWN_ROWS]:
            first, *more = self._answer(row)
            parts += [bold(f"row {row}: {first}"), *map(note, more)]
            parts.append(reason_html(self._table(row, SHOWN_REASONS)))
        hidden = len(self) - _SHOWN_ROWS
        more_rows = note(f"... and {counted(hidden, 'more row')}") if hidden > 0 else None
        return view(*parts, more_rows) if parts else view(note("no rows"))

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} rows by {len(self.rules)} rules>"
