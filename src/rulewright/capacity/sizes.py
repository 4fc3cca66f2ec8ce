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


def smallest_good(
    sizes: Sequence[int], losses: FloatArray, weights: Sequence[float], n_rows: int
) -> int:
    """Return the smallest size within one standard error of the best.

    Parameters
    ----------
    sizes : sequence of int
        Ascending numbers of rules.
    losses : array of shape (folds, sizes)
        Log-loss of each size on the rows of each fold.
    weights : sequence of float
        Weight of each fold.
    n_rows : int
        Number of rows. Every rule has seen the rows that judge it and is charged for it as much as
        by BIC, log(n) / 2n: without that the largest model would look best.

    Returns
    -------
    int
        The size. The standard error is that of the difference to the best, over the folds.
    """
    charges = np.array(sizes) * np.log(n_rows) / (2 * n_rows)
    charged = np.average(losses, axis=0, weights=weights) + charges
    best = int(np.argmin(charged))
    errors = (losses - losses[:, [best]]).std(axis=0, ddof=1) / np.sqrt(len(losses))
    return sizes[int(np.argmax(charged <= charged[best] + errors))]
