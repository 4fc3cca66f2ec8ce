"""Outcomes of rules: what they say, as text, as plain data, and what is refused."""

import pytest

from rulewright.rules import Adds, Claims, Head, Says, Votes
from rulewright.rules.outcomes import format_signed, outcome_from_json

OUTCOMES = [
    (Adds(1, 0.25), "+0.250 points for b", {"head": 1, "adds": 0.25}),
    (Adds((0, 1), -2.0), "-2.000 points for at most b", {"head": [0, 1], "adds": -2.0}),
    (
        Adds(0, 0.5, -0.5),
        "+0.500, otherwise -0.500 points for a",
        {"head": 0, "adds": 0.5, "otherwise": -0.5},
    ),
    (Claims(2, 0.75), "c with probability 0.750", {"head": 2, "claims": 0.75}),
    (Votes(0, 0.125), "12.50 votes for a", {"head": 0, "votes": 0.125}),
    (Says((0.25, 0.75)), "b with probability 0.750", {"says": [0.25, 0.75]}),
]


@pytest.mark.parametrize(("outcome", "text", "obj"), OUTCOMES)
def test_text_and_plain_data(outcome, text, obj):
    """An outcome prints its number with its unit and comes back from its plain data."""
    assert outcome.text("abc") == text
    assert str(outcome) in text
    assert outcome.to_json() == obj
    assert outcome_from_json(obj) == outcome


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.000"), (-0.0004, "0.000"), (-0.0006, "-0.001"), (1e300, "+1e+300")],
)
def test_points_are_short(value, text):
    """Nothing has no sign, and large numbers are not written out."""
    assert format_signed(value) == text


def test_a_distribution_speaks_for_its_most_probable_class():
    """Of equally probable classes the first one counts."""
    assert Says((0.25, 0.5, 0.25)).head == Head(1, 1)
    assert Says((0.5, 0.5)).head == Head(0, 0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Claims((0, 1), 0.5), "one class"),
        (lambda: Votes((0, 1), 0.5), "one class"),
        (lambda: Claims(0, 0.0), "above 0"),
        (lambda: Claims(0, 1.5), "at most 1"),
        (lambda: Votes(0, -0.5), "not be negative"),
        (lambda: Adds(0, 1.0, float("inf")), "otherwise of a rule"),
        (lambda: Says((0.5, 0.4)), "sum to 1"),
        (lambda: Says((1.5, -0.5)), "not be negative"),
        (lambda: outcome_from_json({"head": 0}), "keys"),
        (lambda: outcome_from_json({"says": 1.0}), "keys"),
        (lambda: outcome_from_json([0, 1.0]), "JSON object"),
    ],
)
def test_wrong_outcomes_are_refused(make, message):
    """The message says what is wrong."""
    with pytest.raises(ValueError, match=message):
        make()
