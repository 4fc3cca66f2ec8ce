"""The one protocol of all model forms: predict, print, explain, slice, save, export."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np

from rulewright import kernels
from rulewright.data import read_like
from rulewright.model.classes import class_names, classes_to_json
from rulewright.model.compiled import compile_rules
from rulewright.model.decisions import climbed, expected_costs, least_cost, softmax
from rulewright.model.document import write_document
from rulewright.model.frame import rules_table, to_frame
from rulewright.model.parity import verify_sql
from rulewright.model.text import all_rules, strongest_rules

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from rulewright.data import Schema, Table
    from rulewright.model.compiled import CompiledModel
    from rulewright.model.decisions import Costs
    from rulewright.model.explanation import Explanation
    from rulewright.model.parity import SqlReport
    from rulewright.model.steps import Steps
    from rulewright.rules import Outcome, Rule

# What print() shows of a long model.
SHOWN_RULES = 50


class RuleModel(ABC):
    """A fitted model made of rules; it predicts and prints without its training data.

    A form of model (additive rules, DNF, votes, and later decision lists) says how the fired rules
    make scores, in Python and in its exports; everything else is here.

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
    costs : tuple of tuples of float, or None
        ``costs[k][j]`` is what it costs to predict class j where class k is true; None if all
        errors cost the same.
    steps : tuple of Steps, or None
        Calibration of each class; None if probabilities are the softmax of the scores.
    """

    form: ClassVar[str]
    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    summary: dict[str, Any]
    costs: Costs | None = None
    steps: tuple[Steps, ...] | None = None
    outcome: ClassVar[type[Outcome]]

    @abstractmethod
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

    @abstractmethod
    def explain(self, X: object, *, n_threads: int | None = None) -> Explanation:
        """Tell for each row which rules fired and what each added to the scores."""

    @abstractmethod
    def with_rules(self, rules: Sequence[Rule]) -> Self:
        """Give the same model with other rules."""

    @abstractmethod
    def preamble(self) -> str:
        """Say in one line what holds before any rule fires."""

    @abstractmethod
    def form_fields(self) -> dict[str, Any]:
        """Give what a saved model of this form holds beyond the common fields."""

    @abstractmethod
    def to_sql(
        self,
        table: str | Sequence[str] = "data",
        dialect: str = "duckdb",
        keep: Sequence[str] = (),
    ) -> str:
        """Write the model as one SQL SELECT of scores, probabilities and the label."""

    @abstractmethod
    def to_python(self, function: str = "predict_proba") -> str:
        """Write the model as the source of a Python module without dependencies."""

    @property
    def preference(self) -> Sequence[int]:
        """All classes, first the one that wins where several have the highest score."""
        return range(len(self.classes))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the rules use, in the order of the schema."""
        return self._compiled.columns

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
        codes, threads = self._codes(X, n_threads)
        return kernels.rule_covers(codes, self._compiled.rules, threads)

    def cover_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Tell which rule covers which row, 64 rows a word, in an array of shape (rules, words).

        Row i is bit ``i % 64`` of word ``i // 64``; bits beyond the last row are 0.
        """
        codes, threads = self._codes(X, n_threads)
        return kernels.rule_bits(codes, self._compiled.rules, threads)

    def probabilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn scores into probabilities: the softmax, or the steps of the calibration.

        The steps of class k are taken at the margin, the score of k minus the highest of the
        others, and divided by their sum over the classes.
        """
        return softmax(scores) if self.steps is None else climbed(scores, self.steps)

    def expected_costs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give what predicting each class is expected to cost; without costs an error costs 1."""
        return expected_costs(self.probabilities(scores), self.costs)

    def decide(self, scores: NDArray[np.float64]) -> NDArray[np.intp]:
        """Choose a class for each row of scores, as indices of classes.

        The class of the lowest expected cost; of equal ones that of the highest score, then the
        first. Without costs and steps this is the class of the highest score, of equal ones the
        first in ``preference``.
        """
        if self.costs is not None or self.steps is not None:
            return least_cost(self.expected_costs(scores), scores)
        # From the scores: classes that differ in score may round to equal probabilities.
        order = np.array(self.preference, dtype=np.intp)
        best: NDArray[np.intp] = order[np.argmax(scores[:, order], axis=1)]
        return best

    def flags(self, scores: NDArray[np.float64]) -> dict[str, NDArray[np.bool_]]:
        """Give what exports tell besides scores, probabilities and label: truth values by name."""
        return {}

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

    def verify_sql(self, dialects: Sequence[str] = ("duckdb", "sqlite")) -> SqlReport:
        """Run the SQL export on adversarial rows and compare it with this model.

        Scores must be equal to the bit, probabilities within 1e-12, labels equal (with costs or
        steps but for classes whose expected costs are within 1e-9 of each other).

        Raises
        ------
        ParityError
            When an answer differs; the message shows the row.
        """
        return verify_sql(self, dialects)

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
    def _compiled(self) -> CompiledModel:
        return compile_rules(self.rules, self.schema)

    @cached_property
    def class_names(self) -> tuple[str, ...]:
        """Class labels as text."""
        return class_names(self.classes)

    def _codes(self, X: object, n_threads: int | None) -> tuple[NDArray[np.uint16], int]:
        threads = kernels.usable_cpus() if n_threads is None else n_threads
        return self._compiled.codes(self._read(X), threads), threads

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
