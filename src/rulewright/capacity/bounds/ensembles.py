"""What is known of votes and of boosting without a sample: Breiman's and AdaBoost's bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rulewright.capacity.bounds.checks import checked_share
from rulewright.capacity.bounds.record import Bound, stated

if TYPE_CHECKING:
    from collections.abc import Iterable


def breiman_bound(strength: float, correlation: float) -> Bound:
    """Bound the limit error of a majority vote by rho (1 - s^2) / s^2 (B6).

    Strength s = E[1 - 2 eps_b(x, y)] must be positive; rho is the mean correlation of y c(x) over
    pairs of independent base classifiers. Both are of the population, so this is a diagnostic.
    """
    for number, name in ((strength, "strength"), (correlation, "correlation")):
        if not -1 <= number <= 1:
            raise ValueError(f"{name} must lie between -1 and 1, not {number}")
    reasons: tuple[str, ...] = ("strength and correlation of the population are only estimated",)
    if strength > 0:
        raw = correlation * (1 - strength**2) / strength**2
    else:
        raw = math.inf
        reasons += ("the strength is not positive",)
    terms = {"strength": strength, "correlation": correlation}
    return stated(raw, terms, "limit error of the majority vote", reasons=reasons)


def adaboost_bound(errors: Iterable[float]) -> Bound:
    """Bound the training error of AdaBoost by prod 2 sqrt(eps_i (1 - eps_i)) (B7).

    Terms: `ln_product`, and the looser `exponential`, exp(-2 sum (1/2 - eps_i)^2). The weighted
    errors eps_i lie above 0 and are 1/2 at most.
    """
    shares = [checked_share(error, "errors") for error in errors]
    ln_product = -math.inf
    if all(0 < e < 1 for e in shares):
        ln_product = math.fsum(math.log(2 * math.sqrt(e * (1 - e))) for e in shares)
    edges = math.fsum((0.5 - e) ** 2 for e in shares)
    outside = any(not 0 < e <= 0.5 for e in shares)
    return stated(
        math.exp(ln_product),
        {"ln_product": ln_product, "exponential": math.exp(-2 * edges)},
        "training error",
        reasons=("a weighted error lies outside (0, 1/2]",) if outside else (),
        assumptions=("every round's response is ln((1 - eps) / eps) / 2",),
    )
