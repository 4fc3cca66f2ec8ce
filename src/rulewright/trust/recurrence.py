"""Which rules and columns recur when a learner is fitted to samples of the rows."""

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
    """Columns and directions of a rule, and how many samples have such a rule.

    The pattern of ``income <= 2200 and purpose = car`` is ``income <= . and purpose = car``.
    """

    text: str
    share: float
    in_model: bool


@dataclass(frozen=True)
class ColumnRecurrence:
    """A column: shares of the samples, and the expected number of useless columns.

    Parameters
    ----------
    name : str
        The column.
    used : float
        Share of the samples whose model uses it.
    first : float
        Share of the samples that rank it among their first columns.
    kept : bool
        Whether that share reaches the threshold.
    score : float
        Mean of 2 s(q) - 1, clipped at 0, over q = 1, ..., the number of first columns; s(q) is
        the share of samples that rank the column among their first q.
    expected_false : float
        Bound on the expected number of useless columns with such a score; NaN for bootstraps.
    """

    name: str
    used: float
    first: float
    kept: bool
    score: float
    expected_false: float


@dataclass(frozen=True, eq=False)
class Recurrence:
    """How often the rules and columns of a model recur in models of samples of the rows.

    Parameters
    ----------
    model : RuleModel
        The model of all rows; ``model[i]`` is rule i.
    sampling : str
        ``halves`` or ``bootstrap``.
    sizes : tuple of int
        Number of rules in the model of each sample.
    same, alike, overlapping : float array
        For each rule of the model, the share of samples with the same rule; with a rule on the same
        columns and directions; and with a rule on nearly the same rows. All have the same claim.
    least_jaccard : float
        Minimum Jaccard index, on all rows, of nearly the same rows.
    patterns : tuple of PatternRecurrence
        Columns and directions of all rules of all samples, most frequent first.
    columns : tuple of ColumnRecurrence
        All columns, highest score first.
    n_first : int
        Maximum number of columns that a sample selects.
    threshold : float
        Minimum share of the samples that select a kept column.
    bound : float
        Bound on the expected number of useless columns kept; NaN for bootstraps.
    alpha : float
        Error probability of the intervals, over draws of samples.
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
        """The columns that enough samples rank among their first."""
        return tuple(column.name for column in self.columns if column.kept)

    def interval(self, share: Any) -> tuple[FloatArray, FloatArray]:
        """Return the interval of the share in the limit of many samples of these rows.

        It is exact (Clopper and Pearson) for bootstraps, which are independent given the rows, and
        an approximation for the two halves of a pair. It does not extend to other rows.
        """
        n = len(self.sizes)
        return clopper_pearson(np.asarray(share) * n, n, self.alpha)

    def expected_false_rules(self, probability: float, threshold: float = 0.75) -> float:
        """Bound the expected number of rules that recur by chance.

        These are rules that a half has with at most the given probability, but that at least a
        share `threshold` of the halves have (Shah and Samworth, 2013, Theorem 1). The number of
        rules per half is estimated by the mean over the samples.
        """
        if self.sampling != "halves":
            raise ValueError("expected_false_rules needs sampling='halves', not bootstraps")
        if not 0.5 < threshold <= 1 or not 0 < probability <= 1:
            raise ValueError("threshold must be in (0.5, 1], and probability in (0, 1]")
        return probability * float(np.mean(self.sizes)) / (2 * threshold - 1)

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns, one item per rule in the order of the model."""
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
        """Return a dataframe with a row per rule; ``backend`` as in ``rules_frame``."""
        return to_frame(self.to_table(), backend)

    def columns_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row per column."""
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
                    f"{self.model.numbers[i]}: IF {rule.body} THEN {claim_text(self.model, rule)}",
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
    """Return a key that is equal for rules with the same claim."""
    return rule.head, claims_less(rule)


def rule_key(rule: Rule) -> Hashable:
    """Return a key that is equal for equal rules, whatever their statistics."""
    return rule.body.key, claim_key(rule)


def pattern_text(model: RuleModel, rule: Rule) -> str:
    """Format the columns and directions of a rule, with dots for thresholds."""
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
    """Return the columns that a model uses, most important first.

    Importance decides for additive models, else the strongest rule that uses the column.
    """
    if isinstance(model, AdditiveRules | RegressionRules):
        return [name for name, value in importance(model, rows).by_column().items() if value > 0]
    rules = [model.rules[i] for i in strongest(model, None)]
    return list(dict.fromkeys(name for rule in rules for name in rule.body.columns))
