import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rules.builders import nominal, numeric, small_tables, table
from rulewright.encoding.booleans import (
    BooleanEncoding,
    attributes,
    encode_booleans,
    equal_frequency_cuts,
)
from rulewright.rules import Contradiction, Range, parse_conjunction

NAN = math.nan
MODES = st.fixed_dictionaries(
    {
        "missing": st.sampled_from(["indicator", "value"]),
        "thresholds": st.booleans(),
        "n_bins": st.integers(2, 10),
    }
)


def finite_tables():
    """Draw tables without infinite and unseen values, as training tables are."""

    def cleaned(drawn):
        a, b, color = (column.values for column in drawn.columns)
        a, b = (np.where(np.isinf(values), 9, values) for values in (a, b))
        return table(numeric(a), numeric(b, "b"), nominal(np.maximum(color, -1)))

    return small_tables().map(cleaned)


def texts(encoding):
    """Give the variables as text."""
    return [str(variable) for variable in encoding.variables]


def encode(rows, **options):
    """Give the variables of training rows; their covers are what the variables answer."""
    encoding, covers = encode_booleans(rows, **options)
    assert np.array_equal(covers.words, encoding.covers(rows).words)
    return encoding


def test_variables_by_hand():
    """Labels, intervals and missing values become questions in the order of the columns."""
    rows = table(nominal([0, 1, 2, -1, 0]), numeric([1, 2, 3, NAN, 4], "b"))
    encoding = encode(rows, n_bins=2, missing="value")
    assert texts(encoding) == [
        "color = blue",
        "color = green",
        "color = red",
        "color is missing",
        "b <= 2",
        "b > 2",
    ]
    color, b = encoding.attributes
    assert (color.column, color.size, b.column, b.size) == ("color", 4, "b", 3)
    assert [str(value) for value in b.values] == ["b <= 2", "b > 2", "b is missing"]
    places = [(variable.attribute, variable.values) for variable in encoding.variables]
    assert places == [(0, (0,)), (0, (1,)), (0, (2,)), (0, (3,)), (1, (0,)), (1, (1,))]
    words = encoding.covers(rows).words[:, 0].tolist()
    assert words == [0b10001, 0b10, 0b100, 0b1000, 0b11, 0b10100]


def test_indicator_is_an_attribute_of_its_own():
    """As an indicator, missing is a domain of two values; the variables do not change."""
    rows = table(nominal([0, 1, 2, -1]))
    apart, inside = encode(rows), encode(rows, missing="value")
    assert texts(apart) == texts(inside)
    assert [attribute.size for attribute in apart.attributes] == [3, 2]
    assert [attribute.size for attribute in inside.attributes] == [4]
    assert [variable.attribute for variable in apart.variables] == [0, 0, 0, 1]


def test_constant_and_repeated_questions_are_dropped():
    """Questions of one answer go; of equal or opposite ones the first stays."""
    rows = table(
        nominal([1, 1, 1, 1], "same"),
        nominal([0, 0, 1, 1], "two"),
        nominal([2, 2, 0, 0], "copy"),
        numeric([5, 5, 5, 5], "flat"),
        numeric([NAN] * 4, "empty"),
    )
    encoding = encode(rows)
    assert texts(encoding) == ["two = blue"]
    assert [attribute.column for attribute in encoding.attributes] == ["two"]


def test_thresholds_come_beside_intervals():
    """With thresholds, a numeric column is also asked whether it is at most each cut."""
    encoding = encode(table(numeric(range(9))), n_bins=3, thresholds=True)
    assert texts(encoding) == ["a <= 2", "2 < a <= 5", "a > 5"]
    encoding = encode(table(numeric(range(8))), n_bins=4, thresholds=True)
    assert texts(encoding) == ["a <= 1", "1 < a <= 3", "3 < a <= 5", "a > 5", "a <= 3"]
    assert encoding.variables[4].values == (0, 1)


@given(st.lists(st.integers(-5, 25), min_size=1, max_size=60), st.integers(2, 12))
def test_cuts_are_nearest_to_equal_shares(values, n_bins):
    """Each cut parts neighbouring values, at a place nearest to its rank; each rank has one."""
    values = np.array(values, dtype=np.float64)
    cuts = equal_frequency_cuts(numeric(values), n_bins)
    below = np.array([np.sum(values <= cut) for cut in cuts])
    assert np.all(np.diff(below) > 0)
    assert np.all((below > 0) & (below < len(values)))
    places = np.array([np.sum(values <= value) for value in set(values.tolist())])
    places = places[places < len(values)]
    ranks = np.arange(1, n_bins) * len(values) / n_bins
    nearest = [np.abs(places - rank).min() for rank in ranks] if len(places) else []
    assert [np.abs(below - rank).min() for rank in ranks[: len(nearest)]] == nearest
    used = {int(np.abs(below - rank).argmin()) for rank in ranks[: len(nearest)]}
    assert used == set(range(len(cuts)))


def test_cuts_of_even_shares():
    """Many different values are cut into intervals of equally many rows; missing ones are left."""
    values = np.random.default_rng(0).permutation(np.arange(1000) / 7)
    cuts = equal_frequency_cuts(numeric([*values, *[NAN] * 50]), 10)
    assert [np.sum(values <= cut) for cut in cuts] == list(range(100, 1000, 100))


def test_neighbouring_floats_are_parted():
    """A cut between two floats with none between them stands on the lower one."""
    low, high = 1.0, math.nextafter(1.0, 2.0)
    assert equal_frequency_cuts(numeric([low, high]), 10) == [low]


@given(finite_tables(), MODES)
def test_bits_are_the_conditions(rows, options):
    """Every bit says whether the condition holds; no variable repeats another or is constant."""
    encoding = encode(rows, **options)
    answers = encoding.covers(rows).unpack()
    for variable, line in zip(encoding.variables, answers, strict=True):
        column = rows[variable.condition.column]
        assert np.array_equal(line, variable.condition.holds(column))
        assert np.array_equal(~line, variable.literal(False).holds(column))
    distinct = {line.tobytes() for line in answers} | {(~line).tobytes() for line in answers}
    assert len(distinct) == 2 * len(encoding)
    assert all(line.any() and not line.all() for line in answers)
    for column in rows.columns:
        for _, questions in attributes(column, **options):
            for condition, _ in questions:
                held = condition.holds(column)
                assert held.all() or not held.any() or held.tobytes() in distinct


@given(finite_tables(), MODES)
def test_values_say_where_a_variable_is_true(rows, options):
    """A variable is true on exactly the rows that have one of its values."""
    encoding = encode(rows, **options)
    answers = encoding.covers(rows).unpack()
    for variable, line in zip(encoding.variables, answers, strict=True):
        attribute = encoding.attributes[variable.attribute]
        domain = np.array([value.holds(rows[attribute.column]) for value in attribute.values])
        assert np.all(domain.sum(axis=0) <= 1)
        assert np.array_equal(domain[list(variable.values)].any(axis=0), line)


@given(finite_tables(), small_tables(), MODES, st.data())
def test_terms_decode_to_conditions(training, new, options, data):
    """A term of literals covers the rows its conjunction covers: new, missing and unseen too."""
    encoding = encode(training, **options)
    if not len(encoding):
        return
    answers = encoding.covers(new).unpack()
    literals = st.tuples(st.integers(0, len(encoding) - 1), st.booleans())
    term = data.draw(st.lists(literals, max_size=5, unique_by=lambda literal: literal[0]))
    covered = np.ones(len(new), dtype=np.bool_)
    for j, positive in term:
        covered &= answers[j] == positive
    try:
        conjunction = encoding.conjunction(term)
    except Contradiction:
        assert not covered.any()
        return
    assert np.array_equal(conjunction.holds(new), covered)
    assert np.array_equal(parse_conjunction(str(conjunction)).holds(new), covered)


def test_formula_drops_what_says_nothing_new():
    """Of a formula, terms that can never hold and repeated ones leave no conjunction."""
    encoding = encode(table(nominal([0, 1, 2])))
    formula = [[(0, True), (1, True)], [(0, False), (1, False)], [(1, False), (0, False)], []]
    found = encoding.conjunctions(formula)
    assert [str(term) for term in found] == ["color not in {blue, green} (or missing)", "true"]


def test_new_missing_values_answer_no():
    """Missing values in a column that had none in training answer no to all questions."""
    encoding = encode(table(numeric([1, 2, 3, NAN, 1]), nominal([0, 1, 2, 2, 2])))
    answers = encoding.covers(table(numeric([NAN, 1]), nominal([-1, -2]))).unpack()
    truths = {str(v): line.tolist() for v, line in zip(encoding.variables, answers, strict=True)}
    assert truths["a is missing"] == [True, False]
    assert truths["color = blue"] == truths["color = red"] == [False, False]


def test_labels_that_new_rows_lack():
    """Rows whose schema lacks a label answer no to it."""
    encoding = encode(table(nominal([0, 1, 2])))
    answers = encoding.covers(table(nominal([0, 1], labels=("green", "red")))).unpack()
    assert texts(encoding) == ["color = blue", "color = green", "color = red"]
    assert answers.tolist() == [[False, False], [True, False], [False, True]]


@given(finite_tables(), MODES)
def test_encodings_are_plain_data(rows, options):
    """Written as JSON text and read again, an encoding has the same variables and domains."""
    encoding = encode(rows, **options)
    text = json.dumps(encoding.to_json())
    again = BooleanEncoding.from_json(json.loads(text))
    assert (again.variables, again.attributes) == (encoding.variables, encoding.attributes)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("attribute", 7, "variable 0: there is no attribute 7"),
        ("values", [9], "variable 0: its attribute has 3 values"),
        ("condition", 3, "condition"),
    ],
)
def test_wrong_encodings_are_refused(key, value, message):
    """Variables of columns, attributes and values that do not exist are named."""
    rows = table(nominal([0, 1, 2]))
    plain = encode(rows).to_json()
    plain["variables"][0][key] = value
    with pytest.raises(ValueError, match=message):
        BooleanEncoding.from_json(plain)
    with pytest.raises(ValueError, match="'attributes' and 'variables'"):
        BooleanEncoding.from_json({"attributes": []})


@pytest.mark.parametrize(
    ("options", "message"), [({"missing": "no"}, "missing must"), ({"n_bins": 1}, "n_bins must")]
)
def test_bad_options(options, message):
    """Options out of range are named."""
    with pytest.raises(ValueError, match=message):
        encode(table(numeric([1, 2])), **options)


def test_literals_of_a_variable():
    """The negative literal is the exact opposite of the positive one."""
    variable = encode(table(numeric([1, 2, 3])), n_bins=3).variables[1]
    assert variable.literal(True) == Range("a", 1, 2, low_open=True)
    assert str(variable.literal(False)) == "a <= 1 (or a > 2 or missing)"
