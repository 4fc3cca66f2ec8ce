import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.builders import conditions_on_small_table, small_tables
from rulewright.rules import (
    AnyOf,
    Conjunction,
    Contradiction,
    Labels,
    Presence,
    Range,
    condition_from_json,
    negate,
    parse_condition,
    parse_conjunction,
)

LOW, HIGH, MISSING = Range("a", high=1), Range("a", low=2), Presence("a", True)


@pytest.mark.parametrize(
    ("text", "opposite"),
    [
        ("a <= 5", "a > 5 (or missing)"),
        ("a > 5", "a <= 5 (or missing)"),
        ("3 < a <= 5", "a <= 3 (or a > 5 or missing)"),
        ("5 <= a <= 5", "a < 5 (or a > 5 or missing)"),
        ("a <= 3 (or a > 5)", "3 < a <= 5 (or missing)"),
        ("a < 3 (or a > 3)", "a = 3 (or missing)"),
        ("color = red", "color != red (or missing)"),
        ("color in {blue, red}", "color not in {blue, red} (or missing)"),
        ("color != red", "color = red (or missing)"),
        ("a is missing", "a is known"),
    ],
)
def test_opposites_by_hand(text, opposite):
    """The opposite is written as a reader would say it, and its opposite is the condition again."""
    condition = parse_condition(text)
    assert str(negate(condition)) == opposite
    assert parse_condition(opposite) == negate(condition)
    assert negate(negate(condition)) == condition


@given(conditions_on_small_table(), small_tables())
def test_the_opposite_holds_where_the_condition_does_not(condition, table):
    """Every row satisfies a condition or its opposite and never both, missing and unseen too."""
    column = table[condition.column]
    assert np.array_equal(negate(condition).holds(column), ~condition.holds(column))


@given(conditions_on_small_table(), st.sampled_from([None, math.nan, -2.0, 0.5, 1.0, 3.0]))
def test_the_opposite_accepts_what_the_condition_does_not(condition, value):
    """The same is true of single values."""
    if condition.column == "color" and value is not None and value == value:
        value = "red" if value > 0 else "unseen"
    assert negate(condition).accepts(value) != condition.accepts(value)


@given(st.lists(conditions_on_small_table(), min_size=1, max_size=6), small_tables())
def test_merged_opposites_hold_where_all_do(several, table):
    """Excluding several conditions one after another excludes them all."""
    opposites = [negate(condition) for condition in several]
    expected = np.ones(len(table), dtype=np.bool_)
    for condition in several:
        expected &= ~condition.holds(table[condition.column])
    try:
        merged = Conjunction.of(opposites)
    except Contradiction:
        assert not expected.any()
        return
    assert np.array_equal(merged.holds(table), expected)
    assert parse_conjunction(str(merged)) == merged
    assert Conjunction.from_json(json.loads(json.dumps(merged.to_json()))) == merged


@pytest.mark.parametrize(
    ("alternatives", "message"),
    [
        ((LOW,), "at least two"),
        ((LOW, AnyOf((HIGH, MISSING))), "plain"),
        ((LOW, Range("b", low=2)), "one column"),
        ((HIGH, LOW), "ascend"),
        ((LOW, Range("a", low=1, low_open=True)), "gaps"),
        ((MISSING, LOW), "must be ranges"),
        ((LOW, Presence("a", False)), "must be ranges"),
        ((Labels("a", ("x",)), Labels("a", ("y",))), "must be ranges"),
        ((LOW, Labels("a", ("y",))), "must be ranges"),
        ((MISSING, MISSING), "must be ranges"),
    ],
)
def test_bad_alternatives(alternatives, message):
    """Alternatives have one form only, so that equal conditions are equal objects."""
    with pytest.raises(ValueError, match=message):
        AnyOf(alternatives)


@pytest.mark.parametrize(
    "data",
    [
        {"column": "a", "any": 3},
        {"column": "a", "any": [3]},
        {"column": "a", "any": [{"high": 1.0}]},
        {"column": "a", "any": [{"high": 1.0}, {"column": "a", "missing": True}]},
        {"column": "a", "any": [{"high": 1.0}, {"any": []}]},
        {"column": 3, "any": [{"high": 1.0}, {"missing": True}]},
    ],
)
def test_bad_data(data):
    """Data that is no condition with alternatives is refused."""
    with pytest.raises(ValueError, match=r"column|alternatives"):
        condition_from_json(data)


@pytest.mark.parametrize(
    "text",
    ["a <= 3 (or", "a <= 3 (or missing", "a <= 3 ()", "a <= 3 (missing)", "a <= 3 (or b > 4)"],
)
def test_bad_text(text):
    """Text that is no condition with alternatives is refused."""
    with pytest.raises(ValueError, match=r"expected|alternatives"):
        parse_condition(text)
