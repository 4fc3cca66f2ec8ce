"""Evaluation rows and the model's answers on them, the input of measures and curves."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Derivable, Table, open_table, read_like
from rulewright.evidence import Answers, ClassAnswers, NumberAnswers, SurvivalAnswers
from rulewright.explain import EvaluatedRows, answers_on
from rulewright.model import RuleModel, read_class

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.evidence import Places

N_ROWS = 100
"""Rows of the data in a report."""


def ask_model(model: RuleModel, table: Table, origin: str) -> Answers:
    """Ask a model about rows with a target."""
    return answers_on(EvaluatedRows(model, table), origin)


def with_positive(answers: Answers, positive: Any, option: str = "positive") -> Answers:
    """Return the answers with another class of interest, if one is named."""
    if positive is None:
        return answers
    if not isinstance(answers, ClassAnswers) or len(answers.names) != 2:
        raise ValueError(f"{option}={positive!r} needs a model of two classes. Leave it out.")
    return replace(answers, positive=read_class(positive, answers.names, option))


def with_precisions(
    answers: Answers, precisions: Sequence[float], option: str = "precisions"
) -> Answers:
    """Return the answers with other precisions at which recall is measured, if some are named."""
    if not precisions:
        return answers
    if not isinstance(answers, ClassAnswers) or len(answers.names) != 2:
        raise ValueError(f"{option} needs a model of two classes. Leave it out.")
    if wrong := [one for one in precisions if not 0.0 < one <= 1.0]:
        raise ValueError(f"{option}: a precision is above 0 and at most 1, not {wrong[0]!r}.")
    return replace(answers, precisions=tuple(sorted(precisions)))


def join_answers(parts: Sequence[Answers], places: Places, origin: str) -> Answers:
    """Join the answers of parts of the rows; `places` are the positions of their rows."""
    order, first = np.argsort(places, kind="stable"), parts[0]

    def all_of(name: str) -> Any:
        return np.concatenate([getattr(part, name) for part in parts])[order]

    groups = None if first.groups is None else all_of("groups")
    if isinstance(first, NumberAnswers):
        if isinstance(first, SurvivalAnswers):  # each model has times of its own
            first = replace(first, survival=None, times=())
        names = [one.name for one in fields(first) if one.name != "groups"]
        per_row = [name for name in names if isinstance(getattr(first, name), np.ndarray)]
        joined = {name: all_of(name) for name in per_row}
        return replace(first, origin=origin, groups=groups, **joined)
    said = [part.flags for part in parts if isinstance(part, ClassAnswers)]
    return replace(
        first,
        origin=origin,
        groups=groups,
        **{name: all_of(name) for name in ("codes", "probabilities", "chosen", "weights")},
        flags={name: np.concatenate([one[name] for one in said])[order] for name in first.flags},
    )


def read_report_rows(
    model: RuleModel, X: Any, y: Any, sample_weight: Any, groups: Any = None
) -> Table:
    """Read rows with all columns of the model that they have, and with their target."""
    if isinstance(X, Derivable):
        X = X.derive(model.schema)
    given = X if isinstance(X, Table) else open_table(X)
    needed = {*model.columns, *model.inputs}
    if given.named and model.schema.named:
        needed |= set(given.names) & set(model.schema.names)
    else:
        needed |= set(model.schema.names)
    rows = {"target": y, "weights": sample_weight, "groups": groups}
    return read_like(given, model.schema, needed, task=model.task, **rows)
