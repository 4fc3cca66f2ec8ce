"""Rules that win by distance: kernels against their twins, and the invariants of RISE."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS
from reference.nearest import is_nominal, squared_gaps
from rulewright import kernels
from rulewright.kernels import Boxes, DistanceColumns

pytestmark = pytest.mark.native


def random_columns(rng, n_columns):
    """Make distances of numeric and nominal columns, some labels alike."""
    widths, groups, tables, group_starts, table_starts = [], [], [], [0], [0]
    for _ in range(n_columns):
        nominal = rng.random() < 0.5
        n_codes, n_groups = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        table = rng.choice([0.0, 0.25, 1.0, 0.3], (n_groups, n_groups))
        widths.append(0.0 if nominal else float(rng.choice([0.0, 1.0, 3.0])))
        groups += rng.integers(0, n_groups, n_codes).tolist() if nominal else []
        tables += (table * table).ravel().tolist() if nominal else []
        group_starts.append(len(groups))
        table_starts.append(len(tables))
    ints = [np.array(a, dtype=np.int32) for a in (group_starts, groups, table_starts)]
    return DistanceColumns(np.array(widths, dtype=float), *ints, np.array(tables, dtype=float))


def random_values(rng, columns, n_rows):
    """Make values that collide, some numbers missing."""
    values = np.empty((n_rows, len(columns.widths)))
    for j in range(values.shape[1]):
        if is_nominal(columns, j):
            n_codes = columns.group_starts[j + 1] - columns.group_starts[j]
            values[:, j] = rng.integers(0, n_codes, n_rows)
        else:
            values[:, j] = rng.choice([0.0, 0.5, 1.0, 1.7, 3.0, np.nan], n_rows)
    return values


def random_search(rng):
    """Give the arguments of a search."""
    columns = random_columns(rng, int(rng.integers(0, 5)))
    n_rows, n_classes = int(rng.integers(0, 25)), int(rng.integers(1, 4))
    return {
        "values": random_values(rng, columns, n_rows),
        "columns": columns,
        "labels": rng.integers(0, n_classes, n_rows).astype(np.int32),
        "weights": rng.integers(0, 4, n_rows).astype(np.int64),
        "alone": (rng.random(n_rows) < 0.8).astype(np.uint8),
        "ranks": rng.permutation(n_classes).astype(np.int32),
        "unit": float(rng.choice([1.0, 0.5])),
        "max_passes": int(rng.choice([-1, -1, 0, 1, 2])),
    }


def assert_equal_states(one, two):
    for name in one._fields:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


@given(SEEDS, st.integers(0, 200))
@examples(300)
def test_the_search_is_its_twin(seed, n_steps):
    """After any number of steps, in any slices, both have the same rules, winners and counts."""
    arguments = random_search(np.random.default_rng(seed))
    native, twin = kernels.RiseSearch(**arguments), reference.RiseSearch(**arguments)
    more = [native.advance(n_steps // 3), native.advance(n_steps - n_steps // 3, 2)][-1]
    assert more == twin.advance(n_steps)
    for name in ("accuracy", "first_accuracy", "n_passes"):
        assert getattr(native, name) == getattr(twin, name)
    assert_equal_states(native.state(), twin.state())


@given(SEEDS)
@examples(60)
def test_what_never_falls_and_never_rises(seed):
    """Step by step: accuracy never falls, rules never grow in number, and figures are recounts."""
    arguments = random_search(np.random.default_rng(seed))
    labels, weights = arguments["labels"], arguments["weights"]
    search = kernels.RiseSearch(**arguments)
    more = search.advance(2 * len(labels))
    accuracy, n_rules = search.accuracy, len(labels)
    while more:
        more = search.advance(1)
        state = search.state()
        assert search.accuracy >= accuracy
        assert len(state.places) <= n_rules
        accuracy, n_rules = search.accuracy, len(state.places)
        known = state.winners >= 0
        right = known & (labels[state.winners] == labels)
        assert accuracy == weights[right].sum()
        assert set(state.winners[known]) <= set(state.places)


def gaps_of(state, arguments):
    """Give the distances of the rules to the rows."""
    values, columns = arguments["values"], arguments["columns"]
    gaps = np.zeros((len(state.places), len(values)))
    for i, (low, high) in enumerate(zip(state.lows, state.highs, strict=True)):
        for j, x in enumerate(values.T):
            if low[j] >= 0 if is_nominal(columns, j) else high[j] < np.inf:
                gaps[i] += squared_gaps(columns, j, low[j], high[j], x)
    return gaps


@given(SEEDS)
@examples(100)
def test_winners_are_those_of_the_final_rules(seed):
    """Rows with copies are won by what the model says: of the nearest rules the most accurate."""
    arguments = random_search(np.random.default_rng(seed))
    labels, n = arguments["labels"], len(arguments["labels"])
    search = kernels.RiseSearch(**arguments)
    while search.advance(1000):
        pass
    state = search.state()
    gaps = gaps_of(state, arguments)
    covered = (gaps == 0) * arguments["weights"]
    correct = covered * (labels[state.places][:, np.newaxis] == labels)
    np.testing.assert_array_equal(covered.sum(axis=1), state.covered[state.places])
    np.testing.assert_array_equal(correct.sum(axis=1), state.correct[state.places])
    unit, ranks = arguments["unit"], arguments["ranks"]
    laplace = (correct.sum(axis=1) + unit) / (covered.sum(axis=1) + len(ranks) * unit)
    order = np.lexsort((state.places, ranks[labels[state.places]], -laplace))
    copied = np.flatnonzero(arguments["alone"] == 0)
    if n:
        best = order[gaps[order].argmin(axis=0)][copied]
        np.testing.assert_array_equal(state.places[best], state.winners[copied])
        np.testing.assert_array_equal(gaps[best, copied], state.distances[copied])


@given(SEEDS, st.integers(1, 3))
@examples(200)
def test_the_nearest_rule_is_that_of_the_twin(seed, n_threads):
    """Rules of any conditions, and rows of any values: same rule, same distance to the bit."""
    rng = np.random.default_rng(seed)
    columns = random_columns(rng, int(rng.integers(0, 5)))
    corners = random_values(rng, columns, 2 * int(rng.integers(0, 9))).reshape(2, -1)
    used = np.isfinite(corners).all(axis=0) & (rng.random(corners.shape[1]) < 0.7)
    n_columns = len(columns.widths)
    places = np.tile(np.arange(n_columns, dtype=np.int32), corners.shape[1] // max(n_columns, 1))
    starts = np.concatenate([[0], np.cumsum(used.reshape(-1, max(n_columns, 1)).sum(axis=1))])
    low, high = (side.copy() for side in np.sort(corners[:, used], axis=0))
    boxes = Boxes(starts.astype(np.int32), places[used], low, high)
    values = random_values(rng, columns, int(rng.integers(0, 40)))
    found = kernels.nearest_rules(values, columns, boxes, n_threads)
    for one, two in zip(found, reference.nearest_rules(values, columns, boxes), strict=True):
        np.testing.assert_array_equal(one, two)


def line(*numbers):
    """Give the arguments of a search over one numeric column of width 10."""
    starts, groups = np.zeros(2, np.int32), np.zeros(0, np.int32)
    columns = DistanceColumns(np.array([10.0]), starts, groups, starts, np.zeros(0))
    return {
        "values": np.array(numbers, dtype=float)[:, np.newaxis],
        "columns": columns,
        "labels": np.zeros(len(numbers), np.int32),
        "weights": np.ones(len(numbers), np.int64),
        "alone": np.ones(len(numbers), np.uint8),
        "ranks": np.array([0, 1], np.int32),
        "unit": 1.0,
        "max_passes": -1,
    }


def test_a_search_by_hand():
    """Rows 0, 1 of one class and 9, 10 of the other end as an interval each."""
    search = kernels.RiseSearch(**line(0, 1, 9, 10) | {"labels": np.array([0, 0, 1, 1], np.int32)})
    assert search.advance(8)
    first = search.state()
    assert first.winners.tolist() == [1, 0, 3, 2]  # no row is classified by its own rule
    np.testing.assert_allclose(first.distances, 0.01)
    assert search.accuracy == 4
    assert not search.advance(100)
    last = search.state()
    assert last.places.tolist() == [0, 2]  # of equal rules the older stays
    assert (last.lows.ravel().tolist(), last.highs.ravel().tolist()) == ([0, 9], [1, 10])
    assert last.winners.tolist() == [0, 0, 2, 2]
    np.testing.assert_allclose(last.distances, 0.01)  # without a row, an interval is the other one
    assert last.covered[last.places].tolist() == [2, 2]
    assert search.n_passes == 1  # nothing was left to gain


def test_ties_are_settled_by_accuracy():
    """Of rules on the same spot the one that is right more often wins, though it is rarer."""
    labels = np.array([1, 1, 0, 1], np.int32)  # 0 is more frequent by its rank
    given = line(0, 0, 0, 9) | {"labels": labels, "max_passes": 0}
    search = kernels.RiseSearch(**given)
    assert not search.advance(8)
    state = search.state()
    assert (state.covered.tolist(), state.correct.tolist()) == ([3, 3, 3, 1], [2, 2, 1, 1])
    assert state.winners.tolist() == [1, 0, 0, 0]
    assert search.accuracy == 3


def test_a_copy_is_another_row():
    """A row alone is classified by others; one that has a copy by its own rule."""
    given = line(0, 4) | {"labels": np.array([0, 1], np.int32), "max_passes": 0}
    search = kernels.RiseSearch(**given)
    assert not search.advance(9)
    assert (search.state().winners.tolist(), search.accuracy) == ([1, 0], 0)
    search = kernels.RiseSearch(**given | {"alone": np.zeros(2, np.uint8)})
    search.advance(9)
    assert (search.state().winners.tolist(), search.accuracy) == ([0, 1], 2)
