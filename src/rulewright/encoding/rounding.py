"""Rounded thresholds: numbers of few significant digits that separate neighbouring values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_DIGITS = 15
"""Decimals with this many digits are distinct floats."""

_POWERS = np.array([float(f"1e{k}") for k in range(23)])  # the powers of ten that are exact floats


def round_digits(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round finite numbers to 1 to 15 significant digits.

    The results are the floats nearest to the rounded decimals: 0.3, never 0.30000000000000004.
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


def round_edges(distinct: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Find a number of at most `digits` significant digits in every gap between ascending values.

    It is the number of fewest digits nearest to the middle of the gap, with ``value <= edge < next
    value``; gaps that hold no such number are left out.
    """
    low, high = distinct[:-1], distinct[1:]
    middle = low / 2 + high / 2
    edges, found = np.empty(len(low)), np.zeros(len(low), dtype=np.bool_)
    for few in range(1, digits + 1):
        # The middle may round to the upper value, which an edge must stay below.
        for rounded in (round_digits(middle, few), round_digits(low, few)):
            fits = ~found & (low <= rounded) & (rounded < high)
            edges[fits] = rounded[fits]
            found |= fits
    return edges[found]
