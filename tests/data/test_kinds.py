import numpy as np
import pytest

from rulewright.data import ColumnSchema, DataError
from rulewright.data.kinds import read_column
from rulewright.data.source import Raw


def raw(*values, declared=None):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return Raw(array, declared)


def test_numbers_are_numeric_unless_named_nominal():
    """Few distinct integers stay numeric; named nominal they become number labels."""
    numeric = read_column("a", raw(1, 2, None))
    assert numeric.schema == ColumnSchema("a", "numeric")
    np.testing.assert_array_equal(numeric.values, [1, 2, np.nan])
    nominal = read_column("a", raw(10, 2.0, None), "nominal")
    assert nominal.schema == ColumnSchema("a", "nominal", ("2", "10"), "number")
    assert nominal.values.tolist() == [1, 0, -1]
    assert len(nominal) == 3


def test_declared_labels_keep_order_and_unused():
    """A declaration gives the order, unused labels stay, 1 and "1" are one label."""
    column = read_column("a", raw("x", None, "z", declared=("z", "y", "x")))
    assert column.schema.labels == ("z", "y", "x")
    assert column.values.tolist() == [2, -1, 0]
    assert read_column("a", raw("1", 1, declared=(1, "1"))).schema.labels == ("1",)
    assert read_column("a", raw(None, declared=())).values.tolist() == [-1]


@pytest.mark.parametrize("values", [raw(True, None), raw(True, declared=(True,))])
def test_booleans_always_have_both_labels(values):
    """One boolean seen or declared is enough for both labels."""
    column = read_column("a", values)
    assert column.schema == ColumnSchema("a", "nominal", ("false", "true"), "boolean")
    assert column.values[0] == 1


def test_text_named_numeric():
    """Text and booleans named numeric are parsed; the first bad value is named."""
    np.testing.assert_array_equal(
        read_column("a", raw("1.5", None, "2"), "numeric").values, [1.5, np.nan, 2]
    )
    np.testing.assert_array_equal(
        read_column("a", raw(True, None), "numeric").values, [1.0, np.nan]
    )
    assert read_column("a", Raw(np.array([False])), "numeric").values.tolist() == [0.0]
    with pytest.raises(DataError, match=r"'a' must be numeric, but row 1 .* '2x'"):
        read_column("a", raw("1", "2x", "y"), "numeric")


@pytest.mark.parametrize("kind", [None, "nominal", "numeric"])
def test_infinity_is_refused_in_any_kind(kind):
    """An infinite value is refused whatever the column's kind."""
    with pytest.raises(DataError, match="infinity: column 'a', row 1"):
        read_column("a", raw(1.0, float("inf")), kind)
    with pytest.raises(DataError, match="infinity"):
        read_column("a", raw("1", "inf"), "numeric")


def test_longdouble_beyond_float64_is_infinite():
    """A number that float64 cannot hold is refused without a warning."""
    with pytest.raises(DataError, match="infinity"):
        read_column("a", Raw(np.array([np.longdouble("1e4000")])))


def test_like_codes_unseen_and_missing_apart():
    """Against a schema, unseen labels are -2 and missing ones -1."""
    schema = ColumnSchema("a", "nominal", ("y", "x"))
    assert schema.type.read_like(schema, raw("x", "w", None, "y")).values.tolist() == [1, -2, -1, 0]


@pytest.mark.parametrize(
    ("schema", "values", "codes"),
    [
        (ColumnSchema("a", "nominal", ("1", "2"), "number"), raw("1.0", " 2 ", "x"), [0, 1, -2]),
        (ColumnSchema("a", "nominal", ("1", "2"), "string"), raw(1, 2.0, 3), [0, 1, -2]),
        (ColumnSchema("a", "nominal", ("01", "1"), "string"), raw("01", "1"), [0, 1]),
        (ColumnSchema("a", "nominal", ("false", "true"), "boolean"), raw("True", "x"), [1, -2]),
        (ColumnSchema("a", "nominal", ("false", "true"), "boolean"), raw(1, 0.0), [1, 0]),
        (ColumnSchema("a", "nominal", (str(2**62 + 1),), "number"), raw(2**62 + 1), [0]),
    ],
)
def test_like_knows_other_ways_to_write_a_label(schema, values, codes):
    """Numbers and booleans are recognised in the form another container gives them."""
    assert schema.type.read_like(schema, values).values.tolist() == codes


def test_like_numeric():
    """A numeric column takes numeric text and names text that is not."""
    schema = ColumnSchema("a", "numeric")
    assert schema.type.read_like(schema, raw("1", "2")).values.tolist() == [1, 2]
    with pytest.raises(DataError, match=r"'a' must be numeric, but row 0 .* 'red'"):
        schema.type.read_like(schema, raw("red", 2))
