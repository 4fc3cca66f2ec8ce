"""What does a limit on the conditions of a rule cost? `python benchmarks/limit.py --rules 500`."""

from __future__ import annotations

import argparse
import time

import numpy as np
from console import aligned
from problems import wide
from sklearn.metrics import log_loss

from rulewright import Growth, MLRulesClassifier
from rulewright_lab.experiments.datasets import load_dataset

LIMITS = (1, 2, 3, 4, 5, 6, 8, None)


def measure(train: tuple, test: tuple, limit: int | None, n_rules: int) -> list[object]:
    """Fit with one limit and judge on rows never seen."""
    start = time.perf_counter()
    fixed = {
        "learning_rate": 0.1,
        "growth": Growth(class_choice="joint"),
        "stopping": "window",
    }  # at all sizes
    est = MLRulesClassifier(n_rules, max_conditions=limit, random_state=0, **fixed)
    model = est.fit(*train)
    seconds = time.perf_counter() - start
    shares = model.predict_proba(test[0])
    wrong = np.mean(model.classes_[shares.argmax(axis=1)] != test[1])
    length = np.mean([len(rule.body) for rule in model.model_.rules])
    loss = log_loss(test[1], shares, labels=model.classes_)
    return ["none" if limit is None else limit, float(wrong), float(loss), float(length), seconds]


def problems(rows: int, sets: list[str]) -> dict[str, tuple[tuple, tuple]]:
    """Return train and test part of every problem."""
    X, y = wide(2 * rows, 30, 2)
    found = {f"wide, {rows:,} rows": ((X[:rows], y[:rows]), (X[rows:], y[rows:]))}
    for name in sets:
        table = load_dataset(name)
        y = table.target.classes[table.target.codes]
        half = np.random.default_rng(0).permutation(len(y)) < 2 * len(y) // 3
        parts = [(table.take(np.flatnonzero(part)), y[part]) for part in (half, ~half)]
        found[f"{name}, {half.sum():,} rows"] = (parts[0], parts[1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--rules", type=int, default=500)
    parser.add_argument("--sets", nargs="*", default=[], help="data sets of the papers")
    options = parser.parse_args()
    for name, (train, test) in problems(options.rows, options.sets).items():
        body = [measure(train, test, limit, options.rules) for limit in LIMITS]
        print(f"\n{name}, {options.rules} rules")
        print("\n".join(aligned(["limit", "error", "log-loss", "conditions", "seconds"], body)))


if __name__ == "__main__":
    main()
