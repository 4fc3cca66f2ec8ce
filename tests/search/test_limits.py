import numpy as np
import pytest

from rulewright.data import ColumnSchema, DataError, Schema
from rulewright.kernels import Op
from rulewright.search import Constraints, SearchLimits

SCHEMA = Schema(
    (ColumnSchema("a", "numeric"), ColumnSchema("b", "nominal", ("x", "y"))), named=True
)


def bits(*operators):
    return sum(1 << op for op in operators)


VALUE_BITS = bits(Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.EQUAL, Op.NOT_EQUAL)


def compiled(unit=1.0, **options):
    """Compile limits, of which the constraints may be given as a dict."""
    constraints = Constraints.of(options.pop("constraints", None))
    return SearchLimits(**options, constraints=constraints).compile(SCHEMA, unit)


def test_without_limits_every_value_condition_is_allowed():
    """The default allows all operators on values and none on presence, in one group."""
    limits = compiled(2.0**-50)
    assert limits.up_operators.tolist() == limits.down_operators.tolist() == [VALUE_BITS] * 2
    assert limits.required.tolist() == [0, 0]
    assert limits.groups[0] & limits.groups[1]
    assert (limits.max_conditions, limits.min_weight) == (-1, 0)


def test_limits_are_translated_to_columns_and_steps():
    """Names become positions, weights become fixed-point steps."""
    constraints = {"operators": {"b": ["=", "is known"]}, "required": ["b"]}
    limits = compiled(
        0.25, max_conditions=3, min_weight=2.5, missing_conditions=True, constraints=constraints
    )
    expected = [bits(*Op), bits(Op.EQUAL, Op.KNOWN)]
    assert limits.up_operators.tolist() == limits.down_operators.tolist() == expected
    assert limits.required.tolist() == [0, 1]
    assert (limits.max_conditions, limits.min_weight) == (3, 10)


def test_a_forbidden_column_has_no_operator():
    """Forbidden columns are never looked at."""
    limits = compiled(constraints={"forbidden": ["a"]})
    assert limits.up_operators.tolist() == limits.down_operators.tolist() == [0, VALUE_BITS]
    assert limits.up_operators.dtype == limits.required.dtype == np.uint8


def test_operators_named_by_the_expert_win():
    """Without != and presence in general, a column may still have them."""
    limits = compiled(not_equal=False)
    assert limits.up_operators.tolist() == [VALUE_BITS - bits(Op.NOT_EQUAL)] * 2
    limits = compiled(not_equal=False, constraints={"operators": {"b": ["!=", "is missing"]}})
    assert limits.up_operators[1] == bits(Op.NOT_EQUAL, Op.MISSING)


@pytest.mark.parametrize(
    ("direction", "up", "down"),
    [
        ("increasing", Op.GREATER_EQUAL, Op.LESS_EQUAL),
        ("decreasing", Op.LESS_EQUAL, Op.GREATER_EQUAL),
    ],
)
def test_monotone_columns_have_one_direction_per_vote(direction, up, down):
    """Votes up use the end that the direction leads to, votes down the other; presence is free."""
    operators = {"a": ["<=", ">=", "is missing"]}
    limits = compiled(constraints={"monotone": {"a": direction}, "operators": operators})
    assert limits.up_operators[0] == bits(up, Op.MISSING)
    assert limits.down_operators[0] == bits(down, Op.MISSING)
    assert limits.up_operators[1] == limits.down_operators[1] == VALUE_BITS


def test_groups_become_bits():
    """Columns share a bit exactly when a group, or being in none, joins them."""
    columns = tuple(ColumnSchema(name, "numeric") for name in "abcde")
    constraints = Constraints(groups=[["a", "b"], ["b", "c"]])
    groups = SearchLimits(constraints=constraints).compile(Schema(columns, True), 1.0).groups
    assert groups.dtype == np.uint64
    together = [[bool(one & other) for other in groups] for one in groups]
    expected = [
        [True, True, False, False, False],
        [True, True, True, False, False],
        [False, True, True, False, False],
        [False, False, False, True, True],
        [False, False, False, True, True],
    ]
    assert together == expected


def test_constraints_are_checked_against_the_columns():
    """What the table cannot meet, and more required columns than conditions, are errors."""
    with pytest.raises(DataError, match="forbidden: there is no column 'z'"):
        compiled(constraints={"forbidden": ["z"]})
    with pytest.raises(DataError, match=r"must use 2 columns, but max_conditions is 1\. Raise it"):
        compiled(max_conditions=1, constraints={"required": ["a", "b"]})
    assert compiled(max_conditions=2, constraints={"required": ["a", "b"]}).max_conditions == 2
