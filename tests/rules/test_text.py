import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.builders import ANY_TEXT, FINITE, conditions
from rulewright.rules import (
    Conjunction,
    Labels,
    Presence,
    Range,
    parse_condition,
    parse_conjunction,
)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Range("a", high=5), "a <= 5"),
        (Range("a", high=5, high_open=True), "a < 5"),
        (Range("a", low=5), "a >= 5"),
        (Range("a", low=-0.25, low_open=True), "a > -0.25"),
        (Range("a", 3, 5, low_open=True), "3 < a <= 5"),
        (Range("a", 5, 5), "a = 5"),
        (Range("a", high=1e22), "a <= 1e+22"),
        (Range("a", high=1e15), "a <= 1000000000000000"),
        (Range("a", high=5e-324), "a <= 5e-324"),
        (Range("petal.width-cm_2", high=5), "petal.width-cm_2 <= 5"),
        (Range("Größe", high=5), "Größe <= 5"),
        (Range("Größe cm", high=5), '"Größe cm" <= 5'),
        (Range("2nd", high=5), "2nd <= 5"),
        (Range("1e5", high=5), '"1e5" <= 5'),
        (Labels("color", ("true",)), "color = true"),
        (Labels("term", ("12-month", "2013-01-12")), 'term in {12-month, "2013-01-12"}'),
        (Range("", high=5), '"" <= 5'),
        (Range("max(price)", high=5), "max(price) <= 5"),
        (Range('n(a where b = ")")', 2, 3), '2 <= n(a where b = ")") <= 3'),
        (Range("n(or x)", high=5), '"n(or x)" <= 5'),
        (Range("f(x)-1", high=5), '"f(x)-1" <= 5'),
        (Range('f("x)', high=5), r'"f(\"x)" <= 5'),
        (Labels("last(a)", ("f(x)",)), 'last(a) = "f(x)"'),
        (Labels("color", ("red",)), "color = red"),
        (Labels("color", ("red",), True), "color != red"),
        (Labels("color", ("red", "green")), "color in {green, red}"),
        (Labels("color", ("red", "green"), True), "color not in {green, red}"),
        (Labels("in", ("3", "and", "a, b")), '"in" in {"3", "a, b", "and"}'),
        (Labels("c", ('say "}"', "tab\there")), r'c in {"say \"}\"", "tab\there"}'),
        (Labels("c", ("line\u2028",)), r'c = "line\u2028"'),
        (Range("a", 3.0, 3.0), "a = 3"),
        (Range("a", -0.5, -0.5), "a = -0.5"),
        (Presence("a", True), "a is missing"),
        (Presence("a", False), "a is known"),
        (Presence("missing", True), '"missing" is missing'),
    ],
)
def test_text_by_hand(condition, text):
    """Conditions print as a reader would write them and read back equal."""
    assert str(condition) == text
    assert parse_condition(text) == condition
    assert parse_conjunction(text) == Conjunction((condition,))


@given(conditions())
def test_condition_round_trip(condition):
    """Any condition reads back equal from its text, which is one printable line."""
    text = str(condition)
    assert parse_condition(text) == condition
    assert text.isprintable()


@given(st.lists(conditions(), max_size=4, unique_by=lambda condition: condition.column))
def test_conjunction_round_trip(several):
    """Any conjunction reads back equal, with its conditions in order."""
    conjunction = Conjunction(tuple(several))
    assert parse_conjunction(str(conjunction)) == conjunction


@given(FINITE | st.sampled_from([sys.float_info.max, sys.float_info.min, 5e-324, 2.0**53 + 2]))
def test_bounds_round_trip_to_the_bit(bound):
    """A threshold keeps every bit of its float, huge and subnormal ones included."""
    assert parse_condition(str(Range("a", high=bound))).high.hex() == (bound + 0.0).hex()


@given(ANY_TEXT, ANY_TEXT)
def test_names_cannot_change_the_meaning(name, label):
    """A name that looks like the language itself is read as a name."""
    tricky = Labels(f"{name} <= 5 and {label}", (label, f'{label}", x}} and a = "'))
    assert parse_condition(str(tricky)) == tricky


def test_intervals_of_one_value_may_be_written_as_such():
    """The text of earlier versions is read too."""
    assert parse_condition("3 <= a <= 3") == Range("a", 3.0, 3.0)


def test_the_empty_conjunction():
    """A conjunction without conditions is `true`, alone."""
    assert str(Conjunction()) == "true"
    assert parse_conjunction(" true ") == Conjunction()


@pytest.mark.parametrize(
    "text",
    ["a<=5 and c in{x,y}", " a <=  +5.0\nand c in { y , x, x } ", 'a <= .5e1 and "c" in {x,"y"}'],
)
def test_free_spacing_and_quoting(text):
    """People may space, quote and repeat as they like."""
    assert str(parse_conjunction(text)) == "a <= 5 and c in {x, y}"


def test_conjunctions_are_merged_when_read():
    """Reading gives the canonical form."""
    assert str(parse_conjunction("a <= 5 and b is known and a <= 3 and a > 1")) == (
        "1 < a <= 3 and b is known"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "at character 1: expected a column name or a number, found the end"),
        ("a", "at character 2: expected '<=' or '<' or '>='"),
        ("a <= ", "at character 6: expected a number, found the end"),
        ("a <= b", "at character 6: expected a number, found 'b'"),
        ("a <= 1e999", "at character 6: expected a number in the range of floats, found '1e999'"),
        ("a <= 5x", "at character 6: expected a number, found '5x'"),
        ("a <= inf", "at character 6: expected a number, found 'inf'"),
        ("3 > a", "at character 3: expected '<=' or '<', found '>'"),
        ("3 < 4", "at character 5: expected a column name, found '4'"),
        ("3 < a", "at character 6: expected '<=' or '<', found the end"),
        ("c != 3", 'at character 6: expected a label (a label that is a number is quoted: "3")'),
        ("c = in", "at character 5: expected a label, found 'in'"),
        ("c in red", "at character 6: expected '{', found 'red'"),
        ("c in {}", "at character 7: expected a label, found '}'"),
        ("c in {red green}", "at character 11: expected ',' or '}', found 'green'"),
        ("c in {red", "at character 10: expected ',' or '}', found the end"),
        ("c not red", "at character 7: expected 'in', found 'red'"),
        ("a is 5", "at character 6: expected 'missing' or 'known', found '5'"),
        ("a <= 5 b", "at character 8: expected 'and' or the end, found 'b'"),
        ("a <= 5 and", "at character 11: expected a column name or a number, found the end"),
        ("true and a <= 5", "at character 6: expected the end, found 'and'"),
        ("a <= 5 and true", "at character 12: expected a column name or a number, found 'true'"),
        ('"a <= 5', "at character 1: Unterminated string"),
        ("a ; 5", "at character 3: expected a name, number or sign, found ';'"),
        ("5 < a < 3", "range of column 'a' from 5.0 to 3.0 is empty"),
    ],
)
def test_errors_tell_where_and_what(text, message):
    """Text that is no conjunction is a ValueError with the place and what was expected."""
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_conjunction(text)


def test_one_condition_is_not_two():
    """Reading one condition refuses a conjunction."""
    with pytest.raises(ValueError, match="at character 8: expected the end, found 'and'"):
        parse_condition("a <= 5 and b <= 3")


@given(st.text(alphabet='ab<>=!{}, "\\.-15eand inotsmgkwru', max_size=20) | st.text(max_size=20))
def test_any_text_is_read_or_refused_cleanly(text):
    """No text ends in anything but a conjunction or a ValueError."""
    try:
        conjunction = parse_conjunction(text)
    except ValueError:
        return
    assert parse_conjunction(str(conjunction)) == conjunction
