"""Stopping rules. Each is told one number per rule and answers whether to stop."""

from __future__ import annotations

import sys
from collections import deque

from scipy.stats import binom

LEVEL = 0.05


def more_than_chance(n: int) -> int:
    """Return how many heads of `n` throws a fair coin shows with a probability of at most 0.05."""
    return min(n, int(binom.isf(LEVEL, n, 0.5)) + 1)


class WindowTest:
    """Stop when at least `most_bad` of the last `window` rules were unacceptable.

    By default these are so many that a fair coin shows them with a probability of at most 0.05:
    32 of 50. The paper takes 8 of 10; that is 0.0547 for one window, and far from it for a window
    that slides over hundreds of rules. A larger window slides less.
    """

    def __init__(self, window: int, most_bad: int | None = None) -> None:
        size = min(int(window), sys.maxsize)
        self.most_bad = more_than_chance(size) if most_bad is None else most_bad
        self.acceptable: deque[bool] = deque(maxlen=size)

    def stop_after(self, acceptable: bool) -> bool:
        """Take in the next rule."""
        self.acceptable.append(acceptable)
        full = len(self.acceptable) == self.acceptable.maxlen
        return full and self.acceptable.count(False) >= self.most_bad


class EarlyStopping:
    """Stop when a loss has not improved for `n_iter_no_change` rules since `best_size`."""

    def __init__(self, n_iter_no_change: int, start: float) -> None:
        self.n_iter_no_change, self.best, self.best_size, self.size = n_iter_no_change, start, 0, 0

    def stop_after(self, loss: float) -> bool:
        """Take in the loss after the next rule."""
        self.size += 1
        if loss < self.best:
            self.best, self.best_size = loss, self.size
        return self.size - self.best_size >= self.n_iter_no_change
