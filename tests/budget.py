"""How much a run of the tests costs: everything with `pytest --full`, its core otherwise.

`make test` runs the core and `make test-all` everything. Tests that only a full run needs are
marked `full` with the reason, and property tests draw a share of their examples otherwise.
"""

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

SHARE = 0.3
"""Of the examples that a full run draws; one setting for all property tests."""
FEWEST = 5
is_full = False
"""Whether everything is run; set by `pytest --full` before any test is imported."""


def n_examples(n):
    """Give the number of examples to draw where a full run draws `n`."""
    return n if is_full else min(n, max(FEWEST, round(SHARE * n)))


def examples(n, **others):
    """Draw `n` examples in a full run, and a share of them otherwise."""
    return settings(max_examples=n_examples(n), **others)


def load_profile():
    """Draw the same examples on every machine, without a clock.

    Hypothesis also draws constants of the modules that are loaded, so that examples would depend
    on which tests ran before in the same process: none are given to it.
    """
    providers._get_local_constants = lambda: providers._local_constants
    settings.register_profile(
        "rulewright",
        derandomize=True,
        deadline=None,
        max_examples=n_examples(100),
        suppress_health_check=[HealthCheck.too_slow],
    )
    settings.load_profile("rulewright")


def always(kept, values, reason):
    """Give parameters for `parametrize`: those that are kept always run, the others in full."""
    assert set(kept) <= set(values), kept
    rest = pytest.mark.full(reason)
    return [pytest.param(value, marks=() if value in kept else rest) for value in values]


def crossed(reason, names, first, second):
    """Parametrise over all pairs of two dicts; those off the diagonal need a full run.

    On the diagonal every value of both occurs: what depends on one of them alone is tested.
    """
    size = max(len(first), len(second))
    diagonal = {(i % len(first), i % len(second)) for i in range(size)}
    cases = [
        pytest.param(
            one,
            two,
            id=f"{name}-{other}",
            marks=() if (i, j) in diagonal else pytest.mark.full(reason),
        )
        for i, (name, one) in enumerate(first.items())
        for j, (other, two) in enumerate(second.items())
    ]
    return pytest.mark.parametrize(names, cases)
