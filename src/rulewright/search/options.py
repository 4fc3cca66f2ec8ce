"""Options of searches: checks, and time limits of native jobs."""

from __future__ import annotations

import time
from collections.abc import Callable
from numbers import Integral

from rulewright.data import offer_names as offer_names
from rulewright.kernels import usable_cpus

MOST_THREADS = 1024
"""Maximum number of threads: operating systems end processes that start too many."""


def check_whole(name: str, value: object, least: int) -> None:
    """Raise a ValueError unless the value is an integer of at least `least`."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")


def check_share(name: str, value: float) -> None:
    """Raise a ValueError unless the value is a probability."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name}={value!r} must lie between 0 and 1")


def count_threads(n_jobs: object) -> int:
    """Return the number of threads by scikit-learn's convention for `n_jobs`."""
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r} must be an integer other than 0, or None")
    jobs = int(n_jobs)
    if jobs > MOST_THREADS:
        raise ValueError(f"n_jobs={jobs} must be at most {MOST_THREADS}; -1 uses all processors")
    return jobs if jobs > 0 else max(1, usable_cpus() + 1 + jobs)


Progress = Callable[[int, float], object]
"""Called with the amount of work done and the best result so far; return True to cancel."""

CALL_SECONDS = 0.05
PROGRESS_SECONDS = 0.2


class Slices:
    """Sizes of successive calls, until a limit; `progress` is called every 0.2 s."""

    def __init__(self, time_limit: float | None, progress: Progress | None) -> None:
        if time_limit is not None and not time_limit >= 0:
            raise ValueError(f"time_limit={time_limit!r} must be at least 0 seconds, or None")
        self.size = 16
        self.reason: str | None = None
        self._progress = progress
        self._called = self._reported = time.monotonic()
        self._end = float("inf") if time_limit is None else self._called + time_limit

    def go_on(self, n_done: int, best: Callable[[], float]) -> bool:
        """Record the end of a call, and return whether to make another."""
        now = time.monotonic()
        seconds = min(CALL_SECONDS, max(self._end - now, 0.0)) / max(now - self._called, 1e-6)
        self.size = max(1, round(self.size * min(seconds, 4.0)))
        self._called = now
        if now >= self._end:
            self.reason = "time"
        elif self._progress is not None and now >= self._reported + PROGRESS_SECONDS:
            self._reported = now
            if self._progress(n_done, best()):
                self.reason = "cancelled"
        return self.reason is None
