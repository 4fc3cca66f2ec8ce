"""Attempts on a library with planted defects, for workers of the attack."""

from attack import kernels as attacked
from attack import saving
from rulewright import kernels
from rulewright.model import document


def torn_saves(rng, folder):
    """Attack the saving of models with a writer that is not atomic."""
    document.replace_file = write_in_place
    yield from saving.attempt(rng, folder)


def write_in_place(path, data):
    """Write a file slowly where it stands."""
    with open(path, "wb") as file:
        for start in range(0, len(data), 1000):
            file.write(data[start : start + 1000])
            file.flush()


def wrong_kernel(rng, folder):
    """Attack kernels of which one draws other rows than its twin."""
    right = kernels.draw_rows
    kernels.draw_rows = lambda n, size, seed: right(n, size, (seed + 1) % 2**64)
    attacked.WRONG_CALLS = 0
    attacked.property_tests = lambda: ["tests/kernels/test_rows.py::test_draws_equal_the_twin"]
    yield from attacked.attempt(rng, folder)
