"""Correction of out-of-fold figures for the optimism of choosing the best candidate.

The best of many candidates looks better on the rows that chose it than on new rows. Bootstrap
bias-corrected cross-validation (Tsamardinos, Greasidou and Borboudakis, 2018) needs no further
fits: it resamples the out-of-fold rows, repeats the choice on each resample, and evaluates the
chosen candidate on the rows that were not drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulewright.data import Units
    from rulewright.kernels import FloatArray, IntArray

N_RESAMPLES = 200


def correct_optimism(
    evaluate: Callable[[int, FloatArray], FloatArray],
    choose: Callable[[FloatArray], IntArray],
    units: Units,
    chosen: int,
    n_resamples: int = N_RESAMPLES,
) -> FloatArray:
    """Return the figures of the chosen candidate, corrected for the choice.

    The correction is the mean, over resamples, of the change on the undrawn rows if the resample
    chooses instead of all rows. Only differences are averaged: the particular undrawn rows hardly
    matter, and if all resamples choose alike there is no correction. Resamples with the same choice
    are evaluated together.

    Parameters
    ----------
    evaluate : function of a candidate and counts
        Returns the figures of a candidate, given the count of each row; NaN without rows.
    choose : function of counts (resamples, rows)
        Chooses a candidate for each resample, by the same rule as `chosen`.
    units : Units
        What is resampled: rows, or groups of rows.
    chosen : int
        The candidate chosen on all rows.
    n_resamples : int
        Number of resamples; their seed is fixed.
    """
    random = np.random.default_rng(0)
    n = units.n
    draws = (random.integers(n, size=n) for _ in range(n_resamples))
    drawn = [units.spread(np.bincount(one, minlength=n)) for one in draws]
    counts = np.array(drawn, dtype=np.float64)
    choices, figures = choose(counts), evaluate(chosen, np.ones(counts.shape[1]))
    for other in np.setdiff1d(choices, chosen).tolist():
        alike = choices == other
        left_out = (counts[alike] == 0).sum(axis=0, dtype=np.float64)
        if left_out.any():
            change = evaluate(other, left_out) - evaluate(chosen, left_out)
            figures = figures + alike.mean() * np.nan_to_num(change)
    return figures
