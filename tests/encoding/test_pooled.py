"""Pooled labels: one code for infrequent labels, and splits that come back as labels."""

import numpy as np

from rulewright.data import read_table
from rulewright.encoding import bin_table, pool_labels
from rulewright.kernels import GROUP, GrownSplit, Op


def make_binned(n_rows=400, n_columns=GROUP + 1):
    """Make numbers, then a column whose labels a, b have 100 rows each and all others one."""
    job = ["a", "b"] * 100 + [f"rare {k:03}" for k in range(n_rows - 201)] + [None]
    columns = {f"x{j}": np.arange(n_rows) % (j + 2) for j in range(n_columns - 1)}
    return bin_table(read_table({**columns, "job": job}))


def test_infrequent_labels_have_one_code():
    """Frequent labels keep their order, missing values come last, other columns are unchanged."""
    binned = make_binned()
    pooled = pool_labels(binned, np.ones(400))
    new, old, job = pooled.codes, binned.codes, GROUP
    assert new.n_bins.tolist() == [*old.n_bins[:job], 3]
    assert new.codes[1, :, 0].tolist() == [0, 1] * 100 + [2] * 199 + [3]
    np.testing.assert_array_equal(new.codes[0], old.codes[0])
    assert old.codes[1, -1, 0] == 201


def test_codes_are_bytes_again():
    """A table needs two bytes because of its labels only."""
    binned = make_binned(1000)
    assert binned.codes.codes.dtype == np.uint16
    assert pool_labels(binned, np.ones(1000)).codes.codes.dtype == np.uint8


def test_few_labels_are_not_copied():
    """Without a column of too many labels the codes are the same object."""
    binned = bin_table(read_table({"c": [f"v{k}" for k in np.arange(400) % 32], "x": range(400)}))
    assert pool_labels(binned, np.ones(400)).codes is binned.codes


def test_splits_unfold_to_all_labels():
    """The pooled code stands for all infrequent labels; numbers and missing values stay."""
    pooled, job = pool_labels(make_binned(), np.ones(400)), GROUP
    for op, codes, expected in (
        (Op.EQUAL, [0], [0]),
        (Op.EQUAL, [1, 2], list(range(1, 201))),
        (Op.MISSING, [3], [201]),
    ):
        assert pooled.unfold(GrownSplit(0, job, op, codes)).codes == expected
    number = GrownSplit(0, 3, Op.LESS_EQUAL, [1])
    assert pooled.unfold(number) is number
