import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS, softmax
from rulewright import kernels

pytestmark = pytest.mark.native

REFUSED = (ValueError, TypeError)


def packed(covered):
    """Pack covers of shape (rules, rows) into words."""
    n_rules, n_rows = covered.shape
    padded = np.zeros((n_rules, -(-n_rows // 64) * 64), dtype=np.bool_)
    padded[:, :n_rows] = covered
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def twins(seed, n_rows, n_classes, n_rules=6):
    """Make the same fit twice, native and NumPy: covers empty, full and between, any heads."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.0, 0.1, 0.5, 1.0], (n_rules, 1))
    covers = packed(rng.random((n_rules, n_rows)) < shares)
    heads = np.sort(rng.integers(0, n_classes, (n_rules, 2)), axis=1).astype(np.int32)
    heads[::2, 1] = heads[::2, 0]
    signs = rng.integers(-1, 2, n_rules).astype(np.int8)
    heads[signs == 0] = 0  # a free vote for all classes could be of any size
    labels = rng.integers(0, n_classes, n_rows)
    mixed = softmax(rng.normal(size=(n_rows, n_classes)))
    targets = np.where(rng.random((n_rows, 1)) < 0.5, np.eye(n_classes)[labels], mixed)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], n_rows)
    p = softmax(rng.normal(scale=2, size=(n_rows, n_classes)))
    fits = [
        make(targets, weights, kept, covers, heads, signs)
        for make, kept in ((kernels.ResponseFit, p), (reference.ResponseFit, p.copy()))
    ]
    rules = rng.permutation(n_rules).astype(np.int32)
    return fits, p, fits[1].probabilities, rules, rng


CASES = given(SEEDS, st.integers(1, 140), st.sampled_from([2, 3, 6]))


@CASES
def test_derivatives_equal_the_twin(seed, n_rows, n_classes):
    """First and second derivatives are those of the twin."""
    (native, twin), _, _, rules, _ = twins(seed, n_rows, n_classes)
    for method in ("gradients", "hessian"):
        result, expected = (getattr(fit, method)(rules, 1) for fit in (native, twin))
        np.testing.assert_allclose(result, expected, rtol=1e-10, atol=1e-11)


@CASES
def test_moves_equal_the_twin(seed, n_rows, n_classes):
    """Steps of any size move the probabilities as the twin does, and these go on summing to 1."""
    (native, twin), p, expected, rules, rng = twins(seed, n_rows, n_classes)
    steps = rng.normal(scale=3, size=len(rules))
    native.move(rules, steps)
    twin.move(rules, steps)
    np.testing.assert_allclose(p, expected, rtol=1e-10, atol=1e-300)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)


@CASES
def test_sweeps_equal_the_twin(seed, n_rows, n_classes):
    """A sweep takes the steps of the twin and says the same change; signs are kept."""
    (native, twin), p, expected, rules, rng = twins(seed, n_rows, n_classes)
    start = rng.random(len(rules)) * twin.signs
    responses, others = start.copy(), start.copy()
    l1, l2 = float(rng.choice([0.0, 0.3, 5.0])), float(rng.choice([0.5, 3.0]))
    change = native.sweep(rules, responses, l1, l2)
    assert change == pytest.approx(twin.sweep(rules, others, l1, l2), rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(responses, others, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(p, expected, rtol=1e-6, atol=1e-9)
    assert np.all(responses * twin.signs >= 0)


@pytest.mark.parametrize("n_classes", [2, 5])
def test_threads_do_not_change_a_bit(n_classes):
    """Derivatives of many rows and rules are the same for one and two threads."""
    (fit, _), _, _, _, _ = twins(3, 20_000, n_classes, n_rules=40)
    rules = np.arange(40, dtype=np.int32)
    np.testing.assert_array_equal(fit.gradients(rules, 1), fit.gradients(rules, 2))
    np.testing.assert_array_equal(fit.hessian(rules, 1), fit.hessian(rules, 2))


def fit(**changed):
    arguments = {
        "shares": np.eye(2)[[0, 1, 1]],
        "weights": np.ones(3),
        "probabilities": np.full((3, 2), 0.5),
        "covers": packed(np.array([[1, 1, 0], [0, 1, 1]], bool)),
        "heads": np.array([[0, 0], [1, 1]], np.int32),
        "signs": np.array([1, 0], np.int8),
    }
    return kernels.ResponseFit(*{**arguments, **changed}.values())


FAULTS = {
    "share too large": {"shares": np.array([[0, 1], [0, 2], [1, 0]], float)},
    "share negative": {"shares": np.array([[0, 1], [0, 1], [-1, 0]], float)},
    "share not a number": {"shares": np.array([[0, 1], [0, 1], [np.nan, 0]], float)},
    "shares of too many classes": {"shares": np.eye(3)},
    "weights too short": {"weights": np.ones(2)},
    "probabilities too short": {"probabilities": np.full((2, 2), 0.5)},
    "single probabilities": {"probabilities": np.full((3, 2), 0.5, np.float32)},
    "covers of too many words": {"covers": np.zeros((2, 2), np.uint64)},
    "covers as bytes": {"covers": np.zeros((2, 1), np.uint8)},
    "bits beyond the rows": {"covers": np.full((2, 1), 8, np.uint64)},
    "heads too short": {"heads": np.array([[0, 0]], np.int32)},
    "heads of three numbers": {"heads": np.zeros((2, 3), np.int32)},
    "head upside down": {"heads": np.array([[1, 0], [1, 1]], np.int32)},
    "head beyond the classes": {"heads": np.array([[0, 2], [1, 1]], np.int32)},
    "head negative": {"heads": np.array([[-1, 0], [1, 1]], np.int32)},
    "signs too long": {"signs": np.zeros(3, np.int8)},
    "sign of two": {"signs": np.array([2, 0], np.int8)},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fit_refuses(fault):
    """Faulty arrays are found when the fit is made."""
    with pytest.raises(REFUSED):
        fit(**FAULTS[fault])


@pytest.mark.parametrize("rules", [np.array([2], np.int32), np.array([-1], np.int32), [0]])
def test_methods_refuse_rules(rules):
    """No method reads beyond its rules."""
    state, values = fit(), np.zeros(2)
    calls = [
        lambda: state.gradients(rules, 1),
        lambda: state.hessian(rules, 1),
        lambda: state.move(rules, np.zeros(1)),
        lambda: state.sweep(rules, values, 0.0, 1.0),
    ]
    for call in calls:
        with pytest.raises(REFUSED):
            call()


def test_methods_refuse_numbers():
    """Steps and responses must be as many as there are rules."""
    rules = np.array([0, 1], np.int32)
    with pytest.raises(REFUSED):
        fit().move(rules, np.zeros(1))
    with pytest.raises(REFUSED):
        fit().sweep(rules, np.zeros(1), 0.0, 1.0)
