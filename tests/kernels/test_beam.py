"""The beam search: engine = twin, and the twin = a search that knows no tricks."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import free_limits, random_columns, searches
from rulewright import kernels
from rulewright.kernels import GROUP, ROW, Beam, Score, reference

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
    return (search.columns, search.rows, abs(search.stats), score, limits, beam)


@settings(max_examples=200)
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
