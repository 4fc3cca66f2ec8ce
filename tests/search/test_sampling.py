import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulewright.search import Subsampler, split_rows
from rulewright.search.sampling import LEAST_ROWS

pytestmark = pytest.mark.native


@given(st.integers(1, 200), st.floats(0, 1, exclude_min=True), st.integers(0, 999))
def test_draws_have_the_size_asked_for(n_rows, share, seed):
    """A draw has max(1, floor(share n)) rows, and all rows when there are too few to split."""
    subsampler = Subsampler(n_rows, share, np.random.RandomState(seed))
    rows = subsampler.draw().rows
    assert len(rows) == (n_rows if n_rows < LEAST_ROWS else max(1, int(share * n_rows)))
    assert subsampler.takes_all == (len(rows) == n_rows)


def test_draws_differ_and_repeat_with_the_seed():
    """Each draw is new, and the same seed gives the same draws."""

    def draws(seed):
        subsampler = Subsampler(100, 0.5, np.random.RandomState(seed))
        return [subsampler.draw().rows.tolist() for _ in range(3)]

    assert draws(1) == draws(1)
    assert draws(1) != draws(2)
    assert draws(1)[0] != draws(1)[1]


def test_a_full_draw_spends_no_randomness():
    """Taking all rows leaves the generator where it was."""
    random = np.random.RandomState(3)
    assert Subsampler(10, 1.0, random).draw().rows.tolist() == list(range(10))
    assert random.randint(10**6) == np.random.RandomState(3).randint(10**6)


@given(
    st.lists(st.integers(0, 3), min_size=8, max_size=80), st.floats(0.05, 0.9), st.integers(0, 99)
)
def test_splits_keep_the_classes(labels, fraction, seed):
    """Both parts are ascending and disjoint, and no class leaves the first one."""
    labels = np.array(labels, dtype=np.int32)
    try:
        train, aside = split_rows(labels, fraction, np.random.RandomState(seed))
    except ValueError as error:
        assert "too few" in str(error)  # noqa: PT017
        assert all(round(fraction * n) == 0 or n == 1 for n in np.bincount(labels) if n)
        return
    assert sorted([*train, *aside]) == list(range(len(labels)))
    assert np.all(np.diff(train) > 0)
    assert np.all(np.diff(aside) > 0)
    for label in np.unique(labels):
        n = np.count_nonzero(labels == label)
        assert np.count_nonzero(labels[aside] == label) == min(round(fraction * n), n - 1)
