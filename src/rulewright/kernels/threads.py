"""Python threads, as many as the system allows."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")


class ThreadPool(ThreadPoolExecutor):
    """A pool whose tasks run in the calling thread if no further thread can be started."""

    def __init__(self, n_threads: int) -> None:
        self._prefix = f"rulewright-{id(self)}-"
        super().__init__(n_threads, self._prefix)

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        # The base class does not know a thread that was starting when the user pressed Ctrl-C.
        while any(thread.name.startswith(self._prefix) for thread in threading.enumerate()):
            time.sleep(0.001)

    def submit(  # noqa: D102 - as in the base class
        self, fn: Callable[..., Result], /, *args: Any, **kwargs: Any
    ) -> Future[Result]:
        task = _Task(lambda: fn(*args, **kwargs))
        try:
            super().submit(task)
        except RuntimeError:  # the task may be queued for threads that were started earlier
            task()
        return task.future


class _Task:
    """A call that is executed once, by the first thread that reaches it."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call, self.begun = call, threading.Lock()
        self.future: Future[Any] = Future()

    def __call__(self) -> None:
        if not self.begun.acquire(blocking=False) or not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.call())
        except BaseException as error:
            self.future.set_exception(error)
            if not isinstance(error, Exception):  # Ctrl-C in the caller
                raise
