"""Suggestions for mistyped names."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED_NAMES = 20


def offer_names(name: str, known: Sequence[str]) -> str:
    """Suggest the names most similar to a mistyped one, or list those that exist."""
    by_lower = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3)
    if near:
        return f"Did you mean {' or '.join(by_lower[match] for match in near)}?"
    more = ", ..." if len(known) > _LISTED_NAMES else ""
    return f"There are: {', '.join(known[:_LISTED_NAMES])}{more}."
