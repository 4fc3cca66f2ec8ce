"""Parts of a table, and the places where they are kept.

A fit asks the same question of every part and adds up the answers. `Parts` says how: here one part
after the other on threads of this process, in `scale.dask` as tasks on the workers of a cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Protocol, Self

from rulewright import kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


@dataclass(frozen=True)
class TablePart:
    """Some rows as they were given: a table of any container, with target and weights."""

    title: str
    X: Any
    y: Any = None
    sample_weight: Any = None


class KeptObjects(Protocol):
    """Objects that are kept somewhere and asked the same questions."""

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each of them and add up the answers; None if one of them is None."""

    def close(self) -> None:
        """Let go of them."""


class Parts(KeptObjects, Protocol):
    """Objects that are kept somewhere, one for each part of a table."""

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part and bring the answers here, in the order of the parts."""

    def become(self, function: Callable[..., Any], *args: Any) -> KeptObjects:
        """Return what a function makes of lists of these, kept where these are."""


class LocalParts:
    """Parts in this process.

    Parameters
    ----------
    parts : iterable
        The parts.
    n_threads : int
        Threads that share them; answers do not depend on it.
    """

    def __init__(self, parts: Iterable[Any], n_threads: int = 1) -> None:
        self.parts: list[Any] = list(parts)
        self.n_threads = max(1, min(n_threads, len(self.parts)))

    def map(self, function: Callable[..., Any], *args: Any) -> list[Any]:
        """Call a function for each part."""
        return self._run_threads(lambda part: function(part, *args), self.parts)

    def total(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call a function for each part and add up the answers, on each thread by itself."""
        return add_answers(
            self._run_threads(lambda share: total_of(share, function, *args), self._shares)
        )

    def become(self, function: Callable[..., Any], *args: Any) -> Self:
        """Return what a function makes of the parts of each thread."""
        made = self._run_threads(lambda share: function(share, *args), self._shares)
        return type(self)(made, self.n_threads)

    def close(self) -> None:
        """Let go of the parts."""
        self.parts = []

    @property
    def _shares(self) -> list[list[Any]]:
        """The parts of each thread."""
        return [self.parts[k :: self.n_threads] for k in range(self.n_threads)]

    def _run_threads(self, call: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        if self.n_threads == 1:
            return [call(item) for item in items]
        with kernels.ThreadPool(self.n_threads) as pool:
            return list(pool.map(call, items))


def total_of(parts: Sequence[Any], function: Callable[..., Any], *args: Any) -> Any:
    """Add up the answers of some parts; None if one of them is None."""
    total = None
    for part in parts:
        answer = function(part, *args)
        if answer is None:
            return None
        total = answer if total is None else total + answer
    return total


def add_answers(answers: Sequence[Any]) -> Any:
    """Add up answers; None if one of them is None."""
    return None if any(answer is None for answer in answers) else reduce(add, answers)
