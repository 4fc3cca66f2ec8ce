"""How many labels are too many: the border, the labels kept, weights and what is reported."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS
from rulewright.data import (
    count_effective_rows,
    count_labels,
    examine,
    find_frequent_labels,
    read_table,
)


@pytest.mark.parametrize(
    ("counts", "kept"),
    [
        ([1] * 32, None),  # so few are never too many
        ([1] * 33, []),
        ([0] * 500 + [1] * 32, None),  # labels without rows do not count
        ([10] + [1] * 40, [0]),
        ([9] + [1] * 40, []),
        ([400] * 50, None),  # 20,000 rows: up to 70 labels
        ([100] * 100 + [60, 49], list(range(50))),  # 10,109 rows: 50 labels at most
        ([1] * 9900 + [51, 49], [9900]),  # 10,000 rows: 50 rows at least
    ],
)
def test_frequent_labels_by_hand(counts, kept):
    """The border and the least rows are half the root of the rows, but 32 labels and 10 rows."""
    found = find_frequent_labels(np.array(counts))
    assert (None if found is None else found.tolist()) == kept


@examples(60)
@given(SEEDS, st.sampled_from([1e-200, 0.01, 1.0, 7.3]))
def test_counts_of_labels(seed, scale):
    """A weight of two is a row twice; equal weights of any size count rows; -1 is no label."""
    rng = np.random.default_rng(seed)
    codes, weights = rng.integers(-1, 7, 50), rng.integers(1, 4, 50)
    twice = np.repeat(codes, weights)
    expected = np.bincount(twice[twice >= 0], minlength=7)
    np.testing.assert_array_equal(count_labels(codes, 7, weights.astype(float)), expected)
    np.testing.assert_array_equal(count_labels(twice, 7, np.ones(len(twice))), expected)
    counts = count_labels(twice, 7, np.full(len(twice), scale))
    np.testing.assert_array_equal(counts, expected)
    shuffled, uneven = rng.permutation(50), rng.random(50) + 0.1
    counts = count_labels(codes, 8, uneven * scale)
    np.testing.assert_allclose(counts[:7], count_labels(codes, 7, uneven), rtol=1e-4)
    np.testing.assert_array_equal(
        counts, count_labels(codes[shuffled], 8, uneven[shuffled] * scale)
    )
    assert counts.sum() <= count_effective_rows(uneven) * (1 + 1e-6)


def test_inspect_reports_columns_with_too_many_labels():
    """Labels of text or numbers; an id is reported as such, and few labels are not."""
    rows = np.arange(4000)
    columns = {
        "job": [f"job {k}" for k in np.where(rows < 400, 7, rows % 1000)],
        "zip": 10_000 + rows % 1500,
        "state": [f"s{k}" for k in rows % 32],
        "name": [f"n{k}" for k in rows],
    }
    found = {f.column: f for f in examine(read_table(columns, nominal=["zip"]))}
    assert {name: f.kind for name, f in found.items()} == {
        "job": "many labels",
        "zip": "many labels",
        "name": "id",
    }
    assert str(found["job"]) == (
        "job: 1,000 labels are too many for 4,000 rows; 1 label has enough rows for a split; "
        "RuleFit pools the others; group labels in the file, or --drop job leaves it out"
    )
    assert "1,500 labels are too many for 4,000 rows; none has enough rows" in found["zip"].text


def test_absurd_weights_are_counted():
    """The largest weights do not overflow, and make every label frequent."""
    counts = count_labels(np.arange(100), 100, np.full(100, 1e306))
    assert np.isfinite(counts).all()
    assert find_frequent_labels(counts) is None
