"""Rows from a few noisy rules: what a rule learner should find, with a known best accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

N_RULES = 5
BAYES_ACCURACY = 0.84
# Where no rule speaks, class 0 is likelier.
BIAS = -1.5
# The rows on which the noise is set; they stand for the whole population.
N_REFERENCE_ROWS = 50_000


def mixed_columns(rng: np.random.Generator, n: int, m: int) -> np.ndarray:
    """Draw normal, skewed, counting and yes/no columns in turn."""
    X = rng.normal(size=(n, m))
    X[:, 1::4] = np.round(rng.exponential(40.0, size=X[:, 1::4].shape), 1)
    X[:, 2::4] = rng.poisson(3.0, size=X[:, 2::4].shape)
    X[:, 3::4] = rng.random(X[:, 3::4].shape) < 0.5
    return X


def sigmoid(scores: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-scores))


def bayes_accuracy(shares: np.ndarray) -> float:
    """Return the accuracy of who knows each row's probability of class 1."""
    return float(np.maximum(shares, 1.0 - shares).mean())


def entropy(shares: np.ndarray) -> float:
    """Return the log-loss of who knows each row's probability of class 1."""
    both = np.clip(np.stack([shares, 1.0 - shares]), 1e-300, None)
    return float(-(both * np.log(both)).sum(axis=0).mean())


@dataclass(frozen=True)
class Planted:
    """One planted rule: it adds `vote` to the log-odds of class 1 where all conditions hold."""

    conditions: tuple[tuple[int, float, bool], ...]
    vote: float

    def covers(self, X: np.ndarray) -> np.ndarray:
        tests = [(X[:, j] > threshold) == above for j, threshold, above in self.conditions]
        return np.all(tests, axis=0)


def plant(rng: np.random.Generator, rows: np.ndarray, sign: float) -> Planted:
    """Draw a rule of two or three conditions that split their columns near the middle."""
    conditions = []
    for column in rng.choice(rows.shape[1], size=rng.integers(2, 4), replace=False):
        values = np.unique(rows[:, column])
        near = np.quantile(rows[:, column], rng.uniform(0.3, 0.7))
        place = int(np.clip(np.searchsorted(values, near), 1, len(values) - 1))
        # Halfway between two values: no row lies on the threshold.
        threshold = float(values[place - 1 : place + 1].mean())
        conditions.append((int(column), threshold, bool(rng.random() < 0.5)))
    return Planted(tuple(conditions), sign * float(rng.uniform(2.0, 4.0)))


def noise_factor(scores: np.ndarray) -> float:
    """Return the factor on the log-odds that gives the asked Bayes accuracy, by bisection."""
    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        enough = bayes_accuracy(sigmoid(middle * scores)) >= BAYES_ACCURACY
        low, high = (low, middle) if enough else (middle, high)
    found = bayes_accuracy(sigmoid(high * scores))
    if abs(found - BAYES_ACCURACY) > 1e-6:
        raise ValueError(f"this concept reaches a Bayes accuracy of {found:.3f}: use another seed")
    return high


@dataclass(frozen=True)
class Concept:
    """The planted rules of (number of columns, seed) and the noise that hides them."""

    rules: tuple[Planted, ...]
    factor: float

    @classmethod
    def draw(cls, n_columns: int, seed: int) -> Concept:
        rng = np.random.default_rng([19990718, n_columns, seed])
        rows = mixed_columns(rng, N_REFERENCE_ROWS, n_columns)
        # Rules speak for class 1 and for class 0 in turn.
        rules = tuple(plant(rng, rows, (-1.0) ** i) for i in range(N_RULES))
        return cls(rules, noise_factor(cls(rules, 1.0).log_odds(rows)))

    def log_odds(self, X: np.ndarray) -> np.ndarray:
        votes = [rule.vote * rule.covers(X) for rule in self.rules]
        return np.asarray(self.factor * (BIAS + np.sum(votes, axis=0)))

    def shares(self, X: np.ndarray) -> np.ndarray:
        """Return each row's probability of class 1."""
        return sigmoid(self.log_odds(X))


def noisy_rules(
    n_rows: int, n_columns: int, seed: int, part: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows of the concept (n_columns, seed); `part` selects the rows."""
    rng = np.random.default_rng([n_rows, n_columns, seed, part])
    X = mixed_columns(rng, n_rows, n_columns)
    shares = Concept.draw(n_columns, seed).shares(X)
    return X, (rng.random(n_rows) < shares).astype(int)


def best_possible(n_rows: int, n_columns: int, seed: int, part: int = 0) -> tuple[float, float]:
    """Return the error and log-loss that knowing the concept would give on such rows."""
    rng = np.random.default_rng([n_rows, n_columns, seed, part])
    shares = Concept.draw(n_columns, seed).shares(mixed_columns(rng, n_rows, n_columns))
    return 1.0 - bayes_accuracy(shares), entropy(shares)
