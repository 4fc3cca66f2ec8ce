"""One thread for linear algebra: more cost time in narrow products, and change the last bits."""

from __future__ import annotations

from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _controller() -> Any:
    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Hold BLAS to one thread, in the whole process."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit


def on_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function run with one thread of BLAS."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with one_thread():
            return function(*args, **kwargs)

    return limited
