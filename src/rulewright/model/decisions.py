"""From scores to probabilities to labels: softmax or calibrated steps, then the least cost."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.model.steps import Steps
from rulewright.rules.checks import checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Costs: TypeAlias = tuple[tuple[float, ...], ...]
"""``costs[k][j]`` is what it costs to predict class j where class k is true."""

BELOW = 1.0 - 1e-9
"""The factor of a number that is just below another."""

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


def checked_steps(steps: Any, n_classes: int) -> tuple[Steps, ...]:
    """Give the steps of each class, or raise a ValueError."""
    if not _is_list(steps, n_classes) or not all(isinstance(item, Steps) for item in steps):
        raise ValueError(f"steps must be {n_classes} Steps, one per class")
    return tuple(steps)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn scores into probabilities."""
    weights: NDArray[np.float64] = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return weights


def margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Give the score of each class minus the highest of the others; 0 if there is no other."""
    if scores.shape[1] == 1:
        return np.zeros_like(scores)
    second, top = np.partition(scores, -2, axis=1)[:, -2:].T[:, :, None]
    others: NDArray[np.float64] = np.where(scores == top, second, top)
    return scores - others


def climbed(scores: NDArray[np.float64], steps: Sequence[Steps]) -> NDArray[np.float64]:
    """Turn scores into probabilities: the steps of each class at its margin, made to sum to 1."""
    values = np.empty_like(scores)
    for k, margin in enumerate(margins(scores).T):
        values[:, k] = steps[k](margin)
    values /= values.sum(axis=1, keepdims=True)
    return values


def expected_costs(chances: NDArray[np.float64], costs: Costs | None) -> NDArray[np.float64]:
    """Give the expected cost of predicting each class; without costs every error costs 1."""
    if costs is None:
        return 1.0 - chances
    total = np.zeros_like(chances)
    for k, row in enumerate(costs):
        total += chances[:, k, None] * np.array(row)
    return total


def least_cost(costs: NDArray[np.float64], scores: NDArray[np.float64]) -> NDArray[np.intp]:
    """Choose the class of the lowest cost; of equal ones the highest score, then the first."""
    least = costs == costs.min(axis=1, keepdims=True)
    best: NDArray[np.intp] = np.argmax(np.where(least, scores, -math.inf), axis=1)
    return best


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == length
