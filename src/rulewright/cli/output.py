"""Output files that are written whole or not at all, and standard output."""

import gzip
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

STDOUT = Path("-")


def check_output(path: Path, option: str) -> None:
    """Raise an error that names the option if a path cannot be written, before any work is done."""
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: the folder {folder} does not exist. Create it first.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} {path}: this is not a regular file. Give the name of a file.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} {path}: the folder {folder} is not writable. Choose another.")


@contextmanager
def open_output(path: Path) -> Iterator[TextIO]:
    """Open standard output for "-", or a file that replaces `path` only if no error occurs.

    A name that ends in .gz gives a gzipped file.
    """
    if path == STDOUT:
        yield sys.stdout
        return
    final = Path(os.path.realpath(path))
    temporary = final.with_name(f".{final.name}.{secrets.token_hex(8)}.tmp")
    try:
        with _open_new(temporary, zipped=final.suffix == ".gz") as file:
            yield file
        temporary.replace(final)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _open_new(path: Path, *, zipped: bool) -> TextIO:
    if zipped:
        return gzip.open(path, "xt", encoding="utf-8", newline="")
    return path.open("x", encoding="utf-8", newline="")
