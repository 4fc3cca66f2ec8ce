import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

import reference
from budget import examples
from builders import (
    free_limits,
    packed_columns,
    random_columns,
    random_limits,
    random_score,
    random_stats,
    searches,
)
from rulewright import kernels
from rulewright.kernels import (
    GROUP,
    ROW,
    STAT,
    GrownCondition,
    Op,
    Score,
)

pytestmark = pytest.mark.native


@examples(400)
@given(searches())
def test_rules_equal_the_twin(search):
    """Conditions, criteria and vote are those of the twin, to the bit."""
    assert kernels.grow_rule(*search) == reference.grow_rule(*search)


@examples(150)
@given(searches())
def test_rules_obey_their_limits(search):
    """No rule is too long, too light, against its vote, out of its group or incomplete."""
    rule = kernels.grow_rule(*search)
    limits, rows = search.limits, search.rows
    used = {condition.column for condition in rule.conditions}
    if rule.conditions:
        assert set(np.flatnonzero(limits.required)) <= used
        assert limits.max_conditions < 0 or len(rule.conditions) <= limits.max_conditions
        assert np.bitwise_and.reduce(limits.groups[sorted(used)]) > 0
    open_to_vote = limits.down_operators if rule.vote % 2 else limits.up_operators
    for condition in rule.conditions:
        assert open_to_vote[condition.column] >> condition.op & 1
        rows = reference.refine_rows(search.columns, rows, condition)
        assert search.stats[rows, -1].sum() >= limits.min_weight


@examples(150)
@given(searches())
def test_every_condition_improves_the_criterion(search):
    """Criteria fall by more than the tolerance from the empty, or the required, rule on (T3)."""
    rule = kernels.grow_rule(*search)
    totals = reference.used_lanes(
        search.stats[search.rows].sum(axis=0), search.score, search.limits
    )
    empty = reference.empty_criterion(search.score, totals)
    criteria = [empty, *(condition.criterion for condition in rule.conditions)]
    assert (rule.vote >= 0) == bool(rule.conditions)
    n_required = np.count_nonzero(search.limits.required)
    if rule.conditions:
        assert criteria[-1] < empty - search.limits.tolerance + 1e-12 * abs(empty)
    for before, after in pairwise(criteria[n_required:] if n_required else criteria):
        assert after < before - search.limits.tolerance + 1e-12 * abs(before)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("n_pairs", [1, 4])
def test_threads_do_not_change_rules(n_pairs, dtype):
    """One and two threads grow the same rules on several blocks of rows."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        columns = random_columns(rng, 9000, 2 * GROUP + 3, 200, dtype)
        rows = np.flatnonzero(rng.random(9000) < 0.6).astype(ROW)
        search = (
            columns,
            rows,
            random_stats(rng, 9000, n_pairs, tied=False),
            random_score(rng, n_pairs, tied=False),
            replace(random_limits(rng, 2 * GROUP + 3), max_conditions=3),
        )
        assert kernels.grow_rule(*search) == kernels.grow_rule(*search, n_threads=2)


def test_wide_codes_equal_narrow_codes():
    """The same table in 8 and in 16 bits gives the same rule."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 41, (200, 6))
    stats = random_stats(rng, 200, 1, tied=False)
    rules = [
        kernels.grow_rule(
            packed_columns(codes, [40] * 6, [0, 1] * 3, dtype),
            np.arange(200, dtype=ROW),
            stats,
            Score("newton", unit=2.0**-40, l2=1.0, down=True),
            free_limits(6),
        )
        for dtype in (np.uint8, np.uint16)
    ]
    assert rules[0] == rules[1]
    assert rules[0].conditions


def test_many_bins_of_wide_codes():
    """Codes beyond 8 bits differ, and the last one is the missing code."""
    n = 1000
    codes = np.arange(n)[:, None].repeat(2, axis=1)
    codes[:, 1] = n
    stats = np.ones((n, 2), dtype=STAT)
    stats[:, 0] = np.where(np.arange(n) >= 700, -1, 1)
    rule = kernels.grow_rule(
        packed_columns(codes, [n, n], [0, 0], np.uint16),
        np.arange(n, dtype=ROW),
        stats,
        Score("gradient", unit=1.0),
        free_limits(2),
    )
    assert rule.conditions == [GrownCondition(0, Op.GREATER_EQUAL, 700, 699, -300.0)]


def grow_tied(codes, nominal, stats, **changed):
    codes = np.array(codes)
    columns = packed_columns(codes, [3] * codes.shape[1], [nominal] * codes.shape[1])
    return kernels.grow_rule(
        columns,
        np.arange(len(codes), dtype=ROW),
        np.array(stats, dtype=STAT),
        Score("gradient", unit=1.0, n_lanes=len(stats[0])),
        free_limits(codes.shape[1], **changed),
    )


def test_ties_go_to_the_lower_column():
    """Of equal columns the first is used."""
    rule = grow_tied([[0, 0], [1, 1]], 0, [[-1, 1], [1, 1]])
    assert [condition.column for condition in rule.conditions] == [0]


def test_ties_go_to_less_equal_then_to_the_smaller_code():
    """Of equal cuts `<=` precedes `>=`, and of equal labels the smaller code wins."""
    rule = grow_tied([[0], [1], [2]], 0, [[-2, 1], [1, 1], [-2, 1]])
    assert (rule.conditions[0].op, rule.conditions[0].code) == (Op.LESS_EQUAL, 0)
    rule = grow_tied([[0], [1], [2]], 1, [[-2, 1], [5, 1], [-2, 1]])
    assert (rule.conditions[0].op, rule.conditions[0].code) == (Op.NOT_EQUAL, 1)
    equal_only = np.full(1, 1 << Op.EQUAL, np.uint8)
    rule = grow_tied([[0], [1], [2]], 1, [[-2, 1], [5, 1], [-2, 1]], up_operators=equal_only)
    assert (rule.conditions[0].op, rule.conditions[0].code) == (Op.EQUAL, 0)


def test_ties_go_to_the_lower_pair():
    """Of equal votes the lower pair wins."""
    rule = grow_tied([[0], [1]], 0, [[1, 1, -2, 1, -2, 1], [-1, 1, 2, 1, 2, 1]])
    assert rule.vote == 2


def test_missing_rows_satisfy_no_cut():
    """The sums of `>=` leave missing rows out: they would make the best cut otherwise."""
    codes, stats = [[0], [1], [3], [3]], [[1, 1], [-1, 1], [-9, 1], [-9, 1]]
    cuts = np.full(1, 1 << Op.LESS_EQUAL | 1 << Op.GREATER_EQUAL, np.uint8)
    rule = grow_tied(codes, 0, stats, up_operators=cuts)
    assert rule.conditions == [GrownCondition(0, Op.GREATER_EQUAL, 1, 0, -1.0)]
    rule = grow_tied(codes, 0, stats)
    assert rule.conditions == [GrownCondition(0, Op.MISSING, 3, -1, -18.0)]


def test_nothing_grows_without_rows_or_help():
    """No rows, one value only, or no negative g: no rule."""
    score, limits = Score("newton", unit=1.0, l2=1.0), free_limits(1)
    columns = packed_columns(np.array([[0], [0]]), [1], [0])
    stats = np.array([[-1, 1], [1, 1]], dtype=STAT)
    none = np.empty(0, dtype=ROW)
    both = np.arange(2, dtype=ROW)
    assert kernels.grow_rule(columns, none, stats, score, limits) == ([], -1)
    assert kernels.grow_rule(columns, both, stats, score, limits) == ([], -1)
    columns = packed_columns(np.array([[0], [1]]), [2], [0])
    assert kernels.grow_rule(columns, both, np.abs(stats), score, limits) == ([], -1)


def test_a_slipper_rule_by_hand():
    """From sqrt(2) - sqrt(3) the cut of two of the positives without a negative is the best."""
    codes, stats = [[0], [0], [1], [1], [2]], [[1, 0], [1, 0], [0, 1], [0, 1], [0, 1]]
    columns = packed_columns(np.array(codes), [3], [0])
    rule = kernels.grow_rule(
        columns,
        np.arange(5, dtype=ROW),
        np.array(stats, dtype=STAT),
        Score("slipper", unit=1.0),
        free_limits(1),
    )
    assert rule == ([GrownCondition(0, Op.LESS_EQUAL, 0, 1, pytest.approx(-math.sqrt(2)))], 0)


def test_a_slipper_rule_may_start_and_end_below_zero():
    """With few positives the best cover is still mostly negative; it is grown all the same."""
    codes, stats = [[0], [0], [0], [1]], [[1, 0], [0, 4], [0, 4], [0, 4]]
    columns = packed_columns(np.array(codes), [2], [0])
    rule = kernels.grow_rule(
        columns,
        np.arange(4, dtype=ROW),
        np.array(stats, dtype=STAT),
        Score("slipper", unit=1.0),
        free_limits(1),
    )
    assert [c.criterion for c in rule.conditions] == [pytest.approx(math.sqrt(8) - 1)]


def test_a_vote_keeps_to_its_operators():
    """A vote up may not use `<=` where only votes down may, although it would score best."""
    codes, stats = [[0], [1], [2]], [[-5, 1], [1, 1], [-1, 1]]
    at_most = np.full(1, 1 << Op.LESS_EQUAL, np.uint8)
    at_least = np.full(1, 1 << Op.GREATER_EQUAL, np.uint8)
    rule = grow_tied(codes, 0, stats, up_operators=at_least, down_operators=at_most)
    assert (rule.conditions[0].op, rule.conditions[0].code, rule.vote) == (Op.GREATER_EQUAL, 2, 0)
