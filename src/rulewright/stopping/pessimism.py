"""Pessimistic errors of C4.5 (Quinlan, 1993): errors on new rows from errors on training rows.

The errors of a leaf are taken for a binomial sample; the estimate is the upper limit of the
interval in which their number lies with some confidence.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

_CHANCES = (0.0, 0.001, 0.005, 0.01, 0.05, 0.1, 0.2, 0.4, 1.0)
_DEVIATIONS = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)
"""How many deviations above the mean a normal variable lies with each chance."""


@lru_cache
def _squared_deviation(confidence: float) -> float:
    return float(np.interp(confidence, _CHANCES, _DEVIATIONS)) ** 2


def added_errors(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return how many errors more than on training rows are expected on as many new rows.

    Parameters
    ----------
    cases : float
        Weight of the training rows, at least 0.
    errors : float
        Weight of those that are wrong.
    confidence : float
        Chance that the true errors are above the limit; a small one means more errors.
    """
    if cases <= 0:
        return 0.0
    if errors < 1e-6:
        return cases * (1 - math.pow(confidence, 1 / cases))
    if errors < 0.9999:
        none = added_errors(cases, 0.0, confidence)
        between = none + errors * (added_errors(cases, 1.0, confidence) - none)
        return min(between, max(cases - errors, 0.0))
    if errors + 0.5 >= cases:
        return 0.67 * max(cases - errors, 0.0)
    z2, seen = _squared_deviation(confidence), errors + 0.5
    spread = math.sqrt(z2 * (seen * (1 - seen / cases) + z2 / 4))
    return cases * (seen + z2 / 2 + spread) / (cases + z2) - errors


def predicted_errors(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return the pessimistic number of errors on as many new rows."""
    return errors + added_errors(cases, errors, confidence)


def pessimistic_rate(cases: float, errors: float, confidence: float = 0.25) -> float:
    """Return the pessimistic share of errors; 1 where there are no cases."""
    return predicted_errors(cases, errors, confidence) / cases if cases > 0 else 1.0
