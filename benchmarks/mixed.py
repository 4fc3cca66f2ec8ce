"""Problems as users have them: interactions in noise, mixed columns with gaps, many labels."""

from __future__ import annotations

import numpy as np
import pandas as pd
from noisy_rules import sigmoid

Problem = tuple[np.ndarray | pd.DataFrame, np.ndarray]


def interactions(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Draw two classes by two interactions, a sine and a product; most columns are noise."""
    rows = np.random.default_rng([40, seed, part, n])
    X = rows.normal(size=(n, m))
    f = (X[:, 0] > 0) * (X[:, 1] > 0.3) * 2.0 - 1 + 1.5 * (X[:, 2] < -0.2) * (X[:, 3] > 0)
    f += np.sin(2 * X[:, 4]) + 0.5 * X[:, 5] * X[:, 6]
    return X, (rows.random(n) < sigmoid(1.5 * f)).astype(int)


def gaps(n: int, m: int, K: int, part: int = 0) -> Problem:
    """Draw K classes from numeric and nominal columns with gaps; some rules need both kinds."""
    concept, rows = np.random.default_rng([41, m, K]), np.random.default_rng([42, part, n, m, K])
    n_numbers = m - len(LABELS)
    numbers = rows.normal(size=(n, n_numbers))
    numbers[:, ::3] = np.round(np.exp(numbers[:, ::3]), 1)
    codes = [rows.integers(k, size=n) for k in LABELS]
    scores = rows.gumbel(size=(n, K))
    scores += np.tanh(numbers) @ concept.normal(scale=0.6, size=(n_numbers, K))
    for n_labels, column in zip(LABELS, codes, strict=True):
        scores += concept.normal(scale=0.3, size=(n_labels, K))[column]
    for _ in range(15):
        chosen = concept.choice(n_numbers, size=2, replace=False)
        covered = (numbers[:, chosen] > concept.normal(scale=0.5, size=2)).all(axis=1)
        covered &= codes[concept.integers(2, 7)] != concept.integers(3)
        scores[covered, concept.integers(K)] += concept.uniform(0.5, 1.5)
    X = pd.DataFrame(numbers).add_prefix("x").mask(rows.random(numbers.shape) < 0.05)
    for j, (n_labels, column) in enumerate(zip(LABELS, codes, strict=True)):
        X[f"c{j}"] = nominal(np.where(rows.random(n) < 0.03, -1, column), n_labels)
    return X, scores.argmax(axis=1)


LABELS = (2, 3, 3, 5, 5, 8, 12, 20, 40)
MANY_LABELS = (20, 50, 120, 300)


def labels(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Draw two classes from numeric columns and columns of 20 to 300 labels with own effects."""
    concept, rows = np.random.default_rng([43, seed]), np.random.default_rng([44, seed, part, n])
    X = pd.DataFrame(rows.normal(size=(n, m - len(MANY_LABELS)))).add_prefix("x")
    log_odds = X["x0"] + np.sin(2 * X["x1"]) + (X["x2"] > 0.5) * (X["x3"] < 0)
    for j, n_labels in enumerate(MANY_LABELS):
        codes = rows.integers(n_labels, size=n)
        log_odds += concept.normal(scale=0.5, size=n_labels)[codes]
        X[f"c{j}"] = nominal(codes, n_labels)
    return X, (rows.random(n) < sigmoid(log_odds.to_numpy())).astype(int)


def nominal(codes: np.ndarray, n_labels: int) -> pd.Categorical:
    """Name the labels of codes; -1 is missing."""
    return pd.Categorical.from_codes(codes, [f"v{i}" for i in range(n_labels)])
