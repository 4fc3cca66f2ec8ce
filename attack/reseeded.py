"""A plugin of pytest: property tests draw other examples than usual, and are counted."""

from __future__ import annotations

import functools
from typing import Any

import hypothesis

COUNTED = [0]
"""How many examples were run."""

TESTS: dict[str, None] = {}
"""The property tests that were collected."""


def pytest_configure() -> None:
    """Let the seed of the command line count, and keep no examples."""
    hypothesis.settings.register_profile(
        "attack",
        derandomize=False,
        database=None,
        deadline=None,
        max_examples=100,
        suppress_health_check=list(hypothesis.HealthCheck),
        print_blob=True,
    )
    hypothesis.settings.load_profile("attack")


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Count the examples of every property test."""
    for item in items:
        handle = getattr(item.obj, "hypothesis", None)
        if handle is None:
            continue
        TESTS[item.nodeid] = None
        if not hasattr(handle.inner_test, "counted"):
            handle.inner_test = _counted(handle.inner_test)


def _counted(test: Any) -> Any:
    @functools.wraps(test)
    def run(*arguments: Any, **options: Any) -> Any:
        COUNTED[0] += 1
        return test(*arguments, **options)

    run.counted = True  # type: ignore[attr-defined]
    return run
