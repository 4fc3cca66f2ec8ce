"""What prefixes of a repository are charged."""

import math

import pytest

from rulewright.stopping.sizes import margin_penalty, mmv_penalty


def test_charges_by_hand():
    """The formulas of the thesis with the constants inside the root."""
    assert mmv_penalty(10, 100, 0.05, 1.0) == pytest.approx(
        math.sqrt((2 * math.log(10) + math.log(20)) / 100)
    )
    assert mmv_penalty(10, 100, 0.05, 0.0) == 0
    assert margin_penalty(10, 100, 0.05, 0.1, 1.0) == pytest.approx(
        math.sqrt(0.1 / 100 * math.log(20 / 0.05))
    )
    assert margin_penalty(10, 100, 0.05, 0.1, 2.0) == pytest.approx(
        math.sqrt(0.1 / 100 * 10 * math.log(20 / 0.05))
    )


def test_charges_grow_with_the_rules_and_fall_with_the_rows():
    """A late rule must pay more (I12)."""
    for charge in (
        mmv_penalty,
        lambda *a: margin_penalty(*a, 2.0),
        lambda *a: margin_penalty(*a, 1.0),
    ):
        found = [charge(i, 50, 0.05, 1.0) for i in range(1, 200)]
        assert found == sorted(set(found))
        assert charge(9, 51, 0.05, 1.0) < charge(9, 50, 0.05, 1.0)
        assert charge(9, 50, 0.01, 1.0) > charge(9, 50, 0.05, 1.0)
