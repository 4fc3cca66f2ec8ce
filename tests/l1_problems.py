"""Problems that the tests of the L1 solvers share."""

import numpy as np

from rulewright.encoding.covers import PackedCovers
from rulewright.weighting import L1Problem


def draw(seed, n_rows=120, n_rules=40, n_dense=0):
    """Draw rules in general position, linear terms and a target that depends on a few."""
    rng = np.random.default_rng(seed)
    x = rng.random((n_rows, n_rules)) < rng.uniform(0.1, 0.9, n_rules)
    dense = rng.normal(3.0, 0.4, (n_rows, n_dense))
    columns = np.hstack([x, dense])
    truth = np.zeros(n_rules + n_dense)
    truth[[0, 1, 2, 3, 4, -1]] = [1.0, -2.0, 1.5, 0.5, 3.0, 1.0]
    y = columns @ truth + rng.normal(size=n_rows)
    return x, dense, y, rng


def pack(x):
    """Pack a matrix of rows x rules."""
    return PackedCovers.pack(np.ascontiguousarray(np.asarray(x, dtype=np.bool_).T))


def problem_of(seed, n_rows=120, n_rules=40, n_dense=0, **options):
    """Make a problem of squared error, or of two classes for the losses that need them."""
    x, dense, y, _ = draw(seed, n_rows, n_rules, n_dense)
    if getattr(options.get("datafit"), "name", "") in ("logistic", "ramp"):
        y = np.where(y > np.median(y), 1.0, -1.0)
    return L1Problem.of(pack(x), y, dense=dense, **options)
