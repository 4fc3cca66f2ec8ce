"""Which rules and columns recur when a learner is fitted to other samples of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.evidence import clopper_pearson
from rulewright.explain import claim_text, claims_less, importance
from rulewright.model import (
    AdditiveRules,
    RegressionRules,
    RuleModel,
    align_cells,
    escape_line,
    strongest,
    to_frame,
)
from rulewright.rules import Condition, Range, Rule, write_word

if TYPE_CHECKING:
    from collections.abc import Hashable

    from rulewright.data import Table
    from rulewright.kernels import FloatArray

SHOWN = 20


@dataclass(frozen=True)
class PatternRecurrence:
    """Columns and directions of a rule: how many samples have such a rule, and if the model does.

    The pattern of ``income <= 2200 and purpose = car`` is ``income <= . and purpose = car``.
    """

    text: str
    share: float
    in_model: bool


@dataclass(frozen=True)
class ColumnRecurrence:
    """A column: shares of the samples, and what is expected of useless columns.

    Parameters
    ----------
    name : str
        The column.
    used : float
        Share of the samples whose model uses it.
    first : float
        Share of the samples that have it among their first columns.
    kept : bool
        Whether that share reaches the threshold.
    score : float
        The mean of 2 s(q) - 1, where it is above 0, over q = 1, ..., the number of first columns;
        s(q) is the share of samples that have the column among their first q.
    expected_false : float
        Bound on the expected number of useless columns with such a score; NaN of bootstraps.
    """

    name: str
    used: float
    first: float
    kept: bool
    score: float
    expected_false: float


@dataclass(frozen=True, eq=False)
class Recurrence:
    """How often the rules of a model, and its columns, recur in models of samples of the rows.

    Parameters
    ----------
    model : RuleModel
        The model of all rows; ``model[i]`` is the rule of place i.
    sampling : str
        ``halves`` or ``bootstrap``.
    sizes : tuple of int
        Number of rules of the model of each sample.
    same, alike, overlapping : float array
        For each rule of the model the share of samples that have the same rule, one with the same
        columns and directions, and one that covers nearly the same rows; all with the same claim.
    least_jaccard : float
        What nearly the same rows are: their Jaccard index on all rows is at least this.
    patterns : tuple of PatternRecurrence
        Columns and directions of all rules of all samples, the most frequent first.
    columns : tuple of ColumnRecurrence
        All columns, the highest score first.
    n_first : int
        Columns that a sample chooses, at most.
    threshold : float
        Share of the samples that must choose a column to keep it.
    bound : float
        Bound on the expected number of useless columns that are kept; NaN of bootstraps.
    alpha : float
        Intervals of shares miss with this probability at most, over draws of samples.
    """

    model: RuleModel
    sampling: str
    sizes: tuple[int, ...]
    same: FloatArray
    alike: FloatArray
    overlapping: FloatArray
    least_jaccard: float
    patterns: tuple[PatternRecurrence, ...]
    columns: tuple[ColumnRecurrence, ...]
    n_first: int
    threshold: float
    bound: float
    alpha: float

    @property
    def kept(self) -> tuple[str, ...]:
        """The columns that enough samples have among their first."""
        return tuple(column.name for column in self.columns if column.kept)

    def interval(self, share: Any) -> tuple[FloatArray, FloatArray]:
        """Give the interval of the share that more and more samples of these rows would have.

        It is exact (Clopper and Pearson) for bootstraps, which are independent given the rows; the
        two halves of a pair are not, and the interval is then an approximation. It says nothing
        about other rows.
        """
        n = len(self.sizes)
        return clopper_pearson(np.asarray(share) * n, n, self.alpha)

    def expected_false_rules(self, probability: float, threshold: float = 0.75) -> float:
        """Bound the expected number of rules that should not recur and yet do.

        These are rules that a half has with the given probability at most, and that a share of at
        least `threshold` of the halves have (Shah and Samworth, 2013, Theorem 1). The number of
        rules of a half is that of the samples, on average.
        """
        if self.sampling != "halves":
            raise ValueError("expected_false_rules needs sampling='halves': bootstraps have none")
        if not 0.5 < threshold <= 1 or not 0 < probability <= 1:
            raise ValueError("threshold must be above 0.5, and probability above 0, both up to 1")
        return probability * float(np.mean(self.sizes)) / (2 * threshold - 1)

    def to_table(self) -> dict[str, list[Any]]:
        """Give a dict of columns, one item per rule in the order of the model."""
        low, high = self.interval(self.overlapping)
        return {
            "id": list(range(len(self.model))),
            "if": [str(rule.body) for rule in self.model],
            **self.model.head_columns(),
            "same": self.same.tolist(),
            "alike": self.alike.tolist(),
            "overlapping": self.overlapping.tolist(),
            "overlapping_low": low.tolist(),
            "overlapping_high": high.tolist(),
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a row per rule; ``backend`` as in ``rules_frame``."""
        return to_frame(self.to_table(), backend)

    def columns_frame(self, backend: str | None = None) -> Any:
        """Give a dataframe with a row per column."""
        low, high = self.interval([column.used for column in self.columns])
        fields = ("name", "used", "first", "kept", "score", "expected_false")
        table = {name: [getattr(column, name) for column in self.columns] for name in fields}
        return to_frame(table | {"used_low": low.tolist(), "used_high": high.tolist()}, backend)

    def __str__(self) -> str:
        title = (
            f"{len(self.sizes)} {self._what}, {np.mean(self.sizes):.1f} rules each\n"
            "same: the same rule; alike: the same columns and directions; rows: nearly the same "
            f"rows (Jaccard\nindex {self.least_jaccard:g}), with an interval of "
            f"{100 * (1 - self.alpha):g} %: shares of the samples"
        )
        return "\n".join([title, *self._rule_lines(), *self._list_missed(), *self._column_lines()])

    @property
    def _what(self) -> str:
        return "halves of the rows" if self.sampling == "halves" else "bootstrap samples"

    def _rule_lines(self) -> list[str]:
        order = np.lexsort((-self.alike, -self.overlapping)).tolist()
        low, high = self.interval(self.overlapping)
        lines = [["same", "alike", "rows", "interval", "rule of the model"]]
        for i in order[:SHOWN]:
            rule = self.model.rules[i]
            lines.append(
                [
                    f"{self.same[i]:.2f}",
                    f"{self.alike[i]:.2f}",
                    f"{self.overlapping[i]:.2f}",
                    f"[{low[i]:.2f}, {high[i]:.2f}]",
                    f"{i}: IF {rule.body} THEN {claim_text(self.model, rule)}",
                ]
            )
        hidden = len(order) - SHOWN
        more = [f"... and {hidden} more; to_frame() has all"] if hidden > 0 else []
        return [*align_cells(lines), *more]

    def _list_missed(self) -> list[str]:
        missed = [one for one in self.patterns if not one.in_model and one.share >= 0.5][:SHOWN]
        if not missed:
            return []
        lines = [f"{one.share:.2f}  {one.text}" for one in missed]
        return ["not in the model, but in half of the samples or more:", *lines]

    def _column_lines(self) -> list[str]:
        used = [column for column in self.columns if column.used][:SHOWN]
        lines = [["used", "first", "score", "column"]]
        lines += [
            [f"{c.used:.2f}", f"{c.first:.2f}", f"{c.score:.2f}", escape_line(c.name)] for c in used
        ]
        kept = ", ".join(map(escape_line, self.kept)) or "none"
        first = "first column" if self.n_first == 1 else f"first {self.n_first} columns"
        text = f"kept, as {self.threshold:g} of the samples have them as their {first}: {kept}"
        bound = f" ({self.bound:.2g} useless ones expected at most)"
        return [*align_cells(lines), text + ("" if np.isnan(self.bound) else bound)]


def claim_key(rule: Rule) -> Hashable:
    """Give what rules with the same claim have in common."""
    return rule.head, claims_less(rule)


def rule_key(rule: Rule) -> Hashable:
    """Give what equal rules have in common, whatever their numbers."""
    return rule.body.key, claim_key(rule)


def pattern_text(model: RuleModel, rule: Rule) -> str:
    """Write the columns and directions of a rule, with dots for thresholds."""
    shapes = sorted(dict.fromkeys(_shape(condition) for condition in rule.body.conditions))
    return f"IF {' and '.join(shapes) or 'true'} THEN {claim_text(model, rule)}"


def _shape(condition: Condition) -> str:
    parts = []
    for part in condition.alternatives:
        if not isinstance(part, Range):
            parts.append(str(part))
            continue
        name = write_word(part.column)
        if np.isinf(part.low):
            parts.append(f"{name} <= .")
        else:
            parts.append(f"{name} >= ." if np.isinf(part.high) else f". <= {name} <= .")
    return " or ".join(parts)


def column_order(model: RuleModel, rows: Table) -> list[str]:
    """Give the columns that a model uses, those that matter most first.

    They are ordered by importance where rules add up, else by the strongest rule that uses them.
    """
    if isinstance(model, AdditiveRules | RegressionRules):
        return [name for name, value in importance(model, rows).by_column().items() if value > 0]
    rules = [model.rules[i] for i in strongest(model, None)]
    return list(dict.fromkeys(name for rule in rules for name in rule.body.columns))
