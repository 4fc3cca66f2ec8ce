"""Checks of options with errors that name them, and suggestions for mistyped names."""

from __future__ import annotations

import difflib
from numbers import Integral
from typing import TYPE_CHECKING

from rulewright.kernels import usable_cpus

if TYPE_CHECKING:
    from collections.abc import Sequence


MOST_THREADS = 1024
"""A process that starts more threads than the system allows is ended."""


def check_whole(name: str, value: object, least: int) -> None:
    """Raise a ValueError unless this is a whole number of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")


def check_share(name: str, value: float) -> None:
    """Raise a ValueError unless this is a probability."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r} must lie between 0 and 1")


def count_threads(n_jobs: object) -> int:
    """Return the number of threads by scikit-learn's convention for `n_jobs`."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or none")
    jobs = int(n_jobs)
    if jobs > MOST_THREADS:
        raise ValueError(f"n_jobs={jobs} must be at most {MOST_THREADS}; -1 takes all processors")
    return jobs if jobs > 0 else max(1, usable_cpus() + 1 + jobs)


_LISTED_NAMES = 20


def offer_names(name: str, known: Sequence[str]) -> str:
    """Suggest the names most similar to a mistyped one, or list those that exist."""
    by_lower = {other.lower(): other for other in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3)
    if near:
        return f"Did you mean {' or '.join(by_lower[match] for match in near)}?"
    more = ", ..." if len(known) > _LISTED_NAMES else ""
    return f"There are: {', '.join(known[:_LISTED_NAMES])}{more}."
