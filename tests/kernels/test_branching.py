"""The test that branches a node of a C4.5 tree: kernel = twin, brute force, by hand."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from builders import SEEDS, packed_columns, random_columns
from rulewright import kernels
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    Branching,
    BranchLimits,
    CodeColumns,
)

pytestmark = pytest.mark.native

REFUSED = (ValueError, TypeError)


class Node(NamedTuple):
    """The arguments of `choose_branching`."""

    columns: CodeColumns
    rows: np.ndarray
    weights: np.ndarray
    labels: np.ndarray
    limits: BranchLimits


@st.composite
def nodes(draw, n_rows=60):
    """Draw a node: any columns, some of the rows, whole and broken weights."""
    rng = np.random.default_rng(draw(SEEDS))
    n_columns, n_classes = draw(st.integers(1, 2 * GROUP + 1)), draw(st.integers(1, 4))
    n = draw(st.integers(1, n_rows))
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    columns = random_columns(rng, n, n_columns, draw(st.sampled_from([2, 6, 200])), dtype)
    rows = np.flatnonzero(rng.random(n) < rng.choice([0.5, 1.0])).astype(ROW)
    whole = draw(st.booleans())
    weights = rng.integers(1, 4 if whole else 2**50, len(rows)).astype(STAT)
    limits = BranchLimits(
        n_classes=n_classes,
        unit=1.0 if whole else 2.0**-48,
        min_cases=float(rng.choice([0.0, 1.0, 2.0, 5.0])),
        many=(rng.random(n_columns) < rng.choice([0.0, 0.3, 1.0])).astype(np.uint8),
    )
    return Node(columns, rows, weights, rng.integers(0, n_classes, n).astype(np.int32), limits)


@given(nodes())
def test_kernel_equals_twin(node):
    """Column, cut, gain and ratio agree to the bit."""
    assert kernels.choose_branching(*node) == reference.choose_branching(*node)


def test_threads_do_not_change_large_nodes():
    """One and two threads choose the same test on several blocks of rows."""
    rng = np.random.default_rng(1)
    columns = random_columns(rng, 9000, 2 * GROUP + 3, 200)
    labels = ((columns.codes[0, :, 3] > 2) ^ (rng.random(9000) < 0.2)).astype(np.int32)
    limits = BranchLimits(n_classes=2, unit=1.0, min_cases=2.0, many=np.zeros(19, np.uint8))
    node = Node(columns, np.arange(9000, dtype=ROW), np.ones(9000, STAT), labels, limits)
    found = kernels.choose_branching(*node)
    assert found.column >= 0
    assert (
        found == kernels.choose_branching(*node, n_threads=2) == reference.choose_branching(*node)
    )


def entropy(weights):
    """Return the entropy of weights in bits."""
    shares = np.array([w for w in weights if w > 0]) / sum(weights)
    return float(-(shares * np.log2(shares)).sum()) + 0.0


@given(SEEDS)
def test_a_nominal_column_has_the_gain_ratio_of_the_book(seed):
    """Gain is the fall of entropy where known, times the known share; missing is a branch too."""
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(0, 4, (40, 1)), rng.integers(0, 3, 40).astype(np.int32)
    limits = BranchLimits(n_classes=3, unit=1.0, min_cases=1.0, many=np.zeros(1, np.uint8))
    found = kernels.choose_branching(
        packed_columns(codes, [3], [1]), np.arange(40, dtype=ROW), np.ones(40, STAT), labels, limits
    )
    counts = np.zeros((4, 3))
    np.add.at(counts, (codes[:, 0], labels), 1)
    known = counts[:3]
    after = sum(part.sum() / known.sum() * entropy(part) for part in known if part.any())
    gain = known.sum() / 40 * (entropy(known.sum(axis=0)) - after)
    if gain < 1e-3:
        assert found.column == -1
        return
    assert found.gain == pytest.approx(gain)
    assert found.ratio == pytest.approx(gain / entropy(counts.sum(axis=1)))


def small(codes, n_bins, nominal, labels, **changed):
    """Choose on a few rows of weight 1."""
    codes = np.array(codes)
    settings = {"n_classes": 2, "unit": 1.0, "min_cases": 2.0, "many": np.zeros(len(n_bins))}
    settings |= changed
    settings["many"] = np.array(settings["many"], np.uint8)
    rows, weights = np.arange(len(codes), dtype=ROW), np.ones(len(codes), STAT)
    columns = packed_columns(codes, n_bins, nominal)
    labels = np.array(labels, np.int32)
    return kernels.choose_branching(columns, rows, weights, labels, BranchLimits(**settings))


def test_cuts_pay_for_their_number():
    """Eight values in two halves: five cuts leave two rows a side, so the gain is 1 - log2(5)/8."""
    found = small(np.arange(8)[:, None], [8], [0], [0] * 4 + [1] * 4)
    assert found == Branching(0, 3, 4, 1 - math.log2(5) / 8, 1 - math.log2(5) / 8)


def test_gain_ratio_charges_many_branches():
    """A label per row has gain 1 and split information 3; two labels of gain 1 win."""
    codes = [[i % 4, i // 4, i // 4] for i in range(8)]
    found = small(codes, [4, 2, 2], [1, 1, 1], [0] * 4 + [1] * 4, min_cases=1.0)
    assert (found.column, found.gain, found.ratio) == (1, 1.0, 1.0)


def test_gains_below_the_average_are_out():
    """A ratio of a small gain does not count, however large it is."""
    labels = [0] * 8 + [1] * 8
    codes = np.zeros((16, 2), int)
    codes[:, 0] = np.arange(16) // 4  # gain 1, split information 2
    codes[:2, 1] = 1  # gain 0.14, split information 0.54
    assert small(codes, [4, 2], [1, 1], labels).column == 0


def test_columns_of_many_values_stay_out_of_the_average():
    """With the large gain of such a column out of the average, the small gain is admissible."""
    labels = [0] * 8 + [1] * 8
    codes = np.zeros((16, 2), int)
    codes[:, 0] = np.arange(16)  # gain 1, split information 4
    codes[:8, 1] = 1
    codes[5:8, 1] = 0
    assert small(codes, [16, 2], [1, 1], labels, min_cases=1.0).column == 0
    assert small(codes, [16, 2], [1, 1], labels, min_cases=1.0, many=[1, 0]).column == 1


def test_two_branches_need_the_least_weight():
    """One heavy branch is none, and nothing is gained from one class or from no rows."""
    assert small([[0], [0], [0], [1]], [2], [1], [0, 0, 0, 1]).column == -1
    assert small([[0], [0], [1], [1]], [2], [1], [0, 0, 1, 1]).column == 0
    assert small([[0], [0], [1], [1]], [2], [1], [1, 1, 1, 1]).column == -1
    assert small(np.zeros((0, 1), int), [2], [1], []).column == -1


FAULTS = {
    "row beyond the table": {"rows": np.array([0, 1, 9], dtype=ROW)},
    "a row without weight": {"weights": np.zeros(3, STAT)},
    "weights too few": {"weights": np.ones(2, STAT)},
    "weights that overflow": {"weights": np.full(3, 2**62, STAT)},
    "weights as floats": {"weights": np.ones(3)},
    "a class too many": {"labels": np.array([0, 1, 2], np.int32)},
    "a negative class": {"labels": np.array([0, 1, -1], np.int32)},
    "classes too few": {"labels": np.array([0, 1], np.int32)},
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_bad_nodes_are_refused(fault):
    """Bad arguments are errors; the good call is good."""
    limits = BranchLimits(n_classes=2, unit=1.0, min_cases=1.0, many=np.zeros(1, np.uint8))
    good = {
        "columns": packed_columns(np.array([[0], [1], [2]]), [3], [0]),
        "rows": np.arange(3, dtype=ROW),
        "weights": np.full(3, 9, STAT),
        "labels": np.array([0, 1, 1], np.int32),
        "limits": limits,
    }
    assert kernels.choose_branching(**good).column == 0
    with pytest.raises(REFUSED):
        kernels.choose_branching(**{**good, **fault})


LIMITS = {
    "no class": {"n_classes": 0},
    "no unit": {"unit": 0.0},
    "a unit that is no number": {"unit": math.nan},
    "negative cases": {"min_cases": -1.0},
    "flags of other columns": {"many": [0, 0]},
}


@pytest.mark.parametrize("fault", LIMITS.values(), ids=LIMITS)
def test_bad_limits_are_refused(fault):
    """Limits out of range are errors."""
    with pytest.raises(REFUSED):
        small([[0], [0], [1], [1]], [2], [1], [0, 0, 1, 1], **fault)
