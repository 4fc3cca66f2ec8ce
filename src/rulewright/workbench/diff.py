"""Differences of two models: their rules, and on rows their figures and decisions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rulewright.data import DataError
from rulewright.evidence import Change, compare_figures, influenced_figures
from rulewright.model import ClassModel, align_cells
from rulewright.rules import write_percent
from rulewright.workbench.names import name_of
from rulewright.workbench.preview import figure_lines
from rulewright.workbench.rows import judge_rows, read_rows


class RuleDifference(NamedTuple):
    """A rule of one of two models, or of both.

    Attributes
    ----------
    text : str
        Conditions, and the classes that the rule is for.
    before, after : str
        What the rule does in each model; empty where it is missing.
    """

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class ModelDifference:
    """How one model differs from another.

    Attributes
    ----------
    rules : list of RuleDifference
        Rules that are not the same in both.
    n_same : int
        Number of rules that are the same.
    starts : tuple of str
        What every row starts with.
    figures : list of Change
        Figures on the rows, with paired 95 percent intervals; empty without rows.
    n_changed, n_rows : int
        Rows whose prediction changes, of how many.
    """

    rules: list[RuleDifference]
    n_same: int
    starts: tuple[str, str]
    figures: list[Change]
    n_changed: int = 0
    n_rows: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return the difference as plain data."""
        return {
            "rules": [one._asdict() for one in self.rules],
            "same": self.n_same,
            "starts": list(self.starts),
            "figures": [one.to_json() for one in self.figures],
            "changed": self.n_changed,
            "n_rows": self.n_rows,
        }

    def __str__(self) -> str:
        counts = {"-": 0, "+": 0, "~": 0}
        cells = []
        for one in self.rules:
            sign = "~" if one.before and one.after else "-" if one.before else "+"
            counts[sign] += 1
            cells.append([sign, one.before or "-", one.after or "-", one.text])
        removed, added, changed = counts.values()
        lines = [
            f"rules: {self.n_same} same, {changed} changed, {removed} removed, {added} added",
            *(align_cells([["", "before", "after", "rule"], *cells]) if cells else []),
        ]
        if self.starts[0] != self.starts[1]:
            lines += [f"before: {self.starts[0]}", f"after:  {self.starts[1]}"]
        if self.n_rows:
            share = write_percent(self.n_changed / self.n_rows)
            lines += figure_lines(self.figures, "figures on the rows")
            lines.append(f"{self.n_changed:,} of {self.n_rows:,} predictions change ({share})")
        return "\n".join(lines)


def compare_models(
    old: Any, new: Any, X: Any = None, y: Any = None, *, sample_weight: Any = None
) -> ModelDifference:
    """Return how a model differs from another of the same form and target.

    Parameters
    ----------
    old, new : RuleModel or fitted estimator
        The models.
    X, y, sample_weight : rows, target and weights, optional
        Rows to compare figures and predictions on, best rows that neither model has seen.

    Returns
    -------
    ModelDifference
        Its text has a line for each rule that is not the same.
    """
    old, new = (getattr(model, "model_", model) for model in (old, new))
    if type(old) is not type(new):
        raise DataError(f"{type(old).__name__} and {type(new).__name__} cannot be compared.")
    if isinstance(old, ClassModel) and old.class_names != new.class_names:
        classes = " and ".join(", ".join(model.class_names) for model in (old, new))
        raise DataError(f"the models have different classes: {classes}.")
    rules, n_same = _compare_rules(old, new)
    starts = tuple(model.preamble().split("\n", 1)[0] for model in (old, new))
    if X is None:
        return ModelDifference(rules, n_same, (starts[0], starts[1]), [])
    rows = read_rows(old, X, y, sample_weight)
    scores = [model.scores(rows.table) for model in (old, new)]
    figures = [
        influenced_figures(judge_rows(rows, model, own))
        for model, own in zip((old, new), scores, strict=True)
    ]
    changes = compare_figures(figures[0], figures[1], rows.weights, old.n_classes or 0)
    changed = np.asarray(old.predict(rows.table) != new.predict(rows.table))
    found = (starts[0], starts[1]), changes, int(changed.sum()), rows.n_rows
    return ModelDifference(rules, n_same, *found)


def _compare_rules(old: Any, new: Any) -> tuple[list[RuleDifference], int]:
    effects = []
    for model in (old, new):
        texts: dict[str, list[str]] = {}
        for place, rule in enumerate(model.rules):
            texts.setdefault(str(name_of(model, place)), []).append(_effect(model, rule, place))
        effects.append({name: ", ".join(own) for name, own in texts.items()})
    before, after = effects
    names = dict.fromkeys([*before, *after])
    pairs = [RuleDifference(name, before.get(name, ""), after.get(name, "")) for name in names]
    different = [pair for pair in pairs if pair.before != pair.after]
    return different, len(pairs) - len(different)


def _effect(model: Any, rule: Any, place: int) -> str:
    """Write what a rule does; in a list, its place too."""
    text = model.effect(rule)
    return f"{place + 1}: {text}" if model.in_order else str(text)
