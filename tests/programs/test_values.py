"""Values in strange types are read in one way: by the model and by exported Python and JavaScript.

A value is read alike or refused by all of them.
"""

import datetime
import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from py_mini_racer import JSEvalException, MiniRacer

from budget import examples
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema
from rulewright.model import AdditiveRules
from rulewright.rules import Conjunction, Labels, Presence, Range

pytestmark = pytest.mark.native

COLUMNS = [
    ColumnSchema("number", "numeric"),
    ColumnSchema("text", "nominal", ("1", "1.5", "true", "inf", "", "9007199254740993"), "string"),
    ColumnSchema(
        "label", "nominal", ("-3", "0", "1", "1.5", "1e-05", "9007199254740992"), "number"
    ),
    ColumnSchema("truth", "nominal", ("false", "true"), "boolean"),
]
CUTS = [-1e300, -3.0, 0.0, 1.0, 1.5, 10.0, 16.0, 1e16, 1e300]
REFUSED = "refused"


def one_column(column):
    """Make a model of one class whose score tells how a value of a column was read."""
    if column.kind == "numeric":
        tests = [Range(column.name, cut, cut) for cut in CUTS]
        tests += [Range(column.name, low=cut) for cut in CUTS]
    else:
        tests = [Labels(column.name, (label,)) for label in column.labels]
    tests += [Presence(column.name, True)]
    rules = tuple(
        a_rule(Conjunction((test,)), 0, float(2**i), 1.0, (1.0,)) for i, test in enumerate(tests)
    )
    return AdditiveRules(Schema((column,), named=True), ["a"], (0.0,), rules)


MODELS = {column.name: one_column(column) for column in COLUMNS}
MODULES = {name: {} for name in MODELS}
ENGINE = MiniRacer()
for name, model in MODELS.items():
    exec(compile(model.to_python(), "export", "exec"), MODULES[name])
    ENGINE.eval(model.to_javascript(f"predict_{name}"))


def by_model(name, value):
    values = np.empty(1, dtype=object)
    values[0] = value
    try:
        return MODELS[name].scores({name: values})[0, 0]
    except (ValueError, TypeError) as error:
        return REFUSED if repr(name) in str(error) else error


def by_python(name, value):
    try:
        return MODULES[name]["_answers"]({name: value})[0][0]
    except ValueError as error:
        return REFUSED if repr(name) in str(error) else error


def by_javascript(name, text):
    try:
        return float(ENGINE.eval(f"predict_{name}({{{name}: {text}}}).scores[0]"))
    except JSEvalException as error:
        return REFUSED if f'column "{name}"' in str(error) else error


TEXTS = [
    *(
        "",
        " ",
        "1",
        "01",
        "+1",
        " 1",
        "1 ",
        "\t1\n",
        "1.0",
        "1.",
        ".1e1",
        "1e0",
        "1E0",
        "-3",
        "-3.0",
    ),
    *("0", "-0", "0.0", "-0.0", "00", "1.5", "1.50", "15e-1", "1e-5", "0.00001", "1e300", "1e400"),
    *(
        "-1e400",
        "inf",
        "-inf",
        "Infinity",
        "nan",
        "NaN",
        "null",
        "None",
        "1_50",
        "1_0",
        "0x10",
        "0b1",
    ),
    *(
        "1,5",
        "1 0",
        "\u0661",
        "\uff11",
        "\u00b2",
        "\u00a01",
        "\u20281",
        "\x1c1",
        "1\0",
        "abc",
        "--1",
    ),
    *(
        "true",
        "True",
        "TRUE",
        "tRuE",
        "false",
        "False",
        " true",
        "t",
        "yes",
        "on",
        "1e16",
        "1" * 400,
    ),
    *("9007199254740992", "9007199254740993", "9007199254740993.0", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "-9223372036854775809", "0" * 30 + "1"),
    *(
        "10000000000000000",
        "2024-01-01",
        "1e",
        "e1",
        ".",
        "+",
        "1d",
        "1f",
        "1L",
        "\u212a",
        "1" * 5000,
    ),
]
PLAIN = [
    *(
        None,
        True,
        False,
        0,
        1,
        2,
        -3,
        10,
        2**53,
        1.0,
        0.0,
        -0.0,
        1.5,
        1e-5,
        1e16,
        1e21,
        1e22,
        5e-324,
    ),
    *(1e300, -1e300, 1.7976931348623157e308, 0.1, 123456789.5, *TEXTS),
]
INTEGERS = [2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1, -(2**63), -(2**63) - 1, 2**64, 10**30, 10**400]
OTHERS = [
    *(math.nan, math.inf, -math.inf, np.nan, np.float32(1.5), np.float32(0.1), np.float16(1.0)),
    *(np.float64("inf"), np.float32("nan"), np.longdouble(1.5), np.int8(1), np.uint64(2**64 - 1)),
    *(np.int64(2**53 + 1), np.True_, np.False_, np.str_("01"), np.str_("True"), pd.NA, pd.NaT),
    *(Decimal("1.0"), Decimal("1.50"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")),
    *(
        Decimal("1e400"),
        Fraction(3, 2),
        Fraction(10**400),
        1 + 0j,
        np.complex64(1),
        b"1",
        [1],
        (1,),
    ),
    *(
        {},
        {1},
        object(),
        datetime.date(2024, 1, 1),
        datetime.timedelta(1),
        np.datetime64("2024-01-01"),
    ),
    *(np.timedelta64(1, "D"), np.timedelta64("NaT"), pd.Timestamp(0), pd.Timedelta(1), range(1)),
]


@pytest.mark.parametrize("name", MODELS)
def test_all_read_alike(name):
    """Text, numbers, truth values and large integers are read or refused as the model does."""
    for value in PLAIN:
        right, text = by_model(name, value), json.dumps(value)
        assert (by_python(name, value), by_javascript(name, text)) == (right, right), repr(value)
    for value in INTEGERS:
        right = by_model(name, value)
        assert (by_python(name, value), by_javascript(name, f"{value}n")) == (right, right), value


@pytest.mark.parametrize("name", MODELS)
def test_python_reads_values_of_other_types(name):
    """Scalars of NumPy, decimals, dates and other objects are read or refused as the model does."""
    for value in OTHERS:
        assert by_python(name, value) == by_model(name, value), repr(value)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("text", "value"), [("Infinity", math.inf), ("-Infinity", -math.inf)])
def test_javascript_reads_infinity(name, text, value):
    """An infinite number is refused as a number and is a label of its own."""
    assert by_javascript(name, text) == by_model(name, value)


@given(
    st.text(st.sampled_from("01.5eE+-_ \tnaifxtrue\u0661"), max_size=8)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.floats(-20, 20).map(repr)
    | st.integers(-(2**53), 2**53)
)
@examples(300)
def test_random_values_are_read_alike(value):
    """Text that looks like a number, and numbers, are read alike everywhere."""
    for name in MODELS:
        right = by_model(name, value)
        found = by_python(name, value), by_javascript(name, json.dumps(value))
        assert found == (right, right), (name, value)


def test_an_unseen_integer_is_not_taken_for_its_neighbour():
    """Labels that are large integers are told apart, in text and as integers."""
    known = by_model("label", 2**53)
    assert by_model("label", str(2**53)) == known
    assert by_model("label", 2**53 + 1) == by_model("label", str(2**53 + 1)) == 0.0 != known
