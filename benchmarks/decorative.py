"""How many rules use columns of noise? `python benchmarks/decorative.py`.

Labels depend on the first of three columns only, with noise: a logistic curve, a step, a band. The
figures are, over some tables of 500 rows, the share of MLRules' rules that use one of the other two
columns, the number of rules, and the log-loss on 4,000 new rows.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

import numpy as np
from sklearn.metrics import log_loss

from rulewright import Growth, MLRulesClassifier

N_ROWS, N_NEW, FLIPPED = 500, 4000, 0.1
KINDS = ("logistic", "step", "band")


class Figures(NamedTuple):
    """Of one fit."""

    share: float
    n_rules: float
    log_loss: float


def noisy_column(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw three normal columns and labels that depend on the first."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS + N_NEW, 3))
    if kind == "logistic":
        return X, (rng.random(len(X)) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    inside = X[:, 0] > 0 if kind == "step" else np.abs(X[:, 0]) > 0.7
    return X, (inside != (rng.random(len(X)) < FLIPPED)).astype(int)


def figures(kind: str, seed: int, **options: object) -> Figures:
    """Learn from some rows, and look at the rules and at other rows."""
    X, y = noisy_column(kind, seed)
    est = MLRulesClassifier(random_state=0, **options).fit(X[:N_ROWS], y[:N_ROWS])
    noise = [bool({"x1", "x2"} & set(rule.body.columns)) for rule in est.model_.rules]
    loss = log_loss(y[N_ROWS:], est.predict_proba(X[N_ROWS:]))
    return Figures(float(np.mean(noise)) if noise else 0.0, len(noise), float(loss))


def main() -> None:
    """Print a table of means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=8, help="tables of each kind")
    n_tables = parser.parse_args().tables
    print("| labels | as grown: share, rules, log-loss | pruned |")
    print("|---|---|---|")
    for kind in KINDS:
        cells = []
        for prune in (False, True):
            found = [figures(kind, seed, growth=Growth(prune=prune)) for seed in range(n_tables)]
            share, n_rules, loss = np.mean(found, axis=0)
            cells.append(f"{share:.0%}, {n_rules:.0f}, {loss:.3f}")
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
