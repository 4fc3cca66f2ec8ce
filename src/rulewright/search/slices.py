"""Long native jobs in short calls, so that Ctrl-C, time limits and progress work."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    Progress = Callable[[int, float], object]
    """Gets the work done and the best so far; the job ends if it returns a true value."""

CALL_SECONDS = 0.05
PROGRESS_SECONDS = 0.2


class Slices:
    """The size of the next call, and whether there may be one.

    Parameters
    ----------
    time_limit : float or None
        Seconds from now on.
    progress : function or None
        Is called about five times a second.
    """

    def __init__(self, time_limit: float | None, progress: Progress | None) -> None:
        if time_limit is not None and not time_limit >= 0:
            raise ValueError(f"time_limit={time_limit!r} must be at least 0 seconds, or none")
        self.size = 16
        self.reason: str | None = None
        self._progress = progress
        self._called = self._told = time.monotonic()
        self._end = float("inf") if time_limit is None else self._called + time_limit

    def go_on(self, n_done: int, best: Callable[[], float]) -> bool:
        """Take note of the end of a call; tell whether there is time for another."""
        now = time.monotonic()
        seconds = min(CALL_SECONDS, max(self._end - now, 0.0)) / max(now - self._called, 1e-6)
        self.size = max(1, round(self.size * min(seconds, 4.0)))
        self._called = now
        if now >= self._end:
            self.reason = "time"
        elif self._progress is not None and now >= self._told + PROGRESS_SECONDS:
            self._told = now
            if self._progress(n_done, best()):
                self.reason = "cancelled"
        return self.reason is None
