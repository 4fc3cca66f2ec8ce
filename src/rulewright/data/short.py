"""Short thresholds: the decimal with the fewest digits between two neighbouring values."""

from __future__ import annotations

import math
import sys

_LARGEST = sys.float_info.max
_DIGITS = 17  # enough to write any float so that reading restores it


def short_between(low: float, high: float, near: float | None = None) -> float:
    """Return the shortest decimal strictly between two numbers, so that ``x <= it`` separates them.

    Short means a whole number if there is one, and few significant digits. Of the shortest, the one
    nearest to `near` (by default the middle) is returned, of two equally near the one nearer to 0;
    0 itself if it lies between and `near` is closer to it than a tenth of the gap. The numbers may
    be infinite. If no float lies strictly between them, the result is `low`.
    """
    if not low < high or near != near:
        raise ValueError(f"needs low < high and no NaN, not low={low}, high={high}, near={near}")
    low, high = float(low), float(high)
    first, last = math.nextafter(low, math.inf), math.nextafter(high, -math.inf)
    if first > last:
        return low + 0.0
    near = _middle(low, high) if near is None else float(near)
    if max(-_LARGEST, first) <= (whole := _next_whole(first)) <= min(last, _LARGEST):
        first, last = whole, -_next_whole(-last)
    near = min(max(near, first), last)
    if first == last:
        return first + 0.0
    if first <= 0.0 <= last and abs(near) <= last / 10 - first / 10:
        return 0.0
    return _fewest_digits(first, last, near)


def _next_whole(number: float) -> float:
    """Round up; a large float is whole already."""
    return float(math.ceil(number)) if abs(number) < 2**53 else number


def _middle(low: float, high: float) -> float:
    low, high = max(low, -_LARGEST), min(high, _LARGEST)
    middle = (low + high) / 2
    return middle if math.isfinite(middle) else low / 2 + high / 2


def _fewest_digits(first: float, last: float, near: float) -> float:
    """Find the float in ``[first, last]`` with the fewest digits nearest to `near`, not 0."""
    text = f"{abs(near):.{_DIGITS - 1}e}"  # d.dddddddddddddddde±xx
    digits, exponent = int(text[0] + text[2 : _DIGITS + 1]), int(text[_DIGITS + 2 :])
    sign = "-" if near < 0 else ""
    shortest, fewest, most = near, 1, _DIGITS
    # Bisection works because a decimal that fits also fits when written with more digits.
    while fewest < most:
        kept = (fewest + most) // 2
        below, rest = divmod(digits, power := 10 ** (_DIGITS - kept))
        for number in (below, below + 1) if 2 * rest <= power else (below + 1, below):
            short = float(f"{sign}{number}e{exponent + 1 - kept}")
            if first <= short <= last:
                shortest, most = short, kept
                break
        else:
            fewest = kept + 1
    return shortest
