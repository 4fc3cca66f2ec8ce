"""Atomic replacement of files: readers see the old or the new content, never a part."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows has no such locks, but refuses to remove open files
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = ".tmp"


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file atomically."""
    with replacing(path) as file:
        file.write(data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a temporary file that replaces a file when writing ends without an error.

    The new file has the permissions of the old one. A writer that is killed leaves its temporary
    file behind; the next one removes it.
    """
    final = os.path.realpath(path)
    if not os.path.isdir(folder := os.path.dirname(final)):
        reason = f"the folder {folder} does not exist; create it first"
        raise FileNotFoundError(errno.ENOENT, reason, os.fspath(path))
    _remove_remains(final)
    temporary, file = _new_file(final)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # while it is locked
                os.replace(temporary, final)
        if fcntl is None:  # Windows cannot replace a file by an open one
            os.replace(temporary, final)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        # The error of a full disk names no file; a text without a number is all there is.
        if isinstance(error, OSError) and error.errno and error.filename in (None, temporary):
            error.filename = os.fspath(path)
        raise


def _new_file(final: str) -> tuple[str, BinaryIO]:
    """Open a locked temporary file next to the final one, with its permissions."""
    try:
        mode = stat.S_IMODE(os.stat(final).st_mode)
    except FileNotFoundError:
        mode = None
    while True:
        temporary = f"{final}.{secrets.token_hex(8)}{_TEMPORARY}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        file = os.fdopen(os.open(temporary, flags, 0o666 if mode is None else mode), "wb")
        if mode is not None:  # the umask of the process may have narrowed it
            os.chmod(temporary, mode)
        _lock(file.fileno(), wait=True)
        if os.path.exists(temporary):  # not removed as a leftover before it was locked
            return temporary, file
        file.close()


def _remove_remains(final: str) -> None:
    """Remove temporary files of this file whose writers no longer run."""
    folder, name = os.path.split(final)
    with contextlib.suppress(OSError):
        for entry in os.listdir(folder):
            token = entry.removeprefix(f"{name}.").removesuffix(_TEMPORARY)
            if entry == f"{name}.{token}{_TEMPORARY}" and len(token) == 16:
                _remove_unlocked(os.path.join(folder, entry))


def _remove_unlocked(path: str) -> None:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        if _lock(file.fileno(), wait=False):
            os.unlink(path)


def _lock(descriptor: int, *, wait: bool) -> bool:
    """Lock an open file, and return whether nobody else can hold the lock."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:  # locked, or the file system does not support locks
        return False
    return True
