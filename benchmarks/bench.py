"""What every question of run.py is made of: jobs in child processes, and rows of a table."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import problems
from measure import Job, rows_files, save

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).parent
MAIN = "wide-100000x30-2"
TEST = "wide-20000x30-2@1"
Result = dict[str, Any]


@dataclass
class Row:
    """One line of a table: a measurement, or a comparison with its target."""

    label: str
    result: Result
    ratio: float | None = None
    target: str = ""
    met: bool | None = None


@dataclass
class Bench:
    """Runs jobs in child processes, round after round, on rows kept in a scratch folder."""

    folder: str
    repeat: int
    settings: dict[str, Any] = field(default_factory=dict)

    def job(self, learner: str, problem: str = MAIN, **options: Any) -> Job:
        """Return a job; the user's `--set` options go to rulewright only."""
        settings = options.pop("settings", {})
        if learner == "rulewright":
            settings = {**settings, **self.settings}
        return Job(learner, problem, self.folder, settings=settings, **options)

    def best(self, jobs: dict[str, Job]) -> dict[str, Result]:
        """Return the fastest result of each job; an error is a result, too."""
        rounds = self.alternate(jobs)
        return {
            label: results[-1] if "error" in results[-1] else min(results, key=seconds)
            for label, results in rounds.items()
        }

    def alternate(self, jobs: dict[str, Job]) -> dict[str, list[Result]]:
        """Return the results of each job, one per round; noise hits all jobs of a round alike.

        A job that fails has no further rounds.
        """
        for job in jobs.values():
            self._write(job.problem)
            self._write(job.test)
        found: dict[str, list[Result]] = {label: [] for label in jobs}
        for _ in range(self.repeat):
            for label, job in jobs.items():
                if found[label] and "error" in found[label][-1]:
                    continue
                found[label].append(run_child(job))
                print(f"  {label}: {brief(found[label][-1])}", file=sys.stderr, flush=True)
        return found

    def _write(self, problem: str) -> None:
        if problem and not rows_files(self.folder, problem)[1].exists():
            save(self.folder, problem, *problems.make(problem))


def run_child(job: Job) -> Result:
    """Measure in a fresh process; a child that dies is a result with its error."""
    command = [sys.executable, str(HERE / "measure.py"), job.to_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        result: Result = json.loads(done.stdout.splitlines()[-1])
        return result
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return {"error": f"exit code {done.returncode}: {last}"}


def seconds(result: Result) -> float:
    return float(result.get("seconds", np.inf))


def brief(result: Result) -> str:
    return result.get("error") or f"{seconds(result):.4g} s (cpu {result['cpu']:.4g})"


def compare(
    label: str, top: Result, bottom: Result, target: str, holds: Callable[[float], bool]
) -> Row:
    """Return the row of top seconds / bottom seconds; an error on either side has no verdict."""
    broken = top.get("error") or bottom.get("error")
    if broken:
        return Row(label, {"error": broken}, target=target)
    ratio = seconds(top) / seconds(bottom)
    return Row(label, {}, ratio, target, holds(ratio))
