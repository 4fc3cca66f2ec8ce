"""Signed covers: every operation equals that of matrices of -1, 0 and 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rulewright.encoding.covers import PackedCovers
from rulewright.encoding.signed import SignedCovers, SignedStack

SHAPES = st.tuples(st.integers(0, 5), st.integers(1, 200))
MATRICES = SHAPES.flatmap(
    lambda shape: hnp.arrays(np.int8, shape, elements=st.sampled_from([-1, 0, 1]))
)


def test_kleene_tables():
    """True or unknown is true, false and unknown is false, anything else of unknown is unknown."""
    first = SignedCovers.pack([[1, 1, 1, 0, 0, 0, -1, -1, -1]])
    second = SignedCovers.pack([[1, 0, -1, 1, 0, -1, 1, 0, -1]])
    assert first.maximum(second).values().tolist() == [[1, 1, 1, 1, 0, 0, 1, 0, -1]]
    assert first.minimum(second).values().tolist() == [[1, 0, -1, 0, 0, -1, -1, -1, -1]]


@given(MATRICES)
def test_operations_are_those_of_matrices(matrix):
    """Packing, connectives, negation, rows, stacking and scores agree with NumPy."""
    covers, other = SignedCovers.pack(matrix), matrix[::-1]
    backwards = SignedCovers.pack(other)
    assert (len(covers), covers.n_rows) == matrix.shape
    assert np.array_equal(covers.values(), matrix)
    assert np.array_equal(covers.maximum(backwards).values(), np.maximum(matrix, other))
    assert np.array_equal(covers.minimum(backwards).values(), np.minimum(matrix, other))
    assert np.array_equal(covers.negated().values(), -matrix)
    assert np.array_equal(covers.times(backwards).values(), matrix * other)
    assert np.array_equal(covers[::2].stack(covers).values(), np.vstack([matrix[::2], matrix]))
    rows = np.arange(covers.n_rows)[::3]
    assert np.array_equal(covers.take(rows).values(), matrix[:, rows])
    weights = np.arange(1.0, len(matrix) + 1)
    assert np.array_equal(covers.scores(weights), weights @ matrix)
    assert SignedCovers.constant(matrix.shape[1]).values().tolist() == [[1] * matrix.shape[1]]


@given(MATRICES)
def test_de_morgan(matrix):
    """The negation of "or" is the "and" of the negations."""
    covers = SignedCovers.pack(matrix)
    other = covers[::-1]
    joined = covers.negated().minimum(other.negated())
    assert np.array_equal(covers.maximum(other).negated().values(), joined.values())


def test_one_rule_is_joined_with_many():
    """A single rule is repeated for each of the others."""
    many = SignedCovers.pack([[1, -1, 0], [-1, -1, -1]])
    one = SignedCovers.pack([[-1, 1, -1]])
    assert one.maximum(many).values().tolist() == [[1, 1, 0], [-1, 1, -1]]


@given(MATRICES)
def test_products_by_counting_equal_the_dense_ones(matrix):
    """Products of rules are exact integers, sums of numbers those of the matrix."""
    covers, dense = SignedCovers.pack(matrix), matrix.astype(np.int64)
    assert np.array_equal(covers.gram(), dense @ dense.T)
    lines = np.arange(len(matrix))[::2]
    assert np.array_equal(covers.gram(lines), dense[lines] @ dense.T)
    numbers = np.linspace(-1, 2, matrix.shape[1])
    np.testing.assert_allclose(covers.dot(numbers), matrix @ numbers, atol=1e-12)
    np.testing.assert_allclose(covers.dot(numbers, lines), matrix[lines] @ numbers, atol=1e-12)


@given(MATRICES)
def test_keys_are_shared_by_equal_and_opposite_rules(matrix):
    """Keys are equal exactly where rules are equal or opposite; the empty rule has the key b""."""
    keys = SignedCovers.pack(matrix).keys()
    for i, first in enumerate(matrix):
        assert (keys[i] == b"") == (not first.any())
        for j, second in enumerate(matrix):
            same = np.array_equal(first, second) or np.array_equal(first, -second)
            assert (keys[i] == keys[j]) == same


@given(MATRICES)
def test_a_stack_holds_what_was_appended(matrix):
    """Rules appended in blocks come out in order, also when the buffers have grown."""
    covers, stack = SignedCovers.pack(matrix), SignedStack(matrix.shape[1])
    for _ in range(40):
        stack.append(covers)
    assert len(stack) == len(stack.covers) == 40 * len(matrix)
    assert np.array_equal(stack.covers.values(), np.tile(matrix, (40, 1)))


def test_rules_and_numbers_of_other_rows_are_refused():
    """Covers that do not describe the same rules, and numbers for other rows, are errors."""
    three, four = SignedCovers.constant(3), SignedCovers.constant(4)
    with pytest.raises(ValueError, match="same rules"):
        SignedCovers(three.holds, four.fails)
    with pytest.raises(ValueError, match="same rules"):
        SignedCovers(three.holds, PackedCovers.pack(np.zeros((2, 3), dtype=np.bool_)))
    with pytest.raises(ValueError, match="rules of 4 rows"):
        SignedStack(3).append(four)
    with pytest.raises(ValueError, match="4 numbers for 3 rows"):
        three.dot(np.ones(4))
