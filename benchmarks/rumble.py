"""Seconds of RUMBLE's loop: weights kept between rules against a dense program after every rule.

`python benchmarks/rumble.py`: 20,000 rows and 5,000 generated rules, at most 100 of them in the
working set. Ours adds every rule to a state, which solves only if the best weights may change. The
rivals run the same loop with a dense matrix and one program per rule: by SciPy (SLSQP, from the
last weights), or by a cold active set. They run for the first rules only, until the working set is
full and some rules more; the mean seconds of the last of them stand for those of all other rules.
`worse` is how much less of the objective a rival finds, at most.

The last line is for 1,596 rules (56 intervals and their pairs) of 690 rows, generation included.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # small matrices: threads only wait

import numpy as np
from console import aligned
from scipy.optimize import minimize

from rulewright.encoding.signed import SignedCovers
from rulewright.weighting import MMV
from rulewright.weighting.margins.ball import MarginQuadratic
from rulewright.weighting.margins.mmv import ActiveSet

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CAP = 100
LAST = 20
FASTER, SECONDS = 20.0, 1.0


def draw(n_rows: int, n_columns: int) -> tuple[SignedCovers, np.ndarray]:
    """Draw columns cut into four intervals of equal frequency, and noisy classes."""
    rng = np.random.default_rng([n_rows, n_columns])
    z = rng.normal(size=(n_rows, n_columns))
    bins = z.argsort(axis=0).argsort(axis=0) * 4 // n_rows
    x = np.concatenate(
        [np.where(bins[:, j] == np.arange(4)[:, None], 1, -1) for j in range(n_columns)]
    )
    score = np.sin(2 * z[:, 0]) + z[:, 1] * (z[:, 2] > 0) + 0.3 * z[:, 3:12].sum(axis=1)
    return SignedCovers.pack(x), np.where(score + 0.7 * rng.normal(size=n_rows) > 0, 1.0, -1.0)


def rules(base: SignedCovers, n_rules: int) -> Iterator[SignedCovers]:
    """Return the constant rule, the base rules, and "or" of their pairs."""
    made = [SignedCovers.constant(base.n_rows)]
    yield from made
    for i in range(min(len(base), n_rules - 1)):
        yield base[i : i + 1]
    left = n_rules - 1 - len(base)
    for i in range(len(base)):
        for j in range(i + 1, len(base)):
            if left <= 0:
                return
            left -= 1
            yield base[i : i + 1].maximum(base[j : j + 1])


def ours(base: SignedCovers, y: np.ndarray, n_rules: int) -> tuple[float, int, float]:
    """Give seconds, solves and the value at the end."""
    start, solves = time.perf_counter(), 0
    state = MMV().start(y, np.full(len(y), 1 / len(y)))
    for rule in rules(base, n_rules):
        if state.add(rule):
            state.solve()
            solves += 1
        state.drop_to(CAP)
    return time.perf_counter() - start, solves, state.solution.value


class Dense:
    """A working set of float64 columns, with their means and products, in fixed places."""

    def __init__(self, y: np.ndarray) -> None:
        self.y, self.k, self.x = y, 0, np.zeros((CAP + 1, len(y)))
        self.d, self.products = np.zeros(CAP + 1), np.zeros((CAP + 1, CAP + 1))

    def add(self, rule: SignedCovers) -> None:
        k, n = self.k, len(self.y)
        self.x[k] = rule.values()[0]
        self.d[k] = self.x[k] @ self.y / n
        self.products[k, : k + 1] = self.x[: k + 1] @ self.x[k] / n
        self.products[: k + 1, k] = self.products[k, : k + 1]
        self.k += 1

    def remove(self, j: int) -> None:
        """Put the last rule in the place of another."""
        self.k -= 1
        for part in (self.x, self.d, self.products, self.products.T):
            part[j] = part[self.k]

    @property
    def problem(self) -> MarginQuadratic:
        k, n = self.k, len(self.y)
        return MarginQuadratic(self.d[:k], self.products[:k, :k], 2 * n / (n - 1))


def slsqp(problem: MarginQuadratic, w: np.ndarray) -> np.ndarray:
    """Solve the split program by SciPy, from weights of the rules before."""
    h, m = problem.hessian, len(problem.d)
    v = np.concatenate([np.maximum(w, 0), np.maximum(-w, 0)])
    v += max(1 - v.sum(), 0) / len(v)

    def value(v: np.ndarray) -> tuple[float, np.ndarray]:
        w = v[:m] - v[m:]
        g = h @ w - problem.d
        return float(w @ (g - problem.d)) / 2, np.concatenate([g, -g])

    ones = np.ones(len(v))
    ball = {"type": "eq", "fun": lambda v: v.sum() - 1, "jac": lambda _: ones}
    options = {"ftol": 1e-9, "maxiter": 200}
    found = minimize(
        value, v, jac=True, bounds=[(0, 1)] * len(v), constraints=[ball], options=options
    )
    return np.asarray(found.x[:m] - found.x[m:])


def cold(problem: MarginQuadratic, w: np.ndarray) -> np.ndarray:
    """Solve by our active set from nothing."""
    return ActiveSet().solve(problem, w)


def rival(
    solve: Callable[[MarginQuadratic, np.ndarray], np.ndarray],
    base: SignedCovers,
    y: np.ndarray,
    n: int,
) -> tuple[float, float]:
    """Return the seconds of a whole loop, from its first rules, and the worst loss of value."""
    dense, w, seconds, worst = Dense(y), np.zeros(0), [], 0.0
    for rule in rules(base, CAP + LAST):
        start = time.perf_counter()
        dense.add(rule)
        w = solve(dense.problem, np.append(w, 0.0))
        seconds.append(time.perf_counter() - start)
        best = ActiveSet().solve(dense.problem, w)
        inside = w / max(np.abs(w).sum(), 1)
        worst = max(worst, _value(dense.problem, best) - _value(dense.problem, inside))
        if len(w) > CAP:
            j = int(np.abs(w).argmin())
            dense.remove(j)
            w[j] = w[-1]
            w = w[:-1]
    return sum(seconds) + (n - len(seconds)) * float(np.mean(seconds[-LAST:])), worst


def _value(problem: MarginQuadratic, w: np.ndarray) -> float:
    return float(w @ (problem.d + problem.gradient(w))) / 2


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--rules", type=int, default=5000)
    given = parser.parse_args()
    base, y = draw(given.rows, 25)
    seconds, solves, value = ours(base, y, given.rules)
    print(f"{given.rows} rows, {given.rules} rules: value {value:.4f} after {solves} solves")
    body: list[list[Any]] = [["rulewright", seconds, None, None]]
    for name, solve in (("SLSQP, warm", slsqp), ("active set, cold", cold)):
        total, worse = rival(solve, base, y, given.rules)
        name = f"{name} (from {CAP + LAST} rules)"
        body.append([name, total, total / seconds, worse])
    print("\n".join(aligned(["", "seconds", "times slower", "worse"], body)))
    print(f"goal: SLSQP at least {FASTER:g} times slower")
    base, y = draw(690, 14)
    best = min(ours(base, y, 1597)[0] for _ in range(3))
    print(f"690 rows, 1,596 rules and the constant one: {best:.2f} seconds (goal: {SECONDS:g})")


if __name__ == "__main__":
    main()
