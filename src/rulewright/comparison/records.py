"""Records of trials in a file of JSON lines, which survive a crash.

A record is written with one call and forced to the disk. A run that is killed while writing
leaves at most an incomplete last line; the next run cuts it off and repeats that trial.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from typing import TYPE_CHECKING, Any, Self

from rulewright.data import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from rulewright.comparison.trial import Record


class RecordsError(ValueError):
    """The file is in use, or is no file of records."""


class Records:
    """A file of JSON lines, open for one run at a time; its lock is the file ``<path>.lock``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[str, Record] = {}
        self._file = -1
        self._lock = -1

    def __enter__(self) -> Self:
        self._lock = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lock)
            raise RecordsError(
                f"{self.path}: another run is writing to this file. Wait for it, or take another "
                "folder with --out."
            ) from None
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            self._read()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        if self._file >= 0:
            os.close(self._file)
        os.close(self._lock)  # which releases it

    def append(self, record: Record) -> None:
        """Write a record to the disk."""
        line = (json.dumps(record) + "\n").encode()
        if os.write(self._file, line) != len(line):  # the next run cuts off the incomplete line
            raise OSError(f"{self.path}: a record was written incompletely; is the disk full?")
        os.fsync(self._file)
        self.known[record["key"]] = record

    def drop(self, keys: Iterable[str]) -> None:
        """Remove some records, from the file too, so that their trials are run again."""
        for key in keys:
            self.known.pop(key, None)
        text = "".join(json.dumps(record) + "\n" for record in self.known.values())
        os.close(self._file)  # before it is replaced: Windows refuses to replace an open file
        self._file = -1
        replace_file(self.path, text.encode())
        self._file = os.open(self.path, os.O_RDWR | os.O_APPEND)

    def _read(self) -> None:
        lines = self.path.read_bytes().split(b"\n")
        whole = len(b"\n".join(lines[:-1])) + (len(lines) > 1)
        if lines[-1]:  # the previous run was killed while it wrote
            os.ftruncate(self._file, whole)
        for number, line in enumerate(lines[:-1], start=1):
            record = _parse_record(line)
            if record is None:
                raise RecordsError(
                    f"{self.path}: line {number} is no record. Move the file away, or take another "
                    "folder with --out."
                )
            self.known[record["key"]] = record


def _parse_record(line: bytes) -> Record | None:
    record: Any = None
    with contextlib.suppress(ValueError):
        record = json.loads(line)
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None
