"""Additive rules: intercepts plus the responses of the rules that fire, one score per class."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rulewright import kernels
from rulewright.model.additive_python import additive_python
from rulewright.model.additive_sql import additive_sql
from rulewright.model.checks import check_rules, check_schema, checked_summary
from rulewright.model.classes import checked_classes, class_names
from rulewright.model.decisions import checked_costs, checked_steps
from rulewright.model.explanation import Explanation
from rulewright.model.rule_model import RuleModel
from rulewright.model.text import plain
from rulewright.rules import Adds
from rulewright.rules.checks import checked_number

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema
    from rulewright.model.decisions import Costs
    from rulewright.model.steps import Steps
    from rulewright.rules import Head, Outcome, Rule


_MAX_SIZE = sys.float_info.max / 2


@dataclass(frozen=True, eq=False, repr=False)
class AdditiveRules(RuleModel):
    """Scores are intercepts plus responses of fired rules; probabilities follow from them.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    intercepts : tuple of float
        One score per class that every row starts with.
    rules : tuple of Rule
        The rules; their responses are added in this order.
    summary : dict
        What the learner noted down, as JSON data.
    costs : K x K numbers, optional
        ``costs[k][j]`` is what it costs to predict class j where class k is true, 0 for j = k:
        the label is then the class of the lowest expected cost.
    steps : tuple of Steps, optional
        Calibration, one for each class: probabilities are the steps at the margin of the scores,
        divided by their sum, and not the softmax.
    """

    form: ClassVar[str] = "additive"
    outcome: ClassVar[type[Outcome]] = Adds

    schema: Schema
    classes: NDArray[Any]
    intercepts: tuple[float, ...]
    rules: tuple[Rule, ...]
    summary: dict[str, Any] = field(default_factory=dict)
    costs: Costs | None = field(default=None, kw_only=True)
    steps: tuple[Steps, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_schema(self.schema)
        classes = checked_classes(self.classes)
        intercepts = tuple(checked_number(value, "intercept") for value in self.intercepts)
        if len(intercepts) != len(classes):
            raise ValueError(f"{len(classes)} classes need as many intercepts: {len(intercepts)}")
        checked = {
            "classes": classes,
            "intercepts": intercepts,
            "rules": tuple(self.rules),
            "summary": checked_summary(self.summary),
        }
        if self.costs is not None:
            checked["costs"] = checked_costs(self.costs, class_names(classes))
        if self.steps is not None:
            checked["steps"] = checked_steps(self.steps, len(classes))
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        check_rules(self.rules, self.schema, len(classes), self.outcome)
        self._check_sums()

    def scores(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Give intercept plus responses of fired rules, as an array of shape (rows, classes)."""
        codes, threads = self._codes(X, n_threads)
        heads, responses, intercepts = self._responses
        return kernels.rule_scores(
            codes, self._compiled.rules, heads, responses, intercepts, threads
        )

    def staged_scores(
        self, X: object, *, n_threads: int | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Give the scores after no rule, the first rule, the first two, and so on to all."""
        fired = self.covers(X, n_threads=n_threads)
        scores = np.tile(np.array(self.intercepts), (len(fired), 1))
        yield scores.copy()
        for i, rule in enumerate(self.rules):
            scores[fired[:, i], rule.head.classes] += rule.outcome.value
            yield scores.copy()

    def explain(self, X: object, *, n_threads: int | None = None) -> Explanation:
        """Tell for each row which rules fired and what each added to the scores of its head."""
        table = self._read(X)
        scores = self.scores(table, n_threads=n_threads)
        return Explanation(
            class_names=self.class_names,
            intercepts=self.intercepts,
            rules=self.rules,
            fired=self.covers(table, n_threads=n_threads),
            scores=scores,
            probabilities=self.probabilities(scores),
            chosen=self.decide(scores),
            expected_costs=None if self.costs is None else self.expected_costs(scores),
        )

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Give the same model with other rules."""
        return replace(self, rules=tuple(rules))

    def merged(self) -> Self:
        """Join rules with the same conditions and head; the scores stay the same.

        The first of them stays, with the sum of the responses; a sum of zero leaves no rule.
        """
        same: dict[tuple[Hashable, Head], list[Rule]] = {}
        for rule in self.rules:
            same.setdefault((rule.body.key, rule.head), []).append(rule)
        joined = [
            _with_response(rules[0], math.fsum(rule.outcome.value for rule in rules))
            for rules in same.values()
        ]
        return self.with_rules([rule for rule in joined if rule.outcome.value != 0.0])

    def scaled(self, slope: float, offsets: Sequence[float]) -> Self:
        """Multiply all scores and add to them: how a temperature or a logistic curve calibrates.

        Parameters
        ----------
        slope : float
            Factor of all scores, not negative.
        offsets : sequence of float
            What is then added to the score of each class.
        """
        if self.steps is not None:
            raise ValueError("the steps of this model fit its scores as they are: scale it first")
        if not 0.0 <= slope < math.inf:
            raise ValueError(f"slope must be finite and not negative, not {slope}")
        if len(offsets) != len(self.classes):
            raise ValueError(f"{len(self.classes)} classes need as many offsets: {len(offsets)}")
        pairs = zip(self.intercepts, offsets, strict=True)
        return replace(
            self,
            intercepts=tuple(slope * start + offset for start, offset in pairs),
            rules=tuple(_with_response(r, slope * r.outcome.value) for r in self.rules),
        )

    def preamble(self) -> str:
        """Say which scores every row starts with, and how they become labels if not as usual."""
        starts = zip(self.class_names, self.intercepts, strict=True)
        text = "intercept: " + ", ".join(f"{plain(name)} {value:+.3g}" for name, value in starts)
        if self.steps is not None:
            text += "; probabilities by calibrated steps"
        return text if self.costs is None else text + "; label by lowest expected cost"

    def form_fields(self) -> dict[str, Any]:
        """Give the intercepts, and costs and steps if there are any."""
        fields: dict[str, Any] = {"intercepts": list(self.intercepts)}
        if self.costs is not None:
            fields["costs"] = [list(row) for row in self.costs]
        if self.steps is not None:
            fields["steps"] = [steps.to_json() for steps in self.steps]
        return fields

    def to_sql(
        self,
        table: str | Sequence[str] = "data",
        dialect: str = "duckdb",
        keep: Sequence[str] = (),
    ) -> str:
        """Write the model as one SQL SELECT of scores, probabilities and the label.

        The answers are those of this model: scores to the bit, missing (NULL, and NaN too) fails
        every condition but ``is missing``. SQLite must be version 3.35 or later and have the
        function ``exp``: some builds lack it, then define one with ``create_function``.

        Parameters
        ----------
        table : str or sequence of str
            Name of the table; a sequence gives a qualified name, such as ("schema", "table").
        dialect : {"duckdb", "postgres", "sqlite"}
            For which database.
        keep : sequence of str
            Columns of the table that are passed through to the result, in front.

        Returns
        -------
        str
            A SELECT with the columns ``score_<class>``, ``probability_<class>`` and ``label``.
        """
        return additive_sql(self, table, dialect, keep)

    def to_python(self, function: str = "predict_proba") -> str:
        """Write the model as the source of a Python module without dependencies.

        Parameters
        ----------
        function : str
            Name of the function, which takes a row as a dict from column names to values (missing:
            None, NaN or absent) and returns a dict from class labels to probabilities. A second
            function, with ``_label`` behind its name, returns the label.
        """
        return additive_python(self, function)

    @cached_property
    def _responses(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        heads = np.array([rule.head for rule in self.rules], dtype=np.int32).reshape(-1, 2)
        responses = np.array([rule.outcome.value for rule in self.rules], dtype=np.float64)
        return heads, responses, np.array(self.intercepts, dtype=np.float64)

    def _check_sums(self) -> None:
        # Whatever rules fire, no sum can be larger than that of all sizes, and no difference of two
        # scores can overflow.
        sizes = [abs(value) for value in self.intercepts]
        for rule in self.rules:
            for k in range(rule.head.first, rule.head.last + 1):
                sizes[k] += abs(rule.outcome.value)
        if not max(sizes) <= _MAX_SIZE:
            raise ValueError("intercepts and responses must be finite and so must be their sums")


def _with_response(rule: Rule, response: float) -> Rule:
    return rule.with_outcome(Adds(rule.head, response))
