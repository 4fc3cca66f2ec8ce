"""Seconds and memory of a lasso path over rules: packed covers against scikit-learn's dense matrix.

`python benchmarks/l1_path.py --rows 20000 --rules 2000`: 100 penalties down to a thousandth of the
largest, the same for both. Each runs in a process of its own; memory is the peak beyond the
imports, data included. `gap` is the worst duality gap of the path as a share of the loss of the
mean, found by the same formula for both: what the seconds bought.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from console import aligned
from sklearn.linear_model import lasso_path

from rulewright.comparison.trial import Cost
from rulewright.encoding.covers import PackedCovers
from rulewright.weighting import CoordinateDescent, L1Problem

N_COLUMNS = 20
SHARES = np.geomspace(1.0, 1e-3, 100)
FASTER, SMALLER = 3.0, 0.1


def draw(n_rows: int, n_rules: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw conjunctions of one to three thresholds, and a target of smooth and sharp parts."""
    rng = np.random.default_rng([n_rows, n_rules])
    Z = rng.normal(size=(n_rows, N_COLUMNS))
    covers = np.ones((n_rules, n_rows), dtype=np.bool_)
    for cover in covers:
        for _ in range(rng.integers(1, 4)):
            below = Z[:, rng.integers(N_COLUMNS)] <= rng.normal(scale=0.8)
            cover &= below if rng.random() < 0.5 else ~below
    sharp = 2.0 * (Z[:, 3] > 0) * (Z[:, 4] > 0.3)
    return covers, np.sin(1.5 * Z[:, 0]) + Z[:, 1] * Z[:, 2] + sharp + rng.normal(size=n_rows)


def ours(covers: PackedCovers, y: np.ndarray) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    problem = L1Problem.of(covers, y)
    path = CoordinateDescent().path(problem, problem.largest_penalty * SHARES)
    return time.perf_counter() - start, path.coefs


def theirs(covers: PackedCovers, y: np.ndarray) -> tuple[float, np.ndarray]:
    """Time the path only: unpacking and centring the matrix is not counted."""
    X = np.empty((covers.n_rows, len(covers)), order="F")
    for j in range(len(covers)):
        X[:, j] = covers[j : j + 1].row_mask()
        X[:, j] -= X[:, j].mean()
    b = y - y.mean()
    grid = float(np.abs(X.T @ b).max()) / len(b) * SHARES
    start = time.perf_counter()
    _, coefs, _ = lasso_path(X, b, alphas=grid)
    return time.perf_counter() - start, coefs.T


def measure(who: str, folder: Path) -> dict[str, Any]:
    with Cost() as cost:
        y, n_rows = np.load(folder / "y.npy"), len(np.load(folder / "y.npy"))
        covers = PackedCovers(np.load(folder / "words.npy"), n_rows)
        seconds, coefs = {"rulewright": ours, "scikit-learn": theirs}[who](covers, y)
    problem = L1Problem.of(covers, y)
    grid = problem.largest_penalty * SHARES
    gaps = [problem.gap(problem.point(a), lam) for a, lam in zip(coefs, grid, strict=True)]
    return {
        "seconds": seconds,
        "cpu": cost.cpu,
        "MB": cost.memory / 2**20,
        "rules": int((coefs[-1] != 0).sum()),
        "gap": max(gaps) / problem.null_loss,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rules", type=int, default=2_000)
    parser.add_argument("--child", nargs=2, metavar=("WHO", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child[0], Path(options.child[1]))))
        return
    covers, y = draw(options.rows, options.rules)
    got = {}
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "words.npy", PackedCovers.pack(covers).words)
        np.save(Path(folder) / "y.npy", y)
        for who in ("rulewright", "scikit-learn"):
            command = [sys.executable, "-W", "ignore", __file__, "--child", who, folder]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            got[who] = json.loads(done.stdout.splitlines()[-1])
    mine, other = got["rulewright"], got["scikit-learn"]
    print("\n".join(aligned(["", *mine], [[who, *result.values()] for who, result in got.items()])))
    faster, smaller = other["seconds"] / mine["seconds"], mine["MB"] / other["MB"]
    print(f"faster: {faster:.3g} times, target {FASTER:g}: {'yes' if faster >= FASTER else 'NO'}")
    print(f"memory: {smaller:.3g}, target {SMALLER:g}: {'yes' if smaller <= SMALLER else 'NO'}")


if __name__ == "__main__":
    main()
