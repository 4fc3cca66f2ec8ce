"""How long a person waits: whole commands, from the start of Python to the last printed line."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from bench import Result, Row, brief, compare, seconds
from problems import make

if TYPE_CHECKING:
    from bench import Bench

PROBLEM = "rules-1000x20-0"
PROGRAM = [sys.executable, "-c", "from rulewright.cli.main import main; main()"]


def start_up(bench: Bench) -> list[Row]:
    """Seconds of whole commands, 1,000 x 20 in a CSV file, beside the import of scikit-learn."""
    table = _written(Path(bench.folder) / "start.csv")
    learn = [*PROGRAM, "learn", str(table), "--target", "y"]
    got = _best(
        {
            "import sklearn": [sys.executable, "-c", "import sklearn"],
            "--help": [*PROGRAM, "--help"],
            "learn --cv 0": [*learn, "--cv", "0"],
            "learn --cv 0 --learner mlrules": [*learn, "--cv", "0", "--learner", "mlrules"],
            "learn --holdout 0.25": [*learn, "--holdout", "0.25"],
            "learn (10 folds)": learn,
        },
        bench.repeat,
    )
    base = got.pop("import sklearn")
    limits = {"--help": 0.5, "learn --cv 0": 2.0, "learn --holdout 0.25": 2.0}
    rows = [Row("import sklearn", base)]
    for label, result in got.items():
        most = limits.get(label)
        target = "" if most is None else f"<= {most:g}"
        ratio = compare(f"{label} / import sklearn", result, base, target, bool)
        if ratio.ratio is not None:
            ratio.met = None if most is None else ratio.ratio <= most
        rows += [Row(label, result), ratio]
    return rows


def _written(path: Path) -> Path:
    X, y = make(PROBLEM)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"x{j}" for j in range(X.shape[1])), "y"])
        writer.writerows([*row, "yes" if label else "no"] for row, label in zip(X, y, strict=True))
    return path


def _best(commands: dict[str, list[str]], repeat: int) -> dict[str, Result]:
    """Run all commands in turn, round after round, and keep the fastest run of each."""
    found: dict[str, Result] = {}
    for _ in range(repeat):
        for label, command in commands.items():
            result = _measured(command)
            kept = found.get(label, result)
            found[label] = result if "error" in result else min(kept, result, key=seconds)
            print(f"  {label}: {brief(result)}", file=sys.stderr, flush=True)
    return found


def _measured(command: list[str]) -> Result:
    before, began = os.times(), time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    spent, after = time.perf_counter() - began, os.times()
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"error": f"exit code {done.returncode}: {last}"}
    cpu = after.children_user + after.children_system
    return {"seconds": spent, "cpu": cpu - before.children_user - before.children_system}
