import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels
from rulewright.kernels import ROW, STAT

pytestmark = pytest.mark.native


def twins(seed, n_rows, n_classes, weighted=False, extreme=False, cumulative=None):
    """Make the same random state twice, native and NumPy, with rows to work on."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.random(n_rows) + 0.1
    exponents = rng.normal(size=(n_rows, n_classes))
    if extreme:
        exponents += rng.choice([-455.0, 0.0, 455.0], (n_rows, 1))
    if cumulative is None:
        cumulative = bool(rng.integers(2))
    lanes = 2 * (n_classes - cumulative) + weighted
    stats = rng.integers(1, 9, (n_rows, lanes)).astype(STAT)
    rows = np.flatnonzero(rng.random(n_rows) < 0.7).astype(ROW)
    scale = 2.0 ** (61 - np.ceil(np.log2(weights.sum())))
    arrays = [
        (labels, weights, np.exp(exponents), stats.copy(), scale, cumulative) for _ in range(2)
    ]
    states = [
        make(*array)
        for make, array in zip((kernels.Likelihood, reference.Likelihood), arrays, strict=True)
    ]
    return states, arrays, rows, rng


def random_step(rng, n_classes, spread=2.0):
    """Draw a union of neighbouring classes, though not of all, and a size of step."""
    first, last = np.sort(rng.integers(0, n_classes, 2)).tolist()
    if (first, last) == (0, n_classes - 1):
        last -= 1
    return first, last, float(rng.normal(scale=spread))


CASES = given(SEEDS, st.integers(1, 40), st.sampled_from([2, 3, 6]), st.booleans())


def assert_same_stats(native, twin, weights, scale):
    """Statistics agree to the rounding of p, which is far finer than the float they stand for."""
    step = np.maximum(1, 4 * np.finfo(float).eps * weights * scale)[:, None]
    assert np.all(np.abs(native - twin) <= step)


@CASES
def test_statistics_equal_the_twin(seed, n_rows, n_classes, weighted):
    """Refreshed statistics are those of the twin; rows left out and the weight lane stay."""
    (native, twin), arrays, rows, _ = twins(seed, n_rows, n_classes, weighted)
    before = arrays[0][3].copy()
    native.refresh_stats(rows, 1)
    twin.refresh_stats(rows, 1)
    stats, expected = arrays[0][3], arrays[1][3]
    assert_same_stats(stats, expected, arrays[0][1], arrays[0][4])
    others = np.setdiff1d(np.arange(n_rows), rows)
    np.testing.assert_array_equal(stats[others], before[others])
    if weighted:
        np.testing.assert_array_equal(stats[:, -1], before[:, -1])


@CASES
def test_loss_changes_equal_the_twin(seed, n_rows, n_classes, extreme):
    """The change of the loss is that of the twin to 1e-12 of weight times step."""
    (native, twin), arrays, rows, rng = twins(seed, n_rows, n_classes, extreme=extreme)
    step = random_step(rng, n_classes)
    terms = float(arrays[0][1][rows].sum()) * abs(step[2])
    exp_scores = arrays[0][2].copy()
    change = native.loss_change(rows, *step, 1)
    assert abs(change - twin.loss_change(rows, *step, 1)) <= 1e-12 * (terms + 1e-3)
    np.testing.assert_array_equal(arrays[0][2], exp_scores)


@CASES
def test_added_steps_equal_the_twin(seed, n_rows, n_classes, extreme):
    """A step moves scores, statistics and loss as the twin does, also close to overflow."""
    (native, twin), arrays, rows, rng = twins(seed, n_rows, n_classes, extreme=extreme)
    step = random_step(rng, n_classes, 8 if extreme else 2)
    promised = native.loss_change(rows, *step, 1)
    change, expected = native.add_step(rows, *step, 1), twin.add_step(rows, *step, 1)
    bound = 1e-12 * (1 + len(rows) * abs(step[2]))
    assert abs(change - expected) <= bound
    assert abs(change - promised) <= bound
    np.testing.assert_allclose(arrays[0][2], arrays[1][2], rtol=1e-12)
    assert np.all(np.isfinite(arrays[0][2]))
    assert_same_stats(arrays[0][3], arrays[1][3], arrays[0][1], arrays[0][4])


@CASES
def test_sums_equal_the_twin(seed, n_rows, n_classes, weighted):
    """Sums of statistics are exact, class weights agree to 1e-12."""
    (native, twin), _, rows, rng = twins(seed, n_rows, n_classes, weighted)
    np.testing.assert_array_equal(native.sum_stats(rows, 1), twin.sum_stats(rows, 1))
    side = rng.integers(0, 2, n_rows).astype(np.uint8)
    counts = [state.class_weights(rows, side, 1) for state in (native, twin)]
    np.testing.assert_allclose(*counts, rtol=1e-12)
    none = rows[:0]
    assert not native.sum_stats(none, 1).any()
    assert not native.sum_pair(none, 0, 1.0, 1).any()
    assert native.class_weights(none, side, 1).tolist() == [0.0] * 2 * n_classes


@CASES
def test_sums_of_a_pair_are_finer_than_the_statistics(seed, n_rows, n_classes, cumulative):
    """A pair summed from the scores is that of the twin, and of the statistics at their scale."""
    (native, twin), arrays, rows, _ = twins(seed, n_rows, n_classes, cumulative=cumulative)
    weights, scale = arrays[0][1], arrays[0][4]
    native.refresh_stats(rows, 1)
    for pair in range(n_classes - cumulative):
        sums = native.sum_pair(rows, pair, scale, 1)
        lanes = arrays[0][3][rows, 2 * pair : 2 * pair + 2]
        assert sums.tolist() == lanes.sum(axis=0).tolist()
        for other in (scale, scale / 2**40):
            apart = native.sum_pair(rows, pair, other, 1) - twin.sum_pair(rows, pair, other, 1)
            bound = len(rows) + 4 * np.finfo(float).eps * weights.sum() * other
            assert np.all(np.abs(apart) <= bound)


def test_every_row_is_seen_in_its_statistics():
    """Even a row that its class explains to the last bit keeps one step of h."""
    stats = np.zeros((1, 2), dtype=STAT)
    state = kernels.Likelihood(
        np.array([1], np.int32), np.ones(1), np.array([[1e-190, 1e190]]), stats, 2.0**60, True
    )
    state.refresh_stats(np.zeros(1, dtype=ROW), 1)
    assert stats.tolist() == [[0, 1]]


@pytest.mark.parametrize(("n_classes", "cumulative"), [(2, True), (5, False), (5, True)])
def test_threads_do_not_change_a_bit(n_classes, cumulative):
    """Losses, scores and statistics of many rows are the same for one and two threads."""
    results = []
    for n_threads in (1, 2):
        (state, _), arrays, rows, _ = twins(5, 20_000, n_classes, cumulative=cumulative)
        state.refresh_stats(rows, n_threads)
        changes = [
            state.loss_change(rows, 1, 1, 0.3, n_threads),
            state.add_step(rows[::2].copy(), 0, n_classes - 2, 0.7, n_threads),
        ]
        results.append((changes, arrays[0][2], arrays[0][3]))
    assert results[0][0] == results[1][0]
    np.testing.assert_array_equal(results[0][1], results[1][1])
    np.testing.assert_array_equal(results[0][2], results[1][2])
