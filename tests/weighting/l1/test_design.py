import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS
from l1_problems import draw, pack
from rulewright.weighting import Design, L1Problem

pytestmark = pytest.mark.native


def designs(seed, n_rows, n_dense, rule_scale):
    """Make a design and the dense matrix A that it stands for, with its weights."""
    x, dense, _, rng = draw(seed, n_rows, 12, n_dense)
    x[:, 0], x[:, 1] = False, True
    weights = rng.choice([0.5, 1.0, 2.0], n_rows)
    design = Design.of(pack(x), dense, weights, rule_scale)
    weights = weights * n_rows / weights.sum()
    raw = np.hstack([x, dense])
    a = raw - weights @ raw / n_rows
    spread = np.sqrt(weights @ a**2 / n_rows)
    a[:, spread < 1e-7] = 0.0
    if rule_scale == "support":
        a[:, :12] /= np.where(spread < 1e-7, 1.0, spread)[:12]
    return design, raw, a, weights, rng


CASES = given(SEEDS, st.integers(12, 200), st.integers(0, 3), st.sampled_from(["none", "support"]))


@examples(50)
@CASES
def test_operations_equal_those_of_the_dense_matrix(seed, n_rows, n_dense, rule_scale):
    """Norms, A'r, A a, Gram entries and rows are those of the centred and scaled matrix."""
    design, _, a, weights, rng = designs(seed, n_rows, n_dense, rule_scale)
    r, coefs = rng.normal(size=n_rows), rng.normal(size=a.shape[1])
    some = np.array([3, 0, 7], dtype=np.int32)
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(design.weights, weights, **close)
    np.testing.assert_allclose(design.norms, weights @ a**2, **close)
    np.testing.assert_allclose(design.adjoint(r), (weights * r) @ a, **close)
    np.testing.assert_allclose(design.adjoint(r, some), (weights * r) @ a[:, some], **close)
    np.testing.assert_allclose(design.dot(coefs), a @ coefs, **close)
    np.testing.assert_allclose(design.gram(some), (a[:, some].T * weights) @ a, **close)
    np.testing.assert_allclose(design.rows(some), a[some], **close)
    largest = np.linalg.eigvalsh((a.T * weights) @ a)[-1]
    assert 0.9 * largest <= design.largest_eigenvalue() <= largest * (1 + 1e-9)


@examples(50)
@CASES
def test_coefficients_go_back_to_the_raw_columns(seed, n_rows, n_dense, rule_scale):
    """Scores by coefficients and intercept of raw columns are level + A a."""
    design, raw, a, _, rng = designs(seed, n_rows, n_dense, rule_scale)
    coefs, level = rng.normal(size=a.shape[1]), 2.5
    coef, intercept = design.coef(coefs), design.intercept(coefs, level)
    np.testing.assert_allclose(intercept + raw @ coef, level + a @ coefs, atol=1e-9)
    np.testing.assert_allclose(design.scores(coef, intercept), level + a @ coefs, atol=1e-9)


@examples(30)
@CASES
def test_parts_are_designs(seed, n_rows, n_dense, rule_scale):
    """Rows and columns taken out equal a design made of them, with the scales of the whole."""
    design, raw, _, weights, rng = designs(seed, n_rows, n_dense, rule_scale)
    kept = np.flatnonzero(rng.random(n_rows) < 0.7).astype(np.int32)
    kept = np.union1d(kept, [0, 1]).astype(np.int32)
    columns = np.flatnonzero(rng.random(design.n_columns) < 0.5).astype(np.int32)
    part = design.take(kept).select(columns)
    w = weights[kept] * len(kept) / weights[kept].sum()
    a = raw[kept][:, columns]
    a = (a - w @ a / len(kept)) * design.scales[columns]
    r = rng.normal(size=len(kept))
    np.testing.assert_allclose(part.adjoint(r), (w * r) @ a, atol=1e-9)


def test_threads_change_nothing():
    """Designs of one and two threads give the same bits."""
    x, dense, y, _ = draw(0, 5000, 90, 2)
    one, two = (Design.of(pack(x), dense, n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.adjoint(y), two.adjoint(y))
    np.testing.assert_array_equal(one.gram(one.columns), two.gram(two.columns))


FAULTS = {
    "negative weight": ({"sample_weight": [1.0, -1.0, 1.0]}, "row 1 has -1"),
    "missing weight": ({"sample_weight": [1.0, 1.0, np.nan]}, "row 2 has nan"),
    "no weight": ({"sample_weight": [0.0, 0.0, 0.0]}, "above 0"),
    "few weights": ({"sample_weight": [1.0]}, "3 rows"),
    "target of two rows": ({"y": [1.0, 2.0]}, "3 rows"),
    "missing target": ({"y": [1.0, np.nan, 2.0]}, "row 1 has nan"),
    "dense of two rows": ({"dense": np.ones((2, 1))}, "3 rows"),
    "missing number": ({"dense": [[1.0, 1.0], [1.0, np.nan], [1.0, 2.0]]}, "column 1"),
    "unknown scale": ({"rule_scale": "sd"}, "'none' or 'support'"),
    "no lasso": ({"l1_ratio": 0.0}, "l1_ratio"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named(fault):
    """An error says which row or option is wrong."""
    changed, words = FAULTS[fault]
    options = {"y": [1.0, 2.0, 3.0], **changed}
    with pytest.raises(ValueError, match=words):
        L1Problem.of(pack([[1], [0], [1]]), **options)
