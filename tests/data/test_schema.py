from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from rulewright.data import ColumnSchema, DataError, DataTypeError, Schema, label_of, read_table

SCHEMA = Schema(
    (ColumnSchema("age", "numeric"), ColumnSchema("color", "nominal", ("red", "blue"))), named=True
)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("a b", "a b"),
        (np.str_("x"), "x"),
        (True, "true"),
        (np.False_, "false"),
        (3, "3"),
        (3.0, "3"),
        (-0.0, "0"),
        (np.int8(-3), "-3"),
        (np.float32(0.5), "0.5"),
        (Decimal("3.00"), "3"),
        (Decimal("0.1"), "0.1"),
        (Fraction(1, 4), "0.25"),
        (0.1, "0.1"),
    ],
)
def test_label_of(value, label):
    """Labels are text, and equal numbers of any type have the same one."""
    assert label_of(value) == label


def test_label_of_refuses_other_types():
    """A value that is neither text nor number has no label."""
    with pytest.raises(DataTypeError, match="not 'dict'"):
        label_of({})


def test_lookup():
    """Columns are found by name and position."""
    assert SCHEMA.names == ("age", "color")
    assert SCHEMA.index("color") == 1
    assert SCHEMA["color"].labels == ("red", "blue")
    assert SCHEMA["color"].label_index == {"red": 0, "blue": 1}
    assert len(SCHEMA) == 2
    assert "age" in SCHEMA
    assert [column.name for column in SCHEMA] == ["age", "color"]
    with pytest.raises(DataError, match="no column 'size'"):
        SCHEMA["size"]


def test_printed_aligned():
    """The printed schema is an aligned table that shortens long lists of labels."""
    many = ColumnSchema("id", "nominal", tuple("abcdefghij"))
    lines = str(Schema((*SCHEMA.columns, many), named=True)).splitlines()
    assert lines[0] == "column  kind     labels"
    assert lines[1] == "age     numeric"
    assert lines[2] == "color   nominal  red, blue"
    assert lines[3].endswith("g, h, ... (10 labels)")


def test_json_round_trip():
    """Plain data gives back an equal schema."""
    boolean = ColumnSchema("ok", "nominal", ("false", "true"), "boolean")
    schema = Schema((*SCHEMA.columns, boolean), named=False)
    assert Schema.from_json(schema.to_json()) == schema


GOOD = {"name": "a", "kind": "nominal", "labels": ["x"], "label_type": "string"}


@pytest.mark.parametrize(
    "obj",
    [
        None,
        [],
        {"named": True},
        {"named": 1, "columns": [GOOD]},
        {"named": True, "columns": {}},
        {"named": True, "columns": []},
        {"named": True, "columns": [GOOD, GOOD]},
        {"named": True, "columns": [GOOD], "extra": 1},
        *(
            {"named": True, "columns": [column]}
            for column in (
                3,
                {"name": 3, "kind": "numeric"},
                {"name": "a", "kind": "time"},
                {"name": "a", "kind": ["numeric"]},
                {"name": "a", "kind": "numeric", "labels": []},
                {"name": "a", "kind": "nominal"},
                GOOD | {"labels": ["x", "x"]},
                GOOD | {"labels": [1]},
                GOOD | {"labels": "x"},
                GOOD | {"label_type": "date"},
                GOOD | {"label_type": {}},
            )
        ),
    ],
)
def test_from_json_refuses(obj):
    """Broken plain data is refused with a clean error."""
    with pytest.raises(DataError):
        Schema.from_json(obj)


def test_numpy_strings_as_names_become_plain():
    """Columns named by NumPy's strings are exported by their plain names."""
    X = {np.str_("a"): [1.0, 2.0, 3.0, 4.0] * 10}
    schema = read_table(X).schema
    assert [type(name) for name in schema.names] == [str]
