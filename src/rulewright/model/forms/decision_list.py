"""Decision lists: the first rule that holds decides.

A rule means something only after those before it. So its coverage, and the distribution that it
says, are counted on the rows that reach it: those on which no rule before it holds. Where no rule
holds, the default distribution decides. The label is the most probable class, of equal ones the
first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import CLASS_WEIGHTS, DISTRIBUTION, Fields, described
from rulewright.model.class_model import ClassModel
from rulewright.model.counts import checked_shares, checked_weights
from rulewright.model.document import json_list
from rulewright.model.reasons import plain_reasons, rule_text, select_shown, value_text
from rulewright.model.text import COVERED, escape_line, write_count
from rulewright.programs import ClassProgram, Constant, FirstThat, recipes
from rulewright.rules import Conjunction, Says

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Schema, Table
    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.explanation import Explanation
    from rulewright.model.reasons import RowReasons
    from rulewright.rules import Outcome, Rule


@dataclass(frozen=True, eq=False, repr=False)
class DecisionList(ClassModel):
    """Rules that are tried in their order; the first one that holds says the probabilities.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        The rules; each says a distribution and covers training rows that no rule before it does.
    default : tuple of float
        Probabilities of the classes where no rule holds.
    default_weights : tuple of float
        Training weight of each class on the rows where no rule holds.
    summary : dict
        What the learner noted down, as JSON data.
    """

    form: ClassVar[str] = "list"
    outcome: ClassVar[type[Outcome]] = Says
    in_order: ClassVar[bool] = True
    fields: ClassVar[Fields] = Fields(
        {
            "default": described("Probabilities of the classes where no rule holds.", DISTRIBUTION),
            "default_weights": described(
                "Training weight of each class that they were counted from.", CLASS_WEIGHTS
            ),
        },
        about="The first rule that holds decides.",
    )

    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    default: tuple[float, ...]
    default_weights: tuple[float, ...]
    summary: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_common()
        n = len(self.classes)
        vars(self).update(
            default=checked_shares(self.default, n),
            default_weights=checked_weights(self.default_weights, n),
        )

    @cached_property
    def program(self) -> ClassProgram:
        """The distribution of the first rule that holds, and its most probable class."""
        cases = tuple((rule.body, _distribution_of(rule)) for rule in self.rules)
        said = FirstThat(Constant(self.default), cases)
        chosen = recipes.prefer_first(said, tuple(range(len(self.classes))))
        return ClassProgram(self.schema, said, tuple(self.classes.tolist()), said, chosen)

    def deciders(self, X: object, *, n_threads: int | None = None) -> NDArray[np.intp]:
        """Give the place of the rule that decides each row; the number of rules for the default."""
        return first_of(self.covers(X, n_threads=n_threads))

    def decided_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Tell which rows each rule decides: those that it covers, and no rule before it."""
        bits = self.cover_bits(X, n_threads=n_threads)
        reached = np.bitwise_or.accumulate(bits, axis=0)
        bits[1:] &= ~reached[:-1]
        return bits

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Give the rule that decides a row, if any does."""
        ids: list[int] = np.flatnonzero(found.fired[row]).tolist()
        return ids[:1]

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Give the rule that decides, and why those before it do not hold."""
        decider = next(iter(found.rule_ids(row)), None)
        before = range(len(self.rules))[:decider][::-1]  # the nearest ones say most
        shown = select_shown(before, max_reasons)
        passed = [
            f"rule {i} does not hold: {failure_text(self.rules[i], found.table, row)}"
            for i in shown
        ]
        hidden = len(before) - len(shown)
        rest = [f"{write_count(hidden, 'more rule')} before it: none holds"] if hidden else []
        return plain_reasons([self._decision(decider), *passed], rest)

    def _decision(self, i: int | None) -> str:
        """Write which rule decides, or that the default does."""
        if i is None:
            rows = f"{sum(self.default_weights):.6g} training rows"
            return f"decided by the default, as no rule holds ({rows})"
        coverage = self.rules[i].coverage
        rows = f"{coverage.support:.6g} {COVERED[coverage.rows]}"
        return f"decided by {rule_text(self.rules, i)} ({rows})"

    def preamble(self) -> str:
        """Say that the first rule decides, and what holds where there is none."""
        k = int(np.argmax(self.default))
        where = "where no rule holds" if self.rules else "always"
        told = f"{where}: {escape_line(self.class_names[k])} with probability {self.default[k]:.3f}"
        rows = f"{sum(self.default_weights):.6g} training rows"
        lines = [f"{told} ({rows})"]
        if self.rules:
            lines.insert(0, "the first rule that holds decides; each covers what is left to it")
        return "\n".join(lines)

    def form_fields(self) -> dict[str, Any]:
        """Give the default and what it was counted from."""
        return {"default": list(self.default), "default_weights": list(self.default_weights)}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the default and what it was counted from."""
        return {name: tuple(json_list(value, name)) for name, value in content.items()}

    def _check_rules(self, rules: Any) -> None:
        super()._check_rules(rules)
        for i, rule in enumerate(rules):
            checked_distribution(rule, i, len(self.classes))


def checked_distribution(rule: Rule, i: int, n_classes: int) -> None:
    """Refuse a rule whose probabilities are not those of the classes."""
    if len(_distribution_of(rule)) != n_classes:
        raise ValueError(
            f"rule {i}: {len(_distribution_of(rule))} probabilities for {n_classes} "
            f"classes; give one each"
        )


def _distribution_of(rule: Rule) -> tuple[float, ...]:
    assert isinstance(rule.outcome, Says)
    return rule.outcome.distribution


def first_of(covers: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Give the first rule (column) that holds on each row; the number of rules where none does."""
    none = np.ones((len(covers), 1), dtype=np.bool_)
    first: NDArray[np.intp] = np.hstack([covers, none]).argmax(axis=1)
    return first


def failure_text(rule: Rule, table: Table, row: int) -> str:
    """Write the conditions of a rule that fail on a row, with the values that they meet."""
    if not isinstance(rule.body, Conjunction):
        return f"not ({rule.body})"
    failed = [c for c in rule.body.conditions if not c.holds(table[c.column])[row]]
    return " and ".join(f"{c} fails ({value_text(table, c.column, row)})" for c in failed)
