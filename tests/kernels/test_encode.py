import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from rulewright import kernels
from rulewright.kernels import MISSING

pytestmark = pytest.mark.native

VALUES = st.floats(width=64) | st.integers(-3, 3).map(float)
CUTS = st.lists(st.floats(allow_nan=False) | st.integers(-3, 3).map(float), max_size=20)


def sorted_cuts(cuts):
    return np.unique(np.array(cuts, dtype=np.float64))


@given(st.lists(VALUES, max_size=40), CUTS, st.booleans(), st.integers(0, MISSING))
def test_codes_equal_the_twin(values, cuts, on_cut, missing):
    """Any values and any sorted cuts give the codes of the twin."""
    values, cuts = np.array(values, dtype=np.float64), sorted_cuts(cuts)
    native = kernels.encode_values(values, cuts, on_cut, missing=missing)
    twin = reference.encode_values(values, cuts, on_cut, missing=missing)
    assert native.dtype == np.uint16
    np.testing.assert_array_equal(native, twin)


@given(st.lists(VALUES, min_size=1, max_size=20), CUTS)
def test_codes_count_the_cuts_below(values, cuts):
    """The code is the number of cuts below, doubled plus one on a cut when asked for."""
    cuts = sorted_cuts(cuts)
    plain = kernels.encode_values(np.array(values), cuts, False)
    on_cut = kernels.encode_values(np.array(values), cuts, True)
    for value, code, fine in zip(values, plain.tolist(), on_cut.tolist(), strict=True):
        if np.isnan(value):
            assert code == fine == MISSING
        else:
            below = sum(cut < value for cut in cuts.tolist())
            assert code == below
            assert fine == 2 * below + (value in cuts.tolist())


@pytest.mark.parametrize("step", [1, 3, -1, -2])
def test_any_stride_is_read_in_place(step):
    """Strided and reversed views have the codes of their copies."""
    values = np.arange(30.0)[::step]
    cuts = np.array([2.5, 7.0, 20.0])
    expected = kernels.encode_values(values.copy(), cuts, True)
    np.testing.assert_array_equal(kernels.encode_values(values, cuts, True), expected)
    matrix = np.arange(30.0).reshape(10, 3)
    np.testing.assert_array_equal(
        kernels.encode_values(matrix[:, 1], cuts, False),
        kernels.encode_values(matrix[:, 1].copy(), cuts, False),
    )


def test_values_may_be_read_only():
    """Memory-mapped columns need no copy."""
    values = np.arange(5.0)
    values.flags.writeable = False
    assert kernels.encode_values(values, np.array([2.0]), False).tolist() == [0, 0, 0, 1, 1]


def test_threads_do_not_change_codes():
    """Several blocks of rows are coded alike by one and by two threads."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=20_000)
    values[rng.random(20_000) < 0.1] = np.nan
    cuts = np.sort(rng.normal(size=500))
    one = kernels.encode_values(values, cuts, True, n_threads=1)
    np.testing.assert_array_equal(one, kernels.encode_values(values, cuts, True, n_threads=2))
    np.testing.assert_array_equal(one, reference.encode_values(values, cuts, True))


def test_the_largest_code_book_fits():
    """As many cuts as 16 bits allow are coded exactly."""
    cuts = np.arange(65_533.0)
    values = np.array([-1.0, 0.0, 65_532.0, 1e9, np.nan])
    codes = kernels.encode_values(values, cuts, False)
    assert codes.tolist() == [0, 0, 65_532, 65_533, MISSING]


@given(st.integers(0, 2**32), st.sampled_from([9, 60, 300]), st.booleans())
def test_many_values_have_the_codes_of_the_twin(seed, n_cuts, on_cut):
    """A grid over the cuts finds the same codes, for even, crowded, whole and extreme values."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(4)
    values = rng.normal(size=5000)
    if shape == 1:
        values = np.exp(5 * values)  # nearly all cuts in one cell
    elif shape == 2:
        values = np.round(20 * values)
    elif shape == 3:
        values = np.ldexp(values, rng.integers(-1000, 1000, 5000))
    cuts = np.unique(rng.choice(values, n_cuts))
    values[rng.integers(5000, size=30)] = rng.choice([np.nan, np.inf, -np.inf, -0.0], 30)
    native = kernels.encode_values(values, cuts, on_cut)
    np.testing.assert_array_equal(native, reference.encode_values(values, cuts, on_cut))


@pytest.mark.parametrize("n_threads", [1, 3])
def test_columns_are_coded_together(n_threads):
    """Columns of a matrix go to their rows of the codes, whatever their order and stride."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(6000, 3))
    values = [matrix[:, 2], matrix[:, 0], np.ascontiguousarray(matrix[:, 1])]
    cuts = [np.sort(rng.normal(size=n)) for n in (40, 0, 3)]
    places = np.array([0, 3, 1], dtype=np.int32)
    native, twin = (np.full((4, 6000), 7, dtype=np.uint16) for _ in range(2))
    kernels.encode_columns(values, cuts, places, native, n_threads)
    reference.encode_columns(values, cuts, places, twin)
    np.testing.assert_array_equal(native, twin)
    assert (native[2] == 7).all()
