import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels
from rulewright.encoding.covers import PackedCovers

pytestmark = pytest.mark.native

REFUSED = (ValueError, TypeError)


def draw_covers(seed, n_rows, n_covers=5):
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.0, 0.05, 0.4, 0.9, 1.0], (n_covers, 1))
    return PackedCovers.pack(rng.random((n_covers, n_rows)) < shares), rng


@given(SEEDS, st.integers(1, 300), st.integers(0, 400))
def test_taken_rows_equal_the_twin(seed, n_rows, n_taken):
    """Rows in any order, some of them several times, and spare bits that are 0."""
    covers, rng = draw_covers(seed, n_rows)
    rows = rng.integers(0, n_rows, n_taken).astype(kernels.ROW)
    found = kernels.take_rows(covers.words, rows, 1)
    np.testing.assert_array_equal(found, reference.take_rows(covers.words, rows, 1))
    taken = covers.take(rows)
    np.testing.assert_array_equal(taken.words.ravel(), found)
    np.testing.assert_array_equal(taken.unpack(), covers.unpack()[:, rows])


@given(SEEDS, st.integers(1, 500), st.integers(1, 9))
def test_shared_rows_equal_the_twin(seed, n_rows, block):
    """What covers share, weighted by blocks, is the product of the unpacked covers."""
    covers, rng = draw_covers(seed, n_rows)
    others, _ = draw_covers(seed + 1, n_rows, 3)
    weights = rng.random(-(-covers.words.shape[1] // block))
    arguments = covers.words, others.words, weights, block
    found = kernels.count_shared(*arguments, 1)
    np.testing.assert_allclose(found, reference.count_shared(*arguments, 1), rtol=1e-12)
    np.testing.assert_array_equal(found, kernels.count_shared(*arguments, 2))


WORDS, ROWS, WEIGHTS = np.ones((2, 3), np.uint64), np.zeros(5, np.uint32), np.ones(2)
FAULTS = {
    "rows beyond": lambda: kernels.take_rows(WORDS, ROWS + np.uint32(192), 1),
    "rows of another type": lambda: kernels.take_rows(WORDS, ROWS.astype(np.int64), 1),
    "other words": lambda: kernels.count_shared(WORDS, np.ones((2, 2), np.uint64), WEIGHTS, 2, 1),
    "few weights": lambda: kernels.count_shared(WORDS, WORDS, WEIGHTS, 1, 1),
    "many weights": lambda: kernels.count_shared(WORDS, WORDS, WEIGHTS, 3, 1),
    "empty blocks": lambda: kernels.count_shared(WORDS, WORDS, WEIGHTS, 0, 1),
    "no words": lambda: kernels.count_shared(WORDS[:, :0], WORDS[:, :0], WEIGHTS[:0], 2, 1),
    "fewer words than none": lambda: kernels.count_shared(WORDS, WORDS, WEIGHTS, -2, 1),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_arrays_are_refused(fault):
    """Nothing is read beyond an array."""
    with pytest.raises(REFUSED):
        FAULTS[fault]()
