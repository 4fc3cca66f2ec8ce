"""Joined formulas: one condition per column where that means the same in three values."""

import numpy as np
import pytest

from rulewright import read_table
from rulewright.rules import parse_formula
from rulewright.search.repository.blocks import all_body, any_body, not_body


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (["c = red", "c = blue"], "c in {blue, red}"),
        (["x <= 1", "1 < x <= 2"], "x <= 2"),
        (["x <= 1", "x > 2"], "x <= 1 (or x > 2)"),
        (["x <= 1", "x > 1"], "x <= 1 or x > 1"),  # unknown on missing values, unlike "known"
        (["x <= 1", "c = red"], "x <= 1 or c = red"),
        (["x is missing", "x <= 1"], "x <= 1 or x is missing"),
        (["not (x <= 1 and c = red)", "x <= 1"], "x <= 1 or x > 1 or c != red"),
    ],
)
def test_or_reads_shortly_and_means_the_same(parts, joined):
    """The text is short; truth, falsehood and ignorance are those of the parts."""
    bodies = [parse_formula(text) for text in parts]
    assert str(any_body(bodies)) == joined
    assert_kleene(any_body(bodies), bodies, np.maximum)


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (["x > 1", "x <= 2"], "1 < x <= 2"),
        (["c = red", "c = blue"], "c = red and c = blue"),  # false, but unknown where c is missing
        (["x > 1", "c = red"], "x > 1 and c = red"),
        (["x is known", "x > 1"], "x is known and x > 1"),
    ],
)
def test_and_reads_shortly_and_means_the_same(parts, joined):
    """Contradictions and conditions that decide missing values are not merged."""
    bodies = [parse_formula(text) for text in parts]
    assert str(all_body(bodies)) == joined
    assert_kleene(all_body(bodies), bodies, np.minimum)


def test_not_is_unknown_where_the_formula_is():
    """The opposite of a condition fails on no missing value."""
    body = parse_formula("x > 1 or c = red")
    assert_kleene(not_body(body), [body], lambda one, two: -two)


def assert_kleene(body, parts, join):
    """Compare on all rows of known and missing values."""
    xs, cs = [0.5, 1.0, 1.5, 2.0, 3.0, np.nan], ["red", "blue", "green", None]
    rows = {"x": np.repeat(xs, len(cs)), "c": np.array(cs * len(xs), dtype=object)}
    table = read_table({**rows, "y": [0, 1] * 12}, target="y")
    values = [part.holds(table).astype(int) - part.fails(table) for part in parts]
    expected = join(values[0], values[-1])
    np.testing.assert_array_equal(body.holds(table).astype(int) - body.fails(table), expected)
