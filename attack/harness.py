"""Run attacks in worker processes, bounded in time; collect tries and findings."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from attack.attempts import Attack, Report, death, patience

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
_TAIL = 3000
_START = 120.0  # seconds for all imports on a busy machine
_VARIABLE = re.compile(r"\d+|'[^']*'|\"[^\"]*\"")


@dataclass
class Result:
    """What an attack found in all its attempts."""

    attack: str
    seconds: float = 0.0
    seeds: int = 0
    tries: int = 0
    findings: list[tuple[int, str]] = field(default_factory=list)
    notes: set[str] = field(default_factory=set)

    def add(self, report: Report) -> None:
        """Add what one attempt reports."""
        self.seeds += 1
        self.tries += report.tries
        self.findings += [(report.seed, text) for text in report.findings]
        self.notes.update(report.notes)

    def kinds(self) -> dict[str, list[tuple[int, str]]]:
        """Group findings that read the same but for numbers and quoted words."""
        groups: dict[str, list[tuple[int, str]]] = {}
        for seed, text in self.findings:
            line = text.split("\n", 1)[0].split("[", 1)[0]
            groups.setdefault(_VARIABLE.sub("*", line)[:120], []).append((seed, text))
        return groups


class Worker:
    """A process that runs the attempts of an attack; it is replaced when it dies or hangs."""

    def __init__(self, attack: Attack, scratch: str) -> None:
        self.attack, self.scratch = attack, scratch
        self.process: subprocess.Popen[str] | None = None
        self.printed = Path(scratch) / f"worker-{id(self)}.txt"

    def attempt(self, seed: int) -> Report:
        """Attempt a seed; a crash or a hang is a finding of that seed."""
        if self.process is None:
            self.process = self._started()
            if not self._heard(_START):
                return self._failure(seed, _START)
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(f"{seed}\n")
            self.process.stdin.flush()
        line = self._heard(self.attack.timeout)
        if not line:
            return self._failure(seed, self.attack.timeout)
        return Report(**json.loads(line))

    def _heard(self, timeout: float) -> str:
        """Return the next line of the process, nothing if it ended or takes too long."""
        assert self.process is not None
        assert self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], patience(timeout))
        return self.process.stdout.readline() if ready else ""

    def _failure(self, seed: int, timeout: float) -> Report:
        """Report a process that ended or hangs, with what it printed last."""
        assert self.process is not None
        try:
            what = death(self.process.wait(1.0))
        except subprocess.TimeoutExpired:
            what = f"no end within {timeout:g} s"
        self.stop(patience=0.0)
        printed = self.printed.read_text(errors="replace")[-_TAIL:].strip()
        return Report(seed, 1, [f"{what}\n{printed}"])

    def stop(self, patience: float = 5.0) -> None:
        """End the process and all that it started."""
        if self.process is not None:
            assert self.process.stdin is not None
            assert self.process.stdout is not None
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(patience)  # the end of its input ends it, and its servers
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process.stdout.close()
        self.process = None

    def _started(self) -> subprocess.Popen[str]:
        python, changed = _interpreter(self.attack.sanitized)
        path = os.pathsep.join([str(ROOT), str(ROOT / "tests")])
        with self.printed.open("w") as errors:
            return subprocess.Popen(
                [python, "-m", "attack.worker", self.attack.target, str(self.attack.timeout)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": path, "TMPDIR": self.scratch, **changed},
                start_new_session=True,
            )


def hammer(
    attack: Attack,
    seeds: Iterator[int],
    deadline: float = float("inf"),
    jobs: int = 1,
) -> Result:
    """Attempt seeds in parallel until they or the time run out.

    Parameters
    ----------
    attack : Attack
        What to attempt.
    seeds : iterator of int
        The seeds, in order.
    deadline : float
        Value of ``time.monotonic`` after which no attempt begins.
    jobs : int
        Number of worker processes.
    """
    result, lock, began = Result(attack.name), threading.Lock(), time.monotonic()

    def next_seed() -> int | None:
        with lock:
            return next(seeds, None) if time.monotonic() < deadline else None

    def work() -> None:
        worker = Worker(attack, scratch)
        try:
            while (seed := next_seed()) is not None:
                report = worker.attempt(seed)
                with lock:
                    result.add(report)
        finally:
            worker.stop()

    with tempfile.TemporaryDirectory(prefix="attack-") as scratch:
        Path(scratch).chmod(0o755)  # databases run as another user
        threads = [threading.Thread(target=work) for _ in range(jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    result.seconds = time.monotonic() - began
    return result


def seeds_from(first: int, count: int | None = None) -> Iterator[int]:
    """Count seeds up from the first one."""
    return iter(range(first, first + count)) if count is not None else itertools.count(first)


def _interpreter(sanitized: bool) -> tuple[str, Mapping[str, str]]:
    """Return the Python to run and what its environment adds."""
    python = os.environ.get("ATTACK_SANITIZE_PYTHON")
    if not (sanitized and python):
        return sys.executable, {}
    preload = os.environ["ATTACK_SANITIZE_PRELOAD"]
    options = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1"}
    return python, {"LD_PRELOAD": preload, "ATTACK_SANITIZED": "1", **options}
