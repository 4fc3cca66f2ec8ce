"""Two-class problems with one kind of effect each: curves, products, rules, a sphere."""

from __future__ import annotations

import numpy as np
from noisy_rules import sigmoid

Problem = tuple[np.ndarray, np.ndarray]


def _drawn(rng: np.random.Generator, log_odds: np.ndarray) -> np.ndarray:
    return (rng.random(len(log_odds)) < sigmoid(log_odds)).astype(int)


def smooth(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Draw rows whose log-odds are a sum of curves of half of the columns."""
    concept, rows = np.random.default_rng([1, seed]), np.random.default_rng([2, seed, part, n])
    X = rows.normal(size=(n, m))
    log_odds = np.zeros(n)
    for j in range(m // 2):
        x, kind, size = X[:, j], concept.integers(4), concept.normal(scale=0.8)
        log_odds += size * [x, np.sin(2 * x), x**2 - 1, np.abs(x) - 0.8][kind]
    return X, _drawn(rows, log_odds)


def products(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Draw rows whose log-odds are six products of two columns and four lines."""
    concept, rows = np.random.default_rng([3, seed]), np.random.default_rng([4, seed, part, n])
    X = rows.uniform(-1, 1, size=(n, m))
    log_odds = np.zeros(n)
    for _ in range(6):
        one, two = concept.choice(m, 2, replace=False)
        log_odds += concept.normal(scale=2) * X[:, one] * X[:, two]
    for j in concept.choice(m, 4, replace=False):
        log_odds += concept.normal() * X[:, j]
    return X, _drawn(rows, log_odds)


def _mixed(X: np.ndarray) -> np.ndarray:
    """Make some columns whole numbers and some of them yes or no."""
    X[:, ::3] = np.round(np.abs(X[:, ::3]) * 10)
    X[:, 1::5] = X[:, 1::5] > 0
    return X


def boxes(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Draw rows whose log-odds are 25 rules of one to four conditions."""
    concept, rows = np.random.default_rng([5, seed]), np.random.default_rng([6, seed, part, n])
    X = _mixed(rows.normal(size=(n, m)))
    known = _mixed(np.random.default_rng([6, seed, 9]).normal(size=(4000, m)))
    log_odds = np.full(n, -0.3)
    for _ in range(25):
        covered = np.ones(n, dtype=bool)
        for j in concept.choice(m, concept.integers(1, 5), replace=False):
            threshold = np.quantile(known[:, j], concept.uniform(0.25, 0.75))
            covered &= (X[:, j] >= threshold) == (concept.random() < 0.5)
        log_odds += 1.5 * concept.normal() * covered
    return X, _drawn(rows, log_odds)


def sphere(n: int, m: int, seed: int, part: int = 0) -> Problem:
    """Draw rows inside and outside a sphere of ten columns, a tenth of the labels turned."""
    rows = np.random.default_rng([7, seed, part, n])
    X = rows.normal(size=(n, m))
    outside = (X[:, :10] ** 2).sum(axis=1) > 9.34
    return X, (outside ^ (rows.random(n) < 0.1)).astype(int)
