"""How fast are fits on tables that are not a few numeric columns? `tables.py [TABLE ...]`.

Processor time of one thread, 500 rules against 500 trees of eight leaves, in turns. The ratio is
that of the least times.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
from console import aligned
from sklearn.metrics import log_loss

from rulewright import MLRulesClassifier

N_PLANTED_RULES = 40
N_USED = 20
N_TEST = 10_000


def numbers(rows: np.random.Generator, n: int, m: int) -> pd.DataFrame:
    """Draw normal numbers."""
    return pd.DataFrame(rows.normal(size=(n, m))).add_prefix("x")


def booleans(rows: np.random.Generator, n: int, m: int) -> pd.DataFrame:
    """Draw Boolean columns, which hold in a tenth to nine tenths of the rows."""
    return pd.DataFrame(rows.random((n, m)) < np.linspace(0.1, 0.9, m)).add_prefix("b")


def labels(rows: np.random.Generator, n: int, m: int, n_labels: int = 5) -> pd.DataFrame:
    """Draw nominal columns."""
    codes = rows.integers(n_labels, size=(n, m))
    names = [f"label{i}" for i in range(n_labels)]
    columns = {f"c{j}": pd.Categorical.from_codes(codes[:, j], names) for j in range(m)}
    return pd.DataFrame(columns)


def one_long(rows: np.random.Generator, n: int, m: int) -> pd.DataFrame:
    """Draw numbers and one column of 400 labels."""
    return pd.concat([numbers(rows, n, m - 1), labels(rows, n, 1, 400)], axis=1)


TABLES = {
    "booleans": (booleans, 50_000, 100),
    "labels": (labels, 20_000, 20),
    "one-long": (one_long, 50_000, 10),
    "wide": (numbers, 2_000, 2_000),
    "wide-booleans": (booleans, 5_000, 2_000),
}


def signal(column: pd.Series, concept: np.random.Generator) -> np.ndarray:
    """Return what a column contributes to the scores: a number for each label or value."""
    if column.dtype == "category":
        return concept.normal(size=len(column.cat.categories))[column.cat.codes]
    return np.tanh(column.to_numpy(dtype=float))


def make(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Draw a table and two classes; few columns decide, by additive effects, rules and noise."""
    draw, n, m = TABLES[name]
    X = draw(np.random.default_rng([n, m]), n + N_TEST, m)
    concept = np.random.default_rng(20080705)
    used = concept.choice(m, size=min(m, N_USED), replace=False)
    signals = np.column_stack([signal(X.iloc[:, j], concept) for j in used])
    signals = (signals - signals.mean(axis=0)) / signals.std(axis=0)
    scores = signals @ concept.normal(scale=0.4, size=len(used)) + concept.logistic(size=len(X))
    for _ in range(N_PLANTED_RULES):
        columns = concept.choice(len(used), size=3, replace=False)
        above = concept.random(3) < 0.5
        covered = ((signals[:, columns] > 0) == above).all(axis=1)
        scores[covered] += concept.choice([-1, 1]) * concept.uniform(0.5, 1.5)
    return X, scores > np.median(scores)


def rules() -> Any:
    return MLRulesClassifier(
        max_rules=500,
        subsample=0.5,
        learning_rate=0.1,
        max_conditions=4,
        stopping="window",
        n_jobs=1,
        random_state=0,
    )


def trees() -> Any:
    return lightgbm.LGBMClassifier(
        n_estimators=500,
        num_leaves=8,
        learning_rate=0.1,
        subsample=0.5,
        subsample_freq=1,
        n_jobs=1,
        verbosity=-1,
        random_state=0,
    )


def compared(name: str, repeat: int) -> list[object]:
    """Fit both in turns and tell seconds, their ratio, rounds and losses on other rows."""
    X, y = make(name)
    train, test = slice(N_TEST, None), slice(N_TEST)
    seconds, losses, rounds = {rules: np.inf, trees: np.inf}, {}, 0
    for _ in range(repeat):
        for maker in seconds:
            learner, start = maker(), time.process_time()
            learner.fit(X[train], y[train])
            seconds[maker] = min(seconds[maker], time.process_time() - start)
            losses[maker] = log_loss(y[test], learner.predict_proba(X[test]))
            if maker is rules:
                rounds = len(learner.trace_["train_loss"])
    ours, theirs = seconds[rules], seconds[trees]
    return [name, ours, theirs, ours / theirs, rounds, losses[rules], losses[trees]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", default=list(TABLES), help=", ".join(TABLES))
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    columns = ["", "rules s", "trees s", "ratio", "rules", "rules' loss", "trees' loss"]
    body = [compared(name, options.repeat) for name in options.tables]
    print("\n".join(aligned(columns, body)))


if __name__ == "__main__":
    main()
