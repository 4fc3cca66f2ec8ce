"""How many rules are enough: sizes to try, and the choice among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import FloatArray


def sizes_up_to(most: int) -> list[int]:
    """Return the sizes of a curve, from 0 to `most`: every small one, then steps of a fifth."""
    sizes = [0]
    while sizes[-1] < most:
        sizes.append(min(max(sizes[-1] + 1, sizes[-1] * 6 // 5), most))
    return sizes


CHARGE = 1 / 3
"""Share of the charge of BIC, log(n) / 2n, that a rule must earn (`docs/defaults.md`)."""


def smallest_good(sizes: Sequence[int], losses: FloatArray, weights: FloatArray) -> int:
    """Return the smallest size within one standard error of the best.

    Parameters
    ----------
    sizes : sequence of int
        Ascending numbers of rules.
    losses : array of shape (sizes, rows)
        Loss of each row, left out, by each size. Every rule has seen the rows that judge it and is
        charged for it: without that the largest model would look best.
    weights : array of shape (rows,)
        Weights of the rows, as numbers of rows.

    Returns
    -------
    int
        The size. The standard error is that of the difference to the best, row by row: most of
        what varies from row to row is common to all sizes.
    """
    n = max(float(weights.sum()), 1.0)
    means = np.average(losses, axis=1, weights=weights)
    charged = means + CHARGE * np.log(n) / (2 * n) * np.array(sizes)
    best = int(np.argmin(charged))
    differences = losses - losses[best]
    centred = differences - (means - means[best])[:, np.newaxis]
    errors = np.sqrt(np.average(centred**2, axis=1, weights=weights) / n)
    return sizes[int(np.argmax(charged <= charged[best] + errors))]
