"""Calibrated steps, checked, and what calibration computes from scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import NUMBER, Fields, define, list_of
from rulewright.programs import GivenVector, evaluate_node, nodes, recipes
from rulewright.rules import checked_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

BELOW = 1.0 - 1e-9
"""The factor of a number that is just below another."""

_SCORES = GivenVector()


def checked_steps(steps: Any, n_classes: int) -> tuple[IsotonicSteps, ...]:
    """Return the steps of each class, or raise a ValueError."""
    is_list = isinstance(steps, list | tuple) and len(steps) == n_classes
    if not is_list or not all(isinstance(item, IsotonicSteps) for item in steps):
        raise ValueError(f"steps must be {n_classes} IsotonicSteps, one per class")
    return tuple(steps)


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn scores into probabilities."""
    return evaluate_node(recipes.softmax_node(_SCORES), {_SCORES: scores})


def margins(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the score of each class minus the highest of the others; 0 if there is no other."""
    return evaluate_node(recipes.margins_node(_SCORES, scores.shape[1]), {_SCORES: scores})


def by_steps(scores: NDArray[np.float64], steps: Sequence[IsotonicSteps]) -> NDArray[np.float64]:
    """Turn scores into probabilities: the steps of each class at its margin, normalised."""
    tables = tuple((item.thresholds, item.values) for item in steps)
    chances = recipes.shares(nodes.Steps(recipes.margins_node(_SCORES, scores.shape[1]), tables))
    return evaluate_node(chances, {_SCORES: scores})


@dataclass(frozen=True, slots=True)
class IsotonicSteps:
    """A function that is constant between thresholds and never falls.

    Parameters
    ----------
    thresholds : tuple of float
        Where the value changes, ascending; a margin on a threshold has the value below it.
    values : tuple of float
        One more than thresholds, each above 0 and below 1.
    """

    thresholds: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        thresholds = tuple(checked_number(t, "threshold of steps") for t in self.thresholds)
        values = tuple(checked_number(v, "value of steps") for v in self.values)
        if len(values) != len(thresholds) + 1:
            raise ValueError(
                f"{len(thresholds)} thresholds of steps need one value more, not {len(values)}"
            )
        if not all(map(math.isfinite, thresholds)) or any(a >= b for a, b in pairwise(thresholds)):
            raise ValueError("thresholds of steps must be finite and ascend")
        if not 0.0 < values[0] <= values[-1] < 1.0 or any(a > b for a, b in pairwise(values)):
            raise ValueError("values of steps must lie between 0 and 1 and must not fall")
        object.__setattr__(self, "thresholds", thresholds)
        object.__setattr__(self, "values", values)

    def __call__(self, margins: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value at each margin."""
        return np.array(self.values)[np.searchsorted(self.thresholds, margins, side="left")]

    def to_json(self) -> dict[str, list[float]]:
        """Return the steps as plain data."""
        return {"thresholds": list(self.thresholds), "values": list(self.values)}

    @classmethod
    def from_json(cls, obj: object) -> IsotonicSteps:
        """Make steps from the plain data of their ``to_json``; anything else is a ValueError."""
        if not _FIELDS.fit(obj):
            raise ValueError("steps must be an object with the keys 'thresholds' and 'values'")
        if not all(isinstance(part, list) for part in obj.values()):
            raise ValueError("thresholds and values of steps must be numeric lists")
        return cls(tuple(obj["thresholds"]), tuple(obj["values"]))


_FIELDS = Fields(
    {
        "thresholds": list_of(NUMBER),
        "values": list_of({**NUMBER, "exclusiveMinimum": 0, "exclusiveMaximum": 1}, minItems=1),
    },
    about="A function that never falls: values[i] up to and including thresholds[i], the last "
    "value above all.",
)
STEPS = define("steps", _FIELDS.part)
