"""Models of classes: scores become probabilities, and a decision makes them a label."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright.model.class_explanation import ClassExplanation
from rulewright.model.class_labels import checked_classes, class_names, classes_to_json
from rulewright.model.decision_reading import read_decision
from rulewright.model.explanation import (
    Reason,
    ReasonLine,
    RowReasons,
    others_text,
    rule_text,
    select_shown,
)
from rulewright.model.rule_model import RuleModel
from rulewright.model.text import escape_line
from rulewright.model.training_notes import base_rate
from rulewright.rules import Says, checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table, Task
    from rulewright.model.decisions import Decision
    from rulewright.model.explanation import Explanation
    from rulewright.programs import ClassProgram


@dataclass(frozen=True, eq=False, repr=False)
class DecidingModel(RuleModel):
    """A model that holds a decision: what the forms of models of classes share as a field."""

    decision: Decision | None = field(default=None, kw_only=True)


class ClassModel(DecidingModel):
    """A model that predicts classes.

    Attributes
    ----------
    classes : ndarray
        Class labels.
    decision : Decision or None
        How a class is chosen from the probabilities; None chooses as the form does: the most
        probable class.
    """

    task: ClassVar[Task] = "classification"
    amount: ClassVar[str] = "probability"
    classes: NDArray[Any]

    @property
    @abstractmethod
    def base_program(self) -> ClassProgram:
        """What the form computes for one row, before a decision; forms cache it."""

    @cached_property
    def program(self) -> ClassProgram:
        """What the model computes for one row: scores, probabilities and the class decided on."""
        base = self.base_program
        if self.decision is None:
            return base
        costs = self.decision.expect(base.probabilities)
        chosen = self.decision.choose(base.probabilities, costs, base.scores)
        return replace(base, chosen=chosen, costs=costs)

    def with_decision(self, decision: Any) -> Self:
        """Return the model with another decision; see ``rulewright.with_decision``."""
        return self._copy_with(decision=self._read_decision(decision))

    def _read_decision(self, decision: Any) -> Decision | None:
        shares = self.summary.get("class_shares")
        known = shares if isinstance(shares, list) else None
        return read_decision(decision, self.class_names, known)

    def decision_function(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return scores as scikit-learn does: second minus first class if there are two classes."""
        scores = self.scores(X, n_threads=n_threads)
        if len(self.classes) == 1:
            return np.zeros(len(scores))
        return scores[:, 1] - scores[:, 0] if len(self.classes) == 2 else scores

    def predict_proba(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the probability of each class, as an array of shape (rows, classes)."""
        return self.probabilities(self.scores(X, n_threads=n_threads))

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[Any]:
        """Return the label of the class that ``decide`` chooses."""
        labels: NDArray[Any] = self.classes[self.decide(self.scores(X, n_threads=n_threads))]
        return labels

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn scores into probabilities, as arrays of shape (rows, classes)."""
        return self._value(self.program.probabilities, scores)

    def expected_costs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what predicting each class is expected to cost; without costs an error costs 1."""
        costs = self.program.costs
        return 1.0 - self.probabilities(scores) if costs is None else self._value(costs, scores)

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Choose a class for each row of scores, as indices of classes.

        The choice is made from the scores: classes that differ in score may round to equal
        probabilities.
        """
        return self._value(self.program.chosen, scores)

    def flags(self, scores: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
        """Return the flags that exports have besides scores, probabilities and label, by name."""
        return {name: self._value(node, scores) for name, node in self.program.flags.items()}

    def explain(self, X: object, *, n_threads: int | None = None) -> ClassExplanation:
        """Return for each row the rules that apply and their effects; see ``Explanation``."""
        rows = self._rows(X, n_threads)
        scores = rows.value(self.program.scores)
        return ClassExplanation(
            self,
            rows.table,
            rows.covers(),
            scores,
            self.probabilities(scores),
            self.decide(scores),
            expected_costs=None if self.decision is None else self.expected_costs(scores),
            **self._explain_form(scores, rows.table),
        )

    def _explain_form(self, scores: NDArray[np.float64], table: Table) -> dict[str, Any]:
        """Return the fields that only explanations of this form have."""
        return {}

    def reasons_for(self, found: Any, row: int, max_reasons: int | None) -> RowReasons:
        """Return the rules that apply, with the scores after each if the form has them."""
        reasons = self._claims(found, row)
        shown = select_shown(reasons, max_reasons)
        hidden = reasons[len(shown) :]
        start = [] if reasons else [Reason("", "start: where no rule applies")]
        rest = [Reason("", others_text(hidden))] if hidden else []
        return RowReasons(ReasonLine("probability", "", "reason"), shown, start, rest)

    def _claims(self, found: Explanation, row: int) -> list[Reason]:
        """Return the outcomes of the rules that apply."""
        names = [escape_line(name) for name in self.class_names]
        return [
            Reason(f"{rule.outcome} {rule.head.text(names)}", rule_text(self, i))
            for i, rule in ((i, self.rules[i]) for i in found.rule_ids(row))
        ]

    def answer_notes(self, found: Explanation, row: int) -> list[str]:
        """Write notes on a prediction beyond class and probabilities."""
        return []

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return class_names(self.classes)

    @property
    def head_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return self.class_names

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.classes)

    @property
    def scope(self) -> str:
        """The classes, for the title of the model."""
        names = ", ".join(self.shown_names)
        return (
            f"1 class ({names})" if self.n_classes == 1 else f"{self.n_classes} classes ({names})"
        )

    def head_columns(self) -> dict[str, list[Any]]:
        """Return the class labels of the heads, or their texts if a head has several classes."""
        if any(rule.head.is_union for rule in self.rules):
            return {"head": [rule.head.text(self.class_names) for rule in self.rules]}
        labels = self.classes.tolist()
        return {"head": [labels[rule.head.first] for rule in self.rules]}

    def coverage_columns(self) -> dict[str, list[Any]]:
        """Return the counts of each class, and the shares of the head with the base rate."""
        rules, none = self.rules, (math.nan,) * len(self.classes)
        intervals = [rule.share_interval for rule in rules]
        counts = [rule.counts or none for rule in rules]
        rates = [math.nan if (r := base_rate(self, rule.head)) is None else r for rule in rules]
        return {
            f"weight_{name}": [line[k] for line in counts]
            for k, name in enumerate(self.class_names)
        } | {
            "precision": [rule.precision for rule in rules],
            "share": [rule.share for rule in rules],
            "share_low": [low for low, _ in intervals],
            "share_high": [high for _, high in intervals],
            "base_rate": rates,
            "lift": [
                rule.share / rate if rate else math.nan
                for rule, rate in zip(rules, rates, strict=True)
            ],
        }

    def _check_common(self) -> None:
        """Check and store the fields of all models of classes: constructors call it first."""
        vars(self).update(classes=checked_classes(self.classes))
        super()._check_common()
        vars(self).update(decision=self._read_decision(self.decision))

    def _target_fields(self) -> dict[str, Any]:
        """Return the classes, and the decision if there is one."""
        decided = {} if self.decision is None else {self.decision.field: self.decision.to_json()}
        return {"classes": classes_to_json(self.classes), **decided}

    def decision_lines(self) -> list[str]:
        """Write how the class is chosen, unless it is the most probable one."""
        return [] if self.decision is None else [self.decision.describe(self.shown_names)]


class Weigher:
    """Sums the training weight of rows by class."""

    def __init__(self, table: Table) -> None:
        target = table.known_target
        self.classes, self._codes = target.classes, target.codes
        self._weights = np.ones(len(table)) if table.weights is None else table.weights

    @property
    def totals(self) -> tuple[float, ...]:
        """The weight of each class on all rows."""
        return self(np.ones(len(self._codes), dtype=np.bool_))

    def __call__(self, rows: NDArray[np.bool_]) -> tuple[float, ...]:
        """Return the weight of each class on some of the rows."""
        sums = np.bincount(self._codes[rows], self._weights[rows], minlength=len(self.classes))
        return tuple(sums.tolist())


def checked_weights(weights: Sequence[object], n_classes: int) -> tuple[float, ...]:
    """Return one weight per class, finite even in sum, or raise a ValueError."""
    checked = tuple(checked_number(weight, "class weight") for weight in weights)
    if len(checked) != n_classes or min(checked) < 0.0 or not math.isfinite(sum(checked)):
        raise ValueError(f"{n_classes} classes need as many finite weights, none negative")
    return checked


def checked_shares(shares: Sequence[object], n_classes: int) -> tuple[float, ...]:
    """Return one probability per class, or raise a ValueError."""
    if len(shares) != n_classes:
        raise ValueError(f"{n_classes} classes need as many probabilities: {len(shares)}")
    return Says(tuple(shares)).distribution  # type: ignore[arg-type]
