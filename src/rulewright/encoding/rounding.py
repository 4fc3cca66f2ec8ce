"""Rounded thresholds: numbers of few significant digits that part neighbouring values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_DIGITS = 15
"""Every decimal with so many digits is a float of its own."""

_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # those of ten that floats hold exactly


def round_digits(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round finite numbers to significant digits.

    Parameters
    ----------
    values : float64 array
        Finite numbers.
    digits : int
        Significant digits, 1 to 15.

    Returns
    -------
    float64 array
        The floats that the rounded decimals are read as: 0.3, never 0.30000000000000004.
    """
    sizes = np.abs(values)
    exponents = np.floor(np.log10(sizes, where=sizes > 0, out=np.zeros(len(values))))
    last = exponents.astype(np.intp) + 1 - digits  # the power of ten of the last digit kept
    up, down = _POWERS[np.clip([-last, last], 0, len(_POWERS) - 1)]
    # One of the powers is 1, and with exact numbers the last step gives the nearest float.
    rounded: NDArray[np.float64] = np.rint(values * up / down) / up * down
    extreme = np.abs(last) >= len(_POWERS)
    rounded[extreme] = [float(f"{value:.{digits - 1}e}") for value in values[extreme].tolist()]
    return rounded + 0.0  # turns -0.0 into 0.0


def rounded_edges(distinct: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Find for every gap between neighbouring values a number of so many digits that parts them.

    Parameters
    ----------
    distinct : float64 array
        Finite values in strictly ascending order.
    digits : int
        Significant digits, 1 to 15.

    Returns
    -------
    float64 array
        Per gap the number of fewest digits nearest to its middle, with ``value <= edge < next
        value``; gaps that hold no such number are left out.
    """
    low, high = distinct[:-1], distinct[1:]
    middle = low / 2 + high / 2
    edges, found = np.empty(len(low)), np.zeros(len(low), dtype=np.bool_)
    for few in range(1, digits + 1):
        # The middle may round to the upper value, which an edge must stay below.
        for rounded in (round_digits(middle, few), round_digits(low, few)):
            parts = ~found & (low <= rounded) & (rounded < high)
            edges[parts] = rounded[parts]
            found |= parts
    return edges[found]
