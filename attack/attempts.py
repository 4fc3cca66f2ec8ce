"""What an attack is and what one attempt of it reports."""

from __future__ import annotations

import importlib
import os
import signal
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_SHOWN_FRAMES = 6


class Note(NamedTuple):
    """What an attempt could not do here, such as to start a database."""

    text: str


Outcome: TypeAlias = "str | Note | None"
Attempt: TypeAlias = "Callable[[np.random.Generator, Path], Iterator[Outcome]]"


@dataclass(frozen=True)
class Attack:
    """One way to attack the library.

    Parameters
    ----------
    name : str
        What it is called on the command line.
    target : str
        ``module:function`` of the attempt, which workers import.
    summary : str
        What is done, as the docs say it.
    promise : str
        What must hold.
    timeout : float
        Seconds after which one seed counts as a hang.
    share : float
        Its share of the time, relative to the other attacks.
    sanitized : bool
        Whether it runs on the sanitizer build, if there is one.
    """

    name: str
    target: str
    summary: str
    promise: str = ""
    timeout: float = 60.0
    share: float = 1.0
    sanitized: bool = False


@dataclass
class Report:
    """What the attempt of one seed found."""

    seed: int
    tries: int = 0
    findings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def loaded(target: str) -> Attempt:
    """Import the attempt that ``module:function`` names."""
    module, name = target.split(":")
    found: Attempt = getattr(importlib.import_module(module), name)
    return found


def attempted(attempt: Attempt, seed: int, folder: Path) -> Report:
    """Run the attempt of a seed to its end and write down what it yields or raises."""
    report = Report(seed)
    try:
        for outcome in attempt(np.random.default_rng(seed), folder):
            if isinstance(outcome, Note):
                report.notes.append(outcome.text)
                continue
            report.tries += 1
            if outcome is not None:
                report.findings.append(f"try {report.tries}: {outcome}")
    except Exception as error:
        report.tries += 1
        report.findings.append(f"try {report.tries}: {told(error)}")
    return report


def told(error: BaseException) -> str:
    """Describe an error: its type, its text and where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)[-_SHOWN_FRAMES:]
    places = " < ".join(
        f"{'/'.join(frame.filename.split('/')[-2:])}:{frame.lineno}" for frame in reversed(frames)
    )
    return f"{type(error).__name__}: {str(error)[:400]} [{places}]"


def ends_well(action: Callable[[], Any], allowed: tuple[type[Exception], ...]) -> Outcome:
    """Run an action that may raise only the given errors."""
    try:
        action()
    except allowed:
        return None
    except Exception as error:
        return told(error)
    return None


def patience(seconds: float) -> float:
    """Return how long to wait for work of so many seconds: longer on a machine that is busy."""
    return seconds * max(1.0, 2.0 * os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def death(code: int) -> str:
    """Say how a process ended, by the code that ``subprocess`` gives."""
    if code >= 0:
        return f"the process ended with code {code}"
    return f"the process died of {signal.Signals(-code).name}"
