import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels
from rulewright.encoding.covers import PackedCovers
from rulewright.kernels import ROW, Entries

pytestmark = pytest.mark.native

VALUES = st.sampled_from([np.nan, 0.0, -0.0, 0.1, 0.25, -2.5, 1e6, 1e15, -1e300, 5e-324, 2.0**60])
VALUES |= st.floats(allow_infinity=False)


@st.composite
def grouped(draw):
    """Draw values, and entries with or without rows; groups may be empty."""
    values = np.array(draw(st.lists(VALUES, max_size=30)), dtype=np.float64)
    n_groups, rows, n = draw(st.integers(1, 5)), None, len(values)
    if draw(st.booleans()):
        places = st.lists(st.integers(0, n - 1), max_size=40) if n else st.just([])
        rows = np.array(draw(places), dtype=ROW)
        n = len(rows)
    groups = draw(st.lists(st.integers(0, n_groups - 1), min_size=n, max_size=n))
    return Entries(np.array(groups, dtype=ROW), rows, n_groups), values


@given(grouped(), st.sampled_from([1.0, 100.0, 2.0**-900, 2.0**44, 3.7]))
def test_summaries_equal_the_twin(given_, factor):
    """Counts, extremes and sums of whole multiples are those of the twin, to the bit."""
    native = kernels.summarise_groups(*given_, factor)
    for found, expected in zip(native, reference.summarise_groups(*given_, factor), strict=True):
        np.testing.assert_array_equal(found, expected)


@given(grouped(), st.lists(VALUES.filter(lambda x: x == x), max_size=4))
def test_other_functions_equal_the_twin(given_, cuts):
    """Counts beyond cuts, last and middle values, and what is known of values."""
    entries, values = given_
    times = np.arange(len(entries.groups)) % 3.0
    times[::5] = np.nan
    for name, more in (("count_at_least", np.array(cuts)), ("last_values", times)):
        found, expected = (getattr(m, name)(entries, values, more) for m in (kernels, reference))
        np.testing.assert_array_equal(found, expected)
    middle = (m.middle_values(entries, values) for m in (kernels, reference))
    np.testing.assert_array_equal(*middle)
    facts = [m.value_facts(entries.rows, values, 6) for m in (kernels, reference)]
    assert facts[0] == facts[1]


def test_sums_have_room():
    """Thousands of the largest multiples are added up and cut off at the end, not on the way."""
    for n in (1000, 3000):  # within 64 bits and beyond
        values = np.array([1e300] * n + [-1e300] * (n - 1))
        entries = Entries(np.zeros(len(values), dtype=ROW), None, 1)
        assert kernels.summarise_groups(entries, values, 1.0).total.tolist() == [2.0**53]
    many = Entries(np.zeros(1000, dtype=ROW), None, 1)
    assert kernels.summarise_groups(many, values[:1000], 1.0).total.tolist() == [2.0**62]


def test_digits_of_large_numbers():
    """A large whole number has no digits after the point, whatever was seen before."""
    values = np.array([0.123456, 9007199254740993.0, 1e22])
    assert kernels.value_facts(None, values, 6) == reference.value_facts(None, values, 6)
    assert kernels.value_facts(None, values, 6).digits == 6


@given(st.integers(0, 200), st.integers(0, 40), st.integers(1, 3), SEEDS)
def test_groups_of_covers_equal_the_twin(n_rows, n_covers, n_classes, seed):
    """Rows in the same covers, their sums, and the covers of the groups, to the bit."""
    rng = np.random.default_rng(seed)
    few = rng.random((n_covers, 5)) < 0.5
    matrix = few[:, rng.integers(0, 5, n_rows)] ^ (rng.random((n_covers, n_rows)) < 0.01)
    covers = PackedCovers.pack(matrix)
    weights, shares = rng.exponential(size=n_rows), rng.random((n_rows, n_classes))
    native, twin = (door.group_rows(covers.words, weights, shares) for door in (kernels, reference))
    for found, expected in zip(native, twin, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    np.testing.assert_array_equal(
        kernels.count_held(covers.words), reference.count_held(covers.words)
    )
    held = PackedCovers(native.words, len(native.weights)).unpack()
    np.testing.assert_array_equal(held[:, native.groups], matrix)
