import numpy as np
import pytest

from rulewright.data import ColumnSchema, DataError, Schema
from rulewright.kernels import Op
from rulewright.search import SearchLimits

SCHEMA = Schema(
    (ColumnSchema("a", "numeric"), ColumnSchema("b", "nominal", ("x", "y"))), named=True
)


def bits(*operators):
    return sum(1 << op for op in operators)


VALUE_BITS = bits(Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL, Op.NOT_EQUAL)


def test_without_limits_every_value_condition_is_allowed():
    """The default allows all operators on values and none on presence."""
    limits = SearchLimits().compile(SCHEMA, 2.0**-50)
    assert limits.operators.tolist() == [VALUE_BITS, VALUE_BITS]
    assert limits.required.tolist() == [0, 0]
    assert (limits.max_conditions, limits.min_weight) == (-1, 0)


def test_limits_are_translated_to_columns_and_steps():
    """Names become positions, weights become fixed-point steps."""
    limits = SearchLimits(
        max_conditions=3,
        min_weight=2.5,
        missing_conditions=True,
        operators={"b": ("=", "is known")},
        required=("b",),
    ).compile(SCHEMA, 0.25)
    assert limits.operators.tolist() == [bits(*Op), bits(Op.EQUAL, Op.KNOWN)]
    assert limits.required.tolist() == [0, 1]
    assert (limits.max_conditions, limits.min_weight) == (3, 10)


def test_a_forbidden_column_has_no_operator():
    """Forbidden columns are never looked at."""
    limits = SearchLimits(forbidden=("a",)).compile(SCHEMA, 1.0)
    assert limits.operators.tolist() == [0, VALUE_BITS]
    assert limits.operators.dtype == limits.required.dtype == np.uint8


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (SearchLimits(forbidden=("z",)), "forbidden: there is no column 'z'"),
        (SearchLimits(required=("z",)), "required: there is no column 'z'"),
        (SearchLimits(operators={"z": ("=",)}), "operators: there is no column 'z'"),
        (SearchLimits(operators={"a": ("~",)}), "'~' for column 'a'"),
        (SearchLimits(forbidden=("a",), required=("a",)), "'a' is both forbidden and required"),
    ],
)
def test_wrong_names_are_named(limits, message):
    """Errors name the option, the column and the operator."""
    with pytest.raises(DataError, match=message):
        limits.compile(SCHEMA, 1.0)
