"""Damage data files of all formats: a clear error or a table, and never a changed checked one."""

from __future__ import annotations

import gzip
import os
import resource
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from attack import bombs, tables
from attack.attempts import Outcome, told
from attack.randoms import chance, pick
from attack.readers import unequal
from rulewright.data import DataError, Table, read_like, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng

_FILES = 10
_SECONDS = 5.0
_BOMBS, _BUDGET = 0.05, 1 << 26
_MOST_GROWTH = 10 * _BUDGET  # text is read into objects before it is counted as cells
_BYTES = np.frombuffer(b"\"'\\,;|\t\n\r{}?%@ \0\xff\xfe\xc3eE+-.019axNULL[]:", dtype=np.uint8)
_ENCODINGS: tuple[str, ...] = (
    "latin-1",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "utf-8-sig",
    "utf-7",
    "cp1252",
)
_CLAIMED = (
    *_ENCODINGS,
    "rot13",
    "base64",
    "zlib",
    "punycode",
    "idna",
    "undefined",
    "",
    "a\0b",
    "x",
)
"""What a user may say of a file: some are no encodings of text."""


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Damage files of one random table."""
    yield _refuses_pipe(folder / f"pipe.{pick(rng, list(tables.FORMATS))}")
    if chance(rng, _BOMBS):
        yield _refuses_bomb(bombs.write(rng, folder))
    table = tables.columns(rng, most_rows=40)
    for _ in range(_FILES):
        extension = pick(rng, list(tables.FORMATS))
        path = tables.write(folder, table, extension)
        content = path.read_bytes()
        if extension.endswith(".gz") and chance(rng, 0.6):
            whole = read_table(path)
            path.write_bytes(damaged(rng, content, keep_whole=True))
            yield read_well(path, whole)
            continue
        if extension.endswith(".gz"):
            content = _rezipped(rng, gzip.decompress(content))
        else:
            content = _recoded(rng, content) if chance(rng, 0.1) else damaged(rng, content)
        path.write_bytes(content)
        options: dict[str, Any] = {"encoding": pick(rng, _CLAIMED)} if chance(rng, 0.1) else {}
        yield read_well(path, None, **options)


def _refuses_pipe(path: Path) -> Outcome:
    """Read a pipe that nobody writes to: waiting for it would be a hang."""
    os.mkfifo(path)
    return read_well(path)


def _refuses_bomb(path: Path) -> Outcome:
    """Read a bomb within a budget: the memory that this process needs grows by little more."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = read_well(path, max_unzipped_bytes=_BUDGET)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    if found is None and grown > _MOST_GROWTH:
        return f"{path.name}: reading took {grown >> 20} MB beyond a budget of {_BUDGET >> 20} MB"
    return found


def read_well(path: Path, whole: Table | None = None, **options: Any) -> Outcome:
    """Read a damaged file: a DataError or a table, which is the whole one if it is checksummed.

    Small files must not need much time, of the processor and not of the clock.
    """
    began = time.process_time()
    found = _read_well(path, whole, options)
    seconds = time.process_time() - began
    if found is None and seconds > _SECONDS:
        found = f"{path.name}: reading took {seconds:.0f} s of processor time"
    return found


def _read_well(path: Path, whole: Table | None, options: dict[str, Any]) -> Outcome:
    try:
        found = read_table(path, **options)
        begin = path.read_bytes()[:2]
        if whole and begin == b"\x1f\x8b" and (changed := unequal(found, whole)):
            return f"{path.name}: a damaged gzip file was read, and the table differs: {changed}"
        read_like(path, found.schema, needed=found.names[:1])
    except DataError:
        return None
    except Exception as error:
        begin = path.read_bytes()[:300]
        return f"{path.name}: {told(error)}; the file begins with {begin!r}"
    return None


def damaged(rng: Rng, content: bytes, *, keep_whole: bool = False) -> bytes:
    """Flip, cut, insert, repeat or splice a few bytes; never so that the whole stands twice."""
    data = bytearray(content)
    for _ in range(int(pick(rng, (1, 1, 2, 5)))):
        at, turn = int(rng.integers(len(data) or 1)), rng.random()
        length = int(pick(rng, (1, 2, 5, 40)))
        if turn < 0.35 and data:
            data[at % len(data)] ^= 1 << int(rng.integers(8))
        elif turn < 0.5:
            data[at : at + length] = rng.choice(_BYTES, length).tobytes()
        elif turn < 0.6:
            data[at:at] = rng.choice(_BYTES, length).tobytes()
        elif turn < 0.7:
            del data[at : at + length]
        elif turn < 0.8:
            del data[at:]
        elif turn < 0.9:
            data[at:at] = data[at : at + (min(length, 17) if keep_whole else 4 * length)]
        else:
            there = int(rng.integers(len(data) or 1))
            data[at : at + length] = data[there : there + length]
    return bytes(data)


def _recoded(rng: Rng, content: bytes) -> bytes:
    """Write text in another encoding; binary files are cut instead."""
    try:
        return content.decode().encode(pick(rng, _ENCODINGS), errors="replace")
    except UnicodeDecodeError:
        return content[: len(content) // 2]


def _rezipped(rng: Rng, content: bytes) -> bytes:
    """Zip damaged content: in two parts, twice, with rubbish or zeros behind it."""
    content = damaged(rng, content)
    at, turn = int(rng.integers(len(content) + 1)), int(rng.integers(4))
    if turn == 0:
        return gzip.compress(content[:at]) + gzip.compress(content[at:])
    zipped = gzip.compress(content)
    return (gzip.compress(zipped), zipped + b"\0" * 20, zipped + rng.bytes(20))[turn - 1]
