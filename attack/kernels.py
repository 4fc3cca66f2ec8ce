"""Kernels against their NumPy twins on other examples, and kernels with arguments gone wrong."""

from __future__ import annotations

import contextlib
import functools
import io
from typing import TYPE_CHECKING

import pytest

from attack import kernel_calls, reseeded
from attack.attempts import Outcome, ends_well
from attack.harness import ROOT
from attack.randoms import pick

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng

WRONG_CALLS = 300
# the last two are Python's own, where a wrong argument is no array at all
_REFUSALS = (ValueError, TypeError, OverflowError, MemoryError, AttributeError, IndexError)


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Run one property test of the kernels with another seed, then wrong calls of every kernel."""
    yield from _property_test(pick(rng, property_tests()), int(rng.integers(2**31)))
    for _ in range(WRONG_CALLS):
        call = kernel_calls.wrong(rng)
        found = ends_well(call.run, _REFUSALS)
        yield found and f"{call}: {found}"


def _property_test(name: str, seed: int) -> Iterator[Outcome]:
    before = reseeded.COUNTED[0]
    code, printed = _pytest(name, f"--hypothesis-seed={seed}")
    for _ in range(reseeded.COUNTED[0] - before):
        yield None
    yield None if code == 0 else f"{name}, seed {seed}: {printed[-3000:]}"


@functools.cache
def property_tests() -> list[str]:
    """List the property tests of the kernels; every kernel has one that compares it to its twin."""
    _pytest("tests/kernels", "--collect-only")
    return list(reseeded.TESTS)


def _pytest(*arguments: str) -> tuple[int, str]:
    printed = io.StringIO()
    options = [
        "-q",
        "-x",
        "--full",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(ROOT),
    ]
    with contextlib.redirect_stdout(printed), contextlib.chdir(ROOT):
        code = pytest.main([*options, *arguments], plugins=[reseeded])
    return int(code), printed.getvalue()
