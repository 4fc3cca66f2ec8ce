"""Attempts with planted defects, for workers of the attack."""

import os
import signal
import time

from attack.attempts import Note


def sound(rng, folder):
    """Find nothing in three tries."""
    print("a library may print what it likes")
    yield Note("nothing is planted here")
    for _ in range(3):
        (folder / "file").write_text("gone afterwards")
        yield None


def finding(rng, folder):
    """Find one thing in two tries."""
    yield None
    yield f"planted {rng.integers(1000)}"


def error(rng, folder):
    """Raise in the second try."""
    yield None
    raise ZeroDivisionError("planted")


def crash(rng, folder):
    """Die of a signal."""
    yield None
    print("last words", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def leave(rng, folder):
    """End the process without a report."""
    yield None
    os._exit(3)


def hang(rng, folder):
    """Never end."""
    yield None
    time.sleep(1000)
