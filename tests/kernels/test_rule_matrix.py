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
CASES = given(SEEDS, st.integers(1, 300), st.integers(0, 3))


def columns_of(seed, n_rows, n_dense, n_covers=8):
    """Draw covers (empty, full, sparse and dense) and columns of numbers."""
    rng = np.random.default_rng(seed)
    shares = rng.choice([0.0, 0.05, 0.4, 0.9, 1.0], (n_covers, 1))
    covers = PackedCovers.pack(rng.random((n_covers, n_rows)) < shares).words
    return covers, rng.normal(size=(n_dense, n_rows)), rng


def twins(seed, n_rows, n_dense):
    """Make the same matrix twice, native and NumPy."""
    covers, dense, rng = columns_of(seed, n_rows, n_dense)
    chosen = rng.permutation(len(covers) + n_dense).astype(np.int32)
    matrices = kernels.RuleMatrix(covers, dense), reference.RuleMatrix(covers, dense)
    return *matrices, chosen, rng


@CASES
def test_products_equal_the_twin(seed, n_rows, n_dense):
    """Sums of columns, combinations and cross-products are those of the dense matrix."""
    native, twin, chosen, rng = twins(seed, n_rows, n_dense)
    values, coefs = rng.normal(size=n_rows), rng.normal(size=len(chosen))
    np.testing.assert_allclose(
        native.sums(chosen, values, 1), twin.sums(chosen, values, 1), atol=1e-12
    )
    scores = np.ones(n_rows), np.ones(n_rows)
    for matrix, out in zip((native, twin), scores, strict=True):
        matrix.add(chosen, coefs, out)
    np.testing.assert_allclose(*scores, atol=1e-12)
    for weights in (np.empty(0), rng.choice([0.0, 0.5, 3.0], n_rows)):
        arguments = chosen[:5], chosen[2:], weights, 1
        np.testing.assert_allclose(native.cross(*arguments), twin.cross(*arguments), atol=1e-11)


@given(SEEDS, st.integers(1, 300), st.integers(0, 3))
def test_products_of_many_covers_equal_the_twin(seed, n_rows, n_dense):
    """Sums that are looked up, of covers and numbers in any order, are those of the matrix."""
    covers, dense, rng = columns_of(seed, n_rows, n_dense, n_covers=80)
    native, twin = kernels.RuleMatrix(covers, dense), reference.RuleMatrix(covers, dense)
    chosen = rng.permutation(80 + n_dense).astype(np.int32)
    values, coefs = rng.normal(size=n_rows), rng.normal(size=len(chosen))
    expected = twin.sums(chosen, values, 1)
    np.testing.assert_allclose(native.sums(chosen, values, 1), expected, atol=1e-12)
    scores = np.ones(n_rows), np.ones(n_rows)
    for matrix, out in zip((native, twin), scores, strict=True):
        matrix.add(chosen, coefs, out)
    np.testing.assert_allclose(*scores, atol=1e-12)
    arguments = chosen[:5], chosen, rng.choice([0.0, 0.5, 3.0], n_rows), 1
    np.testing.assert_allclose(native.cross(*arguments), twin.cross(*arguments), atol=1e-11)


def quadratic_of(twin, weights, rng):
    """Describe the columns of a matrix: weighted means, any scales, norms."""
    means = weights @ twin.x / weights.sum()
    scales = rng.choice([0.5, 1.0, 3.0], len(means))
    norms = weights @ ((twin.x - means) * scales) ** 2
    return weights.sum(), means, scales, np.where(norms < 1e-9, 0.0, norms)


def descents(seed, n_rows, n_dense, change, max_sweeps):
    """Minimise one quadratic in four ways: by residuals and by products, native and NumPy."""
    native, twin, chosen, rng = twins(seed, n_rows, n_dense)
    weights = rng.choice([0.5, 1.0, 3.0], n_rows)
    parts = quadratic_of(twin, weights, rng)
    z = rng.normal(size=n_rows)
    start = rng.normal(size=len(chosen)) * (parts[3] > 0)
    a = (twin.x - parts[1]) * parts[2]
    residuals = weights * (z - weights @ z / weights.sum() - a @ start)
    penalties = float(rng.choice([0.0, 0.3, 5.0])), float(rng.choice([0.5, 3.0]))
    every = np.arange(len(chosen), dtype=np.int32)
    products = twin.cross(every, every, weights, 1).reshape(len(every), -1)
    found = []
    for kept in (residuals, residuals @ twin.x):
        for module, matrix in ((kernels, native), (reference, twin)):
            quadratic = module.Quadratic(*parts)
            moved, rest = start.copy(), kept.copy()
            options = chosen, *penalties, change, max_sweeps, moved, rest
            if kept is residuals:
                n = matrix.descend(quadratic, weights, *options)
            else:
                n = module.descend_products(products, quadratic, *options)
            found.append((moved, rest, n))
    return found


@CASES
def test_descents_equal_the_twin(seed, n_rows, n_dense):
    """Before any extrapolation, sweeps move coefficients, residuals and sums as the twin does."""
    naive, naive_twin, products, products_twin = descents(seed, n_rows, n_dense, 1e-9, 6)
    for found, expected in ((naive, naive_twin), (products, products_twin)):
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-8)
        assert found[2] == expected[2]
    np.testing.assert_allclose(naive[0], products[0], rtol=1e-6, atol=1e-8)


@CASES
def test_descents_end_where_the_twin_ends(seed, n_rows, n_dense):
    """With extrapolation the same minimum is reached, in hardly more sweeps."""
    found = descents(seed, n_rows, n_dense, 1e-22, 3000)
    for coefs, _, n_sweeps in found:
        np.testing.assert_allclose(coefs, found[-1][0], rtol=1e-6, atol=1e-8)
        assert n_sweeps <= 2 * found[-1][2] + 20


@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("kind", [np.int32, np.float64])
def test_columns_that_resemble_each_other_take_few_sweeps(l2, kind):
    """Nested rules, one of them twice: the twin's minimum, to the conditions of optimality."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    covered = x > np.append(np.linspace(-2, 2, 80), 0.025)[:, None]
    covered[-1] = covered[40]
    twin = reference.RuleMatrix(PackedCovers.pack(covered).words, np.empty((0, 2000)))
    z = np.sin(2 * x) + rng.normal(size=2000)
    means, every = twin.x.mean(axis=0), np.arange(81, dtype=np.int32)
    norms, sums = 2000 * means * (1 - means), (z - z.mean()) @ twin.x
    products = twin.cross(every, every, np.empty(0), 1).reshape(81, 81)
    sweeps = []
    for module in (kernels, reference):
        quadratic = module.Quadratic(2000.0, means, np.ones(81), norms)
        coefs, left = np.zeros(81), sums.copy()
        stop = every, 1.0, l2, 1e-14, 3000
        sweeps.append(module.descend_products(products.astype(kind), quadratic, *stop, coefs, left))
        gram = products - 2000 * np.outer(means, means)
        slopes = sums - gram @ coefs - l2 * coefs
        np.testing.assert_allclose(left, sums - gram @ coefs, atol=1e-8)
        if module is kernels:
            assert np.abs(slopes - np.sign(coefs))[coefs != 0].max() <= 1e-5
            assert np.abs(slopes).max() <= 1 + 1e-5
    assert 3 * sweeps[0] < sweeps[1]


@given(SEEDS, st.integers(1, 300))
def test_counts_and_sums_descend_alike(seed, n_rows):
    """Cross-products as whole numbers give the same coefficients as those of type double."""
    covers, dense, rng = columns_of(seed, n_rows, 0)
    twin = reference.RuleMatrix(covers, dense)
    quadratic = kernels.Quadratic(*quadratic_of(twin, np.ones(n_rows), rng))
    every = np.arange(len(covers), dtype=np.int32)
    products = twin.cross(every, every, np.empty(0), 1).reshape(len(every), -1)
    z = rng.normal(size=n_rows)
    found = []
    for kind in (np.int32, np.float64):
        coefs, sums = np.zeros(len(every)), (z - z.mean()) @ twin.x
        kernels.descend_products(
            products.astype(kind), quadratic, every, 0.2, 0.0, 0.0, 3, coefs, sums
        )
        found.append(coefs)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("n_rows", [20_000, 20_001])
def test_threads_do_not_change_a_bit(n_rows):
    """Sums and cross-products are the same for one and two threads."""
    covers, dense, rng = columns_of(5, n_rows, 2, n_covers=150)
    matrix = kernels.RuleMatrix(covers, dense)
    every = np.arange(152, dtype=np.int32)
    values = rng.normal(size=n_rows)
    np.testing.assert_array_equal(matrix.sums(every, values, 1), matrix.sums(every, values, 2))
    for weights in (np.empty(0), rng.random(n_rows)):
        one, two = (matrix.cross(every[-9:], every, weights, n) for n in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_sparse_and_dense_covers_are_summed_alike():
    """A cover is summed to the bit like its numbers, however many rows it has."""
    rng = np.random.default_rng(0)
    shares = np.linspace(0, 1, 40)[:, None]
    covered = rng.random((40, 5000)) < shares
    matrix = kernels.RuleMatrix(PackedCovers.pack(covered).words, covered.astype(np.float64))
    sums = matrix.sums(np.arange(80, dtype=np.int32), rng.normal(size=5000), 1)
    np.testing.assert_array_equal(sums[:40], sums[40:])


ROWS, COLUMNS = np.ones(3), np.array([0, 2], np.int32)


def matrix(covers=None, dense=None):
    words = PackedCovers.pack(np.array([[1, 1, 0], [0, 1, 1]], bool)).words
    return kernels.RuleMatrix(
        words if covers is None else covers, np.ones((1, 3)) if dense is None else dense
    )


def quadratic(n=3):
    return kernels.Quadratic(3.0, np.ones(n), np.ones(n), np.ones(n))


def descend(columns=COLUMNS, weights=ROWS, n=3, n_coefs=3, n_residuals=3):
    stop = 0.1, 0.0, 1e-9, 5
    matrix().descend(
        quadratic(n), weights, columns, *stop, np.zeros(n_coefs), np.zeros(n_residuals)
    )


def descend_products(shape=(3, 3), columns=COLUMNS, n=3, n_sums=3, kind=np.float64):
    stop = 0.1, 0.0, 1e-9, 5
    products = np.ones(shape, dtype=kind)
    kernels.descend_products(products, quadratic(n), columns, *stop, np.zeros(3), np.zeros(n_sums))


BEYOND, BELOW = np.array([3], np.int32), np.array([-1], np.int32)
FAULTS = {
    "too many words": lambda: matrix(np.zeros((2, 2), np.uint64)),
    "bits beyond the rows": lambda: matrix(np.full((2, 1), 8, np.uint64)),
    "covers as bytes": lambda: matrix(np.zeros((2, 1), np.uint8)),
    "single numbers": lambda: matrix(dense=np.ones((1, 3), np.float32)),
    "sums beyond": lambda: matrix().sums(BEYOND, ROWS, 1),
    "sums below": lambda: matrix().sums(BELOW, ROWS, 1),
    "sums of few values": lambda: matrix().sums(COLUMNS, np.ones(2), 1),
    "add beyond": lambda: matrix().add(BEYOND, np.ones(1), ROWS.copy()),
    "add few coefs": lambda: matrix().add(COLUMNS, np.ones(1), ROWS.copy()),
    "add to few scores": lambda: matrix().add(COLUMNS, np.ones(2), np.ones(2)),
    "cross beyond": lambda: matrix().cross(BEYOND, COLUMNS, ROWS, 1),
    "cross others beyond": lambda: matrix().cross(COLUMNS, BEYOND, ROWS, 1),
    "cross few weights": lambda: matrix().cross(COLUMNS, COLUMNS, np.ones(2), 1),
    "quadratic of two lengths": lambda: kernels.Quadratic(1.0, np.ones(2), np.ones(3), np.ones(3)),
    "descend beyond": lambda: descend(BEYOND),
    "descend few weights": lambda: descend(weights=np.ones(2)),
    "descend few columns": lambda: descend(n=2),
    "descend few coefs": lambda: descend(n_coefs=2),
    "descend few residuals": lambda: descend(n_residuals=2),
    "products too few": lambda: descend_products((2, 3)),
    "products beyond": lambda: descend_products(columns=BEYOND),
    "products few coefs": lambda: descend_products(n=2),
    "products few sums": lambda: descend_products(n_sums=2),
    "products as bytes": lambda: descend_products(kind=np.uint8),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faulty_arrays_are_refused(fault):
    """Nothing is read or written beyond an array."""
    with pytest.raises(REFUSED):
        FAULTS[fault]()
