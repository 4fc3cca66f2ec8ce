"""Packed covers: every operation equals that of Boolean matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rulewright.encoding.covers import PackedCovers

SHAPES = st.tuples(st.integers(0, 5), st.integers(0, 200))
MATRICES = SHAPES.flatmap(lambda shape: hnp.arrays(np.bool_, shape))


def test_more_rows_than_a_word():
    """Row i is bit i % 64 of word i // 64."""
    values = np.arange(130) % 3 == 0
    assert PackedCovers.pack(values[np.newaxis]).words[0].tolist() == [
        sum(1 << i for i in range(64) if values[start + i : start + i + 1].any())
        for start in (0, 64, 128)
    ]


@given(MATRICES)
def test_packing_is_undone(matrix):
    """Unpacked covers are the matrix, bits beyond the last row are 0, and so it is line by line."""
    covers = PackedCovers.pack(matrix)
    assert np.array_equal(covers.unpack(), matrix)
    assert covers.words.shape == (len(matrix), -(-matrix.shape[1] // 64))
    whole = PackedCovers(covers.words, 64 * covers.words.shape[1])
    assert not whole.unpack()[:, matrix.shape[1] :].any()
    assert np.array_equal(PackedCovers.pack_lines(matrix, matrix.shape[1]).words, covers.words)


@given(MATRICES, st.data())
def test_operations_are_those_of_matrices(matrix, data):
    """And, or, not, counts, sums, rows and transposes agree with NumPy."""
    covers, (n_covers, n_rows) = PackedCovers.pack(matrix), matrix.shape
    other = matrix[::-1]
    assert np.array_equal((covers & PackedCovers.pack(other)).unpack(), matrix & other)
    assert np.array_equal((covers | PackedCovers.pack(other)).unpack(), matrix | other)
    assert np.array_equal((~covers).unpack(), ~matrix)
    assert np.array_equal(covers.count(), matrix.sum(axis=1))
    weights = np.arange(float(n_rows))
    assert np.array_equal(covers.dot(weights), matrix @ weights)
    chosen = data.draw(hnp.arrays(np.bool_, n_rows))
    assert np.array_equal(covers.take(chosen).unpack(), matrix[:, chosen])
    assert np.array_equal(covers.transpose().unpack(), matrix.T)
    assert np.array_equal(covers[::2].stack(covers).unpack(), np.vstack([matrix[::2], matrix]))
    literals = [(j, data.draw(st.booleans())) for j in range(n_covers)]
    held = np.all([matrix[j] == inside for j, inside in literals], axis=0)
    assert np.array_equal(covers.intersection(literals).unpack()[0], np.broadcast_to(held, n_rows))


@given(MATRICES)
def test_rows_in_the_same_covers_have_equal_keys(matrix):
    """Keys of rows are equal exactly where the columns of the matrix are."""
    if not len(matrix):
        return
    keys = PackedCovers.pack(matrix).row_keys()
    same = (matrix[:, :, np.newaxis] == matrix[:, np.newaxis]).all(axis=0)
    assert np.array_equal(keys[:, np.newaxis] == keys, same)
    n_rows = matrix.shape[1]
    groups = PackedCovers.pack(matrix).group_rows(np.ones(n_rows), np.ones((n_rows, 1))).groups
    assert np.array_equal(groups[:, np.newaxis] == groups, same)
    assert set(groups.tolist()) == set(range(groups.max(initial=-1) + 1))


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 200])
def test_all_rows(n_rows):
    """A cover of all rows has every row and no bit beyond."""
    everyone = PackedCovers.all_rows(2, n_rows)
    assert everyone.unpack().all()
    assert everyone.count().tolist() == [n_rows] * 2
    assert not (~everyone).words.any()
