import numpy as np
import pytest
from hypothesis import given

from budget import examples
from model.builders import churn_model, models
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema, read_like
from rulewright.model import AdditiveRules
from rulewright.programs.covers import Coder
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Conjunction, Labels, Range, negate, parse_condition


def covers(model, table, **options):
    bodies = [rule.body for rule in model.rules]
    coder = Coder(bodies, model.schema, **options)
    return coder.compile(bodies).matrix(coder.codes(table, 1), 1)


def test_only_used_columns_are_compiled():
    """Columns without a condition are not needed."""
    assert churn_model().columns == ("age", "color", "plan", "active")


@pytest.mark.native
@given(models())
@examples(60)
def test_compiled_covers_are_those_of_the_conditions(model):
    """Compiled rules cover what their conditions say, on and beside every threshold."""
    table = read_like(adversarial_rows(model.program), model.schema)
    expected = [rule.body.holds(table) for rule in model.rules]
    np.testing.assert_array_equal(covers(model, table).T, np.reshape(expected, (-1, len(table))))


@pytest.mark.native
@pytest.mark.parametrize("max_cuts", [1, 2, 3, 100])
def test_many_thresholds_are_coded_in_parts(max_cuts):
    """A column with more thresholds than one code can hold gives the same covers."""
    schema = Schema((ColumnSchema("x", "numeric"),), named=True)
    bounds = [(low, high) for low in range(5) for high in range(low + 1, 6)]
    ranges = [Range("x", low, high, low % 2 == 0, high % 2 == 0) for low, high in bounds]
    ranges += [Range("x", low=2.0), Range("x", high=3.0, high_open=True)]
    tests = [*ranges, *map(negate, ranges), parse_condition("x < 1 (or 2 <= x <= 3 or x > 4)")]
    rules = tuple(a_rule(Conjunction((test,)), 0, 1.0, 1.0, (1.0,)) for test in tests)
    model = AdditiveRules(schema, ["a"], (0.0,), rules)
    table = read_like({"x": [None, *np.arange(-1.0, 7.0, 0.25)]}, schema)
    expected = [rule.body.holds(table) for rule in rules]
    np.testing.assert_array_equal(covers(model, table, max_cuts=max_cuts).T, expected)


def test_more_labels_than_codes_are_refused():
    """Rules that name more labels than codes can hold are refused with the column's name."""
    labels = tuple(f"{i:06d}" for i in range(70_000))
    schema = Schema((ColumnSchema("id", "nominal", labels),), named=True)
    rule = a_rule(Conjunction((Labels("id", labels),)), 0, 1.0, 1.0, (1.0,))
    model = AdditiveRules(schema, ["a"], (0.0,), (rule,))
    with pytest.raises(ValueError, match="'id'"):
        model.scores({"id": ["000000"]})
