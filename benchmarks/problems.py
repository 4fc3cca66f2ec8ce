"""Frozen synthetic problems: the same name gives the same numbers on every machine."""

from __future__ import annotations

import numpy as np
from noisy_rules import noisy_rules
from sklearn.datasets import load_iris

Problem = tuple[np.ndarray, np.ndarray]

N_PLANTED_RULES = 40


def wide(n: int, m: int, K: int, part: int = 0) -> Problem:
    """Draw n rows of m numeric columns whose K class scores are additive, rule-like and noisy.

    The concept depends on (m, K) only; `part` selects the rows, so part 1 is a test set for part 0.
    """
    concept = np.random.default_rng([20080705, m, K])
    slopes = concept.normal(scale=0.5, size=(m, K)) * (concept.random((m, 1)) < 0.5)
    rows = np.random.default_rng([n, m, K, part])
    X = rows.normal(size=(n, m))
    # Tanh bends the additive part, so that no linear model and no single split finds it.
    scores = np.tanh(X) @ slopes + rows.gumbel(size=(n, K))
    for _ in range(N_PLANTED_RULES):
        columns = concept.choice(m, size=min(m, 3), replace=False)
        thresholds = concept.normal(scale=0.5, size=len(columns))
        above = concept.random(len(columns)) < 0.5
        covered = ((X[:, columns] > thresholds) == above).all(axis=1)
        scores[covered, concept.integers(K)] += concept.uniform(0.5, 1.5)
    return X, scores.argmax(axis=1)


def iris() -> Problem:
    """Return the 150 x 4 iris table."""
    bunch = load_iris()
    return bunch.data, bunch.target


def make(name: str) -> Problem:
    """Return `iris`, `wide-ROWSxCOLUMNS-CLASSES` or `rules-ROWSxCOLUMNS-SEED`; `@1`: other rows."""
    name, _, part = name.partition("@")
    if name == "iris":
        return iris()
    kind, _, shape = name.partition("-")
    kinds = {"wide": wide, "rules": noisy_rules}
    if kind not in kinds:
        raise ValueError(
            f"unknown problem {name!r}: use 'iris', 'wide-ROWSxCOLUMNS-CLASSES' or "
            "'rules-ROWSxCOLUMNS-SEED'"
        )
    size, last = shape.split("-")
    n, m = size.split("x")
    return kinds[kind](int(n), int(m), int(last), int(part or 0))
