"""Choice of the number of rules: candidate sizes, selection, and penalties of prefixes.

The penalties of prefixes of an ordered repository only rank prefixes; they are not certificates.
Certificates have other constants and account for the choice (`rulewright.bounds.repository`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.bounds import rule_radius

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import FloatArray


def sizes_up_to(most: int) -> list[int]:
    """Return the sizes of a curve, from 0 to `most`: all small ones, then steps of a fifth."""
    sizes = [0]
    while sizes[-1] < most:
        sizes.append(min(max(sizes[-1] + 1, sizes[-1] * 6 // 5), most))
    return sizes


CHARGE = 1 / 3
"""Share of the BIC penalty log(n) / 2n that a rule must earn (`docs/research/defaults.md`)."""


def smallest_good(
    sizes: Sequence[int], losses: FloatArray, weights: FloatArray, charge: float = CHARGE
) -> int:
    """Return the smallest size within one standard error of the best.

    Parameters
    ----------
    sizes : sequence of int
        Ascending numbers of rules.
    losses : array of shape (sizes, rows)
        Loss of each held-out row by each size.
    weights : array of shape (rows,)
        Weights of the rows, as numbers of rows.
    charge : float
        Share of the BIC penalty per rule. Rules that have seen the held-out rows are penalised for
        it: otherwise the largest model would look best. Other rules need no penalty.

    Returns
    -------
    int
        The size. The standard error is paired, of the row-wise difference to the best size,
        because most variation between rows is common to all sizes.
    """
    n = max(float(weights.sum()), 1.0)
    means = np.average(losses, axis=1, weights=weights)
    charged = means + charge * np.log(n) / (2 * n) * np.array(sizes)
    best = int(np.argmin(charged))
    differences = losses - losses[best]
    centred = differences - (means - means[best])[:, np.newaxis]
    errors = np.sqrt(np.average(centred**2, axis=1, weights=weights) / n)
    return sizes[int(np.argmax(charged <= charged[best] + errors))]


def mmv_penalty(i: int, n: float, delta: float, constant: float) -> float:
    """Return sqrt(c (2 ln i + ln(1 / delta)) / n), for mean minus variance of i rules.

    Parameters
    ----------
    i : int
        Number of generated rules, used or not.
    n : float
        Number of rows.
    delta : float
        Failure probability, above 0 and below 1.
    constant : float
        c; 0 gives no penalty.
    """
    return math.sqrt(constant * (2 * math.log(i) - math.log(delta)) / n)


def margin_penalty(i: int, n: float, delta: float, constant: float, p: float) -> float:
    """Return sqrt((c / n) i^(2 / q) ln(2 i / delta)) for mean margins, where 1/p + 1/q = 1."""
    cost = math.log(2 * i) - math.log(delta)
    return rule_radius(i, p) * math.sqrt(constant * cost / n)
