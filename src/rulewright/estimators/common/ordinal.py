"""Targets whose classes form a scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rulewright.data import Target


def ordered_target(target: Target, ordinal: Any) -> Target:
    """Return the target with its classes from low to high, as `ordinal` says.

    Parameters
    ----------
    target : Target
        The classes of the rows.
    ordinal : bool or sequence
        False leaves them as they are; True takes the order that ordered categories declare, or
        else that of sorted labels; a sequence has the classes from low to high.
    """
    if ordinal is False:
        return target
    if ordinal is not True:
        return target.ordered(list(ordinal))
    if target.declared_order is not None:
        return target.ordered(target.declared_order)
    declared, found = target.declared, tuple(map(str, target.classes))
    if declared is not None and declared != found:
        raise ValueError(
            f"ordinal=True takes the classes in the order {' < '.join(found)}, but the target "
            f"declares {', '.join(declared)} without an order: say ordinal={list(declared)!r}, "
            "or whichever order is meant"
        )
    return target
