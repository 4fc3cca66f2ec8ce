"""Bounds by Rademacher penalties: how well the class follows random signs on these very rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.bounds.checks import (
    checked_delta,
    checked_finite,
    checked_positive,
    checked_rows,
    checked_share,
)
from rulewright.bounds.record import (
    ERROR,
    FIXED_CLASS,
    FIXED_RULES,
    MEAN_MARGIN,
    MMV,
    SMALL_WEIGHTS,
    Bound,
    Quantity,
    bound_from_sample,
    state_bound,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike, NDArray

RANDOM_SIGNS = "signs are uniform and independent of the rows"


def rademacher_error_bound(error: float, complexity: float, n: int, delta: float = 0.05) -> Bound:
    """Bound the error of every member of a class (B16).

    hat + 2 R_X + 5 sqrt(ln(2 / delta) / 2n), where R_X is the largest |mean of rho_i loss_i| over
    the class for one draw of signs rho.
    """
    penalties = {
        "complexity": 2 * checked_positive(complexity, "complexity"),
        "deviation": 5 * _deviation(n, delta, 2),
    }
    given = (RANDOM_SIGNS, *FIXED_CLASS)
    return bound_from_sample(
        ERROR, checked_share(error, "error", n), penalties, int(n), delta, given
    )


def mcdiarmid_tail(t: float, differences: Iterable[float]) -> Bound:
    """Bound Pr[f - E f >= t] by exp(-2 t^2 / sum c_i^2) for bounded differences c_i (B17)."""
    t = checked_positive(t, "t")
    total = math.fsum(checked_positive(c, "differences") ** 2 for c in differences)
    raw = math.exp(-2 * t * t / total) if total > 0 else float(t == 0)
    quantity = Quantity(f"probability of a deviation of {t:g} or more")
    given = ("the arguments are independent",)
    return state_bound(quantity, raw, {"t": t, "squares": total}, assumptions=given)


def rademacher_margin_bound(
    margin: float, complexity: float, n: int, delta: float = 0.05, *, radius: float = 1.0
) -> Bound:
    """Bound the mean margin from below, for all w with Lp(w) <= 1 (B18).

    hat - 2 S_X - 6 R_q sqrt(ln(2 / delta) / 2n), with S_X by `margin_complexity` and R_q by
    `rule_radius` (1 for p = 1).
    """
    radius = checked_positive(radius, "radius")
    penalties = {
        "complexity": 2 * checked_positive(complexity, "complexity"),
        "deviation": 6 * radius * _deviation(n, delta, 2),
    }
    quantity = MEAN_MARGIN._replace(limits=(-radius, radius))
    given = ("Lp(w) <= 1", RANDOM_SIGNS, *FIXED_RULES)
    return bound_from_sample(
        quantity, checked_finite(margin, "margin", n), penalties, int(n), delta, given
    )


def rademacher_mmv_bound(
    mmv: float, complexity: float, products: float, n: int, delta: float = 0.05
) -> Bound:
    """Bound mean minus variance of the margin from below, for all w with L1(w) <= 1 (B19).

    hat - 6 S_X - 2 T_X - 22 sqrt(ln(3 / delta) / 2n), with S_X by `margin_complexity` (p = 1) and
    an upper value of T_X by `product_complexity`.
    """
    penalties = {
        "complexity": 6 * checked_positive(complexity, "complexity"),
        "products": 2 * checked_positive(products, "products"),
        "deviation": 22 * _deviation(n, delta, 3),
    }
    given = (SMALL_WEIGHTS, RANDOM_SIGNS, *FIXED_RULES)
    return bound_from_sample(MMV, checked_finite(mmv, "mmv", n), penalties, int(n), delta, given)


def _deviation(n: int, delta: float, events: int) -> float:
    """Return sqrt(ln(events / delta) / 2n)."""
    return math.sqrt(math.log(events / checked_delta(delta)) / (2 * checked_rows(n)[1]))


def margin_complexity(x: ArrayLike, signs: ArrayLike, p: float = 1.0) -> float:
    """Return S_X, the q-norm of X' rho / n, where 1/p + 1/q = 1 and p >= 1.

    `x`, of shape (rows, rules), holds the outputs of rules in [-1, 1]; `signs`, of shape (rows,)
    or (draws, rows), are uniform random signs rho. The mean over several draws is valid too.
    """
    if not p >= 1:
        raise ValueError(f"p must be 1 or more, not {p}")
    outputs, rho = _checked_draws(x, signs)
    q = math.inf if p == 1 else 1 / (1 - 1 / p)
    sums = np.linalg.norm(rho @ outputs / outputs.shape[0], ord=q, axis=1)
    return float(sums.mean())


def product_complexity(x: ArrayLike, signs: ArrayLike) -> float:
    """Return max over rules j, l of |mean of rho_i x_ij x_il|, an upper value of T_X.

    Parameters as in `margin_complexity`.
    """
    outputs, rho = _checked_draws(x, signs)
    n = outputs.shape[0]
    return float(np.mean([np.abs((outputs.T * r) @ outputs).max() / n for r in rho]))


def _checked_draws(
    x: ArrayLike, signs: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return outputs of at least one rule on at least one row, and signs as a table of draws."""
    outputs = np.asarray(x, dtype=np.float64)
    if outputs.ndim != 2 or 0 in outputs.shape or not (np.abs(outputs) <= 1).all():
        raise ValueError("x must be a table of rows and rules with values in [-1, 1]")
    rho = np.atleast_2d(np.asarray(signs, dtype=np.float64))
    if rho.ndim != 2 or rho.shape[1] != outputs.shape[0] or not (np.abs(rho) == 1).all():
        raise ValueError(f"signs must be 1 or -1 for each of the {outputs.shape[0]} rows")
    return outputs, rho
