"""Do held-out rows know where lines help? Compact rules without lines, with lines and "auto".

`auto_lines.py [PROBLEM ...] [--classes]`: R2 on 4,000 new rows, or log-loss of two classes that
are numbers above the median; scikit-learn's tables by five folds.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from console import aligned
from sklearn.datasets import (
    load_breast_cancer,
    load_diabetes,
    make_friedman1,
    make_friedman2,
    make_friedman3,
)
from sklearn.metrics import log_loss, r2_score
from sklearn.model_selection import KFold

from rulewright import CompactRulesClassifier, CompactRulesRegressor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Rows = tuple[np.ndarray, np.ndarray]
KINDS: tuple[bool | str, ...] = (False, True, "auto")
SIZES, N_NEW = (200, 1000), 4000


def steps(X: np.ndarray) -> np.ndarray:
    """Add steps of one and of two columns."""
    return 2.0 * (X[:, 0] > 0.4) - 1.5 * (X[:, 1] > 0.7) + 2.0 * ((X[:, 2] > 0.5) & (X[:, 3] < 0.6))


def boxes(X: np.ndarray) -> np.ndarray:
    """Add five rules of two conditions."""
    pairs = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0))
    return sum(
        (-1.0) ** k * 2 * ((X[:, a] > 0.3) & (X[:, b] < 0.6)) for k, (a, b) in enumerate(pairs)
    )


def staircase(X: np.ndarray) -> np.ndarray:
    """Climb four steps of one column and two of another: a line is near but wrong."""
    return np.floor(4 * X[:, 0]) + np.floor(2 * X[:, 1])


def lines(X: np.ndarray) -> np.ndarray:
    """Add four lines."""
    return X[:, :4] @ np.array([4.0, -3.0, 2.0, 1.0])


def lines_and_steps(X: np.ndarray) -> np.ndarray:
    """Add two lines and two steps."""
    return (
        4 * X[:, 0]
        - 2 * X[:, 1]
        + 2.0 * (X[:, 2] > 0.5)
        + 2.0 * ((X[:, 3] > 0.3) & (X[:, 4] < 0.5))
    )


def curves(X: np.ndarray) -> np.ndarray:
    """Add five smooth curves."""
    found = np.sin(2 * np.pi * X[:, 0]) + 4 * (X[:, 1] - 0.5) ** 2 + np.exp(X[:, 2])
    return found + 2 * X[:, 3] + np.log(0.1 + X[:, 4])


def uniform(truth: Callable[[np.ndarray], np.ndarray]) -> Callable[[int, int], Rows]:
    """Draw ten uniform columns, and noise of the deviation 1."""

    def draw(n: int, seed: int) -> Rows:
        rng = np.random.default_rng([seed, n])
        X = rng.uniform(size=(n, 10))
        return X, truth(X) + rng.normal(size=n)

    return draw


def houses(n: int, seed: int) -> Rows:
    """Draw skewed prices of houses, cut off as California's, by income, age, rooms and place."""
    rng = np.random.default_rng([seed, n, 3])
    income, age = rng.gamma(3.5, 1.1, n), rng.integers(1, 53, n)
    rooms = rng.lognormal(1.65, 0.25, n)
    north, east = rng.uniform(32, 42, n), rng.uniform(0, 1, n)
    people = rng.lognormal(7, 0.7, n)
    coast = 0.9 * np.exp(-3 * east) + 0.5 * ((north < 34.5) & (east < 0.3))
    value = 0.25 + 0.38 * income + coast + 0.006 * age - 0.05 * (rooms - 5) - 0.6 * (east > 0.6)
    value *= rng.lognormal(0, 0.25, n)
    return np.column_stack([income, age, rooms, north, east, people]), np.minimum(value, 5.0)


PROBLEMS: dict[str, Callable[[int, int], Rows]] = {
    "steps": uniform(steps),
    "boxes": uniform(boxes),
    "staircase": uniform(staircase),
    "lines": uniform(lines),
    "lines and steps": uniform(lines_and_steps),
    "curves": uniform(curves),
    "houses": houses,
    "Friedman 1": lambda n, seed: make_friedman1(n, noise=1.0, random_state=seed),
    "Friedman 2": lambda n, seed: make_friedman2(n, noise=125.0, random_state=seed),
    "Friedman 3": lambda n, seed: make_friedman3(n, noise=0.1, random_state=seed),
}


def splits(name: str, n_tables: int, classes: bool) -> Iterator[tuple[str, Rows, Rows]]:
    """Return rows to learn from and new rows, with a name."""
    if name not in PROBLEMS:
        load = load_breast_cancer if classes else load_diabetes
        X, y = load(return_X_y=True)
        for a, b in KFold(5, shuffle=True, random_state=0).split(X):
            yield name, (X[a], y[a]), (X[b], y[b])
        return
    for n in SIZES:
        for seed in range(n_tables):
            X, y = PROBLEMS[name](n + N_NEW, seed)
            if classes:
                y = y > np.median(y)
            yield f"{name}, {n} rows", (X[:n], y[:n]), (X[n:], y[n:])


def measure(train: Rows, test: Rows, kind: bool | str, classes: bool) -> list[float]:
    """Return R2 or log-loss on new rows, rules, lines and seconds of processor time."""
    start = time.process_time()
    maker: Any = CompactRulesClassifier if classes else CompactRulesRegressor
    model = maker(linear=kind, n_jobs=1, random_state=0).fit(*train).model_
    spent = time.process_time() - start
    if classes:
        figure = log_loss(test[1], model.predict_proba(test[0]))
    else:
        figure = r2_score(test[1], model.predict(test[0]))
    return [figure, len(model.rules), len(model.linear), spent]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    real = ["scikit-learn's table"]
    parser.add_argument("problems", nargs="*", default=[*real, *PROBLEMS])
    parser.add_argument("--classes", action="store_true", help="two classes instead of numbers")
    parser.add_argument("--tables", type=int, default=5, help="tables of each problem and size")
    options = parser.parse_args()
    found: dict[str, list[list[list[float]]]] = {}
    for problem in options.problems:
        for name, train, test in splits(problem, options.tables, options.classes):
            own = [measure(train, test, kind, options.classes) for kind in KINDS]
            found.setdefault(name, []).append(own)
    figures = [f"{figure} {kind}" for figure in ("fit", "rules", "lines", "s") for kind in KINDS]
    body: list[list[object]] = []
    for name, own in found.items():
        means = np.mean(own, axis=0).T.ravel()
        with_lines = f"{sum(one[-1][2] > 0 for one in own)} of {len(own)}"
        body.append([name, *means, with_lines])
    body.append(["mean", *np.mean([row[1:-1] for row in body], axis=0), ""])
    print("\n".join(aligned(["", *figures, "auto has lines"], body)))


if __name__ == "__main__":
    main()
