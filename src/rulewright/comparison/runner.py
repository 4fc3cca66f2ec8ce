"""Parallel trials, each in its own process, and their records in a file.

With a new process per trial, threads and memory of one learner do not affect the figures of the
next, and a learner that crashes, hangs or runs out of memory fails one record, not the run.
Processes are forked from a server that has imported everything and started no threads.

A record is a JSON line, written with one call and synced to the disk. A run that is killed while
writing leaves at most one incomplete last line; the next run removes it and repeats that trial.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import multiprocessing
import os
import time
import traceback
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, Self

from rulewright.comparison.trial import processor_seconds
from rulewright.data import replace_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from multiprocessing.context import ForkServerProcess
    from pathlib import Path

    from rulewright.comparison.trial import Job, Record

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PRELOADED = [
    "rulewright.comparison.trial",
    "rulewright.comparison.learners",
    "rulewright.estimators.mlrules",
    "duckdb",
]
"""What trials import: scikit-learn alone takes more than a second."""


def run_trials(
    trials: Sequence[Job],
    records: Records,
    n_jobs: int = 1,
    *,
    time_limit: float | None = None,
    budget: float | None = None,
    extra: Record | None = None,
) -> Iterator[Record]:
    """Run the trials without a record; append and yield their records as they finish.

    A trial is stopped and recorded as failed after `time_limit` seconds. No trial starts after
    `budget` seconds. `extra`, such as the commit, is added to every record.
    """
    waiting = deque(trial for trial in trials if trial.key not in records.known)
    running: list[Run] = []
    end = None if budget is None else time.monotonic() + budget
    try:
        while waiting or running:
            if end is not None and time.monotonic() >= end:
                waiting.clear()
            while waiting and len(running) < n_jobs:
                running.append(Run.start(waiting.popleft()))
            for run in _wait_for_runs(running, time_limit):
                running.remove(run)
                record = {**run.trial.about(), **(extra or {}), **run.result()}
                records.append(record)
                yield record
    finally:
        for run in running:
            run.process.kill()


@dataclass
class Run:
    """A running trial."""

    trial: Job
    process: ForkServerProcess
    pipe: Connection
    begun: float = field(default_factory=time.monotonic)
    stopped_at: float | None = None
    """The time limit that the process was stopped at."""

    @classmethod
    def start(cls, trial: Job) -> Run:
        """Start the process of a trial."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(_PRELOADED)
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_work, args=(trial, theirs, _settings()), daemon=True)
        with _one_thread():
            process.start()
        theirs.close()
        return cls(trial, process, ours)

    def result(self) -> Record:
        """Return the output of the process, or its failure."""
        sent: dict[str, Any] | None = None
        try:
            if self.stopped_at is None and self.pipe.poll():
                sent = self.pipe.recv()
        except EOFError:
            sent = None
        self.pipe.close()
        self.process.join()
        if self.stopped_at is not None:
            return failure(f"not finished within the time limit of {self.stopped_at:g} s")
        if sent is None:
            code = self.process.exitcode
            how = f"signal {-code}" if code is not None and code < 0 else f"exit code {code}"
            return failure(f"the process died with {how}")
        return sent


def failure(problem: str, trace: str = "") -> Record:
    """Return the record of a trial that failed."""
    return {"status": "failed", "problem": problem, "traceback": trace}


def _wait_for_runs(running: Iterable[Run], time_limit: float | None) -> list[Run]:
    """Wait for runs to finish, and stop runs beyond their time limit."""
    ready = wait([run.pipe for run in running], timeout=0.2)
    for run in running:
        late = time_limit is not None and time.monotonic() - run.begun > time_limit
        if late and run.pipe not in ready:
            run.stopped_at = time_limit
            run.process.kill()
    return [run for run in running if run.stopped_at is not None or run.pipe in ready]


def _settings() -> dict[str, str]:
    """Return our environment variables; the server has older ones, from its start."""
    return {name: value for name, value in os.environ.items() if name.startswith("RULEWRIGHT_")}


def _work(trial: Job, pipe: Connection, settings: dict[str, str]) -> None:
    """Run the trial in its own process and send the record."""
    for name in _settings():
        del os.environ[name]
    os.environ.update(settings)
    try:
        record = {"status": "ok", **trial.run()}
    except Exception as error:
        record = failure(f"{type(error).__name__}: {error}", traceback.format_exc(limit=-5))
    pipe.send({"processor_seconds": processor_seconds(), **record})
    pipe.close()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit the libraries of the server to one thread when it is started."""
    before = {name: os.environ.get(name) for name in _ONE_THREAD}
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


class RecordsError(ValueError):
    """The file is in use, or is not a file of records."""


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
                f"{self.path}: another run is writing to this file. Wait for it, or use another "
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
        os.close(self._lock)  # releases the lock

    def append(self, record: Record) -> None:
        """Write a record to the disk."""
        line = (json.dumps(record) + "\n").encode()
        if os.write(self._file, line) != len(line):  # the next run removes the incomplete line
            raise OSError(f"{self.path}: a record was written incompletely; is the disk full?")
        os.fsync(self._file)
        self.known[record["key"]] = record

    def adopt(self, keys: Iterable[str]) -> None:
        """Copy records of these trials from other files of the folder: tables share trials."""
        others = [path for path in self.path.parent.glob("*.records.jsonl") if path != self.path]
        missing = set(keys) - self.known.keys()
        for path in sorted(others) if missing else ():
            for line in path.read_bytes().split(b"\n")[:-1]:
                record = _parse_record(line)
                if record is not None and record["key"] in missing - self.known.keys():
                    self.append(record)

    def drop(self, keys: Iterable[str]) -> None:
        """Remove some records, also from the file, so that their trials run again."""
        for key in keys:
            self.known.pop(key, None)
        text = "".join(json.dumps(record) + "\n" for record in self.known.values())
        os.close(self._file)  # before the replacement: Windows cannot replace an open file
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
                    f"{self.path}: line {number} is not a record. Move the file, or use another "
                    "folder with --out."
                )
            self.known[record["key"]] = record


def _parse_record(line: bytes) -> Record | None:
    record: Any = None
    with contextlib.suppress(ValueError):
        record = json.loads(line)
    return record if isinstance(record, dict) and isinstance(record.get("key"), str) else None
