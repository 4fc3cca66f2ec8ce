import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.builders import (
    conditions,
    conditions_on_small_table,
    nominal,
    numeric,
    small_tables,
    table,
)
from rulewright.rules import (
    Conjunction,
    Contradiction,
    Labels,
    Presence,
    Range,
    parse_condition,
    parse_conjunction,
)

SEVERAL = st.lists(conditions_on_small_table(), max_size=6)


def merged(*texts):
    """Merge conditions given as text and write the result."""
    return str(Conjunction.of(parse_condition(text) for text in texts))


def merge_or_none(conditions):
    """Merge conditions, None for a contradiction."""
    try:
        return Conjunction.of(conditions)
    except Contradiction:
        return None


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((), "true"),
        (("a <= 5", "a <= 10"), "a <= 5"),
        (("a <= 5", "a < 5"), "a < 5"),
        (("a > 3", "b < 1", "a <= 5"), "3 < a <= 5 and b < 1"),
        (("a >= 5", "a <= 5"), "a = 5"),
        (("a is known", "a <= 5"), "a <= 5"),
        (("a <= 5", "a is known"), "a <= 5"),
        (("a is missing", "a is missing"), "a is missing"),
        (("a is known", "a is known"), "a is known"),
        (("c in {x, y, z}", "c in {y, z, w}"), "c in {y, z}"),
        (("c in {x, y}", "c != x"), "c = y"),
        (("c not in {x, w}", "c in {x, y, z}"), "c in {y, z}"),
        (("c != y", "c != x"), "c not in {x, y}"),
        (("c is known", "c != x"), "c != x"),
    ],
)
def test_merging_by_hand(texts, expected):
    """Conditions on one column become one, columns in order of first appearance."""
    assert merged(*texts) == expected


@pytest.mark.parametrize(
    "texts",
    [
        ("a < 3", "a > 5"),
        ("a < 3", "a >= 3"),
        ("a <= 3", "a > 3"),
        ("a is missing", "a <= 3"),
        ("a <= 3", "a is missing"),
        ("a is missing", "a is known"),
        ("c = x", "c = y"),
        ("c = x", "c != x"),
        ("c not in {x, y}", "c in {x, y}"),
        ("c != x", "c is missing"),
        ("c in {x, y}", "c in {y, z}", "c in {x, z}"),
    ],
)
def test_contradictions_are_found(texts):
    """Conditions that no value satisfies together are refused by name, in either order."""
    for order in (texts, texts[::-1]):
        with pytest.raises(Contradiction, match="can never hold together"):
            merged(*order)


def test_numeric_and_nominal_conditions_on_one_column():
    """A column has one kind, so mixing kinds is an error and no contradiction."""
    with pytest.raises(ValueError, match="column 'a' as numeric and as nominal") as caught:
        merged("a <= 3", "a = x")
    assert not isinstance(caught.value, Contradiction)


@given(SEVERAL, small_tables())
def test_merged_holds_exactly_where_all_hold(several, rows):
    """Merging changes no row: missing, infinite and unseen values included."""
    expected = np.ones(len(rows), dtype=bool)
    for condition in several:
        expected &= condition.holds(rows[condition.column])
    conjunction = merge_or_none(several)
    covered = np.zeros(len(rows), dtype=bool) if conjunction is None else conjunction.holds(rows)
    assert covered.tolist() == expected.tolist()


@given(SEVERAL)
def test_merging_is_idempotent(several):
    """A canonical conjunction is its own canonical form, also when doubled."""
    conjunction = merge_or_none(several)
    if conjunction is not None:
        assert Conjunction.of(conjunction) == conjunction
        assert Conjunction.of([*conjunction, *several]) == conjunction


@given(SEVERAL, st.randoms(use_true_random=False))
def test_merging_does_not_depend_on_order(several, random):
    """Any order of the conditions gives the same ones, up to the order of columns."""
    shuffled = random.sample(several, len(several))
    one, other = merge_or_none(several), merge_or_none(shuffled)
    assert (one is None) == (other is None)
    if one is not None:
        assert set(one) == set(other)
        assert one.columns == tuple(dict.fromkeys(condition.column for condition in several))


@given(SEVERAL)
def test_merging_all_at_once_is_merging_one_by_one(several):
    """Thousands of conditions are merged in one go; the result is that of many small merges."""
    one_by_one = Conjunction()
    for condition in several:
        one_by_one = one_by_one and merge_or_none([*one_by_one, condition])
    assert merge_or_none(several) == one_by_one


def test_a_contradiction_names_all_conditions():
    """The conditions stand as they were given, not as partly merged ones."""
    expected = r"^'c != x', 'c != y' and 'c in \{x, y\}' can never hold together$"
    with pytest.raises(Contradiction, match=expected):
        merged("c != x", "c != y", "c in {x, y}")


def test_two_conditions_on_a_column_need_merging():
    """The plain constructor keeps the canonical form and names the remedy."""
    with pytest.raises(ValueError, match=r"two conditions on column 'a'; .* Conjunction\.of"):
        Conjunction((Range("a", high=5), Presence("a", missing=False)))


def test_holds_on_a_table():
    """A conjunction reads only its own columns; the empty one covers every row."""
    rows = table(numeric([1, 5, 1]), nominal([2, 2, -1]))
    conjunction = Conjunction.of([Range("a", high=3), Labels("color", ("red",))])
    assert conjunction.holds(rows).tolist() == [True, False, False]
    assert Conjunction().holds(rows).tolist() == [True, True, True]


def test_it_is_a_sequence_of_conditions():
    """Length, iteration and columns are those of the conditions; the empty one is no nothing."""
    conjunction = parse_conjunction("a <= 5 and color = red")
    assert len(conjunction) == 2
    assert list(conjunction) == [Range("a", high=5), Labels("color", ("red",))]
    assert conjunction.columns == ("a", "color")
    assert len(Conjunction()) == 0
    assert Conjunction()


@given(st.lists(conditions(), max_size=4, unique_by=lambda condition: condition.column))
def test_json_round_trip(several):
    """JSON text brings back the same conjunction."""
    conjunction = Conjunction(tuple(several))
    text = json.dumps(conjunction.to_json(), allow_nan=False)
    assert Conjunction.from_json(json.loads(text)) == conjunction


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({}, "must be a JSON list, not dict"),
        ([3], "must be a JSON object, not int"),
        ([{"column": "a", "missing": True}] * 2, "two conditions on column 'a'"),
    ],
)
def test_bad_json_is_refused(obj, message):
    """Plain data that is no canonical conjunction is a ValueError that says why."""
    with pytest.raises(ValueError, match=message):
        Conjunction.from_json(obj)
