"""Lists of rules with distributions: the first rule that applies decides, or all of them count.

A rule of a decision list depends on the rules before it. So its coverage and its distribution are
counted on the rows that reach it, where no earlier rule applies. If no rule applies, the default
distribution decides. The label is the most probable class; the first class wins a tie.

The score of a class by unordered rules is a start value plus, for each rule that applies, the
weight of the rule times its probability of the class. With the covered training rows as
weights these are CN2's count vectors; with equal weights the rules vote; with posterior
probabilities they are averaged. Probabilities are the scores divided by their sum. So the start
decides where no rule applies, and elsewhere it keeps probabilities away from 0. The highest score
wins; ties go to the class with more of the start, then to the first one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import CLASS_WEIGHTS, DISTRIBUTION, Fields, Schema, Table, described
from rulewright.model.class_explanation import Added, ClassExplanation
from rulewright.model.class_model import ClassModel, checked_shares, checked_weights
from rulewright.model.explanation import plain_reasons, rule_text, select_shown, value_text
from rulewright.model.rule_table import COVERED, count_rows
from rulewright.model.scales import write_condition
from rulewright.model.text import escape_line, write_count
from rulewright.programs import ClassProgram, Constant, FirstThat, Term, TermSums, recipes
from rulewright.rules import Conjunction, Head, Outcome, Rule, Says, write_exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.explanation import Explanation, RowReasons


@dataclass(frozen=True, eq=False, repr=False)
class DecisionList(ClassModel):
    """Rules that are tried in order; the first rule that applies gives the probabilities.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        The rules; each has a distribution and covers training rows that no earlier rule covers.
    default : tuple of float
        Probabilities of the classes where no rule applies.
    default_weights : tuple of float
        Training weight of each class on the rows where no rule applies.
    summary : dict
        Notes of the learner, as JSON data.
    """

    form: ClassVar[str] = "list"
    outcome: ClassVar[type[Outcome]] = Says
    in_order: ClassVar[bool] = True
    fields: ClassVar[Fields] = Fields(
        {
            "default": described(
                "Probabilities of the classes where no rule applies.", DISTRIBUTION
            ),
            "default_weights": described(
                "Training weight of each class that they were counted from.", CLASS_WEIGHTS
            ),
        },
        about="The first rule that applies decides.",
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
    def base_program(self) -> ClassProgram:
        """The distribution of the first rule that applies, and its most probable class."""
        cases = tuple((rule.body, distribution_of(rule)) for rule in self.rules)
        said = FirstThat(Constant(self.default), cases)
        chosen = recipes.prefer_first(said, tuple(range(len(self.classes))))
        return ClassProgram(self.schema, said, tuple(self.classes.tolist()), said, chosen)

    def deciders(self, X: object, *, n_threads: int | None = None) -> NDArray[np.intp]:
        """Return the place of the rule that decides each row; the number of rules if none does."""
        return first_of(self.covers(X, n_threads=n_threads))

    def decided_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Return which rows each rule decides: it covers them, and no rule before it does."""
        bits = self.cover_bits(X, n_threads=n_threads)
        reached = np.bitwise_or.accumulate(bits, axis=0)
        bits[1:] &= ~reached[:-1]
        return bits

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Return the rule that decides a row, if any does."""
        ids: list[int] = np.flatnonzero(found.fired[row]).tolist()
        return ids[:1]

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the rule that decides, and why earlier rules do not apply."""
        decider = next(iter(found.rule_ids(row)), None)
        before = range(len(self.rules))[:decider][::-1]  # the nearest ones say most
        shown = select_shown(before, max_reasons)
        passed = [
            f"rule {self.numbers[i]} does not apply: "
            f"{failure_text(self, self.rules[i], found.table, row)}"
            for i in shown
        ]
        hidden = len(before) - len(shown)
        rest = [f"{write_count(hidden, 'more rule')} before it: none applies"] if hidden else []
        return plain_reasons([self._decision(decider), *passed], rest)

    def _decision(self, i: int | None) -> str:
        """Write which rule decides, or that the default does."""
        if i is None:
            rows = count_rows(self, sum(self.default_weights))
            return f"decided by the default, as no rule applies ({rows})"
        coverage = self.rules[i].coverage
        rows = count_rows(self, coverage.support, COVERED[coverage.rows])
        return f"decided by {rule_text(self, i)} ({rows})"

    @property
    def decides(self) -> bool:
        """True: the first rule that applies decides."""
        return True

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the probability of the class of a rule, or of all classes if they are few."""
        return self._share_cell(distribution_of(rule), exact)

    def _share_cell(self, shares: Sequence[float], exact: bool) -> dict[str, str]:
        write = write_exact if exact else "{:.3f}".format
        if len(shares) < 3 or (len(shares) > _LISTED_CLASSES and not exact):
            return {"probability": write(max(shares))}
        return {"probabilities": ", ".join(map(write, shares))}

    def preamble(self) -> str:
        """Describe how the list decides, and what is predicted where no rule applies."""
        return self._preamble(exact=False)

    def exact_preamble(self) -> str:
        """Write the same with all digits."""
        return self._preamble(exact=True)

    def _preamble(self, *, exact: bool) -> str:
        name = self.shown_names[int(np.argmax(self.default))]
        (title, said), *_ = self._share_cell(self.default, exact).items()
        rows = count_rows(self, sum(self.default_weights))
        where = "where no rule applies" if self.rules else "always"
        lines = [f"{where}: {name} with {title} {said} ({rows})"]
        if self.rules:
            says = "The first rule that applies decides; each is counted on the rows that reach it."
            lines.insert(0, says)
        return "\n".join(lines)


_LISTED_CLASSES = 6
"""Probabilities of more classes are written in exact texts only."""


def distribution_of(rule: Rule) -> tuple[float, ...]:
    """Return the probabilities of a rule."""
    assert isinstance(rule.outcome, Says)
    return rule.outcome.distribution


def first_of(covers: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the first rule (column) that applies to each row; the number of rules if none."""
    none = np.ones((len(covers), 1), dtype=np.bool_)
    first: NDArray[np.intp] = np.hstack([covers, none]).argmax(axis=1)
    return first


def failure_text(model: ClassModel, rule: Rule, table: Table, row: int) -> str:
    """Write the conditions of a rule that fail on a row, with the values that they meet."""
    if not isinstance(rule.body, Conjunction):
        return f"not ({rule.body})"
    failed = [c for c in rule.body.conditions if not c.holds(table[c.column])[row]]
    texts = [write_condition(condition, model.scales) for condition in failed]
    values = [value_text(table, condition.column, row) for condition in failed]
    return " and ".join(f"{t} fails ({v})" for t, v in zip(texts, values, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class UnorderedRules(ClassModel):
    """Rules whose weighted distributions are added up where they hold.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        The rules; each says a distribution with a weight.
    start : tuple of float
        What each class has before any rule applies, not all 0.
    summary : dict
        Notes of the learner, as JSON data.
    """

    form: ClassVar[str] = "unordered"
    outcome: ClassVar[type[Outcome]] = Says
    fields: ClassVar[Fields] = Fields(
        {"start": described("What each class has before any rule.", CLASS_WEIGHTS)},
        about="Weighted distributions of all rules that apply are added up.",
    )

    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    start: tuple[float, ...]
    summary: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_common()
        start = checked_weights(self.start, len(self.classes))
        if not any(start):
            raise ValueError("start: at least one class must have more than 0")
        self._check_total(self.rules, start)
        vars(self).update(start=start)

    @cached_property
    def preference(self) -> tuple[int, ...]:
        """All classes by falling start: the order in which ties are broken."""
        return tuple(sorted(range(len(self.classes)), key=lambda k: -self.start[k]))

    @cached_property
    def base_program(self) -> ClassProgram:
        """The sums of weighted distributions, divided by their total."""
        terms = [
            Term(rule.body, Head(k, k), float(amount))
            for rule in self.rules
            for k, amount in enumerate(counts_of(rule))
            if amount
        ]
        scores = TermSums(Constant(self.start), tuple(terms))
        chosen = recipes.prefer_first(scores, self.preference)
        labels = tuple(self.classes.tolist())
        return ClassProgram(self.schema, scores, labels, recipes.shares(scores), chosen)

    def with_rules(self, rules: Sequence[Rule]) -> UnorderedRules:
        """Return the same model with other rules; only new rules are checked."""
        made = super().with_rules(rules)
        self._check_total(made.rules, self.start)
        return made

    @property
    def effect_title(self) -> str:
        """The probability of the class of a rule, and its weight."""
        return "probability x weight"

    def effect(self, rule: Rule) -> str:
        """Write the probability of the class of a rule, and its weight."""
        assert isinstance(rule.outcome, Says)
        return f"{rule.outcome} x {rule.outcome.weight:.4g}"

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the probability that a rule gives its class, and its weight."""
        return {self.effect_title: self.effect(rule), "class": rule.head.text(self.shown_names)}

    def preamble(self) -> str:
        """Describe what rules add, and the prediction where none applies."""
        k, total = self.preference[0], math.fsum(self.start)
        default = f"{self.shown_names[k]} with probability {self.start[k] / total:.3f}"
        if not self.rules:
            return f"always: {default}"
        wins = " The class with the largest weight wins." if self.decision is None else ""
        return (
            f"where no rule applies: {default}\nEach rule that applies adds its weight, shared "
            f"among the classes by its probabilities.{wins}"
        )

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Return the rules that apply on a row, the heaviest first."""
        ids: list[int] = np.flatnonzero(found.fired[row]).tolist()
        return sorted(ids, key=lambda i: -float(counts_of(self.rules[i]).max()))

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return what rules add to the counts, each with the counts after it."""
        ids = found.rule_ids(row)
        added = [Added(counts_of(self.rules[i]), rule_text(self, i)) for i in ids]
        unit = f"weight for {escape_line(found.label(row))}"
        return found.added_up(row, max_reasons, unit, self.start, added, _counts_text)

    def start_fields(self) -> dict[str, Any]:
        """Return what classes start with."""
        return {"intercepts": list(self.start)}

    @staticmethod
    def _check_total(rules: Sequence[Rule], start: tuple[float, ...]) -> None:
        weights = [rule.outcome.weight for rule in rules if isinstance(rule.outcome, Says)]
        if not math.isfinite(sum(weights) + sum(start)):
            raise ValueError("the weights of the rules are too large to be added up")


def counts_of(rule: Rule) -> NDArray[np.float64]:
    """Return what a rule adds to the classes: its weight times its probabilities."""
    assert isinstance(rule.outcome, Says)
    return rule.outcome.weight * np.array(rule.outcome.distribution)


def _counts_text(counts: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
    return f"{counts[chosen]:.4g} of {counts.sum():.4g}"
