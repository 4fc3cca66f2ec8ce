import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS
from rulewright import kernels
from rulewright.kernels import ROW, STAT

pytestmark = pytest.mark.native

CASES = given(SEEDS, st.integers(1, 40), st.sampled_from([2, 3, 9]), st.booleans())


def twins(seed, n_rows, n_classes, large=False):
    """Make the same random state twice, native and NumPy, with rows to work on."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_classes, n_rows).astype(np.int32)
    weights = rng.random(n_rows) + 0.1
    exponents = rng.normal(size=(n_classes, n_rows)) + 455.0 * large
    scale = 2.0 ** (61 - np.ceil(np.log2(weights.sum())))
    rows = np.flatnonzero(rng.random(n_rows) < 0.7).astype(ROW)
    arrays = [(np.exp(exponents), np.zeros((n_rows, 3), dtype=STAT)) for _ in range(2)]
    makers = kernels.ClassLikelihood, reference.ClassLikelihood
    states = [
        make(labels, weights, *array, scale) for make, array in zip(makers, arrays, strict=True)
    ]
    return states, arrays, rows, rng, (labels, weights, scale)


@CASES
def test_one_class_at_a_time_equals_the_twin(seed, n_rows, n_classes, large):
    """Scores, statistics, sums and losses are those of the twin after steps, near overflow too."""
    (native, twin), arrays, rows, rng, (_, weights, scale) = twins(seed, n_rows, n_classes, large)
    for _ in range(4):
        k, size = int(rng.integers(n_classes)), float(rng.exponential(3.0))
        promised = native.loss_change(rows, k, size, 1)
        changes = [state.add_step(rows, k, size, 1) for state in (native, twin)]
        bound = 1e-11 * (1 + len(rows) * size)
        assert abs(changes[0] - changes[1]) <= bound
        assert abs(changes[0] - promised) <= bound
        np.testing.assert_allclose(arrays[0][0], arrays[1][0], rtol=1e-12)
        step = np.maximum(1, 1e-13 * weights * scale)
        for state in (native, twin):
            state.write_stats(k, 1)
        assert np.all(np.abs(arrays[0][1] - arrays[1][1]) <= step[:, np.newaxis])
        sums = [state.sum_stats(rows, k, scale, 1) for state in (native, twin)]
        np.testing.assert_array_equal(sums[0], arrays[0][1][rows, :2].sum(axis=0))
        assert np.all(np.abs(sums[0] - sums[1]) <= step[rows].sum())
        lacking = [state.residuals(rows, 1) for state in (native, twin)]
        np.testing.assert_allclose(*lacking, atol=1e-11)
        side = rng.integers(0, 2, n_rows).astype(np.uint8)
        counts = [state.class_weights(rows, side, 1) for state in (native, twin)]
        np.testing.assert_allclose(*counts, rtol=1e-12)


@given(SEEDS, st.integers(1, 40), st.sampled_from([2, 9]), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_telling_rows_equal_the_twin(seed, n_rows, n_classes, least):
    """Rows of the class and likely rows are given and written; the others keep what they had."""
    (native, twin), arrays, rows, _, (labels, _, _) = twins(seed, n_rows, n_classes)
    for _, stats in arrays:
        stats[:] = 7
    kept = [state.write_telling_rows(rows, 1, least) for state in (native, twin)]
    np.testing.assert_array_equal(*kept)
    assert set(rows[labels[rows] == 1]) <= set(kept[0]) <= set(rows)
    if least == 0:
        np.testing.assert_array_equal(kept[0], rows)
    others = np.setdiff1d(np.arange(n_rows), kept[0])
    assert np.all(arrays[0][1][others] == 7)
    written = arrays[0][1][kept[0], :2].copy()
    native.write_stats(1, 1)
    np.testing.assert_array_equal(written, arrays[0][1][kept[0], :2])


@given(SEEDS, st.integers(1, 40), st.sampled_from([3, 9]))
def test_one_class_at_a_time_equals_all_at_once(seed, n_rows, n_classes):
    """Steps and statistics are those of the likelihood that keeps all classes up to date."""
    (native, _), arrays, rows, rng, (labels, weights, scale) = twins(seed, n_rows, n_classes)
    exp_scores = arrays[0][0].T.copy(order="C")
    stats = np.zeros((n_rows, 2 * n_classes), dtype=STAT)
    whole = kernels.Likelihood(labels, weights, exp_scores, stats, scale, False)
    for _ in range(5):
        k, size = int(rng.integers(n_classes)), float(rng.exponential())
        ours, theirs = native.add_step(rows, k, size, 1), whole.add_step(rows, k, k, size, 1)
        assert ours == pytest.approx(theirs, rel=1e-10, abs=1e-11)
    whole.refresh_stats(np.arange(n_rows, dtype=ROW), 1)
    for k in range(n_classes):
        native.write_stats(k, 1)
        difference = np.abs(arrays[0][1][:, :2] - stats[:, 2 * k : 2 * k + 2])
        assert np.all(difference <= 1e-13 * scale * weights[:, np.newaxis] + 1)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_nothing(n_threads):
    """Losses and sums have the same bits with any number of threads."""
    found = []
    for threads in (1, n_threads):
        (native, _), arrays, rows, _, _ = twins(3, 20_000, 5)
        change = native.add_step(rows, 2, 0.7, threads)
        native.write_stats(1, threads)
        found.append((change, native.residuals(rows, threads).tolist(), arrays[0][1].tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("size", [-0.1, np.nan, np.inf, 1e3])
def test_steps_that_lower_scores_are_refused(size):
    """Totals are kept by adding, so scores may grow only; steps beyond exp are no numbers."""
    (native, _), _, rows, _, _ = twins(1, 30, 3)
    for method in (native.loss_change, native.add_step):
        with pytest.raises(ValueError, match="out of range"):
            method(rows, 0, size, 1)
