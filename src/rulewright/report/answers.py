"""Rows that a model is judged by, and its answers on them: all that measures and curves need."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.data import Derivable, Table, open_table, read_like
from rulewright.explain import EvaluatedRows
from rulewright.model import ClassModel, Costs, LowestCost, RuleModel, escape_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray, IntArray

    Places: TypeAlias = NDArray[np.integer[Any]]

N_ROWS = 100
"""Rows of the data in a report."""


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Classes that a model, or the models of a cross-validation, answer.

    `origin` says which rows these are, to be read after "on". The true class in `codes` is -1 where
    the model does not know it; `chosen` are the predicted ones. `flags` are what else the model
    says of rows, such as that it abstains; `costs` what predicting j costs where k is true.
    """

    origin: str
    names: tuple[str, ...]
    codes: IntArray
    probabilities: FloatArray
    chosen: Places
    weights: FloatArray
    flags: dict[str, BoolArray] = field(default_factory=dict)
    costs: Costs | None = None

    @property
    def wrong(self) -> BoolArray:
        """Which predicted classes are not the true ones."""
        return np.asarray(self.chosen != self.codes)

    def select_known(self) -> ClassAnswers:
        """Give the rows of positive weight whose class the model knows."""
        kept = (self.codes >= 0) & (self.weights > 0)
        return replace(
            self,
            codes=self.codes[kept],
            probabilities=self.probabilities[kept],
            chosen=self.chosen[kept],
            weights=self.weights[kept],
            flags={name: flag[kept] for name, flag in self.flags.items()},
        )


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Numbers that a model, or the models of a cross-validation, answer.

    `origin` says which rows these are, to be read after "on".
    """

    origin: str
    truth: FloatArray
    predicted: FloatArray
    weights: FloatArray


Answers: TypeAlias = ClassAnswers | NumberAnswers


def ask_model(model: RuleModel, table: Table, origin: str) -> Answers:
    """Ask a model about rows with a target."""
    return answers_on(EvaluatedRows(model, table), origin)


def answers_on(rows: EvaluatedRows, origin: str) -> Answers:
    """Return the answers on rows with a target."""
    model, table = rows.model, rows.table
    if not isinstance(model, ClassModel):
        return NumberAnswers(origin, table.known_numbers.values, model.predict(table), rows.weights)
    codes, scores = rows.codes, rows.scores
    return ClassAnswers(
        origin,
        tuple(map(escape_line, model.class_names)),
        codes,
        model.probabilities(scores),
        model.decide(scores),
        rows.weights,
        model.flags(scores),
        model.decision.costs if isinstance(model.decision, LowestCost) else None,
    )


def join_answers(parts: Sequence[Answers], places: Places, origin: str) -> Answers:
    """Put answers on parts of the rows together; `places` are those of the rows of all parts."""
    order, first = np.argsort(places, kind="stable"), parts[0]

    def all_of(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])[order]

    if isinstance(first, NumberAnswers):
        return NumberAnswers(origin, *map(all_of, ("truth", "predicted", "weights")))
    said = [part.flags for part in parts if isinstance(part, ClassAnswers)]
    return replace(
        first,
        origin=origin,
        **{name: all_of(name) for name in ("codes", "probabilities", "chosen", "weights")},
        flags={name: np.concatenate([one[name] for one in said])[order] for name in first.flags},
    )


def read_report_rows(model: RuleModel, X: Any, y: Any, sample_weight: Any) -> Table:
    """Read rows with all columns of the model that they have, and with their target."""
    task: Any = "classification" if isinstance(model, ClassModel) else "regression"
    if isinstance(X, Derivable):
        X = X.derive(model.schema)
    given = X if isinstance(X, Table) else open_table(X)
    needed = set(model.columns)
    if given.named and model.schema.named:
        needed |= set(given.names) & set(model.schema.names)
    else:
        needed = set(model.schema.names)
    return read_like(given, model.schema, needed, target=y, weights=sample_weight, task=task)


def is_learned_from(rows: EvaluatedRows) -> bool:
    """Tell whether rows are those that a model was learned from: all its counts are the same."""
    counted = [rule.coverage for rule in rows.model.rules]
    if not counted or {one.rows for one in counted} & {"left out", "given"}:
        return False
    if rows.model.summary.get("n_rows") != len(rows):
        return False
    found = [rows.weights[rows.inside(i)].sum() for i in range(len(counted))]
    return bool(np.allclose(found, [one.support for one in counted], rtol=1e-6))
