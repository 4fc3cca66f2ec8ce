"""Rule cards: integer points of given items, against the twin and against all cards."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
from budget import examples
from builders import SEEDS
from reference.points import newton
from rulewright import kernels
from rulewright.kernels import PointLimits

pytestmark = pytest.mark.native


def random_groups(rng, n_rows, n_items):
    """Draw rows that a logistic model explains, and group those with the same items."""
    X = rng.random((n_rows, n_items)) < rng.uniform(0.1, 0.9, n_items)
    p = 1 / (1 + np.exp(-(X @ rng.normal(size=n_items) - 0.3)))
    y = rng.random(n_rows) < p
    y[:2] = False, True
    covers, groups = np.unique(X, axis=0, return_inverse=True)
    counts = [np.bincount(groups.ravel(), rows, len(covers)) for rows in (y, ~y)]
    return covers.astype(np.uint8), *counts


def limits_of(n_items, most, **options):
    """Make limits with points from -most to most."""
    ends = np.full(n_items, most, np.int32)
    options = {"max_items": n_items, "l2": 0.01, **options}
    return PointLimits(lowest=-ends, highest=ends, **options)


def card_loss(groups, points, l2):
    """Fit unit and intercept to points; the unit is not negative."""
    covers, positives, negatives = groups
    columns, ridge = [np.ones(len(covers))], [0.0]
    if points.any():
        columns, ridge = [*columns, covers @ points], [0.0, l2 * float(points @ points)]
    design, offset = np.column_stack(columns), np.zeros(len(covers))
    theta, loss, _ = newton(
        design, offset, positives, negatives, np.array(ridge), np.zeros(len(ridge))
    )
    return loss if not points.any() or theta[1] >= 0 else np.inf


def exhaust(groups, n_used, most, l2):
    """Return the least loss of all cards of so many items."""
    n_items = groups[0].shape[1]
    best = card_loss(groups, np.zeros(n_items), l2)
    for used in combinations(range(n_items), n_used):
        for values in product(range(-most, most + 1), repeat=n_used):
            if any(values) and np.gcd.reduce(np.abs(values)) == 1:
                points = np.zeros(n_items)
                points[list(used)] = values
                best = min(best, card_loss(groups, points, l2))
    return best


@st.composite
def problems(draw):
    """Draw groups of rows and limits."""
    rng = np.random.default_rng(draw(SEEDS))
    n_items = int(rng.integers(1, 6))
    groups = random_groups(rng, int(rng.integers(5, 150)), n_items)
    ends = np.sort(rng.integers(-3, 4, (2, n_items)), axis=0).astype(np.int32)
    limits = PointLimits(
        lowest=ends[0],
        highest=ends[1],
        max_items=int(rng.integers(0, n_items + 1)),
        max_range=int(rng.choice([-1, -1, 0, 3, 6])),
        l2=float(rng.choice([0.01, 1.0])),
        unit=float(rng.choice([0.0, 0.0, 0.2])),
        max_nodes=int(rng.choice([0, 5, 10_000])),
        cutoff=float(rng.choice([np.inf, np.inf, 30.0])),
    )
    return groups, limits


@given(problems())
@examples(150)
def test_the_kernel_is_its_twin(problem):
    """Points, loss and bound are the same."""
    groups, limits = problem
    one, two = (solve(*groups, limits) for solve in (kernels.solve_points, reference.solve_points))
    np.testing.assert_allclose(
        [one.loss, one.bound, one.unit, one.intercept],
        [two.loss, two.bound, two.unit, two.intercept],
        rtol=1e-6,
        atol=1e-8,
    )
    np.testing.assert_array_equal(one.points, two.points)
    assert one.n_nodes == two.n_nodes


@given(problems())
@examples(60)
def test_real_responses_are_those_of_the_twin(problem):
    """The convex problem has one minimum."""
    groups, limits = problem
    start = np.zeros(groups[0].shape[1] + 1)
    one = kernels.fit_scores(*groups, limits.l2, start)
    two = reference.fit_scores(*groups, limits.l2, start)
    np.testing.assert_allclose(one.loss, two.loss, rtol=1e-9)
    np.testing.assert_allclose(one.responses, two.responses, rtol=1e-5, atol=1e-6)


@given(problems())
@examples(60)
def test_points_obey_the_limits(problem):
    """The limits of each item, on their number and on their sum hold; the bound is none above."""
    groups, limits = problem
    found = kernels.solve_points(*groups, limits)
    if np.isinf(found.loss):
        assert not found.points.any()
        return
    assert (limits.lowest <= found.points).all()
    assert (found.points <= limits.highest).all()
    assert np.count_nonzero(found.points) <= limits.max_items
    assert limits.max_range < 0 or np.abs(found.points).sum() <= limits.max_range
    assert found.bound <= found.loss
    if not limits.unit:
        np.testing.assert_allclose(found.loss, card_loss(groups, found.points, limits.l2))


@pytest.mark.parametrize(
    "n_problems", [5, pytest.param(50, marks=pytest.mark.full("enumerates many cards"))]
)
def test_no_card_is_better(n_problems):
    """On small problems the best of all cards is found, and the gap is 0."""
    for seed in range(n_problems):
        rng = np.random.default_rng(seed)
        groups = random_groups(rng, int(rng.integers(30, 300)), n_items=6)
        n_used, most = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        found = kernels.solve_points(*groups, limits_of(6, most, max_items=n_used))
        assert found.loss - found.bound <= 1e-9 * found.loss
        np.testing.assert_allclose(found.loss, exhaust(groups, n_used, most, 0.01), rtol=1e-9)


def test_too_few_nodes_leave_a_gap():
    """The bound stays below the loss of the best card."""
    groups = random_groups(np.random.default_rng(3), 300, 8)
    best = kernels.solve_points(*groups, limits_of(8, 5))
    short = kernels.solve_points(*groups, limits_of(8, 5, max_nodes=3))
    assert best.bound == best.loss
    assert short.bound < best.loss <= short.loss


def test_enormous_penalties_leave_points_within_their_limits():
    """Responses that overflow have no nearest points: they count as 0, not as billions."""
    covers = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8)
    bounds = {"lowest": np.full(2, -3, np.int32), "highest": np.full(2, 3, np.int32)}
    for l2, unit in product((1e200, 1e300, 1.7e308), (0.0, 1e-300, 1e300)):
        rest = {"max_items": 2, "max_range": 5, "max_nodes": 50, "cutoff": np.inf}
        limits = kernels._core.PointLimits(**bounds, **rest, l2=l2, unit=unit)
        found = kernels._core.solve_points(covers, np.arange(1.0, 5.0), np.ones(4), limits)
        assert np.all(np.abs(found[0]) <= 3)
