"""Records of trials in a file of JSON lines: appended as they come, found again after a crash.

A record is written with one call and forced to the disk. A run that is killed while writing
leaves at most an incomplete last line; the next run cuts it off and repeats that trial.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rulewright.experiments.trial import Record


class RecordsError(ValueError):
    """The file is in use, or is no file of records."""


class Records:
    """A file of records, open for one run at a time.

    Parameters
    ----------
    path : Path
        File of JSON lines; it is created when missing.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Record] = {}
        self._file = -1

    def __enter__(self) -> Self:
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            self._lock()
            self._read()
        except BaseException:
            os.close(self._file)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        os.close(self._file)

    def append(self, record: Record) -> None:
        """Write a record at once and for good."""
        line = (json.dumps(record) + "\n").encode()
        if os.write(self._file, line) != len(line):  # the next run cuts off what is there of it
            raise OSError(f"{self.path}: a record could not be written whole; is the disk full?")
        os.fsync(self._file)
        self.known[record["key"]] = record

    def drop(self, keys: Iterable[str]) -> None:
        """Forget some records, in the file too, so that their trials are run again."""
        for key in keys:
            self.known.pop(key, None)
        text = "".join(json.dumps(record) + "\n" for record in self.known.values())
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(self.path)
        fresh = os.open(self.path, os.O_RDWR | os.O_APPEND)
        os.close(self._file)
        self._file = fresh
        self._lock()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise RecordsError(
                f"{self.path}: another run is writing to this file. Wait for it, or take another "
                "folder with --out."
            ) from None

    def _read(self) -> None:
        lines = self.path.read_bytes().split(b"\n")
        whole = len(b"\n".join(lines[:-1])) + (len(lines) > 1)
        if lines[-1]:  # the run before was killed while it wrote
            os.ftruncate(self._file, whole)
        for number, line in enumerate(lines[:-1], start=1):
            record = _parsed(line)
            if record is None:
                raise RecordsError(
                    f"{self.path}: line {number} is no record. Move the file away, or take another "
                    "folder with --out."
                )
            self.known[record["key"]] = record


def _parsed(line: bytes) -> Record | None:
    record: Any = None
    with contextlib.suppress(ValueError):
        record = json.loads(line)
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None
