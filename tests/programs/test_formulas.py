"""Bodies that are formulas, and what is added where they are known not to hold, in all targets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_SCHEMA, conditions
from rules.builders import formulas
from rulewright.data import read_like
from rulewright.model import AdditiveRules
from rulewright.programs.parity import adversarial_rows
from rulewright.programs.program import positive
from rulewright.rules import Adds, Coverage, Not, Rule, parse_formula

pytestmark = pytest.mark.native


def additive(*rules):
    """Make a model of two classes from bodies, heads and what the rules add."""
    made = [
        Rule(body, Adds(head, *added), Coverage(1.0, (1.0, 1.0))) for body, head, *added in rules
    ]
    return AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.25, -0.5), tuple(made))


on_columns = st.sampled_from(CHURN_SCHEMA.columns).flatmap(conditions)
amounts = st.sampled_from([0.1, -0.3, 1.5])
rules = st.tuples(
    formulas(on_columns),
    st.sampled_from([0, 1, (0, 1)]),
    amounts,
    amounts | st.just(0.0),
)


@given(st.lists(rules, max_size=4))
@examples(60)
def test_formulas_are_evaluated_alike_everywhere(rules):
    """And, or, not and the third value have the answers of the formulas in every target."""
    model = additive(*rules)
    model.verify_exports()
    rows = adversarial_rows(model.program)
    table = read_like(rows, model.schema)
    expected = np.tile(np.array(model.intercepts), (len(table), 1))
    for rule in model.rules:
        outcome = rule.outcome
        expected[rule.body.holds(table), rule.head.classes] += outcome.value
        expected[rule.body.fails(table), rule.head.classes] += outcome.otherwise
    np.testing.assert_array_equal(model.scores(rows), expected)
    covers = [rule.body.holds(table) for rule in model.rules]
    np.testing.assert_array_equal(model.covers(rows).T, np.reshape(covers, (-1, len(table))))
    bits = model.cover_bits(rows).view(np.uint8)
    unpacked = np.unpackbits(bits, axis=1, bitorder="little")[:, : len(table)]
    np.testing.assert_array_equal(unpacked, np.reshape(covers, (-1, len(table))))


@given(formulas(on_columns))
@examples(100)
def test_a_positive_formula_holds_on_the_same_rows(formula):
    """A formula can be written without "not", and so can its opposite."""
    table = read_like(adversarial_rows(additive((formula, 0, 1.0)).program), CHURN_SCHEMA)
    for one in (formula, Not(formula)):
        written = positive(one, {})
        assert "Not(" not in repr(written)
        np.testing.assert_array_equal(written.holds(table), one.holds(table))


def test_unknown_adds_nothing():
    """A row of a missing value gets neither what is added where the rule holds nor otherwise."""
    model = additive((parse_formula("age <= 34 or not color = red"), 1, 1.0, -1.0))
    rows = {"age": [30.0, 40.0, None, None], "color": ["red", "red", "red", None]}
    np.testing.assert_array_equal(model.scores(rows)[:, 1] + 0.5, [1.0, -1.0, 0.0, 0.0])


def test_staged_scores_and_scaling_keep_what_is_added_otherwise():
    """The scores of the last stage are the scores, and a scaled model scales both amounts."""
    model = additive(
        (parse_formula("age <= 34"), 1, 1.0, -1.0), (parse_formula("age > 30"), 0, 0.5)
    )
    rows = {"age": [30.0, 32.0, 40.0, None], "color": [None] * 4}
    *_, last = model.staged_scores(rows)
    np.testing.assert_array_equal(last, model.scores(rows))
    scaled = model.scale_scores(2.0, (0.0, 0.0))
    np.testing.assert_array_equal(scaled.scores(rows), 2.0 * model.scores(rows))
    twice = model.with_rules([*model.rules, *model.rules])
    np.testing.assert_array_equal(twice.merge_rules().scores(rows), twice.scores(rows))
    assert len(twice.merge_rules()) == 2
