"""One measurement in a process of its own: `python measure.py JOB`, the answer is one JSON line.

A fresh process per measurement keeps one learner's threads, caches and freed memory away from the
next one's numbers. The rows come from files, so that making them leaves no trace in the peak.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
import traceback
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import log_loss

from rulewright.comparison.trial import forget_peak, resident
from rulewright_lab import rivals

if TYPE_CHECKING:
    from collections.abc import Callable

WARM_UP_ROWS = 300


@dataclass(frozen=True)
class Job:
    """What to measure: a learner on a problem, and which of its two verbs is timed."""

    learner: str
    problem: str
    folder: str
    n_rules: int | None = 500
    n_jobs: int = 1
    verb: str = "fit"
    inner_repeats: int = 1
    settings: dict[str, Any] = field(default_factory=dict)
    test: str = ""

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def timed(action: Callable[[], Any], repeats: int) -> dict[str, float]:
    """Return the best wall-clock seconds of an action and the CPU seconds of that same run."""
    best = {"seconds": float("inf"), "cpu": 0.0}
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        action()
        run = {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        best = min(best, run, key=lambda r: r["seconds"])
    return best


def load(folder: str, problem: str) -> tuple[np.ndarray, np.ndarray]:
    """Read the rows that the parent wrote."""
    X = np.load(Path(folder) / f"{problem}.X.npy")
    return X, np.load(Path(folder) / f"{problem}.y.npy")


def measure(job: Job) -> dict[str, Any]:
    """Run one job: warm up, then time the verb and watch the memory of the first fit."""
    X, y = load(job.folder, job.problem)
    test = load(job.folder, job.test) if job.test else None
    learner = rivals.make(job.learner, job.n_rules, job.n_jobs, job.settings)
    # The warm-up pays for imports and thread pools, which are not the learner's work.
    some = np.linspace(0, len(y) - 1, min(len(y), WARM_UP_ROWS)).astype(int)
    # A learner that fails on so few rows may still be measured on all of them.
    with contextlib.suppress(ValueError):
        rivals.make(job.learner, 5, job.n_jobs, job.settings).fit(X[some], y[some])
    forget_peak()
    before = resident("VmRSS")
    result: dict[str, Any] = timed(lambda: learner.fit(X, y), job.inner_repeats)
    result["memory_ratio"] = (resident("VmHWM") - before) / X.nbytes
    if job.verb == "predict":
        if test is None:
            raise ValueError("the verb 'predict' needs a test problem: set Job.test")
        result |= timed(lambda: learner.predict_proba(test[0]), max(3, job.inner_repeats))
    if test is not None:
        sample = slice(0, 20_000)
        shares = learner.predict_proba(test[0][sample])
        classes = np.unique(y)
        result["test_error"] = float(np.mean(classes[shares.argmax(axis=1)] != test[1][sample]))
        result["log_loss"] = log_loss(test[1][sample], shares, labels=classes)
    return {**result, "version": learner.version(), **learner.describe()}


def main() -> None:
    try:
        answer = measure(Job(**json.loads(sys.argv[1])))
    except Exception as error:
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
