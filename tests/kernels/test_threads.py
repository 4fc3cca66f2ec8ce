"""Threads and memory that the system refuses: fewer threads or a MemoryError, never a dead process.

Each script runs in a process of its own, because limits of a process cannot be taken back.
"""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.native

HUGE_STACK = 2**40
"""A thread asks for a stack of this size: under a limit of memory no thread can be started."""

START = """
import resource
import numpy as np
from builders import packed_columns
from rulewright import MLRulesClassifier, SlipperClassifier, kernels
from rulewright.kernels import CompiledRules

def limit(spare):
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + spare, resource.RLIM_INFINITY))

def int32(*values):
    return np.array(values, dtype=np.int32)
"""

SCORES = """
rules = CompiledRules(int32([0, 1, 2], [1, 0, 0]), int32(0, 1, 2), int32(0, 1, 2))
codes = np.random.default_rng(0).integers(0, 3, (2, 200_000)).astype(np.uint16)
def scores(n_threads):
    heads, responses = int32([0, 0], [1, 1]), np.array([0.1, 0.7])
    return kernels.rule_scores(codes, rules, heads, responses, np.zeros(2), n_threads)
"""

FITS = """
rng = np.random.default_rng(0)
X = rng.normal(size=(9000, 5))
y = (X[:, 0] * X[:, 1] + rng.normal(size=9000) > 0).astype(int)
def models(n_jobs):
    fast = {"random_state": 0, "n_jobs": n_jobs}
    return [
        MLRulesClassifier(max_rules=5, calibration="platt", **fast).fit(X, y).model_,
        SlipperClassifier(max_rules=2, size="cv", cv=2, **fast).fit(X, y).model_,
    ]
"""


def run(*script, **options):
    """Run a script and return what it printed last."""
    result = subprocess.run(
        [sys.executable, "-c", START + "".join(script)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env={"OPENBLAS_NUM_THREADS": "1"},
        **options,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split()


def ask_for_huge_stacks():
    resource.setrlimit(resource.RLIMIT_STACK, (HUGE_STACK, resource.RLIM_INFINITY))


def test_any_number_of_threads_may_be_asked_for():
    """More threads than a system has give the scores of one thread."""
    script = "print(*(np.array_equal(scores(n), scores(1)) for n in (100_000, 2**31 - 1)))"
    assert run(SCORES, script) == ["True", "True"]


def test_growth_on_any_number_of_threads():
    """A search cuts rows into pieces, not into as many as threads are asked for."""
    script = """
from builders import free_limits
rng = np.random.default_rng(0)
columns = packed_columns(rng.integers(0, 9, (20_000, 3)), [9, 9, 9], [0, 0, 0])
stats = np.stack([rng.integers(-9, 9, 20_000), np.ones(20_000, np.int64)], axis=1)
def grown(n_threads):
    rows = np.arange(20_000, dtype=np.uint32)
    score = kernels.Score("newton", unit=1.0, l2=1.0)
    return kernels.grow_rule(columns, rows, stats, score, free_limits(3), n_threads)
print(len(grown(1).conditions) > 0, *(grown(n) == grown(1) for n in (100_000, 2**31 - 1)))
"""
    assert run(script) == ["True", "True", "True"]


def test_kernels_do_without_threads_that_cannot_be_started():
    """Where the system refuses threads the caller does the work alone."""
    script = "limit(2**29); print(np.array_equal(scores(4), scores(1)))"
    assert run(SCORES, script, preexec_fn=ask_for_huge_stacks) == ["True"]


def test_fits_do_without_threads_that_cannot_be_started():
    """Rules and folds come out the same where no thread can be started."""
    script = "expected = models(1); limit(2**29); print(models(3) == expected)"
    assert run(FITS, script, preexec_fn=ask_for_huge_stacks) == ["True"]


def test_memory_that_runs_out_on_a_thread_is_a_memory_error():
    """A block of rows for which there is no memory ends the call, not the process."""
    script = """
columns = packed_columns(np.zeros((20_000_000, 1), np.uint8), [1], [0])
tests = int32([0, 0, 0, -1])
kernels.cover_rows(columns, int32([0, 1, 1, -1]), 4)  # starts the threads
limit(2**25)
try:
    kernels.cover_rows(columns, tests, 4)
except MemoryError:
    print("MemoryError")
limit(2**30)
print(len(kernels.cover_rows(columns, tests, 4)))
"""
    assert run(script) == ["MemoryError", "20000000"]
