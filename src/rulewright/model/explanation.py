"""Why rows got their scores: the rules that fired, what each added, and what that changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulewright.model.fired import FiredRules
from rulewright.model.linear import line_amounts
from rulewright.model.reasons import Reason, ReasonLine, others_text, shown_of
from rulewright.model.text import plain
from rulewright.rules.outcomes import signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.model.linear import LinearTerm

ToProbabilities: TypeAlias = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_SHOWN_CLASSES = 4
_REASON = "reason (each changes P after those above it)"


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(FiredRules):
    """The rules that fired on each row, strongest first, and what they add up to.

    Parameters
    ----------
    class_names : tuple of str
        Class labels as text.
    scores, probabilities : float arrays of shape (rows, classes)
        What the model answers.
    chosen : int array
        Index of the predicted class of each row.
    intercepts : tuple of float
        The scores every row starts with, of additive rules.
    expected_costs : float array of shape (rows, classes) or None
        What predicting each class is expected to cost, for a model with costs.
    linear : tuple of LinearTerm
        The linear terms, of additive rules.
    units : float array of shape (rows, terms)
        What the slopes of the linear terms multiply.
    to_probabilities : function
        Turns scores into probabilities, as the model does.
    """

    class_names: tuple[str, ...]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    chosen: NDArray[np.intp]
    intercepts: tuple[float, ...] = ()
    expected_costs: NDArray[np.float64] | None = None
    linear: tuple[LinearTerm, ...] = ()
    units: NDArray[np.float64] | None = None
    to_probabilities: ToProbabilities = field(kw_only=True)

    def label(self, row: int) -> str:
        """Give the predicted class of a row, as text."""
        return self.class_names[int(self.chosen[row])]

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        return {
            "classes": list(self.class_names),
            "intercepts": list(self.intercepts),
            "rows": [self._row_dict(row) for row in range(len(self))],
        }

    def _spoken_for(self, ids: Sequence[int]) -> dict[str, list[str]]:
        return {"class": [self.rules[i].head.text(self.class_names) for i in ids]}

    def _row_dict(self, row: int) -> dict[str, Any]:
        answer = {
            "label": self.label(row),
            "scores": self.scores[row].tolist(),
            "probabilities": self.probabilities[row].tolist(),
        }
        if self.expected_costs is not None:
            answer["expected_costs"] = self.expected_costs[row].tolist()
        linear = [
            {"column": line.column, "class": self.class_names[k], self.amount: amount}
            for line, k, amount in line_amounts(self.linear, self.units, row)
        ]
        fired = {"rules": self._fired_dicts(row)}
        return answer | fired | ({"linear": linear} if linear else {})

    def _answer(self, row: int) -> list[str]:
        names, chances = [plain(name) for name in self.class_names], self.probabilities[row]
        chosen = int(self.chosen[row])
        others = [k for k in np.argsort(-chances, kind="stable").tolist() if k != chosen]
        listed = [f"{names[k]} {chances[k]:.3f}" for k in others[: _SHOWN_CLASSES - 1]]
        more = [f"{len(others) - len(listed)} more classes"] if len(others) > len(listed) else []
        text = f"{names[chosen]} with probability {chances[chosen]:.3f}"
        lines = [f"{text} ({', '.join(listed + more)})" if listed else text]
        if self.expected_costs is not None:
            costs = zip(names, self.expected_costs[row], strict=True)
            lines.append("expected costs " + ", ".join(f"{name} {c:.3g}" for name, c in costs))
        return lines

    def _table(self, row: int, max_reasons: int | None) -> list[ReasonLine]:
        chosen, name = int(self.chosen[row]), plain(self.label(row))
        start, *reasons = self._reasons(row)
        shown = shown_of(reasons, max_reasons)
        steps, hidden = [start, *shown], reasons[len(shown) :]
        if hidden:
            steps.append(self._joined(steps[-1], hidden, chosen))
        chances = self._chances(row, steps)
        if chances is None:  # this form does not tell what rules change
            lines = [ReasonLine(step.amount, "", step.text) for step in steps]
            return [ReasonLine(self._title(name), "", "reason"), *(lines[1:] or lines)]
        lines = [ReasonLine(start.amount, f"{chances[0]:.3f}", start.text)]
        for step, change in zip(steps[1:], np.diff(chances).tolist(), strict=True):
            lines.append(ReasonLine(step.amount, signed(change), step.text, change))
        if reasons:
            total = self._said(self.scores[row], chosen, level=True)
            lines.append(ReasonLine(total, f"{self.probabilities[row, chosen]:.3f}", "total"))
        return [ReasonLine(self._title(name), f"P({name})", _REASON), *lines]

    def _joined(self, before: Reason, hidden: Sequence[Reason], chosen: int) -> Reason:
        """Give one reason for all that are not written out."""
        last, amount = hidden[-1].scores, ""
        if before.scores is not None and last is not None:
            amount = self._said(last - before.scores, chosen)
        return Reason(amount, others_text(hidden), last)

    def _chances(self, row: int, steps: Sequence[Reason]) -> NDArray[np.float64] | None:
        """Give the probability of the chosen class after each step, if the form tells."""
        scores = [step.scores for step in steps if step.scores is not None]
        if len(scores) < len(steps):
            return None
        return self.to_probabilities(np.array(scores))[:, int(self.chosen[row])]

    def _reasons(self, row: int) -> list[Reason]:
        """Give the start and the reasons, strongest first, each with the scores after it."""
        chosen, scores = int(self.chosen[row]), np.array(self.intercepts)
        added_by = self._added(row)
        start = "start" if added_by else "start: no rule holds"
        steps = [Reason(self._said(scores, chosen, level=True), start, scores)]
        for added, text, is_line in added_by:
            scores = scores + added
            steps.append(Reason(self._said(added, chosen), text, scores, is_line))
        return steps

    def _added(self, row: int) -> list[tuple[NDArray[np.float64], str, bool]]:
        """Give what rules and lines add to the scores, the largest first, with their texts."""
        found = []
        for i, amount, text in self._rule_amounts(row):
            added = np.zeros(len(self.class_names))
            added[self.rules[i].head.classes] = amount
            found.append((added, text, False))
        units = () if self.units is None else self.units[row]
        for line, unit in zip(self.linear, units, strict=False):
            added = np.array(line.slopes) * unit
            if added.any():
                found.append((added, f"line of {plain(line.column)}", True))
        return sorted(found, key=lambda part: -float(np.abs(part[0]).max()))

    def _title(self, name: str) -> str:
        """Name the unit of the amounts."""
        return f"points for {name}" if len(self.class_names) <= 2 else "points"

    def _said(self, added: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
        """Write points for the chosen class, of two minus the other's, or for another class.

        `level` tells that these are all points there are, and not what a reason adds.
        """
        if len(added) <= 2:
            return signed(float(added[chosen] - added[np.arange(len(added)) != chosen].sum()))
        k = chosen if level or added[chosen] else int(np.argmax(np.abs(added)))
        return f"{signed(float(added[k]))} {plain(self.class_names[k])}"
