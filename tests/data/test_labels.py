import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rulewright.data.values import factor, recode_labels, unique_numbers


def test_factor_sorts_numbers_by_value():
    """Number labels follow the values, not the text, and NaN is missing."""
    found, codes = factor(np.array([10.0, np.nan, 2.0, 2.5]))
    assert found == ["2", "2.5", "10"]
    assert codes.tolist() == [2, -1, 0, 1]
    assert codes.dtype == np.int32


def test_factor_text_and_booleans():
    """Text is sorted by code points; booleans always have both labels."""
    found, codes = factor(np.array(["b", None, "B"], dtype=object))
    assert (found, codes.tolist()) == (["B", "b"], [1, -1, 0])
    found, codes = factor(np.array([True]))
    assert (found, codes.tolist()) == (["false", "true"], [1])


def test_recode():
    """Codes follow their labels, missing stays missing, unlisted labels are told."""
    codes = np.array([0, 1, 2, -1], dtype=np.int32)
    assert recode_labels(["a", "b", "c"], codes, ["c", "a"], -2).tolist() == [1, -2, 0, -1]


@given(
    st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9), min_size=1),
    st.sampled_from([np.int64, np.int8]),
)
def test_unique_numbers_equals_numpy(values, dtype):
    """Counting and sorting give what np.unique gives."""
    array = np.array(values, dtype=np.int64).astype(dtype)
    distinct, codes = unique_numbers(array)
    expected, inverse = np.unique(array, return_inverse=True)
    assert distinct.dtype == dtype
    np.testing.assert_array_equal(distinct, expected)
    np.testing.assert_array_equal(codes, inverse)


def test_unique_numbers_at_the_edge_of_uint64():
    """Unsigned numbers that no int64 holds are sorted, not shifted."""
    array = np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)
    distinct, codes = unique_numbers(array)
    assert distinct.tolist() == [2**64 - 2, 2**64 - 1]
    assert codes.tolist() == [1, 0]
