"""How a command ends when it is told to: temporary files are removed, a closed pipe is no error."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def clear_when_ended() -> Iterator[None]:
    """Remove temporary files on a request to terminate (SIGTERM), as after an error."""
    asked: list[int] = []

    def end(number: int, frame: object) -> None:
        asked.append(128 + number)
        sys.exit(asked[0])

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    except Exception:
        if asked:  # native code has turned it into another error
            sys.exit(asked[0])
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


def ignore_closed_output() -> None:
    """Send the rest of the output nowhere: its reader, such as `head`, has enough."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
