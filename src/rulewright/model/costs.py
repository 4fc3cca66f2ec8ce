"""Costs of errors, read from user input and checked."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.data import label_of
from rulewright.rules import checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Costs: TypeAlias = tuple[tuple[float, ...], ...]
"""``costs[k][j]`` is the cost of predicting class j if class k is true."""

_MAX_COST = sys.float_info.max / 2


def checked_costs(costs: Any, class_names: Sequence[str]) -> Costs:
    """Return costs as plain numbers, one row per true class, or raise a ValueError."""
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


def costs_of(costs: Any, class_names: Sequence[str]) -> Costs:
    """Return costs that a user gave as a table of plain numbers, or raise a ValueError.

    Parameters
    ----------
    costs : array, mapping or "absolute"
        An array has a row for each true class. A mapping ``{true: {predicted: cost}}`` names some
        errors; the others cost 1. "absolute" costs the distance of the classes in their order.
    class_names : sequence of str
        Class labels as text.
    """
    if isinstance(costs, str) and costs == "absolute":
        places = np.arange(len(class_names))
        costs = abs(places[:, None] - places)
    elif isinstance(costs, Mapping):
        costs = _named_costs(costs, class_names)
    return checked_costs(np.asarray(costs, dtype=float), class_names)


def read_costs(costs: Any, class_names: Sequence[str], option: str) -> Costs | None:
    """Read costs that a user gave, or None; errors start with the option."""
    if costs is None:
        return None
    if isinstance(costs, str) and costs != "absolute":
        raise ValueError(f"{option}={costs!r} must be an array, 'absolute' or none")
    try:
        return costs_of(costs, class_names)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{option}: {error}") from None


def read_class(label: Any, class_names: Sequence[str], option: str) -> int:
    """Return the index of a class that a user named; the error starts with the option."""
    try:
        return place_of(label, class_names)
    except ValueError as error:
        raise ValueError(f"{option}={label!r}: {error}") from None


def place_of(label: Any, class_names: Sequence[str]) -> int:
    """Return the index of a class that a user named, or raise a ValueError."""
    name = label_of(label)
    if name not in class_names:
        raise ValueError(f"{name!r} is not a class. There are: {', '.join(class_names)}.")
    return class_names.index(name)


def _named_costs(costs: Mapping[Any, Any], class_names: Sequence[str]) -> NDArray[np.float64]:
    """Return the table of costs by name; an error that is not named costs 1."""
    table = 1.0 - np.eye(len(class_names))
    if not costs or not all(isinstance(row, Mapping) for row in costs.values()):
        raise ValueError("costs by name must be {true: {predicted: cost}}")
    for true, row in costs.items():
        k = place_of(true, class_names)
        for predicted, cost in row.items():
            table[k, place_of(predicted, class_names)] = checked_number(cost, "cost")
    return table


def _is_list(value: object, length: int) -> bool:
    return isinstance(value, list | tuple) and len(value) == length
