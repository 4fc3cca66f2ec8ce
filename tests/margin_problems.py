"""Small problems of weights by margins, and what SciPy finds for them."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from rulewright.encoding.signed import SignedCovers


class MarginProblem(NamedTuple):
    """Values of rules (rules x rows), classes and weights of the rows."""

    x: np.ndarray
    y: np.ndarray
    a: np.ndarray

    @property
    def margins(self):
        """y_i x_ij, rows x rules."""
        return self.x.T * self.y[:, np.newaxis]

    @property
    def means(self):
        """The mean margin of each rule, d."""
        return self.a @ self.margins

    @property
    def covariance(self):
        """S with n - 1, or what takes its place for weighted rows."""
        centred = self.margins - self.means
        return (centred * self.a[:, np.newaxis]).T @ centred / (1 - self.a @ self.a)

    @property
    def covers(self):
        return SignedCovers.pack(self.x)


def draw_problem(seed, *, max_rules=7, max_rows=40, weighted=False):
    """Draw rules with and without unknown values, with repeated and opposite ones, and classes.

    Rule 0 is constant. Classes are random or a linear threshold of the rules, so that the
    covariance of margins is often singular and margins are sometimes constant.
    """
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, max_rows)), int(rng.integers(1, max_rules + 1))
    shares = [[0.5, 0.0, 0.5], [0.4, 0.2, 0.4], [0.1, 0.8, 0.1], [0.1, 0.0, 0.9]]
    x = rng.choice([-1, 0, 1], (m, n), p=shares[rng.integers(4)])
    x[0] = 1
    if m > 4:
        x[3], x[4] = -x[1], x[2]
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    if rng.random() < 0.4:
        y = np.where(rng.normal(size=m) @ x > 0, 1.0, -1.0)
    a = rng.choice([0.5, 1.0, 2.0, 3.0], n) if weighted else np.ones(n)
    return MarginProblem(x, y, a / a.sum())


def run(criterion, problem, *, block=1):
    """Add the rules in blocks, solve where the state asks for it, and give all solutions."""
    state, found = criterion.start(problem.y, problem.a), []
    for first in range(0, len(problem.x), block):
        if state.add(problem.covers[first : first + block]):
            state.solve()
        found.append(state.solution)
    return state, found


def dense_weights(solution, n_rules):
    """Give the weights of all rules."""
    w = np.zeros(n_rules)
    w[solution.lines] = solution.weights
    return w


def best_in_one_ball(problem, kappa, costs=0.0):
    """Maximise d.w - kappa w'Sw - costs.|w| over the 1-norm ball by SLSQP on the split weights."""
    d, s = problem.means, problem.covariance
    h, c = 2 * kappa * np.block([[s, -s], [-s, s]]), np.concatenate([d - costs, -d - costs])
    n = len(c)
    found = minimize(
        lambda v: v @ h @ v / 2 - c @ v,
        np.full(n, 1 / n),
        jac=lambda v: h @ v - c,
        bounds=[(0, 1)] * n,
        constraints=[{"type": "eq", "fun": lambda v: v.sum() - 1, "jac": lambda _: np.ones(n)}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    return -found.fun


def best_in_p_ball(problem, kappa, p):
    """Maximise d.w - kappa w'Sw with Lp(w) <= 1 by SLSQP, for 1 < p <= infinity."""
    d, h = problem.means, 2 * kappa * problem.covariance
    limits = [(-1, 1)] * len(d)
    ball = {
        "type": "ineq",
        "fun": lambda w: 1 - (np.abs(w) ** p).sum(),
        "jac": lambda w: -p * np.sign(w) * np.abs(w) ** (p - 1),
    }
    found = minimize(
        lambda w: w @ h @ w / 2 - d @ w,
        np.sign(d) * 0.5 / len(d),
        jac=lambda w: h @ w - d,
        bounds=limits,
        constraints=[] if np.isinf(p) else [ball],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    outside = 0.0 if np.isinf(p) else max((np.abs(found.x) ** p).sum() - 1, 0.0)
    return -found.fun - outside * np.linalg.norm(d)  # what the overstepped ball may have gained
