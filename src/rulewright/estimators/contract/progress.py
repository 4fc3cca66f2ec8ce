"""A progress bar for long fits; imports nothing unless it is shown."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from rulewright.data import optional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress_bar(description: str, total: int, show: bool) -> Iterator[Callable[[], None]]:
    """Return a function to call after each step; it draws a bar on standard error if `show`."""
    if not show:
        yield lambda: None
        return
    console = optional("rich.console").Console(stderr=True)
    with optional("rich.progress").Progress(console=console, transient=True) as bar:
        task = bar.add_task(description, total=total)
        yield lambda: bar.advance(task)
