"""What does a column of thousands of labels cost? `many_labels.py [--labels K ...] [--rows N]`.

Made-up loans: eight numeric and three small nominal columns determine the target, and a column of
job titles, Zipf-distributed, has an effect of its own for some frequent titles (`--effect`, in
deviations of the noise). Figures on 10,000 other rows, without and with that column.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score, roc_auc_score

from rulewright import RuleFitClassifier, RuleFitRegressor, read_table
from rulewright.encoding import bin_table
from rulewright.kernels import ROW
from rulewright.search import SearchLimits, Subsampler, TreeGrower

if TYPE_CHECKING:
    from collections.abc import Callable

N_TEST = 10_000
N_EFFECTIVE = 12
"""Titles that may have an effect: the most frequent."""


def make_loans(
    n_rows: int, n_labels: int, effect: float, seed: int
) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Create a table, its numbers and its classes."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(8, n_rows))
    small = [rng.integers(n, size=n_rows) for n in (3, 6, 12)]
    shares = 1 / np.arange(10, n_labels + 10)
    title = rng.choice(n_labels, n_rows, p=shares / shares.sum())
    signal = 2 * numbers[0] + np.where(numbers[1] > 0, numbers[2], -1) + np.abs(numbers[3])
    signal += (numbers[4] > 0.5) * (numbers[5] < 0)
    signal += sum(rng.normal(size=own.max() + 1)[own] for own in small) / 2
    effects = np.zeros(n_labels)
    effects[:N_EFFECTIVE] = effect * rng.choice([-1, 0, 1], N_EFFECTIVE)
    signal += effects[title]
    y = signal + 0.8 * rng.normal(size=n_rows)
    chances = 1 / (1 + np.exp(-1.2 * (signal - np.median(signal))))
    columns = {f"x{j}": x for j, x in enumerate(numbers)}
    columns |= {f"c{j}": pd.Series(own).map("v{}".format) for j, own in enumerate(small)}
    columns["title"] = pd.Series(rng.permutation(n_labels)[title]).map("job {}".format)
    return pd.DataFrame(columns), y, (rng.random(n_rows) < chances).astype(int)


def fit_numbers(X: pd.DataFrame, y: np.ndarray, _: np.ndarray, n: int) -> float:
    """Return R2 of rule ensembles on the other rows."""
    est = RuleFitRegressor(random_state=0, n_jobs=1).fit(X[:n], y[:n])
    return float(r2_score(y[n:], est.predict(X[n:])))


def fit_classes(X: pd.DataFrame, _: np.ndarray, labels: np.ndarray, n: int) -> float:
    """Return the AUC of rule ensembles on the other rows."""
    est = RuleFitClassifier(random_state=0, n_jobs=1).fit(X[:n], labels[:n])
    return float(roc_auc_score(labels[n:], est.predict_proba(X[n:])[:, 1]))


def boost_trees(X: pd.DataFrame, y: np.ndarray, _: np.ndarray, n: int) -> float:
    """Return R2 of boosted trees, as compact rules for numbers are compared with."""
    X, y = X[: n + n // 4], y[: n + n // 4]  # as with five folds
    train, binned = np.arange(len(y)) < n, bin_table(read_table(X))
    rows = np.flatnonzero(train).astype(ROW)
    sampler = Subsampler(n, 0.5, np.random.RandomState(0))
    grower = TreeGrower(binned, np.ones(len(y)), SearchLimits(min_weight=5.0))
    answers = np.full(len(y), y[train].mean())
    for _ in range(100):
        drawn = rows[sampler.draw().rows]
        tree = grower.grow(drawn, (y - answers)[drawn, np.newaxis], 6)
        answers += 0.1 * tree.values[tree.reach(binned.codes), 0]
    return float(r2_score(y[n:], answers[n:]))


LEARNERS: dict[str, Callable[[pd.DataFrame, np.ndarray, np.ndarray, int], float]] = {
    "RuleFitRegressor R2": fit_numbers,
    "RuleFitClassifier AUC": fit_classes,
    "boosted trees R2": boost_trees,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--labels", type=int, nargs="*", default=[50, 500, 4700, 20_000])
    parser.add_argument("--effect", type=float, nargs="*", default=[0.0, 0.5])
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for n_labels, effect in ((n, e) for n in options.labels for e in options.effect):
        for name, measure in LEARNERS.items():
            figures = []
            for seed in range(options.repeat):
                loans = make_loans(options.rows + N_TEST, n_labels, effect, seed)
                for X in (loans[0].drop(columns="title"), loans[0]):
                    start = time.process_time()
                    figure = measure(X, *loans[1:], options.rows)
                    figures.append((figure, time.process_time() - start))
            (without, s0), (with_, s1) = np.reshape(figures, (-1, 2, 2)).mean(axis=0)
            print(
                f"{n_labels:6,} labels  effect {effect:.1f}  {name:22} "
                f"{without:.4f} -> {with_:.4f} ({with_ - without:+.4f})  {s0:.1f} s -> {s1:.1f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
