"""The end of a fit with a time limit."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Self

from rulewright.data import ModelWarning
from rulewright.estimators.contract.warn import warn_caller

GRACE = 1.0
"""Seconds after the end in which every class may still get its first rules."""


@dataclass(frozen=True)
class Deadline:
    """When a fit ends, on the monotonic clock."""

    end: float = math.inf

    @classmethod
    def of(cls, seconds: float | None, share: float = 1.0) -> Self:
        """Start the clock, for a share of the seconds; None is no limit."""
        return cls() if seconds is None else cls(time.monotonic() + share * seconds)

    @property
    def left(self) -> float | None:
        """Seconds until the end, at least 0; None without a limit."""
        return None if self.end == math.inf else max(0.0, self.end - time.monotonic())

    @property
    def is_over(self) -> bool:
        """Whether no further work may start, but for the first rules of a class."""
        return self.left == 0.0

    @property
    def is_long_over(self) -> bool:
        """Whether no work at all may start."""
        return time.monotonic() >= self.end + GRACE


def warn_of_time_limit(learner: str, seconds: float | None, n_without: int, n_classes: int) -> None:
    """Warn of classes whose rules were not searched for lack of time."""
    if n_without:
        warn_caller(
            f"{learner}: time_limit={seconds} was over before {n_without} of {n_classes} classes "
            "were searched; no rule predicts these classes. Raise time_limit.",
            ModelWarning,
        )
