"""The beam search: engine = twin, and the twin = a search that knows no tricks."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import free_limits, packed_columns, random_columns, searches
from rulewright import kernels
from rulewright.kernels import (
    GROUP,
    ROW,
    Beam,
    Op,
    Score,
)

pytestmark = pytest.mark.native

KINDS = ("laplace", "wracc", "entropy", "slipper")


@st.composite
def beams(draw):
    """Draw a beam search: any columns and limits, and a score of weights."""
    search = draw(searches())
    kind = draw(st.sampled_from(KINDS))
    n_lanes = search.stats.shape[1] - 1
    score = replace(search.score, kind=kind, up=True, k=2.0)
    if kind == "entropy":
        score = replace(score, n_lanes=n_lanes, first_lane=0)
    else:
        score = replace(score, n_lanes=2)
    beam = Beam(
        width=draw(st.integers(1, 6)), significance=draw(st.sampled_from([0.0, 0.0, 2.0, 8.0]))
    )
    most = draw(st.sampled_from([1, 2, 3]))  # the twin takes long over longer ones
    limits = replace(search.limits, max_conditions=most)
    stats, rows = abs(search.stats), search.rows
    rows = draw(st.sampled_from([rows, rows[::2].copy()]))
    totals = stats[search.rows].sum(axis=0)
    return (search.columns, rows, stats, score, limits, beam, totals)


@examples(200)
@given(beams())
def test_beams_equal_the_twin(search):
    """Conditions, criteria and vote are those of the twin, to the bit."""
    assert kernels.grow_beam(*search) == reference.grow_beam(*search)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("kind", KINDS)
def test_threads_do_not_change_beams(kind, dtype):
    """One and two threads find the same conjunction on several blocks of rows."""
    rng = np.random.default_rng(0)
    columns = random_columns(rng, 9000, 2 * GROUP + 3, 200, dtype)
    rows = np.flatnonzero(rng.random(9000) < 0.6).astype(ROW)
    stats = np.eye(2, dtype=np.int64)[rng.integers(0, 2, 9000)]
    limits = free_limits(2 * GROUP + 3, max_conditions=3)
    search = columns, rows, stats, Score(kind, unit=1.0, k=2.0), limits, Beam()
    found = kernels.grow_beam(*search)
    assert found.conditions
    assert found == kernels.grow_beam(*search, n_threads=2)


def labelled(codes, labels, n_bins, nominal=1):
    """Give columns, all rows, and a lane for each of the labels."""
    codes = np.array(codes)
    n_columns = codes.shape[1]
    columns = packed_columns(codes, [n_bins] * n_columns, [nominal] * n_columns)
    stats = np.eye(max(labels) + 1, dtype=np.int64)[np.array(labels)]
    return columns, np.arange(len(codes), dtype=ROW), stats


def conjunctions(codes, n_bins, most):
    """Give the rows of every conjunction of equalities on different columns."""
    columns = range(codes.shape[1])
    for length in range(1, most + 1):
        for chosen in itertools.combinations(columns, length):
            for values in itertools.product(range(n_bins), repeat=length):
                yield (codes[:, chosen] == values).all(axis=1)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["laplace", "wracc", "entropy"]))
def test_a_wide_beam_finds_the_best_of_all_conjunctions(seed, kind):
    """With room for all of them no conjunction is better, and of equals none covers more."""
    rng = np.random.default_rng(seed)
    n_bins, n_rows = int(rng.integers(2, 4)), int(rng.integers(4, 25))
    codes, labels = rng.integers(0, n_bins, (n_rows, 3)), rng.integers(0, 2, n_rows)
    labels[:2] = 0, 1
    columns, rows, stats = labelled(codes, labels, n_bins)
    limits = free_limits(3, max_conditions=3, up_operators=np.full(3, 1 << Op.EQUAL, np.uint8))
    score = Score(kind, unit=1.0, k=2.0)
    total = stats.sum(axis=0)
    ranks = [(reference.empty_criterion(score, total), -math.inf)]
    for covered in conjunctions(codes, n_bins, 3):
        sums = stats[covered].sum(axis=0)
        if sums[0] > 0 or (kind == "entropy" and sums.any()):
            value = reference.SCORES[kind].value(tuple(sums), None, tuple(total), 2.0)
            ranks.append((value, -int(sums.sum())))
    found = kernels.grow_beam(columns, rows, stats, score, limits, Beam(width=10_000))
    for condition in found.conditions:
        rows = reference.refine_rows(columns, rows, condition)
    best = min(ranks)
    if found.conditions:
        assert (found.conditions[-1].criterion, -len(rows)) == best
    else:
        assert best == ranks[0]


XOR = [[0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 0]] * 3
"""The label is whether the first two columns agree; the third says a little on its own."""


def test_a_beam_sees_past_the_best_single_condition():
    """A path stays with the third column; a beam finds the two columns that need each other."""
    labels = [int(a != b) for a, b, _ in XOR]
    columns, rows, stats = labelled(XOR, labels, 2)
    limits = free_limits(3, max_conditions=2, up_operators=np.full(3, 1 << Op.EQUAL, np.uint8))
    search = columns, rows, stats, Score("laplace", unit=1.0, k=2.0), limits
    narrow = kernels.grow_beam(*search, Beam(width=1))
    wide = kernels.grow_beam(*search, Beam(width=5))
    assert wide.conditions[-1].criterion == -(3 + 1) / (3 + 2)
    assert len(wide.conditions) == 2
    assert narrow.conditions[-1].criterion >= wide.conditions[-1].criterion


def test_conjunctions_of_the_same_rows_are_one():
    """Two copies of a column take one place in the beam: the first is used."""
    rng = np.random.default_rng(4)
    codes, labels = rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40).tolist()
    once = labelled(codes, labels, 2)
    twice = labelled(np.column_stack([codes, codes]), labels, 2)
    score, beam = Score("laplace", unit=1.0, k=2.0), Beam(width=2)
    expected = kernels.grow_beam(*once, score, free_limits(3), beam)
    assert kernels.grow_beam(*twice, score, free_limits(6), beam) == expected


def test_the_likelihood_ratio_by_hand():
    """8 and 2 of classes of equal frequency: 3.854895, significant at 95 % but not at 99 %."""
    ratio = reference.likelihood_ratio(np.array([8, 2]), np.array([10, 10]), 1.0)
    assert ratio == pytest.approx(3.854895, abs=1e-6)
    codes, labels = [[0]] * 10 + [[1]] * 10, [0] * 8 + [1] * 2 + [1] * 8 + [0] * 2
    columns, rows, stats = labelled(codes, labels, 2)
    search = columns, rows, stats, Score("laplace", unit=1.0, k=2.0), free_limits(1)
    assert kernels.grow_beam(*search, Beam(significance=3.8415)).conditions
    assert not kernels.grow_beam(*search, Beam(significance=6.6349)).conditions


def test_wracc_by_hand():
    """Of 20 rows, 10 positive, a rule that covers 8 and 2 has 0.15."""
    codes, labels = [[0]] * 10 + [[1]] * 10, [0] * 8 + [1] * 2 + [1] * 8 + [0] * 2
    columns, rows, stats = labelled(codes, labels, 2)
    found = kernels.grow_beam(
        columns, rows, stats, Score("wracc", unit=1.0), free_limits(1), Beam()
    )
    assert found.conditions[-1].criterion == pytest.approx(-0.15)


def test_columns_are_cut_between_classes_only():
    """Equal labels on both sides of a cut leave no condition there."""
    codes, labels = [[0], [1], [2], [3]], [0, 0, 1, 1]
    columns, rows, stats = labelled(codes, labels, 4, nominal=0)
    limits = free_limits(1, min_weight=0)
    found = kernels.grow_beam(columns, rows, stats, Score("entropy", unit=1.0), limits, Beam())
    assert [(c.op, c.code, c.beyond) for c in found.conditions] == [(Op.LESS_EQUAL, 1, 2)]


def test_a_beam_needs_a_score_of_weights():
    """Gradients and gains cannot be bounded by a part of a cover."""
    columns, rows, stats = labelled([[0], [1]], [0, 1], 2)
    for kind in ("newton", "gradient", "foil", "errors"):
        with pytest.raises(ValueError, match="score of weights"):
            kernels.grow_beam(columns, rows, stats, Score(kind, unit=1.0), free_limits(1), Beam())
