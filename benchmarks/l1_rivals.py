"""Objectives of our L1 solvers against those of celer and spgl1 at matched penalties.

`pip install celer spgl1`, then `python benchmarks/l1_rivals.py`. All solve the same problem of
covers and squared error; the excess is (objective - least objective) / least objective.
"""

from __future__ import annotations

import time

import numpy as np
from celer import Lasso
from console import aligned
from l1_path import draw
from spgl1 import spg_lasso

from rulewright.encoding.covers import PackedCovers
from rulewright.weighting import FPC, SPGL1, CoordinateDescent, L1Problem

SHARES = (0.5, 0.2, 0.05, 0.01)
OURS = {
    "coordinate": CoordinateDescent(tolerance=1e-12),
    "spgl1": SPGL1(tolerance=1e-10),
    "fpc": FPC(),
}


def main() -> None:
    covers, y = draw(400, 120)
    problem = L1Problem.of(PackedCovers.pack(covers), y)
    A = np.asfortranarray((covers - covers.mean(axis=1, keepdims=True)).T)
    b, n = y - y.mean(), len(y)

    def objective(coef: np.ndarray, penalty: float) -> float:
        return float(((b - A @ coef) ** 2).sum() / (2 * n) + penalty * np.abs(coef).sum())

    lines = []
    for share in SHARES:
        penalty, found = share * problem.largest_penalty, {}
        for name, solver in OURS.items():
            start = time.perf_counter()
            coef = solver.solve(problem, penalty).coef
            found[f"our {name}"] = objective(coef, penalty), time.perf_counter() - start
        start = time.perf_counter()
        coef = Lasso(alpha=penalty, fit_intercept=False, tol=1e-14).fit(A, b).coef_
        found["celer"] = objective(coef, penalty), time.perf_counter() - start
        start = time.perf_counter()
        coef, *_ = spg_lasso(A, b, np.abs(coef).sum(), opt_tol=1e-10, iter_lim=20_000)
        found["spgl1"] = objective(coef, penalty), time.perf_counter() - start
        least = min(value for value, _ in found.values())
        for name, (value, seconds) in found.items():
            excess = f"{(value - least) / least:.1e}"
            lines.append([f"{share:g}", name, f"{value:.10f}", excess, f"{seconds:.3f}"])
    print("\n".join(aligned(["penalty", "solver", "objective", "excess", "seconds"], lines)))


if __name__ == "__main__":
    main()
