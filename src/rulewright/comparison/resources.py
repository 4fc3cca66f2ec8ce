"""Wall-clock seconds, processor seconds and peak memory of a block of code."""

from __future__ import annotations

import contextlib
import os
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Self


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
