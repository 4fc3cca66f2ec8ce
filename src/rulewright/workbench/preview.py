"""What an edit would change: held-out figures, decisions on rows, groups, broken constraints."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.evidence import Change, compare_figures
from rulewright.model import align_cells, escape_line, value_text
from rulewright.rules import write_number, write_percent

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulewright.kernels import BoolArray
    from rulewright.workbench.edits import Edit
    from rulewright.workbench.state import State

SHOWN_ROWS = 5
"""Number of example rows whose decision changes."""

MOST_GROUPS = 20
"""Number of labels of a column that figures are shown for."""


class GroupChange(NamedTuple):
    """What changes for the rows with one label of a column."""

    column: str
    label: str
    n_rows: int
    n_changed: int
    before: float
    after: float

    def to_json(self) -> dict[str, Any]:
        """Return the group as plain data."""
        return self._asdict()


class PolicyChange(NamedTuple):
    """A policy, its state before and after an edit, and what the proof after it found."""

    title: str
    before: str
    after: str
    finding: str

    def __str__(self) -> str:
        state = self.after if self.before == self.after else f"{self.before} -> {self.after}"
        found = f" ({self.finding})" if self.after != "proved" else ""
        return f"policy {escape_line(self.title)}: {state}{found}"


@dataclass(frozen=True, eq=False)
class Preview:
    """An edit and what it changes; nothing is changed before it is applied.

    Attributes
    ----------
    edit : Edit
        The edit.
    before, after : State
        The states that it connects.
    by : tuple of str
        Nominal columns whose labels are compared.
    """

    edit: Edit
    before: State
    after: State
    by: tuple[str, ...] = ()

    @property
    def model(self) -> Any:
        """The edited model."""
        return self.after.model

    @property
    def has_rows(self) -> bool:
        """Whether there are rows to measure the change on."""
        return self.after.form is not None

    @cached_property
    def figures(self) -> list[Change]:
        """Held-out figures before and after, with paired 95 percent intervals."""
        if not self.has_rows:
            return []
        weights, n_classes = self.after.data.rows.weights, self.model.n_classes or 0
        return compare_figures(self.before.figures, self.after.figures, weights, n_classes)

    def measure(self) -> None:
        """Compute figures, cost and predictions now, not when they are first shown."""
        for name in ("figures", "cost", "changed") if self.has_rows else ():
            getattr(self, name)

    @cached_property
    def cost(self) -> str:
        """What points cost that the edit fixes, against fitted ones; empty if it fixes none."""
        if not self.has_rows or self.model.in_order:
            return ""
        known = {(rule.body.key, rule.outcome) for rule in self.before.frozen_rules}
        fixed = [
            place
            for place, rule in enumerate(self.model.rules)
            if self.after.frozen[place] and (rule.body.key, rule.outcome) not in known
        ]
        if not fixed:
            return ""
        fitted, (first, *_) = self.after.cost_of_fixing(fixed)
        of_each = [
            f"{held.outcome.value:+.4g} instead of {free.outcome.value:+.4g}"
            for held, free in zip(self.model.rules, fitted.model.rules, strict=True)
            if held.outcome != free.outcome
        ]
        values = of_each[0] if len(of_each) == 1 else f"points of {len(fixed)} rules"
        return f"fixing {values} changes {first.name} by {_change_text(first)}"

    @cached_property
    def changed(self) -> BoolArray:
        """Rows of the session whose prediction changes: the class, or the number."""
        return np.asarray(self.before.predictions != self.after.predictions)

    @cached_property
    def moves(self) -> dict[tuple[str, str], int]:
        """Number of rows by the classes before and after, for rows whose class changes."""
        if not self.has_rows:
            return {}
        return count_moves(self.model, self.before.predictions, self.after.predictions)

    @property
    def examples(self) -> list[int]:
        """Positions, in the given rows, of some rows whose prediction changes."""
        places = np.flatnonzero(self.changed)[:SHOWN_ROWS]
        found: list[int] = self.after.data.rows.used.places[places].tolist()
        return found

    @property
    def example_values(self) -> dict[str, list[Any]]:
        """The values of these rows in the columns that either model uses."""
        table = self.after.data.rows.table.take(np.flatnonzero(self.changed)[:SHOWN_ROWS])
        names = dict.fromkeys([*self.before.model.columns, *self.model.columns])
        return {name: [value_text(table, name, i) for i in range(table.n_rows)] for name in names}

    @cached_property
    def groups(self) -> list[GroupChange]:
        """What changes by the labels of the columns in `by`: mean answer and changed decisions."""
        if not self.has_rows:
            return []
        rows = self.after.data.rows
        old, new = self.before.levels, self.after.levels
        found = []
        for name in self.by:
            column = rows.table[name]
            for code, label in enumerate(column.schema.labels[:MOST_GROUPS]):
                own = column.values == code
                if own.any():
                    means = (
                        float(np.average(v[own], weights=rows.weights[own])) for v in (old, new)
                    )
                    changed = int(self.changed[own].sum())
                    found.append(GroupChange(name, str(label), int(own.sum()), changed, *means))
        return found

    @property
    def broken(self) -> list[str]:
        """Rules of the edited model that do not comply with the constraints."""
        return self.after.broken()

    @cached_property
    def policies(self) -> list[PolicyChange]:
        """The policies, each with its state before and after the edit."""
        pairs = zip(self.before.proofs.proofs, self.after.proofs.proofs, strict=True)
        return [
            PolicyChange(new.policy.title, old.state, new.state, new.finding) for old, new in pairs
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the preview as plain data."""
        plain: dict[str, Any] = {
            "edit": self.edit.to_json(),
            "text": self.edit.describe(),
            "sizes": self._sizes,
            "broken": self.broken,
            "policies": [one._asdict() for one in self.policies],
        }
        if not self.has_rows:
            return plain
        return plain | {
            "figures": [change.to_json() for change in self.figures],
            "changed": int(self.changed.sum()),
            "n_rows": len(self.changed),
            "moves": [[*pair, n] for pair, n in self.moves.items()],
            "examples": self.examples,
            "values": self.example_values,
            "groups": [group.to_json() for group in self.groups],
            "cost": self.cost,
        }

    @property
    def _sizes(self) -> dict[str, list[int]]:
        """Numbers of rules and conditions, before and after."""
        models = self.before.model, self.model
        return {
            "rules": [len(model) for model in models],
            "conditions": [
                sum(len(rule.body.conditions) for rule in model.rules) for model in models
            ],
        }

    def __str__(self) -> str:
        sizes = [f"{name}: {old} -> {new}" for name, (old, new) in self._sizes.items()]
        lines = [self.edit.describe(), ", ".join(sizes)]
        if self.has_rows:
            lines += [*figure_lines(self.figures), self._decisions()]
            lines += [self.cost] if self.cost else []
            lines += _group_lines(self.groups)
        lines += [f"breaks a constraint: {line}" for line in self.broken]
        lines += map(str, self.policies)
        return "\n".join(lines)

    def _decisions(self) -> str:
        n_changed = int(self.changed.sum())
        return describe_decisions(n_changed, len(self.changed), self.moves, self.examples)


def count_moves(model: Any, before: Any, after: Any) -> dict[tuple[str, str], int]:
    """Count rows by the classes before and after, where they differ; none in regression."""
    if model.n_classes is None:
        return {}
    changed, names = before != after, model.class_names
    pairs = Counter(zip(before[changed].tolist(), after[changed].tolist(), strict=True))
    return {(names[one], names[other]): n for (one, other), n in pairs.most_common()}


def describe_decisions(
    n_changed: int, n_rows: int, moves: dict[tuple[str, str], int], examples: Sequence[int]
) -> str:
    """Write how many predictions change, from which class to which, and in which rows."""
    if not n_changed:
        return f"no predictions change on {n_rows:,} rows"
    by_class = ", ".join(f"{k:,} {one} -> {other}" for (one, other), k in moves.items())
    share = write_percent(n_changed / n_rows)
    text = f"{n_changed:,} of {n_rows:,} predictions change ({share})"
    rows = ", ".join(map(str, examples))
    return f"{text}{': ' if moves else ''}{by_class}; such as rows {rows}"


def describe_cost(state: State) -> str:
    """Write what all fixed points cost compared with a refit of all; nothing if none is fixed."""
    n = sum(state.frozen)
    if state.form is None or not n:
        return ""
    first, *_ = state.cost_of_freezing()
    noun = "1 rule" if n == 1 else f"{n} rules"
    change = _change_text(first)
    return f"after a refit, the fixed points of {noun} change {first.name} by {change}"


def figure_lines(figures: Sequence[Change], title: str = "held-out figures") -> list[str]:
    """Write figures before and after as a table."""
    cells = [[title, "before", "after", "change [95 %]"]]
    for one in figures:
        write = _writer(one)
        cells.append([one.name, write(one.before), write(one.after), _change_text(one)])
    return align_cells(cells, {0})


def _change_text(one: Change) -> str:
    """Write a change with its interval."""
    write = _writer(one)
    text = _signed(one.difference, write)
    if math.isfinite(one.low):
        text += f" [{_signed(one.low, write)}, {_signed(one.high, write)}]"
    return text


def _writer(one: Change) -> Callable[[float], str]:
    return "{:.3f}".format if abs(one.before) < 10 else write_number


def _signed(value: float, write: Any) -> str:
    text = str(write(abs(value)))
    return text if not float(text.replace(",", "")) else f"{'-' if value < 0 else '+'}{text}"


def _group_lines(groups: Sequence[GroupChange]) -> list[str]:
    if not groups:
        return []
    cells = [["group", "rows", "changed", "mean before", "mean after"]]
    for one in groups:
        counts = [f"{one.n_rows:,}", f"{one.n_changed:,}"]
        cells.append(
            [f"{one.column} = {one.label}", *counts, f"{one.before:.3f}", f"{one.after:.3f}"]
        )
    return align_cells(cells, {0})
