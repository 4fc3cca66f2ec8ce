"""DNF models: a class is predicted where one of its terms holds, another one elsewhere.

The formula of a class is the OR of its rules, each the AND of its conditions; a rule is a term. A
class without rules is never covered, a rule without conditions covers every row. The response of a
rule is its Laplace precision ``(p + 1) / (p + n + 2)`` for p covered training rows of its class
and n others (weights count as rows).

The score of a class is the highest response of its rules that apply, 0 if there is none; where no
rule of any class holds, every class has its Laplace share of the training rows there. The
highest score wins, of equal ones the class with more training weight, then the first one. So with
two classes and one formula, its class is predicted exactly where the formula holds.

Probabilities are the scores divided by their sum, after classes without a score have shared
what the highest one leaves to 1; with two classes and one formula they are the Laplace ratios
themselves. The chosen class is always the most probable one: where the rows say otherwise (a rule
that was wrong more often than right), the other classes stay just below it.

A literal "not v" of a Boolean encoding holds on missing values too. It needs nothing special here:
it is a condition with alternatives, such as ``color != red (or missing)``
(``rulewright.rules.label_sets``), which merges, prints, parses, saves and exports like any other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright.data import CLASS_WEIGHTS, PLACE, Fields, Schema, Table, described
from rulewright.model.class_model import ClassModel, Weigher, checked_weights
from rulewright.model.document import json_list
from rulewright.model.explanation import Reason, RowReasons
from rulewright.model.steps import BELOW
from rulewright.programs import ClassProgram, Constant, Maxima, Term, Where, recipes
from rulewright.rules import Claims, Conjunction, Coverage, Formula, Head, Outcome, Rule

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation


@dataclass(frozen=True, eq=False, repr=False)
class DnfModel(ClassModel):
    """One formula in disjunctive normal form per class, and a default class.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        The terms of all formulas; the response of each is above 0 and at most 1.
    default : int
        Index of the class where no rule applies.
    class_weights : tuple of float
        Training weight of each class.
    default_weights : tuple of float
        Training weight of each class on the rows where no rule applies.
    summary : dict
        Notes of the learner, as JSON data.
    """

    form: ClassVar[str] = "dnf"
    outcome: ClassVar[type[Outcome]] = Claims
    amount: ClassVar[str] = "laplace"
    fields: ClassVar[Fields] = Fields(
        {
            "default": described("The class where no rule applies, by its place.", PLACE),
            "class_weights": CLASS_WEIGHTS,
            "default_weights": described(
                "Training weight of each class where no rule applies.", CLASS_WEIGHTS
            ),
        },
        about="The most precise rule that applies decides.",
    )

    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    default: int
    class_weights: tuple[float, ...]
    default_weights: tuple[float, ...]
    summary: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._check_common()
        n = len(self.classes)
        vars(self).update(
            default=_checked_default(self.default, n),
            class_weights=checked_weights(self.class_weights, n),
            default_weights=checked_weights(self.default_weights, n),
        )

    @classmethod
    def from_training(
        cls,
        table: Table,
        formulas: Mapping[int, Sequence[Conjunction]],
        default: int | None = None,
        summary: dict[str, Any] | None = None,
    ) -> Self:
        """Make a model of formulas, with the counts of training rows.

        Parameters
        ----------
        table : Table
            The training rows, with target and perhaps weights.
        formulas : mapping of class index to terms
            The formula of each class that has one.
        default : int, optional
            Index of the class where no term holds: if left out, the only class without a formula,
            else the class of the largest training weight there, or in all rows.
        summary : dict, optional
            What the learner noted down.
        """
        weigh = Weigher(table)
        uncovered = np.ones(len(table), dtype=np.bool_)
        rules = []
        for k, terms in sorted(formulas.items()):
            for conjunction in terms:
                holds = conjunction.holds(table)
                uncovered &= ~holds
                rules.append(_counted_rule(conjunction, k, weigh(holds)))
        totals, rest = weigh.totals, weigh(uncovered)
        if default is None:
            others = [k for k in range(len(totals)) if k not in formulas]
            # The whole table counts as one row: next to nothing left over decides nothing.
            shares = [r + t / sum(totals) for r, t in zip(rest, totals, strict=True)]
            default = others[0] if len(others) == 1 else int(np.argmax(shares))
        return cls(
            table.schema, weigh.classes, tuple(rules), default, totals, rest, dict(summary or {})
        )

    def formula(self, k: int) -> tuple[Formula, ...]:
        """Return the terms of the formula of a class, by the index of the class."""
        return tuple(rule.body for rule in self.rules if rule.head.first == k)

    @cached_property
    def default_scores(self) -> tuple[float, ...]:
        """Laplace shares of the classes where no rule applies; the default has the largest."""
        shares = [laplace(self.default_weights, k) for k in range(len(self.classes))]
        most = shares[self.default]
        return tuple(s if k == self.default else min(s, most * BELOW) for k, s in enumerate(shares))

    @cached_property
    def preference(self) -> tuple[int, ...]:
        """All classes by falling training weight: the order in which ties are broken."""
        return tuple(sorted(range(len(self.classes)), key=lambda k: -self.class_weights[k]))

    @cached_property
    def base_program(self) -> ClassProgram:
        """The highest precision of each class; the remainder to 1 goes to classes without one.

        Unclaimed probability is shared in proportion to training weight plus 1, each share staying
        below the highest score; then all are divided by their sum.
        """
        zero, one = Constant(0.0), Constant(1.0)
        terms = tuple(Term(rule.body, rule.head, rule.outcome.value) for rule in self.rules)
        best = Maxima(Constant((0.0,) * len(self.classes)), terms)
        scores = Where(best.largest.equals(0.0), Constant(self.default_scores), best)
        unclaimed, top = scores.equals(0.0), scores.largest
        priors = Where(unclaimed, Constant(tuple(w + 1.0 for w in self.class_weights)), zero)
        rest = Where(priors.total.equals(0.0), one, priors.total)  # where 0 it is not needed
        share = ((1.0 - top) * priors / rest).at_most(top * BELOW)
        chances = recipes.shares(Where(unclaimed, share, scores))
        chosen = recipes.prefer_first(scores, self.preference)
        return ClassProgram(self.schema, scores, tuple(self.classes.tolist()), chances, chosen)

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the rules that apply, each with the highest responses up to it."""
        scores = np.zeros(len(self.classes))
        steps = [Reason("", "start: where no rule applies", np.array(self.default_scores))]
        for i, claim in zip(found.rule_ids(row), self._claims(found, row), strict=True):
            k, scores = self.rules[i].head.first, scores.copy()
            scores[k] = max(scores[k], self.rules[i].outcome.value)
            steps.append(claim._replace(scores=scores))
        return found.in_steps(row, max_reasons, "probability", steps, _unwritten)

    @property
    def decides(self) -> bool:
        """True: the most probable rule that applies decides."""
        return True

    def preamble(self) -> str:
        """Write which class is predicted where no rule applies."""
        name, chance = self.shown_names[self.default], self.default_scores[self.default]
        default = f"where no rule applies: {name} with probability {chance:.3f}"
        return f"{default}\nThe most probable of the rules that apply decides."

    def form_fields(self) -> dict[str, Any]:
        """Return the default class and the training weights."""
        return {
            "default": self.default,
            "class_weights": list(self.class_weights),
            "default_weights": list(self.default_weights),
        }

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the default class and the training weights."""
        weights = ("class_weights", "default_weights")
        return content | {name: tuple(json_list(content[name], name)) for name in weights}


def laplace(class_weights: Sequence[float], k: int) -> float:
    """Return the share of class k against all others, with one more row of either."""
    return (class_weights[k] + 1.0) / (math.fsum(class_weights) + 2.0)


def _unwritten(scores: NDArray[np.float64], chosen: int, *, level: bool = False) -> str:
    """Write nothing: the probabilities of rules are not added up."""
    return ""


def _counted_rule(conjunction: Conjunction, k: int, weights: tuple[float, ...]) -> Rule:
    return Rule(
        conjunction, Claims(Head(k, k), laplace(weights, k)), Coverage(math.fsum(weights), weights)
    )


def _checked_default(default: object, n_classes: int) -> int:
    if isinstance(default, Integral) and not isinstance(default, bool):
        index = int(default)
        if 0 <= index < n_classes:
            return index
    raise ValueError(f"default must be one of the {n_classes} class indices, not {default!r}")
