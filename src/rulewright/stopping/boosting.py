"""Stopping rules of boosted fits: when further rules are not worth learning.

A stopping rule is a frozen object with settings; `start` creates a `Watch` over one fit, which is
notified of every rule. To add a stopping rule, add two classes here and an entry in `STOPPING`.
"""

from __future__ import annotations

import math
import sys
from collections import deque
from dataclasses import dataclass
from functools import cache
from numbers import Integral, Real
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rulewright.data import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEVEL = 0.05
CHANCES = ("prior", "uniform")


class Progress(NamedTuple):
    """Facts about the rule just added.

    `classes` are the classes it votes for, `outside` the weight of each class among the covered
    rows outside its subsample, `validation_loss` the loss on validation rows (NaN if there are
    none).
    """

    classes: slice
    outside: Callable[[], Sequence[float]]
    validation_loss: float


class Watch:
    """Observes one fit; this class never stops it.

    Attributes
    ----------
    best_size : int or None
        Number of rules to keep; None keeps all.
    trace : dict of lists
        Records after each rule.
    """

    best_size: int | None = None

    def __init__(self) -> None:
        self.trace: dict[str, list[float]] = {}

    def stop_after(self, progress: Progress) -> bool:
        """Record the next rule, and return whether learning should stop."""
        return False


@dataclass(frozen=True)
class Stopping:
    """Never stop before all rules are learned; base class of the stopping rules."""

    name: ClassVar[str] = "none"
    needs_outside: ClassVar[bool] = False
    """Whether rules are tested on the rows outside their subsample."""

    @property
    def kept_aside(self) -> float:
        """Share of the rows held out for the validation loss."""
        return 0.0

    def start(self, shares: Sequence[float], loss: float) -> Watch:
        """Return the watch over a fit, given the class shares and the validation loss."""
        return Watch()


@dataclass(frozen=True)
class Window(Stopping):
    """Stop when too many of the last rules are no better than chance outside their subsample.

    Parameters
    ----------
    size : int
        Number of last rules in the window.
    most_bad : int, optional
        Number of bad rules in the window that stops the fit; by default the binomial critical value
        at 5 %, 32 of 50. The paper uses 8 of 10: a level of 0.0547 for one window, and a far larger
        one for a window that slides over hundreds of rules. A larger window reduces this.
    chance : {"prior", "uniform"}
        Chance level of the share of correct votes: the share of the voted classes among the
        training rows ("prior"), or among all classes (1/K for one of K), as in the paper.
    """

    size: int = 50
    most_bad: int | None = None
    chance: str = "prior"

    name: ClassVar[str] = "window"
    needs_outside: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_whole("size", self.size)
        if self.most_bad is not None:
            _check_whole("most_bad", self.most_bad)
            if self.most_bad > self.size:
                raise ValueError(
                    f"most_bad={self.most_bad} must be at most size={self.size}: a window cannot "
                    "have more bad rules than rules"
                )
        if self.chance not in CHANCES:
            raise ValueError(f"chance={self.chance!r} must be one of {', '.join(CHANCES)}")

    def start(self, shares: Sequence[float], loss: float) -> Watch:
        """Return the watch over a fit."""
        if self.chance == "uniform":
            shares = [1 / len(shares)] * len(shares)
        return _WindowWatch(WindowTest(self.size, self.most_bad), shares)


@dataclass(frozen=True)
class Validation(Stopping):
    """Stop when the validation log-loss does not improve; keep the best model.

    Parameters
    ----------
    validation_fraction : float
        Share of the rows held out for validation, above 0 and at most 0.9.
    n_iter_no_change : int
        Number of rules to wait for an improvement.
    """

    validation_fraction: float = 0.1
    n_iter_no_change: int = 50

    name: ClassVar[str] = "validation"

    def __post_init__(self) -> None:
        share = self.validation_fraction
        if isinstance(share, bool) or not isinstance(share, Real) or not 0 < share <= 0.9:
            raise ValueError(
                f"validation_fraction={share!r} must be a number above 0 and at most 0.9"
            )
        _check_whole("n_iter_no_change", self.n_iter_no_change)

    @property
    def kept_aside(self) -> float:
        """Share of the rows that the fit holds out."""
        return self.validation_fraction

    def start(self, shares: Sequence[float], loss: float) -> Watch:
        """Return the watch over a fit."""
        return _ValidationWatch(EarlyStopping(self.n_iter_no_change, loss))


STOPPING: dict[str, type[Stopping]] = {"none": Stopping, "window": Window, "validation": Validation}
"""The stopping rules by name."""


class _WindowWatch(Watch):
    def __init__(self, window: WindowTest, guess: Sequence[float]) -> None:
        self.window, self.guess, self.acceptable = window, guess, list[float]()
        self.trace = {"acceptable": self.acceptable}

    def stop_after(self, progress: Progress) -> bool:
        weights = progress.outside()
        total = sum(weights)
        if total == 0:  # no row to test the rule on
            self.acceptable.append(math.nan)
            return False
        good = sum(weights[progress.classes]) > sum(self.guess[progress.classes]) * total
        self.acceptable.append(good)
        return self.window.stop_after(good)


class _ValidationWatch(Watch):
    def __init__(self, early: EarlyStopping) -> None:
        self.early, self.losses, self.best_size = early, list[float](), 0
        self.trace = {"validation_loss": self.losses}

    def stop_after(self, progress: Progress) -> bool:
        self.losses.append(progress.validation_loss)
        stop = self.early.stop_after(progress.validation_loss)
        self.best_size = self.early.best_size
        return stop


@cache
def more_than_chance(n: int) -> int:
    """Return the number of heads in `n` tosses of a fair coin with probability at most 0.05."""
    binom = optional("scipy.stats").binom  # slow to import
    return min(n, int(binom.isf(LEVEL, n, 0.5)) + 1)


class WindowTest:
    """Stop when at least `most_bad` of the last `window` rules were unacceptable."""

    def __init__(self, window: int, most_bad: int | None = None) -> None:
        size = min(int(window), sys.maxsize)
        self.most_bad = more_than_chance(size) if most_bad is None else most_bad
        self.acceptable: deque[bool] = deque(maxlen=size)

    def stop_after(self, acceptable: bool) -> bool:
        """Record the next rule."""
        self.acceptable.append(acceptable)
        full = len(self.acceptable) == self.acceptable.maxlen
        return full and self.acceptable.count(False) >= self.most_bad


class EarlyStopping:
    """Stop when a loss has not improved for `n_iter_no_change` rules since `best_size`."""

    def __init__(self, n_iter_no_change: int, start: float) -> None:
        self.n_iter_no_change, self.best, self.best_size, self.size = n_iter_no_change, start, 0, 0

    def stop_after(self, loss: float) -> bool:
        """Record the loss after the next rule."""
        self.size += 1
        if loss < self.best:
            self.best, self.best_size = loss, self.size
        return self.size - self.best_size >= self.n_iter_no_change


def _check_whole(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise ValueError(f"{name}={value!r} must be a whole number >= 1")
