import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels

pytestmark = pytest.mark.native


def packed_rows(X):
    """Pack the rows of a Boolean matrix."""
    padded = np.zeros((len(X), -(-X.shape[1] // 64) * 64), dtype=np.bool_)
    padded[:, : X.shape[1]] = X
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


@st.composite
def tasks(draw):
    """Draw distinct rows of both classes, the number of parts and the seed."""
    rng = np.random.default_rng(draw(SEEDS))
    n_variables = draw(st.sampled_from([3, 4, 6, 70]))
    X = np.unique(rng.random((draw(st.integers(2, 20)), n_variables)) < 0.5, axis=0)
    X = rng.permutation(X)
    cut = draw(st.integers(1, max(1, len(X) - 1)))
    return X[:cut], X[cut:], draw(st.integers(1, 4)), draw(SEEDS)


def shared(rows):
    """Return the variables on which the rows agree."""
    return (rows == rows[0]).all(axis=0)


@given(tasks(), st.booleans())
def test_partitions_equal_the_twin(task, one_new):
    """Native and NumPy find the same partition in the same restart."""
    positives, negatives, n_parts, seed = task
    rows = packed_rows(positives), packed_rows(negatives)
    arguments = (*rows, n_parts, one_new, seed, 3, 8)
    restart, parts = kernels.find_partition(*arguments, n_threads=2)
    expected_restart, expected = reference.find_partition(*arguments)
    assert restart == expected_restart
    np.testing.assert_array_equal(parts, expected)


@given(tasks())
def test_no_part_covers_a_negative(task):
    """The rows of a part share literals that every negative violates."""
    positives, negatives, n_parts, seed = task
    rows = packed_rows(positives), packed_rows(negatives)
    restart, parts = kernels.find_partition(*rows, n_parts, False, seed, 0, 20)
    if restart < 0:
        assert len(parts) == 0
        return
    assert len(parts) == len(positives)
    assert set(parts.tolist()) <= set(range(n_parts))
    for part in np.unique(parts):
        members = positives[parts == part]
        care = shared(members)
        assert (negatives != members[0])[:, care].any(axis=1).all()


@given(tasks())
def test_the_first_restart_that_works_is_found(task):
    """All at once, on two threads, is the same as one restart after the other."""
    positives, negatives, n_parts, seed = task
    rows = packed_rows(positives), packed_rows(negatives)
    at_once, _ = kernels.find_partition(*rows, n_parts, False, seed, 0, 16, n_threads=2)
    singly = [kernels.find_partition(*rows, n_parts, False, seed, r, 1)[0] for r in range(16)]
    assert at_once == next((r for r in singly if r >= 0), -1)


FAULTS = {
    "no positives": {"positives": np.zeros((0, 1), np.uint64)},
    "no words": {
        "positives": np.zeros((1, 0), np.uint64),
        "negatives": np.zeros((1, 0), np.uint64),
    },
    "different words": {"negatives": np.zeros((1, 2), np.uint64)},
    "rows of another type": {"negatives": np.zeros((1, 1), np.int64)},
    "no parts": {"n_parts": 0},
    "too many parts": {"n_parts": 2**40},
    "too many restarts": {"n_restarts": 2**63},
    "negative restart": {"first_restart": -1},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_bad_partitions_are_refused(fault):
    """Rows and numbers that do not fit are an error, never a crash."""
    arguments = {
        "positives": np.array([[1], [2]], np.uint64),
        "negatives": np.array([[0]], np.uint64),
        "n_parts": 2,
        "one_new": False,
        "seed": 0,
        "first_restart": 0,
        "n_restarts": 4,
    }
    kernels.find_partition(**arguments)
    with pytest.raises((ValueError, TypeError)):
        kernels.find_partition(**{**arguments, **FAULTS[fault]})
