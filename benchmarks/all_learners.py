"""What does a fit with defaults cost? `all_learners.py [--rows N] [--learners NAME ...]`.

Processor seconds of every learner on one table of mixed columns: twelve numbers, eight columns of
labels, and missing values. Each fit is a process of its own, with one thread.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
from console import aligned
from sklearn.metrics import accuracy_score

from rulewright.estimators import LEARNERS, REGRESSORS

N_COLUMNS = 20
LABELS = (2, 3, 4, 5, 6, 8, 10, 12)
MISSING = 0.03
TEST_ROWS = 5_000


def mixed_table(n_rows: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Draw rows, their classes ("yes" in two rows of five) and their log-odds."""
    rng = np.random.default_rng([20260101, seed])
    numbers = rng.normal(size=(N_COLUMNS - len(LABELS), n_rows))
    numbers[1::4] = np.round(np.exp(numbers[1::4]) * 40, 1)
    numbers[2::4] = rng.poisson(3.0, size=numbers[2::4].shape)
    codes = [rng.choice(n, n_rows, p=rng.dirichlet(np.full(n, 3.0))) for n in LABELS]
    score = 0.6 * numbers[0] - 0.8 * (numbers[1] > 60) + 1.2 * (numbers[4] > 0) * (codes[1] == 0)
    score += 1.5 * (numbers[2] > 3) * (numbers[8] < 0.3) - 1.3 * (codes[4] < 2) * (codes[2] != 1)
    score += 0.9 * np.sin(2 * numbers[3]) + 0.4 * (codes[7] % 3 == 0)
    y = np.where(score + rng.logistic(size=n_rows) > np.quantile(score, 0.6), "yes", "no")
    numbers[rng.random(numbers.shape) < MISSING] = np.nan
    labels = {
        f"c{j}": pd.Series(own).map("v{}".format).mask(rng.random(n_rows) < MISSING)
        for j, own in enumerate(codes)
    }
    return pd.DataFrame({**{f"x{j}": x for j, x in enumerate(numbers)}, **labels}), y, score


def measure(name: str, n_rows: int) -> dict[str, float | str]:
    """Fit a learner with its defaults; return its processor seconds and how well it predicts."""
    X, y, score = mixed_table(n_rows + TEST_ROWS)
    regression = name.startswith("regression:")
    learner = (REGRESSORS if regression else LEARNERS)[name.removeprefix("regression:")]
    est, target = learner(random_state=0), score if regression else y
    warnings.simplefilter("ignore")
    start = time.process_time()
    est.fit(X[:n_rows], target[:n_rows])
    fitted = time.process_time()
    answers = est.predict(X[n_rows:])
    predicted = time.process_time() - fitted
    right = (
        1 - np.var(target[n_rows:] - answers) / np.var(target[n_rows:])
        if regression
        else accuracy_score(target[n_rows:], answers)
    )
    return {"fit": fitted - start, "predict": predicted, "right": right, "size": len(est.model_)}


def measure_apart(name: str, options: argparse.Namespace) -> list[str | float]:
    """Measure in a fresh process."""
    call = [sys.executable, __file__, "--rows", str(options.rows), "--child", name]
    try:
        done = subprocess.run(
            call, capture_output=True, text=True, timeout=options.timeout, check=True
        )
    except subprocess.TimeoutExpired:
        return [name, f"above {options.timeout:g}", "", "", ""]
    found = json.loads(done.stdout.splitlines()[-1])
    return [name, found["fit"], found["predict"], found["right"], found["size"]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--learners", nargs="*", help="default: all, and both regressors")
    parser.add_argument("--timeout", type=float, default=900, help="wall-clock seconds per learner")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child, options.rows)))
        return
    names = options.learners or [*LEARNERS, *(f"regression:{name}" for name in REGRESSORS)]
    body = []
    for name in names:
        body.append(measure_apart(name, options))
        print(*body[-1], file=sys.stderr, flush=True)
    head = ["learner", "fit, s", f"predict {TEST_ROWS:,}, s", "accuracy (R2)", "rules"]
    print("\n".join(aligned(head, body)))


if __name__ == "__main__":
    main()
