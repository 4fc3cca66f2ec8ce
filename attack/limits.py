"""Take memory and threads away: work ends with a result or a clear error, never by a signal."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from attack import fits
from attack.attempts import Note, Outcome, death, patience
from attack.randoms import chance, pick
from rulewright import compress
from rulewright.model import AdditiveRules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from attack.randoms import Rng

_TRIES = 4
_SECONDS = 60.0
_OTHERS = b"OpenBLAS error"  # NumPy's library ends the process where it gets no memory
_NOT_THE_CALLER = ("/libc.so", "/libstdc++.so", "/libpython", "/libnative_stack.so", "/bin/python")
_ACTIONS = ("fit", "predict", "explain", "compress")
_UNUSED_USERS = range(40_000, 60_000)


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Run work in fresh processes under random limits."""
    if os.geteuid() != 0:
        yield Note("the number of threads was not limited: that needs another user")
    library = native_stack(folder)
    for _ in range(_TRIES):
        task = {
            "seed": int(rng.integers(1000)),
            "action": pick(rng, _ACTIONS),
            "learner": pick(rng, fits.LEARNERS),
            "n_rows": int(pick(rng, (200, 5000, 40_000))),
            "threads": pick(rng, (1, 2, 8, 64, 100_000)),
            "memory": int(2 ** rng.uniform(12, 28)) if chance(rng, 0.7) else None,
            "user": pick(rng, _UNUSED_USERS),
            "processes": pick(rng, (None, 1, 2, 5)) if os.geteuid() == 0 else None,
            "library": str(library),
        }
        stack = pick(rng, (None, None, "16k", "4M", "1G", "64G"))
        yield run(task, {} if stack is None else {"OMP_STACKSIZE": stack})


def run(task: dict[str, Any], environment: dict[str, str]) -> Outcome:
    """Run a task in a process of its own; it must end by itself, and with code 0."""
    command = [sys.executable, "-X", "faulthandler", "-m", "attack.limits", json.dumps(task)]
    changed = {**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment}
    told = f"{task}, {environment}"
    try:
        done = subprocess.run(command, env=changed, capture_output=True, timeout=patience(_SECONDS))
    except subprocess.TimeoutExpired:
        return f"no end within {_SECONDS:g} s: {told}"
    if done.returncode == 0:
        return None
    if _OTHERS in done.stderr:
        return Note("OpenBLAS, not rulewright, ended a process that had no memory")
    if in_numpy(done.stderr):
        return Note("NumPy, not rulewright, crashed where it got no memory for a result")
    return f"{death(done.returncode)}\n{told}\n{done.stderr.decode(errors='replace')[:4000]}"


def native_stack(folder: Path) -> Path:
    """Build the library that tells the native calls of a crash."""
    library = folder / "libnative_stack.so"
    if not library.exists():
        source = Path(__file__).with_name("native_stack.cpp")
        command = ["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", str(library), str(source)]
        subprocess.run(command, check=True, capture_output=True)
    return library


def in_numpy(stderr: bytes) -> bool:
    """Return whether NumPy was the innermost caller of a process that crashed.

    NumPy reports that there is no memory for the buffers of an operation without the lock that
    Python asks for, and Python then crashes; operations on arrays of two shapes are enough.
    """
    _, _, calls = stderr.decode(errors="replace").partition("native calls, innermost first:\n")
    for call in calls.split("\n"):
        if call and not any(name in call for name in _NOT_THE_CALLER):
            return "/numpy/" in call
    return False


def main(task: dict[str, Any]) -> None:
    """Do a task under its limits; errors that tell what was lacking are as good as a result."""
    rng = np.random.default_rng(task["seed"])
    n_rows = task["n_rows"] if task["learner"] in ("mlrules", "slipper") else 100
    X, y = fits.rows(rng, n_rows)
    n_jobs = min(task["threads"], 64)
    with fits.quiet():
        few = {name: values[:200] for name, values in X.items()}
        model = fits.learner(rng, task["learner"]).fit(few, y[:200]).model_
        work: Callable[[], Any] = {
            "fit": lambda: fits.learner(rng, task["learner"], n_jobs).fit(X, y),
            "predict": lambda: model.predict_proba(X, n_threads=task["threads"]),
            "explain": lambda: model.explain(X, n_threads=task["threads"]),
            "compress": lambda: _compressed(model, X, y, n_jobs),
        }[task["action"]]
        ctypes.CDLL(task["library"]).install()
        _limit(task)
        try:
            work()
        except (MemoryError, OSError) as error:
            print(f"refused: {error}")
        except RuntimeError as error:
            if "thread" not in str(error):
                raise
            print(f"refused: {error}")


def _compressed(model: Any, X: Any, y: Any, n_jobs: int) -> Any:
    return compress(model, X, y, n_jobs=n_jobs) if isinstance(model, AdditiveRules) else None


def _limit(task: dict[str, Any]) -> None:
    if task["memory"] is not None:
        size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (size + task["memory"],) * 2)
    if task["processes"] is not None:
        resource.setrlimit(resource.RLIMIT_NPROC, (task["processes"],) * 2)
        os.setuid(task["user"])


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
