"""Formulas of and, or, not with three values: truth, normalised form, text and JSON."""

import numpy as np
import pytest
from hypothesis import given

from budget import examples
from rules.builders import conditions, conditions_on_small_table, formulas, small_tables
from rulewright.data import read_table
from rulewright.rules import (
    And,
    Conjunction,
    Not,
    Or,
    Presence,
    Range,
    formula_from_json,
    normalise,
    parse_condition,
    parse_formula,
)

ROWS = read_table({"a": [1.0, 9.0, None, 1.0, 9.0], "color": ["red", "red", "red", None, "blue"]})


def kleene(formula, table):
    """Give 1 (true), 0 (false) or 1/2 (unknown) of each row by the tables of the textbook."""
    if isinstance(formula, Not):
        return 1 - kleene(formula.part, table)
    if isinstance(formula, And | Or):
        parts = [kleene(part, table) for part in formula.parts]
        start = np.full(len(table), float(isinstance(formula, And)))
        return (
            np.array([start, *parts]).min(0)
            if isinstance(formula, And)
            else np.array([start, *parts]).max(0)
        )
    values = [np.ones(len(table))]
    for condition in formula.conditions:
        column = table[condition.column]
        known = ~column.is_missing | condition.decides_missing
        values.append(np.where(known, condition.holds(column), 0.5))
    return np.min(values, axis=0)


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("a <= 5", "tfutf"),
        ("not a <= 5", "ftuft"),
        ("a <= 5 and color = red", "tfuuf"),
        ("a <= 5 or color = red", "ttttf"),
        ("not (a <= 5 or color = red)", "fffft"),
        ("a is missing or color = blue", "fftut"),
        ("not a <= 5 (or missing)", "ftfft"),
        ("true", "ttttt"),
        ("not true", "fffff"),
    ],
)
def test_three_values_by_hand(text, truth):
    """A formula is true (t), false (f), or unknown (u) where a value that decides is missing."""
    formula = parse_formula(text)
    pairs = zip(formula.holds(ROWS), formula.fails(ROWS), strict=True)
    found = ["t" if holds else "f" if fails else "u" for holds, fails in pairs]
    assert "".join(found) == truth


@given(formulas(conditions_on_small_table()), small_tables())
def test_truth_is_that_of_kleene(formula, table):
    """No row is both true and false, and all three values are those of Kleene's tables."""
    value = kleene(formula, table)
    np.testing.assert_array_equal(formula.holds(table), value == 1)
    np.testing.assert_array_equal(formula.fails(table), value == 0)


@given(formulas(conditions_on_small_table()), small_tables())
def test_normalising_changes_no_value(formula, table):
    """The normalised form is true, false and unknown on the same rows, and normalised already."""
    simple = normalise(formula)
    np.testing.assert_array_equal(simple.holds(table), formula.holds(table))
    np.testing.assert_array_equal(simple.fails(table), formula.fails(table))
    assert normalise(simple) == simple


@given(formulas(conditions()))
@examples(200)
def test_round_trips(formula):
    """Text and JSON of a formula give it back: text in normalised form, JSON as it is."""
    assert formula_from_json(formula.to_json()) == formula
    assert parse_formula(str(formula)) == normalise(formula)


@given(formulas(conditions_on_small_table()))
def test_what_a_formula_needs(formula):
    """Columns are those of all conditions, each once."""
    assert sorted(formula.columns) == sorted({c.column for c in formula.conditions})


def test_the_normalised_form_by_hand():
    """Nested words are flattened, parts appear once, and not stands before conditions at most."""
    a, b, c = (Conjunction((parse_condition(text),)) for text in ("a <= 1", "b = x", "c > 2"))
    assert normalise(And((a, And((b, c)), a))) == Conjunction(
        (*a.conditions, *b.conditions, *c.conditions)
    )
    assert normalise(Or((a, Or((b, a))))) == Or((a, b))
    assert normalise(Not(Or((a, b)))) == parse_formula("a > 1 and b != x")
    assert normalise(Not(And((a, Or((b, c)))))) == parse_formula("a > 1 or (b != x and c <= 2)")
    assert normalise(Not(Not(a))) == a
    assert normalise(Not(Conjunction((Presence("a", True),)))) == parse_formula("a is known")
    assert normalise(Or((a, Conjunction()))) == Conjunction()
    assert normalise(And((a, Or(())))) == Or(())


def test_conditions_on_one_column_stay_apart():
    """In three values, x <= 3 and x > 5 is unknown where x is missing: it is not just false."""
    low, high = Conjunction((Range("a", high=3.0),)), Conjunction((Range("a", low=5.0),))
    never = normalise(And((low, high)))
    assert never == And((low, high))
    assert never.fails(ROWS).tolist() == [True, True, False, True, True]


def test_formulas_read_as_they_are_written():
    """Brackets show what belongs together; a conjunction reads as it always did."""
    for text in (
        "a <= 1 and b = x",
        "a <= 1 or b = x",
        "(a <= 1 and b = x) or c is missing",
        "a <= 1 and (b = x or c > 2)",
        "not a != x (or missing)",
        "not true",
    ):
        assert str(parse_formula(text)) == text


@pytest.mark.parametrize("text", ["a <= 1 or", "(a <= 1", "a <= 1)", "not", "or a <= 1", "()"])
def test_wrong_texts_are_refused(text):
    """The message tells where the text goes wrong."""
    with pytest.raises(ValueError, match="at character"):
        parse_formula(text)


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        ({"and": []}, "needs parts"),
        ({"or": 3}, "list of formulas"),
        ({"and": [3]}, "JSON list"),
        ({"not": [], "or": []}, "'and', 'or' or 'not'"),
        ({1: []}, "'and', 'or' or 'not'"),
        ("a <= 1", "JSON list"),
    ],
)
def test_wrong_json_is_refused(obj, message):
    """Plain data that is no formula is refused with a message that says why."""
    with pytest.raises(ValueError, match=message):
        formula_from_json(obj)


def test_parts_must_be_formulas():
    """A bare condition is not a formula: a conjunction of one is."""
    with pytest.raises(ValueError, match="Conjunction"):
        Or((parse_condition("a <= 1"),))
