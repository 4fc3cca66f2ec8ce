"""What a prefix of an ordered repository is charged when the best one is chosen.

These charges order prefixes; they are no certificates. Certificates have other constants and pay
for the choice (`rulewright.bounds.repository`).
"""

from __future__ import annotations

import math

from rulewright.bounds import rule_radius


def mmv_penalty(i: int, n: float, delta: float, constant: float) -> float:
    """Return sqrt(c (2 ln i + ln(1 / delta)) / n), for mean minus variance of i rules.

    Parameters
    ----------
    i : int
        Rules generated, used or not.
    n : float
        Number of rows.
    delta : float
        Probability of failure, above 0 and below 1.
    constant : float
        c; 0 charges nothing.
    """
    return math.sqrt(constant * (2 * math.log(i) - math.log(delta)) / n)


def margin_penalty(i: int, n: float, delta: float, constant: float, p: float) -> float:
    """Return sqrt((c / n) i^(2 / q) ln(2 i / delta)) for mean margins, where 1/p + 1/q = 1."""
    cost = math.log(2 * i) - math.log(delta)
    return rule_radius(i, p) * math.sqrt(constant * cost / n)
