"""Why rows got their classes: what reasons add to the scores, and what that changes.

Where a form gives the scores after each reason, the changes of the probability are differences.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from rulewright.model.explanation import (
    Explanation,
    Reason,
    ReasonLine,
    RowReasons,
    others_text,
    select_shown,
)
from rulewright.model.text import escape_line
from rulewright.rules import format_signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_model import ClassModel

_SHOWN_CLASSES = 4
_REASON = "reason (changes of P add up in this order)"


class Added(NamedTuple):
    """Contribution of a rule or a line to the scores."""

    amounts: NDArray[np.float64]
    text: str
    is_line: bool = False


class ScoreWriter(Protocol):
    """Function that writes scores, or a reason's contribution, in the unit of a form."""

    def __call__(self, scores: NDArray[np.float64], chosen: int, /, *, level: bool = False) -> str:
        """Write scores: all of them if `level`, else what a reason adds."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ClassExplanation(Explanation):
    """What an explanation has where classes are predicted.

    Parameters
    ----------
    probabilities : float array of shape (rows, classes)
        What the model answers.
    chosen : int array
        Index of the predicted class of each row.
    expected_costs : float array of shape (rows, classes) or None
        What predicting each class is expected to cost, for a model with a decision.
    """

    model: ClassModel
    probabilities: NDArray[np.float64]
    chosen: NDArray[np.intp]
    expected_costs: NDArray[np.float64] | None = field(default=None, kw_only=True)

    @property
    def class_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return self.model.class_names

    def label(self, row: int) -> str:
        """Return the predicted class of a row, as text."""
        return self.class_names[int(self.chosen[row])]

    def added_up(
        self,
        row: int,
        max_reasons: int | None,
        unit: str,
        start: Sequence[float],
        added: Sequence[Added],
        write: ScoreWriter,
    ) -> RowReasons:
        """Return reasons each of which adds to the scores."""
        chosen, scores = int(self.chosen[row]), np.array(start)
        text = "start" if added else "start: no rule applies"
        steps = [Reason(write(scores, chosen, level=True), text, scores)]
        for amounts, text, is_line in added:
            scores = scores + amounts
            steps.append(Reason(write(amounts, chosen), text, scores, is_line=is_line))
        return self.in_steps(row, max_reasons, unit, steps, write)

    def in_steps(
        self,
        row: int,
        max_reasons: int | None,
        unit: str,
        steps: Sequence[Reason],
        write: ScoreWriter,
    ) -> RowReasons:
        """Return reasons from the start and the steps from there, all of which have scores."""
        (start, *reasons), chosen, name = steps, int(self.chosen[row]), escape_line(self.label(row))
        shown = select_shown(reasons, max_reasons)
        rest, total = [], []
        if hidden := reasons[len(shown) :]:
            last, before = hidden[-1].scores, steps[len(shown)].scores
            assert last is not None
            assert before is not None
            rest = [Reason(write(last - before, chosen), others_text(hidden), last)]
        if reasons:
            amount = write(self.scores[row], chosen, level=True)
            total = [ReasonLine(amount, f"{self.probabilities[row, chosen]:.3f}", "total")]
        return RowReasons(ReasonLine(unit, f"P({name})", _REASON), shown, [start], rest, total)

    def _lines(self, row: int, steps: Sequence[Reason]) -> list[ReasonLine]:
        """Write what each step changes, where the form gives the scores after it."""
        scores = [step.scores for step in steps if step.scores is not None]
        if len(scores) < len(steps):
            return super()._lines(row, steps)
        chances = self.model.probabilities(np.array(scores))[:, int(self.chosen[row])]
        lines = [ReasonLine(steps[0].amount, f"{chances[0]:.3f}", steps[0].text)]
        for step, change in zip(steps[1:], np.diff(chances).tolist(), strict=True):
            lines.append(ReasonLine(step.amount, format_signed(change), step.text, change))
        return lines

    def _shared_dict(self) -> dict[str, Any]:
        decided = self.model.decision
        decision = {} if decided is None else {"decision": {decided.field: decided.to_json()}}
        return {"classes": list(self.class_names), **decision, **self.model.start_fields()}

    def _answer_dict(self, row: int) -> dict[str, Any]:
        answer = {
            "label": self.label(row),
            "scores": self.scores[row].tolist(),
            "probabilities": self.probabilities[row].tolist(),
        }
        if self.expected_costs is not None:
            answer["expected_costs"] = self.expected_costs[row].tolist()
        return answer

    def _answer(self, row: int) -> list[str]:
        names, chances = [escape_line(name) for name in self.class_names], self.probabilities[row]
        chosen = int(self.chosen[row])
        others = [k for k in np.argsort(-chances, kind="stable").tolist() if k != chosen]
        listed = [f"{names[k]} {chances[k]:.3f}" for k in others[: _SHOWN_CLASSES - 1]]
        more = [f"{len(others) - len(listed)} more classes"] if len(others) > len(listed) else []
        text = f"{names[chosen]} with probability {chances[chosen]:.3f}"
        lines = [f"{text} ({', '.join(listed + more)})" if listed else text]
        if self.model.decision is not None and self.expected_costs is not None:
            lines.append(self.model.decision.explain(names, chances, self.expected_costs[row]))
        return lines + self.model.answer_notes(self, row)
