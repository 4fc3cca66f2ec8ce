"""Costs and calibrated steps, checked, and what calibration computes from scores."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.model.steps import IsotonicSteps
from rulewright.programs import GivenVector, evaluate_node, nodes, recipes
from rulewright.rules import checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Costs: TypeAlias = tuple[tuple[float, ...], ...]
"""``costs[k][j]`` is what it costs to predict class j where class k is true."""

BELOW = 1.0 - 1e-9
"""The factor of a number that is just below another."""

_SCORES = GivenVector()
_MAX_COST = sys.float_info.max / 2


def checked_costs(costs: Any, class_names: Sequence[str]) -> Costs:
    """Give costs as plain numbers, one row per true class, or raise a ValueError."""
    rows = costs.tolist() if isinstance(costs, np.ndarray) else costs
    n = len(class_names)
    if not _is_list(rows, n) or not all(_is_list(row, n) for row in rows):
        raise ValueError(f"costs must be {n} rows of {n} numbers: costs[true][predicted]")
    table = tuple(tuple(checked_number(cost, "cost") for cost in row) for row in rows)
    for k, row in enumerate(table):
        for j, cost in enumerate(row):
            if not 0.0 <= cost <= _MAX_COST or (j == k and cost != 0.0):
                raise ValueError(
                    f"cost of predicting {class_names[j]!r} for {class_names[k]!r} is {cost}: "
                    "costs must be finite and not negative, and 0 where the prediction is true"
                )
    return table


def read_costs(costs: Any, class_names: Sequence[str], option: str) -> Costs | None:
    """Read costs that a user gave: numbers, "absolute" or None; errors start with the option.

    "absolute" costs the distance of the classes in their order.
    """
    if costs is None:
        return None
    if isinstance(costs, str):
        if costs != "absolute":
            raise ValueError(f"{option}={costs!r} must be an array, 'absolute' or none")
        places = np.arange(len(class_names))
        costs = abs(places[:, None] - places)
    try:
        return checked_costs(np.asarray(costs, dtype=float), class_names)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{option}: {error}") from None


def checked_steps(steps: Any, n_classes: int) -> tuple[IsotonicSteps, ...]:
    """Give the steps of each class, or raise a ValueError."""
    if not _is_list(steps, n_classes) or not all(isinstance(item, IsotonicSteps) for item in steps):
        raise ValueError(f"steps must be {n_classes} IsotonicSteps, one per class")
    return tuple(steps)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn scores into probabilities."""
    return evaluate_node(recipes.softmax_node(_SCORES), {_SCORES: scores})


def margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the score of each class minus the highest of the others; 0 if there is no other."""
    return evaluate_node(recipes.margins_node(_SCORES, scores.shape[1]), {_SCORES: scores})


def by_steps(scores: NDArray[np.float64], steps: Sequence[IsotonicSteps]) -> NDArray[np.float64]:
    """Turn scores into probabilities: the steps of each class at its margin, normalised."""
    tables = tuple((item.thresholds, item.values) for item in steps)
    chances = recipes.shares(nodes.Steps(recipes.margins_node(_SCORES, scores.shape[1]), tables))
    return evaluate_node(chances, {_SCORES: scores})


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == length
