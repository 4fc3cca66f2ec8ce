"""What a fit of RUMBLE starts from: the bias that was asked for, and rows to make rules from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.search import Bias, BiasError, load_bias

if TYPE_CHECKING:
    from rulewright.data import TrainingSet


def read_bias(given: Any, rows: TrainingSet) -> Bias:
    """Return a bias from an object, a list of generators or a file; its target must fit."""
    bias = _bias_of(given)
    positive = None if bias.target is None else bias.target.positive
    names = [str(label) for label in rows.classes.tolist()]
    if positive is not None and positive not in names:
        raise BiasError("target", f"positive {positive!r} is none of {', '.join(names)}")
    return bias


def _bias_of(given: Any) -> Bias:
    if isinstance(given, Bias):
        return given
    if isinstance(given, str | os.PathLike):
        return load_bias(os.fspath(given))
    if not hasattr(given, "__iter__"):
        raise BiasError("", f"{given!r} must be a Bias, a list of generators or a path")
    return Bias(tuple(given))


def set_aside(
    rows: TrainingSet, share: float, random: np.random.RandomState
) -> tuple[TrainingSet | None, TrainingSet]:
    """Part rows to make rules from and rows to weigh them on; without a share they are the same.

    They are drawn by their places alone: equal shares of the classes would tell of the others.
    """
    if share == 0:
        return None, rows
    places = random.permutation(rows.n_rows)
    n_aside = min(max(1, round(share * rows.n_rows)), rows.n_rows - 2)
    if n_aside < 1:
        raise ValueError(
            f"bias_share={share!r}: {rows.n_rows} rows are too few to set some aside; take 0"
        )
    return rows.take(np.sort(places[:n_aside])), rows.take(np.sort(places[n_aside:]))
