"""Long native jobs as short calls, so that Ctrl-C, time limits and progress work."""

from __future__ import annotations

import time
from collections.abc import Callable

Progress = Callable[[int, float], object]
"""Called with the work done and the best result so far; a true value cancels the job."""

CALL_SECONDS = 0.05
PROGRESS_SECONDS = 0.2


class Slices:
    """The size of the next call, and whether there is one; `progress` is called every 0.2 s."""

    def __init__(self, time_limit: float | None, progress: Progress | None) -> None:
        if time_limit is not None and not time_limit >= 0:
            raise ValueError(f"time_limit={time_limit!r} must be at least 0 seconds, or none")
        self.size = 16
        self.reason: str | None = None
        self._progress = progress
        self._called = self._reported = time.monotonic()
        self._end = float("inf") if time_limit is None else self._called + time_limit

    def go_on(self, n_done: int, best: Callable[[], float]) -> bool:
        """Note the end of a call, and return whether there is another."""
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
