"""Why rows got their scores: the rules that fired and what each added."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.model.frame import to_frame
from rulewright.model.text import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.linear import LinearTerm
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
    """

    rules: tuple[Rule, ...]
    fired: NDArray[np.bool_]

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
    def _row_text(self, row: int) -> str:
        """Write the explanation of a row."""

    def __str__(self) -> str:
        blocks = [self._row_text(row) for row in range(min(len(self), _SHOWN_ROWS))]
        if hidden := len(self) - len(blocks):
            blocks.append(f"... and {hidden} more rows")
        return "\n".join(blocks) or "no rows"

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} rows by {len(self.rules)} rules>"


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
    """

    class_names: tuple[str, ...]
    scores: NDArray[np.float64]
    probabilities: NDArray[np.float64]
    chosen: NDArray[np.intp]
    intercepts: tuple[float, ...] = ()
    expected_costs: NDArray[np.float64] | None = None
    linear: tuple[LinearTerm, ...] = ()
    units: NDArray[np.float64] | None = None

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

    def _row_text(self, row: int) -> str:
        names = [plain(name) for name in self.class_names]
        chances = zip(names, self.probabilities[row], strict=True)
        lines = [
            f"row {row}: {plain(self.label(row))}   probabilities "
            + ", ".join(f"{name} {value:.3f}" for name, value in chances)
        ]
        if self.expected_costs is not None:
            costs = zip(names, self.expected_costs[row], strict=True)
            lines.append("  expected costs " + ", ".join(f"{name} {c:.3g}" for name, c in costs))
        added = self._added(row, names)
        width = max(len(amount) for amount, _ in added)
        return "\n".join([*lines, *(f"  {amount:<{width}}   {text}" for amount, text in added)])

    def _added(self, row: int, names: Sequence[str]) -> list[tuple[str, str]]:
        """Give the amounts that make up the scores, and where each comes from."""
        starts = zip(names, self.intercepts, strict=True)
        added = [(f"{value:+.3g} {name}", "intercept") for name, value in starts]
        for i in self.rule_ids(row):
            rule = self.rules[i]
            text = f"rule {i}: IF {rule.body}"
            added.append((f"{rule.outcome.value:+.3g} {rule.head.text(names)}", text))
        for line, k, amount in line_amounts(self.linear, self.units, row):
            added.append((f"{amount:+.3g} {names[k]}", f"line of {line.column}"))
        sums = zip(names, self.scores[row], strict=True)
        return added + [(f"= {value:+.3g} {name}", "score") for name, value in sums]


@dataclass(frozen=True, eq=False, repr=False)
class NumberExplanation(FiredRules):
    """The rules and linear terms that make up the number of each row, strongest first.

    Parameters
    ----------
    numbers : float array
        What the model predicts.
    intercept : float
        The number every row starts with.
    linear : tuple of LinearTerm
        The linear terms.
    units : float array of shape (rows, terms)
        What the slopes of the linear terms multiply.
    """

    numbers: NDArray[np.float64]
    intercept: float
    linear: tuple[LinearTerm, ...]
    units: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        rows = [
            {
                "prediction": float(number),
                "rules": self._fired_dicts(row),
                "linear": [
                    {"column": line.column, self.amount: amount}
                    for line, _, amount in line_amounts(self.linear, self.units, row)
                ],
            }
            for row, number in enumerate(self.numbers)
        ]
        return {"intercept": self.intercept, "rows": rows}

    def _row_text(self, row: int) -> str:
        added = [(f"{self.intercept:+.4g}", "intercept")]
        for i in self.rule_ids(row):
            text = f"rule {i}: IF {self.rules[i].body}"
            added.append((f"{self.rules[i].outcome.value:+.4g}", text))
        for line, _, amount in line_amounts(self.linear, self.units, row):
            added.append((f"{amount:+.4g}", f"line of {line.column}"))
        width = max(len(amount) for amount, _ in added)
        lines = [f"row {row}: {self.numbers[row]:.6g}"]
        return "\n".join([*lines, *(f"  {amount:<{width}}   {text}" for amount, text in added)])


def line_amounts(
    linear: Sequence[LinearTerm], units: NDArray[np.float64] | None, row: int
) -> list[tuple[LinearTerm, int, float]]:
    """Give what each linear term adds to the score of each class on a row, the largest first."""
    if units is None:
        return []
    found = [
        (line, k, slope * float(units[row, place]))
        for place, line in enumerate(linear)
        for k, slope in enumerate(line.slopes)
    ]
    return sorted((item for item in found if item[2]), key=lambda item: -abs(item[2]))


class DnfExplanation(Explanation):
    """The rules that hold for each row, the most precise first; nothing is added up."""

    amount: ClassVar[str] = "laplace"

    def to_dict(self) -> dict[str, Any]:
        """Give the explanation as plain data."""
        return {key: value for key, value in super().to_dict().items() if key != "intercepts"}

    def _added(self, row: int, names: Sequence[str]) -> list[tuple[str, str]]:
        rules = [(i, self.rules[i]) for i in self.rule_ids(row)]
        if not rules:
            return [(f"{self.scores[row].max():.3g} {plain(self.label(row))}", "no rule holds")]
        return [
            (f"{rule.outcome.value:.3g} {rule.head.text(names)}", f"rule {i}: IF {rule.body}")
            for i, rule in rules
        ]
