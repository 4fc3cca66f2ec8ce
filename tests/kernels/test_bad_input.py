from dataclasses import replace

import duckdb
import numpy as np
import pytest

from builders import free_limits, packed_columns
from rulewright import kernels
from rulewright.kernels import (
    GROUP,
    MISSING,
    ROW,
    STAT,
    CodeColumns,
    CompiledRules,
    Score,
)

pytestmark = pytest.mark.native

REFUSED = (ValueError, TypeError)
N_ROWS = 6


def int32(*values):
    return np.array(values, dtype=np.int32)


def good_columns():
    codes = np.array([[0, 1], [1, 0], [2, 2], [3, 0], [0, 1], [1, 1]])
    return packed_columns(codes, [3, 2], [0, 1])


def good_limits(**changed):
    return free_limits(2, **changed)


def newton(**changed):
    return replace(Score("newton", unit=1.0, l2=1.0), **changed)


def grow(**changed):
    arguments = {
        "columns": good_columns(),
        "rows": np.arange(N_ROWS, dtype=ROW),
        "stats": np.tile(np.array([[-1, 1], [1, 1]], dtype=STAT), (N_ROWS // 2, 1)),
        "score": newton(),
        "limits": good_limits(),
    }
    return kernels.grow_rule(**{**arguments, **changed})


def test_the_good_search_is_good():
    """What the tests below break works when it is whole."""
    assert grow().conditions


GROW_FAULTS = {
    "row beyond the table": {"rows": np.array([0, N_ROWS], dtype=ROW)},
    "rows of another type": {"rows": np.arange(N_ROWS)},
    "rows in two dimensions": {"rows": np.zeros((2, 2), dtype=ROW)},
    "rows with a stride": {"rows": np.arange(N_ROWS, dtype=ROW)[::2]},
    "no rows at all": {"rows": None},
    "statistics too short": {"stats": np.ones((N_ROWS - 1, 2), dtype=STAT)},
    "statistics as floats": {"stats": np.ones((N_ROWS, 2))},
    "statistics in one dimension": {"stats": np.ones(N_ROWS, dtype=STAT)},
    "statistics with a stride": {"stats": np.ones((N_ROWS, 4), dtype=STAT)[:, ::2]},
    "unknown score": {"score": Score("gini", unit=1.0)},
    "score without a name": {"score": Score(None, unit=1.0)},
    "no lane": {"score": newton(n_lanes=0)},
    "half a pair": {"score": newton(n_lanes=1)},
    "two pairs for one rule": {"score": newton(kind="slipper", n_lanes=4)},
    "more pairs than lanes": {"score": newton(n_lanes=4)},
    "lanes that overflow": {"score": newton(n_lanes=2**64 - 2)},
    "first lane too far": {"score": newton(first_lane=1)},
    "first lane that overflows": {"score": newton(first_lane=2**64 - 2)},
    "negative first lane": {"score": newton(first_lane=-2)},
    "l2 as text": {"score": newton(l2="much")},
    "operators too short": {"limits": good_limits(up_operators=np.full(1, 63, np.uint8))},
    "operators too wide": {"limits": good_limits(down_operators=np.full(2, 63, np.int64))},
    "groups too short": {"limits": good_limits(groups=np.ones(1, np.uint64))},
    "groups of another type": {"limits": good_limits(groups=np.ones(2, np.int64))},
    "required too long": {"limits": good_limits(required=np.zeros(3, np.uint8))},
    "negative l2": {"score": newton(l2=-1.0)},
    "l2 that is no number": {"score": newton(l2=np.nan)},
    "unit of zero": {"score": newton(unit=0.0)},
    "infinite unit": {"score": newton(unit=np.inf)},
    "negative tolerance": {"limits": good_limits(tolerance=-1.0)},
    "tolerance that is no number": {"limits": good_limits(tolerance=np.nan)},
    "infinite tolerance": {"limits": good_limits(tolerance=np.inf)},
    "negative weight": {"limits": good_limits(min_weight=-1)},
    "negative limit": {"limits": good_limits(max_conditions=-2)},
    "limit as text": {"limits": good_limits(max_conditions="many")},
    "sets of no labels": {"limits": good_limits(max_labels=0)},
    "no smoothing": {"limits": good_limits(label_smoothing=0)},
    "threads as text": {"n_threads": "two"},
}


@pytest.mark.parametrize("fault", GROW_FAULTS)
def test_growth_refuses(fault):
    """Faulty arguments of a search are errors, not crashes."""
    with pytest.raises(REFUSED):
        grow(**GROW_FAULTS[fault])


def scan(**changed):
    arguments = {
        "columns": good_columns(),
        "histogram": np.ones((7, 2), dtype=STAT),
        "score": newton(kind="gradient", down=True),
        "limits": good_limits(),
    }
    return kernels.scan_histogram(**{**arguments, **changed})


STEP_FAULTS = {
    "count: row beyond the table": lambda: count(rows=np.array([N_ROWS], dtype=ROW)),
    "count: statistics too short": lambda: count(stats=np.ones((N_ROWS - 1, 2), dtype=STAT)),
    "count: no lane": lambda: count(stats=np.ones((N_ROWS, 0), dtype=STAT)),
    "count: statistics as floats": lambda: count(stats=np.ones((N_ROWS, 2))),
    "scan: too few codes": lambda: scan(histogram=np.ones((6, 2), dtype=STAT)),
    "scan: too many codes": lambda: scan(histogram=np.ones((8, 2), dtype=STAT)),
    "scan: too few lanes": lambda: scan(histogram=np.ones((7, 1), dtype=STAT)),
    "scan: histogram as floats": lambda: scan(histogram=np.ones((7, 2))),
    "scan: histogram in one dimension": lambda: scan(histogram=np.ones(14, dtype=STAT)),
    "scan: too few totals": lambda: scan(totals=np.ones(1, dtype=STAT)),
    "scan: limits too short": lambda: scan(limits=good_limits(groups=np.ones(1, np.uint64))),
}


def count(**changed):
    arguments = {
        "columns": good_columns(),
        "rows": np.arange(N_ROWS, dtype=ROW),
        "stats": np.ones((N_ROWS, 2), dtype=STAT),
    }
    return kernels.count_histogram(**{**arguments, **changed})


@pytest.mark.parametrize("fault", STEP_FAULTS)
def test_steps_refuse(fault):
    """Faulty rows, statistics and histograms are errors, not crashes."""
    assert count().sum() == 2 * 2 * N_ROWS
    assert scan().conditions
    with pytest.raises(REFUSED):
        STEP_FAULTS[fault]()


def columns(codes=None, n_bins=(3, 2), nominal=(0, 1)):
    codes = np.zeros((1, N_ROWS, GROUP), np.uint8) if codes is None else codes
    return CodeColumns(codes, np.array(n_bins, np.int32), np.array(nominal, np.uint8))


COLUMN_FAULTS = {
    "a code beyond its bins": lambda: columns(np.full((1, N_ROWS, GROUP), 3, np.uint8)),
    "signed codes": lambda: columns(np.zeros((1, N_ROWS, GROUP), np.int8)),
    "codes as floats": lambda: columns(np.zeros((1, N_ROWS, GROUP))),
    "two dimensions": lambda: columns(np.zeros((N_ROWS, GROUP), np.uint8)),
    "too few groups": lambda: columns(np.zeros((0, N_ROWS, GROUP), np.uint8)),
    "too many groups": lambda: columns(np.zeros((2, N_ROWS, GROUP), np.uint8)),
    "groups too narrow": lambda: columns(np.zeros((1, N_ROWS, GROUP - 1), np.uint8)),
    "codes with a stride": lambda: columns(np.zeros((1, N_ROWS, 2 * GROUP), np.uint8)[..., ::2]),
    "negative bins": lambda: columns(n_bins=(-1, 2)),
    "too many bins": lambda: columns(n_bins=(65_536, 2)),
    "kinds too short": lambda: columns(nominal=(0,)),
}


@pytest.mark.parametrize("fault", COLUMN_FAULTS)
def test_columns_refuse(fault):
    """Faulty codes are found once, when columns are made."""
    with pytest.raises(REFUSED):
        COLUMN_FAULTS[fault]()


OTHER_FAULTS = {
    "cover: column too large": lambda: kernels.cover_rows(good_columns(), int32([2, 0, 1, -1])),
    "cover: column negative": lambda: kernels.cover_rows(good_columns(), int32([-1, 0, 1, -1])),
    "cover: three numbers": lambda: kernels.cover_rows(good_columns(), int32([0, 0, 1])),
    "cover: one dimension": lambda: kernels.cover_rows(good_columns(), int32(0, 0, 1, -1)),
    "cover: wide numbers": lambda: kernels.cover_rows(good_columns(), np.zeros((1, 4), np.int64)),
    "draw: too many": lambda: kernels.draw_rows(3, 4, 0),
    "draw: negative size": lambda: kernels.draw_rows(3, -1, 0),
    "draw: negative seed": lambda: kernels.draw_rows(3, 1, -1),
    "draw: seed too large": lambda: kernels.draw_rows(3, 1, 2**64),
    "draw: rows beyond 32 bits": lambda: kernels.draw_rows(2**32, 1, 0),
    "encode: single floats": lambda: kernels.encode_values(
        np.zeros(3, np.float32), np.zeros(1), False
    ),
    "encode: two dimensions": lambda: kernels.encode_values(np.zeros((3, 1)), np.zeros(1), False),
    "encode: cuts with a stride": lambda: kernels.encode_values(
        np.zeros(3), np.arange(4.0)[::2], False
    ),
    "encode: too many cuts": lambda: kernels.encode_values(np.zeros(3), np.arange(65_534.0), False),
    "encode: too many fine cuts": lambda: kernels.encode_values(
        np.zeros(3), np.arange(32_767.0), True
    ),
    "encode: missing too large": lambda: kernels.encode_values(
        np.zeros(3), np.zeros(1), False, missing=MISSING + 1
    ),
    "encode: missing negative": lambda: kernels.encode_values(
        np.zeros(3), np.zeros(1), False, missing=-1
    ),
}


@pytest.mark.parametrize("fault", OTHER_FAULTS)
def test_small_kernels_refuse(fault):
    """Faulty arguments of covers, draws and codes are errors, not crashes."""
    with pytest.raises(REFUSED):
        OTHER_FAULTS[fault]()


def likelihood(**changed):
    arguments = {
        "labels": int32(0, 1, 2),
        "weights": np.ones(3),
        "exp_scores": np.ones((3, 3)),
        "stats": np.zeros((3, 6), dtype=STAT),
        "scale": 2.0**50,
        "cumulative": False,
    }
    return kernels.Likelihood(*{**arguments, **changed}.values())


READ_ONLY = np.ones((3, 3))
READ_ONLY.flags.writeable = False

LIKELIHOOD_FAULTS = {
    "label too large": {"labels": int32(0, 1, 3)},
    "label negative": {"labels": int32(0, 1, -1)},
    "labels too short": {"labels": int32(0, 1)},
    "wide labels": {"labels": np.zeros(3, np.int64)},
    "weights too short": {"weights": np.ones(2)},
    "single weights": {"weights": np.ones(3, np.float32)},
    "scores too short": {"exp_scores": np.ones((2, 3))},
    "one class": {"exp_scores": np.ones((3, 1)), "labels": int32(0, 0, 0)},
    "read-only scores": {"exp_scores": READ_ONLY},
    "scores by column": {"exp_scores": np.ones((3, 3), order="F")},
    "too few lanes": {"stats": np.zeros((3, 5), dtype=STAT)},
    "statistics too long": {"stats": np.zeros((4, 6), dtype=STAT)},
    "too few cumulative lanes": {"stats": np.zeros((3, 3), dtype=STAT), "cumulative": True},
    "negative weight": {"weights": np.array([1.0, 1.0, -1.0])},
    "weight that is no number": {"weights": np.array([1.0, np.nan, 1.0])},
    "weights too large for the scale": {"weights": np.full(3, 2.0**20)},
    "infinite score": {"exp_scores": np.full((3, 3), np.inf)},
    "negative score": {"exp_scores": np.where(np.eye(3) > 0, -0.5, 1.0)},
    "row without score": {"exp_scores": np.zeros((3, 3))},
    "negative scale": {"scale": -1.0},
    "scale that is no number": {"scale": np.nan},
    "scale as text": {"scale": "fine"},
    "cumulative as text": {"cumulative": "yes"},
}


@pytest.mark.parametrize("fault", LIKELIHOOD_FAULTS)
def test_likelihood_refuses(fault):
    """Faulty arrays are found when the state is made."""
    with pytest.raises(REFUSED):
        likelihood(**LIKELIHOOD_FAULTS[fault])


@pytest.mark.parametrize("rows", [np.array([3], ROW), np.array([0]), np.zeros((1, 1), ROW)])
def test_likelihood_methods_refuse_rows(rows):
    """No method reads or writes beyond its rows."""
    state = likelihood()
    calls = [
        lambda: state.refresh_stats(rows, 1),
        lambda: state.loss_change(rows, 0, 0, 0.1, 1),
        lambda: state.add_step(rows, 0, 0, 0.1, 1),
        lambda: state.sum_stats(rows, 1),
        lambda: state.sum_pair(rows, 0, 1.0, 1),
        lambda: state.class_weights(rows, np.zeros(3, np.uint8), 1),
    ]
    for call in calls:
        with pytest.raises(REFUSED):
            call()


@pytest.mark.parametrize("vote", [(3, 3), (-1, 0), (0, 3), (2, 1), (0, 2**64)])
def test_likelihood_refuses_votes(vote):
    """A vote must be a union of classes."""
    rows = np.zeros(1, dtype=ROW)
    for method in (likelihood().loss_change, likelihood().add_step):
        with pytest.raises(REFUSED):
            method(rows, *vote, 0.1, 1)


@pytest.mark.parametrize("size", [np.nan, np.inf, -np.inf, 1e3])
def test_likelihood_refuses_steps(size):
    """A step whose exponential is no number or overflows would spoil all statistics."""
    rows = np.zeros(1, dtype=ROW)
    for method in (likelihood().loss_change, likelihood().add_step):
        with pytest.raises(REFUSED):
            method(rows, 0, 0, size, 1)


def score(**changed):
    arguments = {
        "codes": np.zeros((2, 4), np.uint16),
        "intervals": int32([0, 0, 1], [1, 2, 2]),
        "condition_starts": int32(0, 1, 2),
        "rule_starts": int32(0, 2),
        "heads": int32([1, 1]),
        "responses": np.ones(1),
        "intercepts": np.zeros(2),
    }
    arguments.update(changed)
    parts = [arguments.pop(name) for name in CompiledRules._fields]
    return kernels.rule_scores(compiled=CompiledRules(*parts), **arguments)


RULE_FAULTS = {
    "interval of an unknown column": {"intervals": int32([0, 0, 1], [2, 2, 2])},
    "interval of a negative column": {"intervals": int32([0, 0, 1], [-1, 2, 2])},
    "interval upside down": {"intervals": int32([0, 0, 1], [1, 2, 1])},
    "interval too high": {"intervals": int32([0, 0, 1], [1, 2, MISSING + 1])},
    "interval too low": {"intervals": int32([0, -1, 1], [1, 2, 2])},
    "interval of two numbers": {"intervals": int32([0, 0], [1, 2])},
    "starts beyond the end": {"condition_starts": int32(0, 1, 3)},
    "starts before the end": {"condition_starts": int32(0, 1, 1)},
    "starts not from zero": {"condition_starts": int32(1, 1, 2)},
    "starts that fall": {"condition_starts": int32(0, 3, 2)},
    "no starts": {"condition_starts": int32()},
    "rules beyond the end": {"rule_starts": int32(0, 3)},
    "rules that fall": {"rule_starts": int32(0, 3, 2), "heads": int32([0, 0], [1, 1])},
    "no rule starts": {"rule_starts": int32()},
    "head beyond the classes": {"heads": int32([1, 2])},
    "negative head": {"heads": int32([-1, 0])},
    "head upside down": {"heads": int32([1, 0])},
    "head of one number": {"heads": int32([1])},
    "too many heads": {"heads": int32([0, 0], [1, 1])},
    "too many responses": {"responses": np.ones(2)},
    "wide heads": {"heads": np.zeros((1, 2), np.int64)},
    "wide codes": {"codes": np.zeros((2, 4), np.uint32)},
    "codes by column": {"codes": np.zeros((2, 4), np.uint16, order="F")},
    "whole responses": {"responses": np.ones(1, np.int64)},
}


@pytest.mark.parametrize("fault", RULE_FAULTS)
def test_evaluation_refuses(fault):
    """Faulty compiled rules are errors, not crashes."""
    assert score().shape == (4, 2)
    with pytest.raises(REFUSED):
        score(**RULE_FAULTS[fault])


def prefixes(**changed):
    arguments = {
        "columns": good_columns(),
        "tests": np.array([[0, 0, 1, -1], [1, 1, 1, -1]], dtype=np.int32),
        "stats": np.ones((N_ROWS, 4), dtype=STAT),
        "first_lane": 2,
        "side": np.arange(N_ROWS) % 2 == 0,
    }
    return kernels.prefix_sums(**{**arguments, **changed})


PREFIX_FAULTS = {
    "column beyond the table": {"tests": np.array([[2, 0, 0, -1]], dtype=np.int32)},
    "tests of another width": {"tests": np.zeros((1, 3), dtype=np.int32)},
    "statistics too short": {"stats": np.ones((N_ROWS - 1, 4), dtype=STAT)},
    "statistics too narrow": {"stats": np.ones((N_ROWS, 1), dtype=STAT), "first_lane": 0},
    "first lane too far": {"first_lane": 3},
    "negative first lane": {"first_lane": -1},
    "sides too short": {"side": np.ones(N_ROWS - 1, dtype=np.bool_)},
    "a third side": {"side": np.full(N_ROWS, 2, dtype=np.uint8)},
}


def test_the_good_prefixes_are_good():
    """What the test below breaks works when it is whole."""
    assert prefixes().sum() > 0


@pytest.mark.parametrize("fault", PREFIX_FAULTS)
def test_bad_prefixes_are_refused(fault):
    """Prefix sums over arrays that do not fit are an error, never a crash."""
    with pytest.raises(REFUSED):
        prefixes(**PREFIX_FAULTS[fault])


def pruned(**changed):
    arguments = {
        "columns": good_columns(),
        "tests": np.array([[0, 0, 1, -1], [1, 1, 1, -1]], dtype=np.int32),
        "stats": np.ones((N_ROWS, 4), dtype=STAT),
        "score": Score("newton", unit=1.0, first_lane=2),
        "side": np.arange(N_ROWS) % 2 == 0,
        "worth": np.ones(2),
        "required": np.zeros(2, dtype=np.uint8),
    }
    return kernels.prune_tests(**{**arguments, **changed})


PRUNE_FAULTS = {
    "column beyond the table": {"tests": np.array([[2, 0, 0, -1]], dtype=np.int32)},
    "statistics too short": {"stats": np.ones((N_ROWS - 1, 4), dtype=STAT)},
    "first lane too far": {"score": Score("newton", unit=1.0, first_lane=3)},
    "no unit": {"score": Score("newton", unit=0.0)},
    "negative penalty": {"score": Score("newton", unit=1.0, l2=-1.0)},
    "sides too short": {"side": np.ones(N_ROWS - 1, dtype=np.bool_)},
    "worths of fewer columns": {"worth": np.ones(1)},
    "whole worths": {"worth": np.ones(2, dtype=np.int64)},
    "worths of more columns": {"required": np.zeros(3, dtype=np.uint8)},
}


@pytest.mark.parametrize("fault", PRUNE_FAULTS)
def test_bad_pruning_is_refused(fault):
    """Faulty tests, statistics, sides and worths are errors, not crashes."""
    assert len(pruned()) <= 2
    with pytest.raises(REFUSED):
        pruned(**PRUNE_FAULTS[fault])


def test_other_modules_do_not_translate_our_errors():
    """DuckDB is built with nanobind too, and took a lack of memory for an error of its own."""
    duckdb.sql("select 1").fetchall()
    with pytest.raises(MemoryError):
        kernels._core.count_held(np.empty((2**40, 0), np.uint64))
