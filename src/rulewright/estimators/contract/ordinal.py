"""Targets whose classes form a scale."""

from __future__ import annotations

from typing import Any

from rulewright.data import DataError, Target

ORDINAL = (
    'Whether the classes form a scale: rules then vote for "at least" or "at most" a class. A list '
    "has the classes from low to high; True takes the order that ordered categories declare, or "
    "else that of numbers. The order of words is never guessed."
)
"""What the parameter `ordinal` of learners does."""


def ordered_target(target: Target, ordinal: Any) -> Target:
    """Return the target with its classes from low to high, as `ordinal` says.

    Parameters
    ----------
    target : Target
        The classes of the rows.
    ordinal : bool or sequence
        False leaves them as they are; True takes the order that ordered categories declare, or
        else that of numbers, and is an error for other classes; a sequence has the classes from
        low to high.
    """
    if ordinal is False:
        return target
    if ordinal is not True:
        try:
            return target.with_order(list(ordinal))
        except DataError as error:
            raise DataError(f"ordinal: {error}") from None
    if target.declared_order is not None:
        return target.with_order(target.declared_order)
    if target.classes.dtype.kind in "iufb":
        return target
    found = target.declared or tuple(map(str, target.classes))
    raise DataError(
        "ordinal=True takes the order of numbers or of ordered categories, but the classes are "
        f"words without an order: {', '.join(map(repr, found))}. List them from low to high, as in "
        "ordinal=['low', 'medium', 'high'], or declare ordered categories."
    )
