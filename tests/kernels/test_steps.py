"""The steps of a search: counting, merging and scanning histograms, refining covers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import free_limits, packed_columns, searches
from rulewright import kernels
from rulewright.kernels import (
    ROW,
    GrownRule,
    Op,
    Score,
    score_names,
)

pytestmark = pytest.mark.native


def test_every_score_has_a_twin():
    """The native registry and that of the twins name the same scores; `searches` draws them all."""
    assert set(score_names) == set(reference.SCORES)


@examples(150)
@given(searches())
def test_steps_equal_their_twins(search):
    """Histograms, and the best condition on part of the rows, are those of the twins."""
    columns, rows, stats, score, limits = search
    histogram = kernels.count_histogram(columns, rows, stats, n_threads=2)
    np.testing.assert_array_equal(histogram, reference.count_histogram(columns, rows, stats))
    whole = kernels.scan_histogram(columns, histogram, score, limits)
    assert whole == reference.scan_histogram(columns, histogram, score, limits)
    part = kernels.count_histogram(columns, rows[::2].copy(), stats)
    scan = columns, part, score, limits, stats[rows].sum(axis=0)
    assert kernels.scan_histogram(*scan) == reference.scan_histogram(*scan)


def merged_histogram(columns, rows, stats, parts):
    """Count every part of the rows in a table of its own, then add the histograms."""
    histograms = []
    for part in np.unique(parts):
        own = rows[parts == part].astype(np.intp)
        everyone = np.arange(len(own), dtype=ROW)
        histograms.append(kernels.count_histogram(columns.take(own), everyone, stats[own]))
    return sum(histograms)


@examples(150)
@given(searches(), st.integers(1, 4))
def test_partitions_grow_the_rule_of_the_whole(search, n_parts):
    """Steps over histograms added up from partitions pick, one by one, what the path picks."""
    columns, rows, stats, score, limits = search
    kinds = columns.take(np.empty(0, dtype=np.intp))  # scanning needs no rows
    totals, rule = stats[rows].sum(axis=0), kernels.grow_rule(*search)
    for condition in rule.conditions:
        histogram = merged_histogram(columns, rows, stats, rows % n_parts)
        found = kernels.scan_histogram(kinds, histogram, score, limits, totals)
        assert found.conditions[0]._replace(criterion=0) == condition._replace(criterion=0)
        if condition is rule.conditions[0]:
            assert found.conditions[0] == condition
        rows = reference.refine_rows(columns, rows, condition)
        limits = limits.after(condition)
    if rule.conditions:
        assert found.vote == rule.vote


def test_a_histogram_by_hand():
    """Codes 0, 1 and missing of one column, then label 0 and missing of another."""
    columns = packed_columns(np.array([[0, 0], [1, 0], [2, 1], [1, 0]]), [2, 1], [0, 1])
    stats = np.array([[1, 10, 100], [2, 20, 200], [3, 30, 300], [4, 40, 400]])
    histogram = kernels.count_histogram(columns, np.array([0, 1, 2], dtype=ROW), stats)
    assert histogram[:, 0].tolist() == [1, 2, 3, 3, 3]
    assert (histogram == histogram[:, :1] * [1, 10, 100]).all()


def rule_on(codes, stats, kind):
    columns = packed_columns(np.array(codes), [3] * len(codes[0]), [1] * len(codes[0]))
    everyone = np.arange(len(codes), dtype=ROW)
    operators = np.full(len(codes[0]), 1 << Op.EQUAL | 1 << Op.NOT_EQUAL, np.uint8)
    limits = free_limits(len(codes[0]), up_operators=operators)
    score = Score(kind, unit=1.0)
    return kernels.grow_rule(columns, everyone, np.array(stats), score, limits)


CODES = [[0, 0], [0, 0], [0, 1], [0, 1], [1, 0], [1, 1], [1, 1], [1, 1]]
WEIGHTS = [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1], [0, 1], [1, 0], [0, 1]]
"""Three of eight rows are for the rule; the second column = 0 covers two and one against."""


def test_a_foil_rule_by_hand():
    """Gains are counted from the parent, and those of a rule add up."""
    rule = rule_on(CODES, WEIGHTS, "foil")
    first = 2 * (np.log2(2 / 3) - np.log2(3 / 8))
    second = 2 * (np.log2(2 / 2) - np.log2(2 / 3))
    assert [(c.column, c.code) for c in rule.conditions] == [(1, 0), (0, 0)]
    assert [c.criterion for c in rule.conditions] == pytest.approx([-first, -first - second])


def test_a_wracc_rule_by_hand():
    """Accuracy is relative to the share of all rows, at the second condition too."""
    rule = rule_on(CODES, WEIGHTS, "wracc")
    accuracies = [(2 - 3 * 3 / 8) / 8, (2 - 2 * 3 / 8) / 8]
    assert [(c.column, c.code) for c in rule.conditions] == [(1, 0), (0, 0)]
    assert [c.criterion for c in rule.conditions] == pytest.approx([-a for a in accuracies])


@pytest.mark.parametrize("missing", [True, False])
def test_one_label_is_told_from_missing_values(missing):
    """`= label` is judged where some covered rows are missing, `!=` never where no row differs."""
    codes = [[0], [0], [3 if missing else 0], [0]]
    rule = rule_on(codes, [[1, 0], [1, 0], [0, 5], [0, 1]], "wracc")
    if missing:
        assert [(c.op, c.code) for c in rule.conditions] == [(Op.EQUAL, 0)]
    else:
        assert rule == GrownRule([], -1)
