"""Classes that a fitted model never predicts: found and warned of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulewright.data import ModelWarning
from rulewright.estimators.contract.warn import warn_caller
from rulewright.rules import write_percent

if TYPE_CHECKING:
    from rulewright.data import TrainingSet
    from rulewright.model import ClassModel

_FIRST, _BLOCK = 1_000, 20_000
"""Rows that are predicted at a time: mostly the first, from all parts of the table, are enough."""
_NAMED = 3
"""Classes that a warning names."""


def find_unpredicted(model: ClassModel, rows: TrainingSet) -> list[int]:
    """Return the classes that training rows have and the model predicts for none of them."""
    missing = set(np.flatnonzero(rows.class_weights).tolist())
    n = rows.n_rows
    first = np.arange(0, n, max(1, n // _FIRST))
    rest = (np.arange(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK))
    for places in (first, *(rest if len(first) < n else ())):
        part = rows.table.take(places)
        missing -= set(np.unique(model.decide(model.scores(part))).tolist())
        if not missing:
            break
    return sorted(missing)


def warn_of_unpredicted(model: ClassModel, rows: TrainingSet, learner: str) -> None:
    """Warn of classes that are never the most probable one, with their shares and a remedy."""
    missing = find_unpredicted(model, rows)
    if not missing:
        return
    shares = rows.class_weights / rows.class_weights.sum()
    named = [
        f"{model.class_names[k]!r} ({write_percent(shares[k])} of the rows)"
        for k in missing[:_NAMED]
    ]
    named += [f"{len(missing) - _NAMED} more"] if len(missing) > _NAMED else []
    threshold = ""
    if len(model.classes) == 2:
        label = model.classes.tolist()[missing[0]]
        threshold = f" a threshold such as decision={{{label!r}: {shares[missing[0]]:.2g}}},"
    warn_caller(
        f"{learner} predicts no training row as {', '.join(named)}: another class is always more "
        f'probable. Probabilities are not affected. Set decision="balanced",{threshold} or a cost '
        "matrix to predict it; rulewright.with_decision does so after the fit.",
        ModelWarning,
    )
