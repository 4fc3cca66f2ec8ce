"""The one protocol of all model forms: predict, print, explain, slice, save, export."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from rulewright.data import Schema, read_like
from rulewright.model.checks import check_rules
from rulewright.model.classes import checked_classes, class_names, classes_to_json
from rulewright.model.document import write_document
from rulewright.model.explanation import DnfExplanation
from rulewright.model.exports import Exports
from rulewright.model.frame import rules_table, to_frame
from rulewright.model.text import all_rules, strongest_rules
from rulewright.programs.native import Native, evaluate

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Table
    from rulewright.model.explanation import Explanation
    from rulewright.programs.native import Rows
    from rulewright.programs.nodes import Node
    from rulewright.rules import Outcome, Rule

# What print() shows of a long model.
SHOWN_RULES = 50


class RuleModel(Exports):
    """A fitted model made of rules; it predicts and prints without its training data.

    A form of model (additive rules, DNF, votes) writes what it computes once, as a ``program``;
    prediction and all exports follow from that.

    Attributes
    ----------
    schema : Schema
        Columns of the training table.
    classes : ndarray
        Class labels.
    rules : tuple of Rule
        The rules in the order they were learned.
    summary : dict
        What the learner noted down, as JSON data.
    """

    form: ClassVar[str]
    outcome: ClassVar[type[Outcome]]
    explanation: ClassVar[type[Explanation]] = DnfExplanation
    needed_fields: ClassVar[frozenset[str]]
    """What a saved model of this form has beyond the fields of all forms."""
    optional_fields: ClassVar[frozenset[str]] = frozenset()
    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    summary: dict[str, Any]

    @abstractmethod
    def preamble(self) -> str:
        """Say in one line what holds before any rule fires."""

    @abstractmethod
    def form_fields(self) -> dict[str, Any]:
        """Give what a saved model of this form holds beyond the common fields."""

    @classmethod
    @abstractmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read what ``form_fields`` wrote, as arguments of the constructor."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the rules use, in the order of the schema."""
        return self.program.columns

    def scores(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Give the score of each row and class, as an array of shape (rows, classes).

        Parameters
        ----------
        X : table
            Anything ``read_table`` reads. Only the columns in ``columns`` are needed when the
            names are known.
        n_threads : int, optional
            Number of threads; all processors when left out. The result is the same for any number.
        """
        return self._rows(X, n_threads).value(self.program.scores)

    def decision_function(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Give scores as scikit-learn does: second minus first class if there are two classes."""
        scores = self.scores(X, n_threads=n_threads)
        if len(self.classes) == 1:
            return np.zeros(len(scores))
        return scores[:, 1] - scores[:, 0] if len(self.classes) == 2 else scores

    def predict_proba(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Give the probability of each class, as an array of shape (rows, classes)."""
        return self.probabilities(self.scores(X, n_threads=n_threads))

    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[Any]:
        """Give the label of the class that ``decide`` chooses."""
        labels: NDArray[Any] = self.classes[self.decide(self.scores(X, n_threads=n_threads))]
        return labels

    def covers(self, X: object, *, n_threads: int | None = None) -> NDArray[np.bool_]:
        """Tell which rule covers which row, as an array of shape (rows, rules)."""
        return self._rows(X, n_threads).covers()

    def cover_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Tell which rule covers which row, 64 rows a word, in an array of shape (rules, words).

        Row i is bit ``i % 64`` of word ``i // 64``; bits beyond the last row are 0.
        """
        return self._rows(X, n_threads).bits()

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn scores into probabilities, as arrays of shape (rows, classes)."""
        return self._value(self.program.probabilities, scores)

    def expected_costs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give what predicting each class is expected to cost; without costs an error costs 1."""
        costs = self.program.costs
        return 1.0 - self.probabilities(scores) if costs is None else self._value(costs, scores)

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Choose a class for each row of scores, as indices of classes.

        The choice is made from the scores: classes that differ in score may round to equal
        probabilities.
        """
        return self._value(self.program.chosen, scores)

    def flags(self, scores: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
        """Give what exports tell besides scores, probabilities and label: truth values by name."""
        return {name: self._value(node, scores) for name, node in self.program.flags.items()}

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Give the same model with other rules; only those that are new are checked."""
        known = set(map(id, self.rules))
        new = [rule for rule in rules if id(rule) not in known]
        check_rules(new, self.schema, len(self.classes), self.outcome)
        return self._changed(rules=tuple(rules))

    def with_summary(self, summary: dict[str, Any]) -> Self:
        """Give the same model with other notes."""
        return self._changed(summary=dict(summary))

    def explain(self, X: object, *, n_threads: int | None = None) -> Explanation:
        """Tell for each row which rules fired and what they say; see ``Explanation``."""
        rows = self._rows(X, n_threads)
        scores = rows.value(self.program.scores)
        return self.explanation(
            class_names=self.class_names,
            rules=self.rules,
            fired=rows.covers(),
            scores=scores,
            probabilities=self.probabilities(scores),
            chosen=self.decide(scores),
            **self._explained(scores),
        )

    def rules_table(self) -> dict[str, list[Any]]:
        """Give the table of rules as a dict of columns, one item per rule."""
        return rules_table(self)

    def rules_frame(self, backend: str | None = None) -> Any:
        """Give the table of rules as a dataframe, one row per rule.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library makes the dataframe; the first one installed when left out.

        Returns
        -------
        dataframe
            Columns ``id``, ``if``, ``head``, ``response`` (of a DNF ``laplace``, of a vote
            ``share``), ``support``, ``weight_<class>`` (covered
            training weight of each class), ``precision`` (share of the head) with its
            Wilson 95 percent interval ``precision_low``, ``precision_high``, ``n_conditions``.
        """
        return to_frame(self.rules_table(), backend)

    def print(self, max_rules: int | None = SHOWN_RULES, file: IO[str] | None = None) -> None:
        """Print the rules, strongest first; all of them with ``max_rules=None``."""
        print(strongest_rules(self, max_rules), file=file)

    def to_text(self) -> str:
        """Give all rules as text, in the order they were learned."""
        return all_rules(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as versioned JSON; the file is replaced in one step or not at all."""
        write_document(path, self._content())

    @overload
    def __getitem__(self, key: int) -> Rule: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> Rule | Self:
        if isinstance(key, slice):
            return self.with_rules(self.rules[key])
        return self.rules[key]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __bool__(self) -> bool:
        # A model without rules is still a model.
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleModel) and self._content() == other._content()

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return strongest_rules(self, SHOWN_RULES)

    def __repr__(self) -> str:
        n_rules, n_classes = len(self.rules), len(self.classes)
        return f"<{type(self).__name__}: {n_rules} rules, {n_classes} classes>"

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return class_names(self.classes)

    @cached_property
    def _native(self) -> Native:
        return Native(self.program, [rule.body for rule in self.rules])

    def _rows(self, X: object, n_threads: int | None) -> Rows:
        return self._native.rows(self._read(X), n_threads)

    def _value(self, node: Node, scores: NDArray[np.float64]) -> NDArray[Any]:
        return evaluate(node, {self.program.scores: scores})

    def _explained(self, scores: NDArray[np.float64]) -> dict[str, Any]:
        """Give what explanations of this form have beyond those of all forms."""
        return {}

    def _check_common(self) -> None:
        """Check and store the fields of all forms: constructors call it first."""
        if not isinstance(self.schema, Schema):
            raise ValueError(f"schema must be a Schema, not {type(self.schema).__name__}")
        if not isinstance(self.summary, dict):
            raise ValueError(f"summary must be a dict, not {type(self.summary).__name__}")
        classes, rules = checked_classes(self.classes), tuple(self.rules)
        check_rules(rules, self.schema, len(classes), self.outcome)
        vars(self).update(classes=classes, rules=rules, summary=dict(self.summary))

    def _changed(self, **changes: Any) -> Self:
        """Give a copy with other values of some fields, which must have been checked."""
        copy = object.__new__(type(self))
        vars(copy).update(self.__getstate__() | changes)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Give the fields, without what is cached."""
        names = {item.name for item in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in vars(self).items() if name in names}

    def _read(self, X: object) -> Table:
        return read_like(X, self.schema, self.columns)

    def _content(self) -> dict[str, Any]:
        return {
            "form": self.form,
            "schema": self.schema.to_json(),
            "classes": classes_to_json(self.classes),
            **self.form_fields(),
            "rules": [rule.to_json() for rule in self.rules],
            "summary": self.summary,
        }
