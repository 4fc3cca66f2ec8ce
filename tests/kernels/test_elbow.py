"""Vertices of the program of least hinge loss: the kernel equals its twin and refuses bad input."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import reference
from builders import SEEDS
from rulewright import kernels

pytestmark = pytest.mark.native

NOTHING = -1


def drawn_program(seed, n_rows, n_columns):
    """Draw columns next to -1, 0 and 1, no two alike, shares of rows and targets next to 1."""
    rng = np.random.default_rng(seed)
    columns = rng.choice([-1.0, 0.0, 1.0], (n_columns, n_rows), p=[0.4, 0.2, 0.4])
    columns += 0.05 * rng.normal(size=columns.shape)
    shares = rng.choice([1.0, 2.0], n_rows)
    return columns, shares / shares.sum(), 1 + 1e-6 * rng.random(n_rows), rng


def solve(elbow, columns, most_steps=2000):
    """Let columns enter until none pays more than the others; give the number of steps."""
    steps = 0
    while steps < most_steps:
        steps += 1 + elbow.settle(most_steps)
        paid, level = columns @ elbow.prices(), elbow.level()
        best = int(paid.argmax())
        if max(paid[best], 0.0) - level <= 1e-10:
            break
        if paid[best] > 0:
            elbow.enter(best, 1.0, columns[best], float(paid[best]) - level)
        else:
            elbow.enter(NOTHING, 1.0, np.zeros(columns.shape[1]), -level)
    return steps


def same(native, twin):
    """Tell whether weights and prices agree."""
    for one, two in zip(native.support(), twin.support(), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-8)
    np.testing.assert_allclose(native.prices(), twin.prices(), atol=1e-8)
    assert native.level() == pytest.approx(twin.level(), abs=1e-8)


@settings(deadline=None)
@given(SEEDS, st.integers(2, 120), st.integers(1, 12), st.sampled_from([0.5, 3.0, 30.0]))
def test_the_kernel_goes_the_way_of_its_twin(seed, n_rows, n_columns, budget):
    """The same vertices, also after columns are taken out; the last has the loss of HiGHS."""
    columns, shares, targets, rng = drawn_program(seed, n_rows, n_columns)
    elbows = [module.Elbow(shares, targets, budget) for module in (kernels, reference)]
    assert solve(elbows[0], columns) == solve(elbows[1], columns)
    same(*elbows)
    atoms, weights = elbows[0].support()
    lacking = targets - weights @ columns[atoms]
    expected = linprog(
        np.concatenate([np.zeros(n_columns), shares]),
        A_ub=np.vstack(
            [
                -np.hstack([columns.T, np.eye(n_rows)]),
                np.concatenate([np.ones(n_columns), np.zeros(n_rows)]),
            ]
        ),
        b_ub=np.append(-targets, budget),
    )
    assert shares @ np.maximum(lacking, 0) == pytest.approx(expected.fun, abs=1e-8)
    dropped = int(rng.integers(n_columns))
    for elbow in elbows:
        elbow.remove(dropped)
    same(*elbows)
    assert elbows[0].support()[1].sum() <= budget * (1 + 1e-9)


def test_many_steps_stay_exact():
    """Hundreds of steps with refined inverses end at the vertex of the twin."""
    columns, shares, targets, _ = drawn_program(1, 400, 60)
    elbows = [module.Elbow(shares, targets, 20.0) for module in (kernels, reference)]
    for elbow in elbows:
        assert solve(elbow, columns) > 150
    same(*elbows)
    for elbow in elbows:
        elbow.reset()
    same(*elbows)
    assert len(elbows[0].support()[0]) == 0


def test_a_second_thread_is_refused():
    """Two threads that settle one program get answers or errors, and it stays usable."""
    columns, shares, targets, _ = drawn_program(2, 300, 20)
    elbow, failed = kernels.Elbow(shares, targets, 5.0), []

    def work():
        try:
            solve(elbow, columns)
        except RuntimeError as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    elbow.reset()
    assert solve(elbow, columns) > 0
    assert all("another thread" in str(error) or "finite" in str(error) for error in failed)
