"""The one protocol of all model forms: predict, print, explain, slice, save, export."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import fields, replace
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from rulewright.data import Fields, Schema, Table, read_like
from rulewright.data import to_frame as to_frame
from rulewright.model.checks import check_rules
from rulewright.model.document import json_list, write_document
from rulewright.model.entries import find_entries
from rulewright.model.exports import Exports
from rulewright.model.scales import Scales, scales_of
from rulewright.model.text import all_rules, model_view, strongest_rules
from rulewright.model.training_notes import counts_of_known
from rulewright.programs import Native, Node, ProgramRows, evaluate_node
from rulewright.rules import write_class

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Task
    from rulewright.model.entries import Entry
    from rulewright.model.explanation import Explanation, RowReasons
    from rulewright.rules import Coverage, NumberCoverage, Outcome, Rule

# What print() shows of a long model.
SHOWN_RULES = 50


class RuleModel(Exports):
    """A fitted model made of rules; it predicts and prints without its training data.

    A form of model (additive rules, DNF, votes, regression rules) writes what it computes once, as
    a ``program``; prediction and all exports follow from that.

    Attributes
    ----------
    schema : Schema
        Columns of the training table.
    rules : tuple of Rule
        The rules in the order they were learned.
    summary : dict
        Notes of the learner, as JSON data.
    """

    form: ClassVar[str]
    task: ClassVar[Task] = "regression"
    """What the target of its rows holds."""
    outcome: ClassVar[type[Outcome]]
    fields: ClassVar[Fields]
    """The fields of this form in a saved model."""
    in_order: ClassVar[bool] = False
    """Whether a rule depends on earlier rules, so that rules are printed in order."""
    amount: ClassVar[str]
    """What the number of a rule is called in explanations."""
    at_risk: ClassVar[str] = ""
    """What events are counted per unit of, in models of rates and hazards."""
    schema: Schema
    rules: tuple[Rule, ...]
    summary: dict[str, Any]

    @property
    @abstractmethod
    def n_classes(self) -> int | None:
        """Number of classes; None if numbers are predicted."""

    @property
    def decides(self) -> bool:
        """Whether a rule that applies decides, instead of adding to other rules."""
        return False

    @abstractmethod
    def preamble(self) -> str:
        """Describe the prediction before any rule applies, and the figures of rules."""

    def exact_preamble(self) -> str:
        """Write the same with all digits, for a text that predicts as the model does."""
        return self.preamble()

    def decision_lines(self) -> list[str]:
        """Write how the answer is chosen, if that needs an explanation."""
        return []

    def form_fields(self) -> dict[str, Any]:
        """Return the fields of this form in a saved model; here numeric lists."""
        return {name: list(getattr(self, name)) for name in self.fields.needed}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read what ``form_fields`` wrote, as arguments of the constructor: here lists."""
        return {name: tuple(json_list(value, name)) for name, value in content.items()}

    @abstractmethod
    def predict(self, X: object, *, n_threads: int | None = None) -> NDArray[Any]:
        """Return what the model predicts for each row: a class label or a number."""

    @abstractmethod
    def explain(self, X: object, *, n_threads: int | None = None) -> Explanation:
        """Return for each row the rules that apply and their effects."""

    @abstractmethod
    def reasons_for(self, found: Any, row: int, max_reasons: int | None) -> RowReasons:
        """Return the reasons for the answer on a row, `max_reasons` of them one by one."""

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Return the rules that a prediction rests on: rules that apply, the strongest first."""
        ids: list[int] = np.flatnonzero(found.fired[row]).tolist()
        return sorted(ids, key=lambda i: -self.strength(i))

    def explained_fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return further plain data of an explanation of a row, besides answer and rules."""
        return {}

    def start_fields(self) -> dict[str, Any]:
        """Return what every row starts with, for the plain data of explanations."""
        return {}

    @property
    @abstractmethod
    def scope(self) -> str:
        """The prediction in a few words, for the title of the model."""

    @property
    @abstractmethod
    def head_names(self) -> tuple[str, ...]:
        """What the heads of rules are called, as text: the classes, or nothing for a number."""

    @property
    def effect_title(self) -> str:
        """The unit of the numbers of the rules, where people read them."""
        return self.outcome.title

    def effect_columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table of rules that show the effects."""
        return {self.outcome.measure: [rule.outcome.value for rule in self.rules]}

    def effect(self, rule: Rule) -> str:
        """Write the number of a rule, in that unit."""
        return str(rule.outcome)

    def effect_cells(self, rule: Rule, exact: bool) -> dict[str, str]:
        """Return the cells with the effect of a rule, by title; `exact` for all digits."""
        return {self.effect_title: self.effect(rule)}

    def strength(self, i: int) -> float:
        """Return the size of a rule's effect; the largest is printed first."""
        return abs(self.rules[i].outcome.value)

    @cached_property
    def entries(self) -> list[Entry]:
        """The printed entries: rules, and step functions of several rules."""
        return find_entries(self)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The printed number of each rule: 1 is printed first."""
        order = [i for entry in self.entries for i in entry.places]
        return tuple((np.argsort(np.array(order, dtype=np.intp)) + 1).tolist())

    @cached_property
    def shown_names(self) -> tuple[str, ...]:
        """What the heads of rules are called where people read them."""
        return tuple(map(write_class, self.head_names))

    @cached_property
    def scales(self) -> Scales:
        """The ends of scales that the text writes with ``=``, and the orders of labels."""
        return scales_of(self)

    def known_counts(self, column: str) -> NDArray[np.float64] | None:
        """Return the counts of the training rows with a value in a column, if they are known."""
        return counts_of_known(self, column)

    def origin(self, i: int) -> dict[str, str]:
        """Write where a rule comes from, by title, if the model is made of several."""
        return {}

    @abstractmethod
    def head_columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table of rules with the classes of the rules."""

    @abstractmethod
    def coverage_columns(self) -> dict[str, list[Any]]:
        """Return the columns of the table of rules about the target of the covered rows."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the rules use, in the order of the schema."""
        return self.program.columns

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the columns that data must have for a prediction: dates for their parts."""
        return self.program.given

    def scores(self, X: object, *, n_threads: int | None = None) -> NDArray[np.float64]:
        """Return the score of each row and class, as an array of shape (rows, classes).

        A regression model has one score per row.

        Parameters
        ----------
        X : table
            Anything ``read_table`` reads. Only the columns in ``inputs`` are needed when the
            names are known.
        n_threads : int, optional
            Number of threads; all processors when left out. The result is the same for any number.
        """
        return self._rows(X, n_threads).value(self.program.scores)

    def score_of(self, prediction: float) -> float:
        """Return the score of a predicted number: itself, unless a form predicts otherwise."""
        return prediction

    def outputs(self, X: object) -> dict[str, NDArray[np.float64]]:
        """Return the numbers that exports of a model without classes give, by name."""
        rows = self._rows(X, None)
        return {name: rows.value(node) for name, node in self.program.numbers.items()}

    def covers(self, X: object, *, n_threads: int | None = None) -> NDArray[np.bool_]:
        """Return which rule covers which row, as an array of shape (rows, rules)."""
        return self._rows(X, n_threads).covers()

    def cover_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Return which rule covers which row, 64 rows a word, in an array of shape (rules, words).

        Row i is bit ``i % 64`` of word ``i // 64``; bits beyond the last row are 0.
        """
        return self._rows(X, n_threads).bits()

    def decided_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Return which rule has a part in the answer for which row, as ``cover_bits`` does.

        These are the rows that it covers or, in a list, the covered rows that reach it.
        """
        return self.cover_bits(X, n_threads=n_threads)

    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Return the same model with other rules; only new rules are checked."""
        known = set(map(id, self.rules))
        new = [rule for rule in rules if id(rule) not in known]
        self._check_rules(new)
        return self._copy_with(rules=tuple(rules))

    def with_coverages(self, coverages: Sequence[Coverage | NumberCoverage]) -> Self:
        """Return the same model with other coverage counts, one per rule."""
        pairs = zip(self.rules, coverages, strict=True)
        rules = tuple(replace(rule, coverage=coverage) for rule, coverage in pairs)
        self._check_rules(rules)
        return self._copy_with(rules=rules)

    def with_summary(self, summary: dict[str, Any]) -> Self:
        """Return the same model with other notes."""
        return self._copy_with(summary=dict(summary))

    def rules_table(self) -> dict[str, list[Any]]:
        """Return the table of rules as a dict of columns, in the order of ``model.rules``."""
        rules = self.rules
        return {
            "rule": list(self.numbers),
            "id": list(range(len(rules))),
            "if": [str(rule.body) for rule in rules],
            **self.head_columns(),
            **self.effect_columns(),
            "support": [rule.coverage.support for rule in rules],
            **self.coverage_columns(),
            "n_conditions": [len(rule.body.conditions) for rule in rules],
        }

    def rules_frame(self, backend: str | None = None) -> Any:
        """Return the table of rules as a dataframe, one row per rule.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            Which library makes the dataframe; the first one installed when left out.

        Returns
        -------
        dataframe
            Columns ``rule`` (the printed number), ``id`` (``model[id]`` is the rule), ``if``,
            ``head``, the number of the rule (``points``, ``laplace``, ``probability``,
            ``share_of_votes``, of regression ``adds``) with its ``odds`` factor if it adds
            points, ``support`` and ``weight_<class>`` (covered weight, in all and by class,
            which add up), ``precision`` (counted share of the head), ``share`` (the same,
            corrected where known) with its Wilson 95 percent interval ``share_low``,
            ``share_high``, ``base_rate`` (share of the head in all training rows), ``lift``
            (share / base rate), ``n_conditions``. Regression has ``mean``, ``deviation`` and
            ``base_mean`` of the target instead of classes. What is not known is NaN.
        """
        return to_frame(self.rules_table(), backend)

    def print(self, max_rules: int | None = SHOWN_RULES, file: IO[str] | None = None) -> None:
        """Print the rules, strongest first; all of them with ``max_rules=None``."""
        print(strongest_rules(self, max_rules), file=file)

    def to_text(self) -> str:
        """Write all rules in printed order, with all digits; ``parse_model`` reads the text."""
        return all_rules(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model as versioned JSON; the file is replaced in one step or not at all."""
        write_document(path, self.content())

    @overload
    def __getitem__(self, key: int) -> Rule: ...
    @overload
    def __getitem__(self, key: slice) -> Self: ...
    def __getitem__(self, key: int | slice) -> Rule | Self:
        if isinstance(key, slice):
            # Price and validation belong to the model with all rules.
            old = ("price", "validation")
            notes = {name: note for name, note in self.summary.items() if name not in old}
            return self.with_rules(self.rules[key]).with_summary(notes)
        return self.rules[key]

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def __bool__(self) -> bool:
        # A model without rules is still a model.
        return True

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RuleModel):
            return False
        mine, theirs = (_without_target_name(model.content()) for model in (self, other))
        return bool(mine == theirs)

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return strongest_rules(self, SHOWN_RULES)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {len(self.rules)} rules, {self.scope}>"

    def _repr_html_(self) -> str:
        return model_view(self, SHOWN_RULES)

    @cached_property
    def _native(self) -> Native:
        return Native(self.program, [rule.body for rule in self.rules])

    def _rows(self, X: object, n_threads: int | None) -> ProgramRows:
        return self._native.rows(self._read(X), n_threads)

    def _value(self, node: Node, scores: NDArray[np.float64]) -> NDArray[Any]:
        return evaluate_node(node, {self.program.scores: scores})

    def _check_common(self) -> None:
        """Check and store the fields of all forms: constructors call it first."""
        if not isinstance(self.schema, Schema):
            raise ValueError(f"schema must be a Schema, not {type(self.schema).__name__}")
        if not isinstance(self.summary, dict):
            raise ValueError(f"summary must be a dict, not {type(self.summary).__name__}")
        rules = tuple(self.rules)
        self._check_rules(rules)
        vars(self).update(rules=rules, summary=dict(self.summary))

    def _check_rules(self, rules: Sequence[Rule]) -> None:
        """Reject rules that do not fit this model."""
        check_rules(rules, self.schema, self.outcome, self.n_classes)

    def _copy_with(self, **changes: Any) -> Self:
        """Return a copy with other values of some fields, which must have been checked."""
        copy = object.__new__(type(self))
        vars(copy).update(self.__getstate__() | changes)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields, without cached values."""
        names = {item.name for item in fields(self)}  # type: ignore[arg-type]
        return {name: value for name, value in vars(self).items() if name in names}

    def _read(self, X: object) -> Table:
        return read_like(X, self.schema, self.columns)

    def _target_fields(self) -> dict[str, Any]:
        """Return the description of the target in a saved model."""
        return {}

    def content(self) -> dict[str, Any]:
        """Return the model as plain data, the content of its file."""
        return {
            "form": self.form,
            "schema": self.schema.to_json(),
            **self._target_fields(),
            **self.form_fields(),
            "rules": [rule.to_json() for rule in self.rules],
            "summary": self.summary,
        }


def _without_target_name(content: Any) -> Any:
    """Return the content without the target's name: the same rows may be given as an array."""
    if not isinstance(content, dict):  # members may be rule sets, which have no notes
        return content
    notes = {name: note for name, note in content["summary"].items() if name != "target"}
    members = [*map(_without_target_name, content.get("members", ()))]
    return {**content, "summary": notes, "members": members}
