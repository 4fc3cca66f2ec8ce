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
import pandas as pd
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
    goal: float | None = None

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


def rows_files(folder: str, problem: str) -> tuple[Path, Path, Path]:
    """Name the files of a problem: a matrix or else a data frame, and the classes."""
    matrix, frame, y = (f"{problem}.{end}" for end in ("X.npy", "X.parquet", "y.npy"))
    return Path(folder) / matrix, Path(folder) / frame, Path(folder) / y


def save(folder: str, problem: str, X: np.ndarray | pd.DataFrame, y: np.ndarray) -> None:
    """Write the rows of a problem, the classes last."""
    matrix, frame, classes = rows_files(folder, problem)
    if isinstance(X, pd.DataFrame):
        X.to_parquet(frame)
    else:
        np.save(matrix, X)
    np.save(classes, y)


def load(folder: str, problem: str) -> tuple[np.ndarray | pd.DataFrame, np.ndarray]:
    """Read the rows that the parent wrote."""
    matrix, frame, classes = rows_files(folder, problem)
    X = np.load(matrix) if matrix.exists() else pd.read_parquet(frame)
    return X, np.load(classes)


def measure(job: Job) -> dict[str, Any]:
    """Run one job: warm up, then time the verb and watch the memory of the first fit."""
    X, y = load(job.folder, job.problem)
    test = load(job.folder, job.test) if job.test else None
    learner = rivals.make(job.learner, job.n_rules, job.n_jobs, job.settings)
    # The warm-up pays for imports and thread pools, which are not the learner's work.
    some = np.linspace(0, len(y) - 1, min(len(y), WARM_UP_ROWS)).astype(int)
    few = X.iloc[some] if isinstance(X, pd.DataFrame) else X[some]
    # A learner that fails on so few rows may still be measured on all of them.
    with contextlib.suppress(ValueError):
        rivals.make(job.learner, 5, job.n_jobs, job.settings).fit(few, y[some])
    forget_peak()
    before = resident("VmRSS")
    result: dict[str, Any] = timed(lambda: learner.fit(X, y), job.inner_repeats)
    size = X.memory_usage().sum() if isinstance(X, pd.DataFrame) else X.nbytes
    result["memory_ratio"] = (resident("VmHWM") - before) / size
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
    if test is not None and job.goal:
        result |= time_to_goal(job, learner, (X, y), test)
    return {**result, "version": learner.version(), **learner.describe()}


def time_to_goal(job: Job, learner: Any, train: Any, test: Any) -> dict[str, float]:
    """Time a fit that ends at the first size, looked for in steps, whose log-loss is the goal."""
    size = learner.size_at(job.goal, *test)
    if size is None:
        return {}
    again = rivals.make(job.learner, None, job.n_jobs, {**job.settings, "max_rules": size})
    found = timed(lambda: again.fit(*train), job.inner_repeats)
    return {"goal_rules": size, "goal_seconds": found["seconds"], "goal_cpu": found["cpu"]}


def main() -> None:
    try:
        answer = measure(Job(**json.loads(sys.argv[1])))
    except Exception as error:
        traceback.print_exc()
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
