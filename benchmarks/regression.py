"""RuleFit for numbers against LightGBM: `python benchmarks/regression.py --out docs/results`.

Diabetes by five folds, and five made-up problems of 500 rows to learn from and 2,000 to judge on,
drawn five times each. Both learners run with their defaults, on one thread.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightgbm
import numpy as np
import pandas as pd
from console import aligned
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import KFold

from rulewright import RuleFitRegressor
from rulewright.comparison.report import Expectation, Grid, Report, commit, provenance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

N_TRAIN, N_TEST, SEEDS = 500, 2000, range(5)
Rows = tuple[Any, np.ndarray]


def ruled(n: int, seed: int) -> Rows:
    """Draw four nominal and eight numeric columns, and five rules of one to three conditions."""
    rng = np.random.default_rng([seed, 1])
    X = pd.DataFrame({f"x{i}": rng.normal(size=n) for i in range(8)})
    for i in range(4):
        X[f"c{i}"] = pd.Categorical(rng.choice(list("abcde"), n), categories=list("abcde"))
    y = 2.0 * ((X.x0 > 0) & X.c0.isin(["a", "b"]))
    y += 1.5 * ((X.x1 > -0.5) & (X.x2 < 0.5))
    y -= 2.0 * ((X.c1 == "c") & (X.x3 > 0))
    y += 1.0 * (X.c2 != "e")
    y -= 1.5 * ((X.x0 < 0.5) & (X.x4 > 0) & (X.c0 != "a"))
    return X, y.to_numpy() + 0.5 * rng.normal(size=n)


def smooth(n: int, seed: int) -> Rows:
    """Draw ten uniform columns, five of which add a smooth curve each."""
    rng = np.random.default_rng([seed, 2])
    X = rng.uniform(size=(n, 10))
    y = np.sin(2 * np.pi * X[:, 0]) + 4 * (X[:, 1] - 0.5) ** 2 + np.exp(X[:, 2])
    return X, y + 2 * X[:, 3] + np.log(0.1 + X[:, 4]) + 0.5 * rng.normal(size=n)


PROBLEMS: dict[str, Callable[[int, int], Rows]] = {
    "Friedman 1": lambda n, seed: make_friedman1(n, noise=1.0, random_state=seed),
    "Friedman 2": lambda n, seed: make_friedman2(n, noise=125.0, random_state=seed),
    "Friedman 3": lambda n, seed: make_friedman3(n, noise=0.1, random_state=seed),
    "rules": ruled,
    "smooth and additive": smooth,
}


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to learn from and rows to judge on."""

    problem: str
    seed: int
    train: Rows
    test: Rows


def splits() -> Iterator[Split]:
    """Yield the splits of all problems."""
    X, y = load_diabetes(return_X_y=True)
    for seed, (a, b) in enumerate(KFold(5, shuffle=True, random_state=0).split(X)):
        yield Split("diabetes", seed, (X[a], y[a]), (X[b], y[b]))
    for name, draw in PROBLEMS.items():
        for seed in SEEDS:
            X, y = draw(N_TRAIN + N_TEST, seed)
            yield Split(name, seed, (X[:N_TRAIN], y[:N_TRAIN]), (X[N_TRAIN:], y[N_TRAIN:]))


def learners(seed: int) -> dict[str, Any]:
    """Return both learners with their defaults."""
    return {
        "RuleFit": RuleFitRegressor(random_state=seed, n_jobs=1),
        "RuleFit, min": RuleFitRegressor(penalty="min", random_state=seed, n_jobs=1),
        "LightGBM": lightgbm.LGBMRegressor(random_state=seed, n_jobs=1, verbosity=-1),
    }


def measure(split: Split) -> Iterator[dict[str, Any]]:
    """Fit both learners and yield their records."""
    for name, learner in learners(split.seed).items():
        start = time.process_time()
        learner.fit(*split.train)
        spent = time.process_time() - start
        X, y = split.test
        model = getattr(learner, "model_", None)
        yield {
            "learner": name,
            "problem": split.problem,
            "protocol": "five folds of diabetes; 500 rows to learn from, five times, of the others",
            "rmse": float(np.sqrt(np.mean((learner.predict(X) - y) ** 2))),
            "deviation": float(np.std(y)),
            "terms": None if model is None else len(model.rules) + len(model.linear),
            "fit_seconds": spent,
            "versions": {"rulewright": version("rulewright"), "lightgbm": lightgbm.__version__},
            "commit": commit(),
        }


def mean(records: list[dict[str, Any]], problem: str, learner: str, figure: str) -> float:
    """Return the mean of a figure over the splits of a problem."""
    chosen = [r for r in records if r["problem"] == problem and r["learner"] == learner]
    return float(np.mean([r[figure] for r in chosen]))


def report(records: list[dict[str, Any]]) -> Report:
    """Compare the errors; the problems' scales differ, so means are of shares of the deviation."""
    names = list(dict.fromkeys(r["problem"] for r in records))
    who = list(dict.fromkeys(r["learner"] for r in records))
    errors = np.array([[mean(records, p, w, "rmse") for w in who] for p in names])
    scales = np.array([mean(records, p, who[0], "deviation") for p in names])
    ratios = errors[:, 0] / errors[:, -1]
    terms = [mean(records, p, who[0], "terms") for p in names]
    rows = [
        [p, *line, ratio, t]
        for p, line, ratio, t in zip(names, errors.tolist(), ratios.tolist(), terms, strict=True)
    ]
    shares = (errors / scales[:, None]).mean(axis=0)
    rows.append(["mean share of the deviation", *shares.tolist(), float(ratios.mean()), None])
    seconds = [
        float(np.mean([r["fit_seconds"] for r in records if r["learner"] == w])) for w in who
    ]
    rows.append(["seconds of a fit", *seconds, None, None])
    gap = float(shares[0] - shares[-1])
    text = "mean RMSE of RuleFit, as a share of the deviation, minus that of LightGBM: at most 0"
    return Report(
        "rulefit-regression",
        "RuleFit for numbers: RMSE against LightGBM",
        [
            "`python benchmarks/regression.py`: `RuleFitRegressor()` with our defaults and with "
            '`penalty="min"`, and LightGBM with its own. Scikit-learn\'s diabetes by five folds; '
            "Friedman's three problems (noise 1, 125 and 0.1), five planted rules over four "
            "nominal and eight numeric columns (noise 0.5), and five smooth curves of ten uniform "
            "columns (noise 0.5): 500 rows to learn from and 2,000 to judge on, drawn five times. "
            "The problems were written down before any of them was run."
        ],
        [Grid("RMSE", ["problem", *who, "RuleFit / LightGBM", "terms of RuleFit"], rows)],
        [Expectation(text, f"{gap:.4f}", gap <= 0)],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="also write the page to this folder")
    options = parser.parse_args()
    records = [record for split in splits() for record in measure(split)]
    found = report(records)
    grid, target = found.grids[0], found.targets[0]
    print(
        "\n".join(
            [*aligned(list(grid.head), grid.write_cells()), f"{target.text}: {target.measured}"]
        )
    )
    if options.out:
        about = provenance(records) | {"command": "python benchmarks/regression.py"}
        found.write(options.out, about)


if __name__ == "__main__":
    main()
