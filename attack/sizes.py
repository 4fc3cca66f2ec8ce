"""Tables with one enormous dimension: every learner copes, or refuses them with a remedy."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from attack import fits
from attack.attempts import Outcome, death
from attack.randoms import pick
from rulewright.data import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng

LARGEST = {"labels": 100_000, "columns": 20_000, "classes": 500, "rows": 300_000}
LIMITS = {"seconds": 120, "memory": 3 * 2**30}


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Fit a learner with little work to a table, in a process with limited time and memory."""
    del folder
    shape, name = pick(rng, tuple(LARGEST)), pick(rng, tuple(fits.SMALL))
    size = round(LARGEST[shape] * 10 ** rng.uniform(-2, 0))
    yield run({"shape": shape, "size": size, "learner": name, "seed": int(rng.integers(1000))})


def run(task: dict[str, Any]) -> Outcome:
    """Run a task in a process of its own; it must end by itself, and with code 0."""
    command = [sys.executable, "-m", "attack.sizes", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    return f"{death(done.returncode)}\n{task}\n{done.stderr[-4000:]}"


def table(rng: Rng, shape: str, size: int) -> tuple[dict[str, Any], Any]:
    """Draw a table of which one dimension has this size."""
    n_rows = {"labels": min(size, 20_000), "columns": 50, "classes": 10 * size, "rows": size}[shape]
    n_columns = size if shape == "columns" else 1
    X = {f"x{j}": rng.normal(size=n_rows) for j in range(n_columns)}
    y: Any = X["x0"] + 0.5 * rng.normal(size=n_rows) > 0
    if shape == "labels":
        X["label"] = np.array([f"label {k}" for k in rng.integers(0, size, n_rows)])
    if shape == "classes":
        y = X["x0"].argsort().argsort() // 10
    return X, y


def main(task: dict[str, Any]) -> None:
    """Fit under limits of time and memory; a refusal that names the limit is as good."""
    rng = np.random.default_rng(task["seed"])
    X, y = table(rng, task["shape"], task["size"])
    learner = fits.SMALL[task["learner"]](random_state=0)
    allowed = {**LIMITS, **task}
    resource.setrlimit(resource.RLIMIT_CPU, (allowed["seconds"], allowed["seconds"] + 1))
    resource.setrlimit(resource.RLIMIT_AS, (allowed["memory"],) * 2)
    with fits.quiet():
        try:
            learner.fit(X, y.astype(float) if "regressor" in task["learner"] else y)
        except DataError as error:
            print(f"refused: {error}")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
