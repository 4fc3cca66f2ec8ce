import math
import sys
from decimal import ROUND_FLOOR, Context, Decimal

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rulewright.data import short_between

LARGEST = sys.float_info.max
FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def gaps(draw):
    """Draw low < high: anything, a few floats apart, or decimals like those of real data."""
    low = draw(FINITE)
    steps = draw(st.integers(1, 5))
    close = math.nextafter(low, math.inf)
    for _ in range(steps - 1):
        close = math.nextafter(close, math.inf)
    decimal = draw(st.integers(-9999, 9999)) / 10 ** draw(st.integers(0, 6))
    plain = decimal + draw(st.integers(1, 50)) / 10 ** draw(st.integers(0, 6))
    low, high = draw(
        st.sampled_from([(low, close), (decimal, plain), tuple(sorted((low, draw(FINITE))))])
    )
    assume(low < high < math.inf)
    return low, high


def digits_of(value):
    """Count the significant digits of the shortest text of a float; 0 counts as one."""
    return max(len(Decimal(repr(value)).normalize().as_tuple().digits), 1)


def decimals_around(value, n_digits):
    """Give the floats of the two decimals with n digits at or around a value that is not 0."""
    exact = Decimal(value)
    below = Context(prec=n_digits, rounding=ROUND_FLOOR).plus(exact)
    step = Decimal((0, (1,), exact.adjusted() - n_digits + 1))
    return float(below), float(below + step)


def exact_distance(one, other):
    """Measure without rounding."""
    return abs(Decimal(one) - Decimal(other))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (2.449999, 2.4501, 2.45),
        (0.1, 0.9, 0.5),
        (3, 4, 3.5),
        (-4, -3, -3.5),
        (-1, 1, 0),
        (-0.1, 0.10000000000000003, 0),
        (-1, 99, 50),
        (5.0, 7.0, 6),
        (0, 5, 2),
        (-5, 0, -2),
        (13, 16, 14),
        (-16, -13, -14),
        (99, 101, 100),
        (99.9, 100.3, 100),
        (12340, 12350, 12345),
        (1e300, 1.1e300, 1.05e300),
        (0.0, 1e-322, 5e-323),
        (1.1e308, 1.7e308, 1.4e308),
        (LARGEST / 2, LARGEST, 1e308),
        (-LARGEST, LARGEST, 0),
        (1.0, 1.0000000000000004, 1.0000000000000002),
        (-math.inf, math.inf, 0),
        (-math.inf, 3, -9e307),
        (np.float64(LARGEST) / 2, np.float64(LARGEST), 1e308),
    ],
)
def test_by_hand(low, high, expected):
    """Thresholds are those a person would choose."""
    assert short_between(low, high) == expected


@pytest.mark.parametrize(
    ("low", "high", "near", "expected"),
    [
        (2.41, 2.79, 2.78, 2.7),
        (3, 4, 3.01, 3.1),
        (3, 4, 3, 3.1),
        (3, 4, -7, 3.1),
        (3, 4, math.inf, 3.9),
        (0, 10, 9.9, 9),
        (-1, 1, 0.5, 0),
        (0, 1, 0.5, 0.5),
        (0, 1.5, 0.5, 1),
        (-2, 2, -1.2, -1),
    ],
)
def test_near_by_hand(low, high, near, expected):
    """Among equally short thresholds the one nearest to the wish is taken."""
    assert short_between(low, high, near) == expected


@pytest.mark.parametrize("low", [1.0, -1.0, 0.0, -0.0, 1e300, 0.1, -5e-324])
def test_neighbouring_floats_are_parted_by_the_lower(low):
    """Where no float lies between, `x <= low` still parts the two."""
    threshold = short_between(low, math.nextafter(low, math.inf))
    assert threshold == low
    assert repr(threshold) == repr(low + 0.0)


@pytest.mark.parametrize(
    ("low", "high", "near"),
    [(1, 1, None), (2, 1, None), (-0.0, 0.0, None), (math.nan, 1, None), (0, 1, math.nan)],
)
def test_bad_gaps_are_refused(low, high, near):
    """A gap that is none, and NaN, are ValueErrors."""
    with pytest.raises(ValueError, match="needs low < high and no NaN"):
        short_between(low, high, near)


@given(gaps(), st.none() | FINITE)
def test_it_lies_strictly_between(gap, near):
    """The result parts the two values, strictly whenever a float lies between."""
    low, high = gap
    threshold = short_between(low, high, near)
    if math.nextafter(low, math.inf) < high:
        assert low < threshold < high
    else:
        assert threshold == low


def is_whole(threshold, rival):
    """Tell whether a threshold was taken for being whole when a nearer decimal is not."""
    return threshold.is_integer() and not float(rival).is_integer()


@given(gaps(), st.floats(0, 1))
def test_nothing_is_shorter_or_as_short_and_nearer(gap, share):
    """Decimals with fewer digits lie outside; as short ones inside are not nearer, or not whole."""
    low, high = gap
    near = low * (1 - share) + high * share
    assume(low < near < high and near != 0)
    threshold = short_between(low, high, near)
    n_digits = digits_of(threshold)
    # Whatever lies farther from `near` than its neighbours is outside when they are.
    for fewer in range(1, n_digits):
        assert not any(low < short < high for short in decimals_around(near, fewer))
    if threshold != 0:
        for short in decimals_around(near, n_digits):
            nearer = exact_distance(short, near) < exact_distance(threshold, near)
            assert not (low < short < high and nearer) or is_whole(threshold, short)


@given(gaps(), st.none() | FINITE)
def test_whole_numbers_come_first(gap, near):
    """Where a whole number lies between, the threshold is one."""
    low, high = gap
    if low < math.floor(low) + 1 < high:
        assert short_between(low, high, near).is_integer()


@given(gaps())
def test_brute_force_over_short_decimals(gap):
    """No decimal of up to two digits lies between when the result has more digits."""
    low, high = gap
    if math.nextafter(low, math.inf) == high:
        return
    n_digits = digits_of(short_between(low, high))
    for exponent in {Decimal(bound).adjusted() for bound in gap if bound} | {0}:
        for number in range(-100, 101):
            short = float(f"{number}e{exponent - 1}")
            assert not low < short < high or digits_of(short) >= n_digits


@given(gaps())
def test_mirrored_gaps_give_mirrored_results(gap):
    """Changing all signs changes only the sign."""
    low, high = gap
    assume(math.nextafter(low, math.inf) < high)
    assert short_between(-high, -low) == -short_between(low, high)
