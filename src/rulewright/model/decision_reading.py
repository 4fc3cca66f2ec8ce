"""Decisions as users give them: a word, a threshold, costs, or the object itself."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rulewright.model.costs import costs_of, place_of
from rulewright.model.decisions import Balanced, Decision, LowestCost, Threshold

if TYPE_CHECKING:
    from collections.abc import Sequence

DECISION = (
    'How a class is chosen from the probabilities, which stay the same. "accuracy" predicts the '
    'most probable class. "balanced" divides probabilities by the class shares of the training '
    "rows. A number is a threshold: the second of two classes is predicted where its probability "
    "is at least that; {class: threshold} names the class. A cost matrix (rows: true class) or "
    "{true: {predicted: cost}} predicts the class with the lowest expected cost; errors that are "
    'not named cost 1, and "absolute" charges the distance between classes in their order.'
)
"""What the parameter `decision` does."""


def read_decision(
    decision: Any,
    class_names: Sequence[str],
    shares: Sequence[float] | None = None,
    option: str = "decision",
) -> Decision | None:
    """Read a decision that a user gave; errors start with the option. None is accuracy.

    Parameters
    ----------
    decision : str, number, mapping, array, Decision or None
        "accuracy" or None, "balanced", a threshold for the second of two classes or ``{class:
        threshold}``, or costs as ``costs_of`` takes them.
    class_names : sequence of str
        Class labels as text.
    shares : sequence of float, optional
        Share of each class in the training rows, for "balanced".
    option : str
        How the user calls it.
    """
    if decision is None or (isinstance(decision, str) and decision == "accuracy"):
        return None
    if isinstance(decision, str) and decision not in ("balanced", "absolute"):
        raise ValueError(
            f'{option}={decision!r} must be "accuracy", "balanced", a threshold between 0 and 1, '
            '{class: threshold}, a cost matrix or "absolute"'
        )
    try:
        return _decision_of(decision, class_names, shares).check(class_names)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{option}: {error}") from None


def _decision_of(
    decision: Any, class_names: Sequence[str], shares: Sequence[float] | None
) -> Decision:
    if isinstance(decision, Decision):
        return decision
    if isinstance(decision, str) and decision == "balanced":
        if shares is None:
            raise ValueError(
                '"balanced" needs the class shares of the training rows, which this model does not '
                "hold; give Balanced(shares) with one share per class"
            )
        return Balanced(tuple(shares))
    if isinstance(decision, numbers.Real) and not isinstance(decision, bool):
        return Threshold(float(decision))
    if isinstance(decision, Mapping) and len(decision) == 1:
        ((label, value),) = decision.items()
        if isinstance(value, numbers.Real):
            return Threshold(float(value), place_of(label, class_names))
    return LowestCost(costs_of(decision, class_names))
