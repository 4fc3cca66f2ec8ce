"""What is measured of one fit: scores on new rows, size, seconds and memory."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulewright.evidence import auc, brier, log_loss

if TYPE_CHECKING:
    from rulewright.comparison.learners import Worker
    from rulewright.data import Table
    from rulewright.kernels import FloatArray, IntArray

Figures = dict[str, Any]
"""What is measured of a fit, by name."""
MEGABYTE = 2**20


def score(worker: Worker, train: Table, test: Table) -> Figures:
    """Give error, balanced accuracy, log-loss, Brier score and AUC on new rows, size and cost."""
    rows, asked = worker.prepare(train), worker.prepare(test)
    with Cost() as fit:
        worker.fit(rows)
    with Cost() as predict:
        codes, shares = worker.predict(asked, test)
    return {**judge_answers(test, codes, shares), **_costs(fit, predict), **worker.describe()}


def judge_answers(test: Table, codes: IntArray, shares: FloatArray) -> dict[str, float]:
    """Judge labels and probabilities by the classes of the rows."""
    truth, weights = test.known_target.codes, np.ones(test.n_rows)
    return {
        "error": float(np.mean(codes != truth)),
        "balanced_accuracy": float(
            np.mean([np.mean(codes[truth == k] == k) for k in np.unique(truth)])
        ),
        "log_loss": log_loss(truth, shares, weights),
        "brier": brier(truth, shares, weights),
        "auc": auc(truth, shares, weights),
    }


def _costs(fit: Cost, predict: Cost) -> dict[str, float]:
    return {
        "fit_seconds": fit.cpu,
        "fit_wall_seconds": fit.seconds,
        "predict_seconds": predict.cpu,
        "memory_mb": fit.memory / MEGABYTE,
    }


def resident(key: str) -> int:
    """Return `VmRSS` (now) or `VmHWM` (peak) of this process in bytes.

    Linux's ru_maxrss starts from the parent's peak, so it is used only where /proc is absent.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    line = next(line for line in status.read_text().splitlines() if line.startswith(key + ":"))
    return int(line.split()[1]) * 1024


def forget_peak() -> None:
    """Reset the peak to the present, if the system allows it; else it can only look larger."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


@dataclass
class Cost:
    """Measures a ``with`` block: wall-clock and processor seconds, and memory beyond the start."""

    seconds: float = 0.0
    cpu: float = 0.0
    memory: int = 0

    def __enter__(self) -> Self:
        forget_peak()
        self._memory = resident("VmRSS")
        self._wall, self._cpu = time.perf_counter(), processor_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        self.seconds = time.perf_counter() - self._wall
        self.cpu = processor_seconds() - self._cpu
        self.memory = max(0, resident("VmHWM") - self._memory)
