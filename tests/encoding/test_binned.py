import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from rules.builders import KNOWN_LABELS, nominal, numeric, table
from rulewright import kernels
from rulewright.data import DataError
from rulewright.encoding.binned import EXACT_ROWS, FAST_BINS, MOST_BINS, bin_column, bin_table
from rulewright.kernels import GrownCondition, Op
from rulewright.rules import Conjunction, Labels, Presence, Range

pytestmark = pytest.mark.native

TINY, HUGE = math.ulp(0.0), sys.float_info.max
ODD_NUMBERS = [0.0, -0.0, TINY, 2 * TINY, -TINY, HUGE, -HUGE, 1.0, math.nextafter(1.0, 2.0), 0.1]
NUMBERS = (
    st.floats(allow_infinity=False)
    | st.sampled_from([*ODD_NUMBERS, math.nan])
    | st.integers(-5, 5).map(float)
)
VALUES = st.lists(NUMBERS, min_size=1, max_size=40)
BIN_LIMITS = st.sampled_from([2, 3, 5, 255, None])
DIGITS = st.sampled_from([None, None, {"a": 1}, {"a": 2}, {"a": 15}])


def resolve(binned, grown, threshold):
    """Give the test on codes and the condition on values of a grown condition."""
    return binned.test(grown, threshold), binned.condition(grown, threshold)


def codes_of(binned, column=0):
    return reference.column_codes(binned.codes, column)


@given(VALUES, BIN_LIMITS, DIGITS)
def test_every_value_lies_in_its_bin(values, max_bins, digits):
    """The bin of a value spans it; missing values have the code behind the last bin."""
    binned = bin_table(table(numeric(values)), max_bins, digits=digits)
    bins = binned.bins[0]
    assert len(bins) <= (max_bins or MOST_BINS)
    for value, code in zip(values, codes_of(binned).tolist(), strict=True):
        if math.isnan(value):
            assert code == len(bins)
        else:
            assert bins.low[code] <= value <= bins.high[code]


@given(VALUES, BIN_LIMITS)
def test_bins_are_exact_when_affordable(values, max_bins):
    """Up to `max_bins` distinct values have a bin each; beyond, bins are fewer and apart."""
    bins = bin_column(numeric(values), max_bins or MOST_BINS)
    distinct = {value for value in values if not math.isnan(value)}
    assert bins.exact == (len(distinct) <= (max_bins or MOST_BINS))
    if bins.exact:
        assert set(bins.low) == set(bins.high) == distinct
    assert len(bins) <= (max_bins or MOST_BINS)
    assert np.all(bins.high[:-1] < bins.low[1:])


def test_bins_hold_equally_many_rows():
    """Without ties quantile bins differ by one row at most."""
    values = np.random.default_rng(0).permutation(1003).astype(float)
    binned = bin_table(table(numeric(values)), 10)
    counts = np.bincount(codes_of(binned))
    assert len(counts) == 10
    assert counts.max() - counts.min() <= 1
    assert not binned.bins[0].exact


def test_a_frequent_value_swallows_its_neighbours_only():
    """A value that fills several quantiles gives one bin, and no value is lost."""
    values = np.concatenate([np.zeros(900), np.arange(1.0, 101.0)])
    bins = bin_column(numeric(values), 10)
    assert bins.high[0] == 0.0
    assert bins.low[-1] > 0
    assert bins.high[-1] == 100.0


@st.composite
def cuts(draw):
    """Draw binned values and two bins to cut between."""
    values = draw(st.lists(NUMBERS, min_size=2, max_size=40))
    distinct = {value for value in values if not math.isnan(value)}
    if len(distinct) < 2:
        values += [0.0, 1.0]
    one_table = table(numeric(values))
    binned = bin_table(one_table, draw(BIN_LIMITS), digits=draw(DIGITS))
    if len(binned.bins[0]) < 2:
        binned = bin_table(one_table)
    below = draw(st.integers(0, len(binned.bins[0]) - 2))
    above = draw(st.integers(below + 1, len(binned.bins[0]) - 1))
    return one_table, binned, below, above


@given(cuts(), st.sampled_from(["midpoint", "observed", "short"]))
def test_cuts_on_codes_and_on_values_agree(case, threshold):
    """The test on codes covers the rows that the condition on values covers, on either side."""
    one_table, binned, below, above = case
    codes = codes_of(binned)
    for op, code, beyond in ((Op.LESS_EQUAL, below, above), (Op.GREATER_EQUAL, above, below)):
        test, condition = resolve(binned, GrownCondition(0, op, code, beyond, -1.0), threshold)
        covered = kernels.cover_rows(binned.codes, np.array([test], dtype=np.int32))
        np.testing.assert_array_equal(
            np.flatnonzero(condition.holds(one_table.columns[0])), covered
        )
        wanted, refused = (codes <= below, codes >= above)
        if op == Op.GREATER_EQUAL:
            wanted, refused = (codes >= above) & (codes < len(binned.bins[0])), codes <= below
        assert set(np.flatnonzero(wanted)) <= set(covered)
        assert not set(np.flatnonzero(refused)) & set(covered)


@given(cuts(), st.sampled_from(["midpoint", "observed", "short"]))
def test_rounded_columns_are_cut_at_their_edges_only(case, threshold):
    """Every threshold is an edge: `x <= edge` takes it, `x > edge` leaves it."""
    _, binned, below, above = case
    edges = binned.bins[0].edges
    if edges is not None:
        for op, code, beyond in ((Op.LESS_EQUAL, below, above), (Op.GREATER_EQUAL, above, below)):
            _, found = resolve(binned, GrownCondition(0, op, code, beyond, -1.0), threshold)
            edge = found.high if op == Op.LESS_EQUAL else found.low
            assert edge in edges[below:above]
            assert found.accepts(edge) == (op == Op.LESS_EQUAL)


def test_a_rounded_cut_lies_near_the_middle_or_the_covered_value():
    """Between covered values that are far apart, the edge follows the kind of threshold."""
    binned = bin_table(table(numeric([1.0, 2.0, 3.0, 4.0, 9.0])), digits={"a": 1})
    assert binned.bins[0].edges.tolist() == [1.0, 2.0, 3.0, 6.0]
    grown = [(Op.LESS_EQUAL, 0, 4), (Op.GREATER_EQUAL, 4, 0)]
    found = {
        threshold: [
            str(resolve(binned, GrownCondition(0, *cut, -1.0), threshold)[1]) for cut in grown
        ]
        for threshold in ("midpoint", "observed")
    }
    assert found == {"midpoint": ["a <= 6", "a > 6"], "observed": ["a <= 1", "a > 6"]}


def test_many_edges_are_thinned_to_even_bins():
    """Of more edges than bins those near the quantiles stay."""
    values = np.random.default_rng(0).permutation(100_000) / 100
    bins = bin_table(table(numeric(values)), digits={"a": 3}).bins[0]
    assert len(bins) > 200
    counts = np.diff(np.searchsorted(np.sort(values), bins.edges))
    assert counts.max() < 3 * 100_000 / FAST_BINS
    assert bin_table(table(numeric(values)), digits={"a": 1}).bins[0].edges.tolist()[-1] == 900


def test_rounding_that_leaves_no_threshold_is_told():
    """A column in one bin is named, one that is constant anyway is not."""
    columns = numeric([101.0, 102.0, 103.0], "a"), numeric([7.0] * 3, "b"), numeric([1, 2, 9], "c")
    binned = bin_table(table(*columns, nominal([0, 1, 2])), digits=dict.fromkeys("abc", 1))
    assert [len(b) for b in binned.bins] == [1, 1, 3, 3]
    assert binned.describe() == (
        "3 numeric columns: 0 exact, 0 in equal-frequency bins, 3 cut at rounded thresholds "
        "(at most 3 bins); so few digits leave no threshold in: a"
    )


def test_the_midpoint_is_short():
    """A cut between 1 and 2.1415 is written with few digits, near the middle."""
    binned = bin_table(table(numeric([1.0, 2.1415])))
    _, condition = resolve(binned, GrownCondition(0, Op.LESS_EQUAL, 0, 1, -1.0), "midpoint")
    assert condition == Range("a", high=2.0)


def test_observed_thresholds_are_values_of_the_table():
    """`<=` takes the lower value, `>=` the upper one."""
    low, high = math.pi, 3 * math.pi
    binned = bin_table(table(numeric([low, 5.0, high])))
    resolved = [
        resolve(binned, GrownCondition(0, op, code, beyond, -1.0), "observed")
        for op, code, beyond in ((Op.LESS_EQUAL, 0, 2), (Op.GREATER_EQUAL, 2, 0))
    ]
    assert resolved[0] == ((0, 0, 0, -1), Range("a", high=low))
    assert resolved[1] == ((0, 2, 2, -1), Range("a", low=high))


@pytest.mark.parametrize(
    ("values", "below", "above"),
    [
        ([1.2345678901, 1.5570779556716277], "a <= 1.3", "a >= 1.5"),
        ([0.07943789, 0.0812, 3.0], "a <= 0.08", "a >= 0.0812"),
        ([1.5, 1.234567e6], "a <= 1.5", "a >= 1000000"),
        ([17843.0, 17911.0], "a <= 17850", "a >= 17900"),
        ([-2.1234567, 2.1234567], "a <= -2", "a >= 2"),
    ],
)
def test_covered_values_of_many_digits_are_shortened(values, below, above):
    """A value of at most four digits stays; others stay in their half of the gap."""
    binned = bin_table(table(numeric(values)))
    cuts = (Op.LESS_EQUAL, 0, 1), (Op.GREATER_EQUAL, 1, 0)
    found = [resolve(binned, GrownCondition(0, *cut, -1.0), "short")[1] for cut in cuts]
    assert [str(condition) for condition in found] == [below, above]


@pytest.mark.parametrize("low", [1.0, 0.0, -HUGE, -TINY])
def test_neighbouring_floats_are_told_apart(low):
    """Two values without a number between them are parted, on either side."""
    high = math.nextafter(low, math.inf)
    binned = bin_table(table(numeric([low, high])))
    for threshold in ("midpoint", "observed", "short"):
        _, below = resolve(binned, GrownCondition(0, Op.LESS_EQUAL, 0, 1, -1.0), threshold)
        _, above = resolve(binned, GrownCondition(0, Op.GREATER_EQUAL, 1, 0, -1.0), threshold)
        told = [c.accepts(v) for c in (below, above) for v in (low, high)]
        assert told == [True, False, False, True]


@pytest.mark.parametrize("op", [Op.EQUAL, Op.NOT_EQUAL, Op.MISSING, Op.KNOWN])
def test_labels_and_presence(op):
    """Conditions on labels and presence cover the same rows by code and by value."""
    column = nominal([0, 1, -1, 2, 1, -1])
    binned = bin_table(table(column))
    code = 3 if op in (Op.MISSING, Op.KNOWN) else 1
    test, condition = resolve(binned, GrownCondition(0, op, code, -1, -1.0), "midpoint")
    expected = {
        Op.EQUAL: Labels("color", (KNOWN_LABELS[1],)),
        Op.NOT_EQUAL: Labels("color", (KNOWN_LABELS[1],), negated=True),
        Op.MISSING: Presence("color", missing=True),
        Op.KNOWN: Presence("color", missing=False),
    }
    assert condition == expected[op]
    covered = kernels.cover_rows(binned.codes, np.array([test], dtype=np.int32))
    np.testing.assert_array_equal(np.flatnonzero(condition.holds(column)), covered)


def test_conditions_on_one_column_are_joined():
    """A conjunction has one condition per column, in the order of growth, as merging gives it."""
    columns = table(numeric([1.0, 2.0, 3.0, 4.0]), nominal([0, 1, 0, 1]))
    binned = bin_table(columns)
    grown = [
        GrownCondition(0, Op.LESS_EQUAL, 2, 3, -1.0),
        GrownCondition(1, Op.EQUAL, 0, -1, -2.0),
        GrownCondition(0, Op.GREATER_EQUAL, 1, 0, -3.0),
    ]
    body = binned.conjunction(grown, "observed")
    assert body == Conjunction.of([binned.condition(one, "observed") for one in grown])
    assert body.conditions[0] == Range("a", 2.0, 3.0)
    assert binned.conjunction([one._replace(criterion=0.0) for one in grown], "observed") is body


def test_the_width_of_codes_follows_the_bins():
    """255 bins fit one byte with the missing code, 256 do not."""
    for n, dtype in ((FAST_BINS, np.uint8), (FAST_BINS + 1, np.uint16)):
        binned = bin_table(table(numeric([*range(n), math.nan])))
        assert binned.codes.codes.dtype == dtype
        assert codes_of(binned)[-1] == n


def test_large_tables_are_binned_by_default():
    """A bin per value up to a few thousand rows, 255 bins beyond; `max_bins` forces either."""
    small, large = (numeric(np.arange(float(n))) for n in (EXACT_ROWS, EXACT_ROWS + 1))
    assert bin_table(table(small)).bins[0].exact
    binned = bin_table(table(large))
    assert len(binned.bins[0]) == FAST_BINS
    assert "1 numeric columns: 0 exact, 1 in" in binned.describe()
    assert bin_table(table(large), MOST_BINS).bins[0].exact


def test_columns_are_laid_out_in_groups():
    """Every column is found at its place, however many there are."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 9, (30, 2 * kernels.GROUP + 1)).astype(float)
    binned = bin_table(table(*(numeric(v, f"c{j}") for j, v in enumerate(values.T))))
    for j, column in enumerate(values.T):
        bins = binned.bins[j]
        np.testing.assert_array_equal(bins.high[codes_of(binned, j)], column)


def test_too_many_labels_are_refused():
    """An identifier as a nominal column gives an error that names it and the remedy."""
    labels = [str(i) for i in range(MOST_BINS + 1)]
    column = nominal(range(len(labels)), "id", labels)
    with pytest.raises(DataError, match=r"'id'.*drop it"):
        bin_table(table(column))


def test_threads_do_not_change_codes():
    """One and two threads code a column alike."""
    column = numeric(np.random.default_rng(1).normal(size=20_000))
    one, two = (bin_table(table(column), n_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(one.codes.codes, two.codes.codes)
