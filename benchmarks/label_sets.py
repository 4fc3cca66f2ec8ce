"""What do sets of labels change? `label_sets.py [--rows N ...] [--trees]`.

Made-up tables: columns of 5 to 300 labels whose effects are random, products of the effects of two
columns, and three numbers. Log-loss of 20,000 other rows, and processor seconds of one thread.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss

from rulewright import Growth, MLRulesClassifier

SIZES = (5, 12, 30, 80, 300)
N_TEST = 20_000


def make_labels(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Create a table and its classes."""
    rng = np.random.default_rng(seed)
    codes = [rng.choice(n, n_rows, p=rng.dirichlet(np.full(n, 0.7))) for n in SIZES]
    score = sum(0.8 * rng.normal(size=n)[own] for n, own in zip(SIZES, codes, strict=True))
    for a, b in ((0, 1), (1, 2), (2, 3)):
        score += 0.8 * rng.normal(size=SIZES[a])[codes[a]] * rng.normal(size=SIZES[b])[codes[b]]
    numbers = rng.normal(size=(3, n_rows))
    score += 0.5 * numbers.sum(axis=0)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-2 * score / score.std()))).astype(int)
    labels = {f"c{j}": pd.Series(own).map("v{}".format) for j, own in enumerate(codes)}
    return pd.DataFrame({**labels, **{f"x{j}": x for j, x in enumerate(numbers)}}), y


def learners(trees: bool) -> dict[str, Any]:
    """Return what is compared: rules without and with sets, or trees."""
    if trees:
        import lightgbm  # noqa: PLC0415  (the rules are compared without it too)

        return {"trees": lightgbm.LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0)}
    options = {"random_state": 0, "n_jobs": 1}
    return {
        f"sets={sets}": MLRulesClassifier(growth=Growth(label_sets=sets), **options)
        for sets in (False, True)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="*", default=[2000, 5000, 20_000, 50_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--trees", action="store_true", help="fit LightGBM instead")
    options = parser.parse_args()
    for n_rows in options.rows:
        found: dict[str, list[tuple[float, float]]] = {}
        for seed in range(options.repeat):
            X, y = make_labels(n_rows + N_TEST, seed)
            if options.trees:
                X = X.astype({name: "category" for name in X if name[0] == "c"})
            for name, learner in learners(options.trees).items():
                start = time.process_time()
                learner.fit(X[:n_rows], y[:n_rows])
                seconds = time.process_time() - start
                loss = log_loss(y[n_rows:], learner.predict_proba(X[n_rows:]))
                found.setdefault(name, []).append((loss, seconds))
        for name, figures in found.items():
            loss, seconds = np.mean(figures, axis=0)
            print(f"{n_rows:7,} rows  {name:11}  log-loss {loss:.4f}  {seconds:.2f} s", flush=True)


if __name__ == "__main__":
    main()
