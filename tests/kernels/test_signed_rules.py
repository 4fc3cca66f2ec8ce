"""Products of rules in {-1, 0, 1}: the kernel equals its twin and refuses what does not fit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels
from rulewright.encoding.signed import SignedCovers

pytestmark = pytest.mark.native


def rules_of(seed, n_rows, n_rules=9):
    """Draw rules of which some are complete, some mostly unknown and some constant."""
    rng = np.random.default_rng(seed)
    known = rng.random((n_rules, n_rows)) < rng.choice([0.1, 0.8, 1.0], (n_rules, 1))
    signs = np.where(rng.random((n_rules, n_rows)) < rng.choice([0, 0.3, 1], (n_rules, 1)), 1, -1)
    covers = SignedCovers.pack(known * signs)
    return (covers.holds.words, covers.fails.words), rng


@given(SEEDS, st.integers(1, 300), st.integers(1, 3))
def test_kernels_equal_the_twins(seed, n_rows, n_threads):
    """Products are equal to the bit, sums up to the order of adding."""
    words, rng = rules_of(seed, n_rows)
    lines, others = (rng.integers(0, 9, size).astype(np.int32) for size in (4, 20))
    products = kernels.signed_products(*words, lines, others, n_threads)
    assert np.array_equal(products, reference.signed_products(*words, lines, others))
    values = rng.normal(size=n_rows)
    sums = kernels.signed_sums(*words, others, values, n_threads)
    np.testing.assert_allclose(
        sums, reference.signed_sums(*words, others, values), atol=1e-12, rtol=0
    )
    assert np.array_equal(sums, kernels.signed_sums(*words, others, values, 1))


@pytest.mark.parametrize(
    "changed",
    [
        {"fails": np.zeros((9, 3), np.uint64)},
        {"fails": np.zeros((8, 2), np.uint64)},
        {"lines": np.array([9], np.int32)},
        {"lines": np.array([-1], np.int32)},
        {"lines": np.array([0], np.int64)},
        {"values": np.zeros(200)},
    ],
)
def test_what_does_not_fit_is_refused(changed):
    """Lines, words and numbers that do not belong together raise errors."""
    (holds, fails), _ = rules_of(0, 100)
    given = {"holds": holds, "fails": fails, "lines": np.arange(9, dtype=np.int32)}
    given |= {"values": np.zeros(100)} | changed
    with pytest.raises((ValueError, TypeError)):
        kernels.signed_sums(**given)
