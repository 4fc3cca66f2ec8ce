"""Atomic replacement of files."""

import os
import secrets
from pathlib import Path


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file in one step: readers see the old one or the new one, never a part."""
    final = os.path.realpath(path)
    temporary = f"{final}.{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, final)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
