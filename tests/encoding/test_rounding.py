import math
import sys
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rulewright.encoding.binned import MOST_DIGITS, round_digits, round_edges

TINY, HUGE = math.ulp(0.0), sys.float_info.max
FINITE = st.floats(allow_nan=False, allow_infinity=False)
NEAR = st.integers(-2000, 2000).map(lambda n: n / 100) | st.floats(0.9, 1.1)
DIGITS = st.integers(1, MOST_DIGITS)


def written(value, digits):
    """Round by writing and reading."""
    return float(f"{value:.{digits - 1}e}")


@given(st.lists(FINITE | NEAR, min_size=1), DIGITS)
@example([0.0, -0.0, TINY, -TINY, HUGE, 0.3, 999.999, 1e22, 1e23, 1e-22], 2)
def test_rounding_gives_the_float_of_the_nearest_decimal(values, digits):
    """No other number with so many digits is nearer, and the result is written with that many."""
    for value, rounded in zip(values, round_digits(np.array(values), digits), strict=True):
        assert written(rounded, digits) == rounded or rounded == math.inf
        expected = written(value, digits)
        assert rounded == expected or abs(rounded - value) == pytest.approx(abs(expected - value))
        assert math.copysign(1, rounded) == 1 or rounded < 0


def can_be_parted(low, high, digits):
    """Tell by exact decimals whether a number with so many digits lies in [low, high)."""
    nearest = (
        float(Context(prec=digits, rounding=way).create_decimal(Decimal(low)))
        for way in (ROUND_CEILING, ROUND_FLOOR)
    )
    return any(low <= number < high for number in nearest)


@given(st.sets(FINITE | NEAR, min_size=1), DIGITS)
@example({1.0, math.nextafter(1.0, 2.0)}, 1)
@example({-TINY, 0.0, TINY}, 1)
@example({-HUGE, HUGE, 0.1, 0.2, 0.30000000000000004}, 1)
def test_every_gap_that_holds_a_rounded_number_has_one_edge(values, digits):
    """Edges part exactly the neighbours between which there is a number with so many digits."""
    distinct = np.array(sorted(values))
    edges = round_edges(distinct, digits)
    assert all(written(edge, digits) == edge for edge in edges)
    found = np.searchsorted(edges, distinct[1:]) - np.searchsorted(edges, distinct[:-1])
    gaps = zip(distinct[:-1].tolist(), distinct[1:].tolist(), strict=True)
    assert found.tolist() == [can_be_parted(*gap, digits) for gap in gaps]


def test_edges_lie_near_the_middle():
    """Of all rounded numbers in a wide gap the one nearest to its middle is taken."""
    assert round_edges(np.array([1.04, 9.0, 1000.0]), 2).tolist() == [5.0, 500.0]
