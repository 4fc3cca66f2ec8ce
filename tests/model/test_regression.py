"""Models of numbers and linear terms: by hand, saved, explained and exported."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, conditions, saved, write
from rules.builders import formulas
from rulewright.data import read_like
from rulewright.model import AdditiveRules, ModelFileError, RegressionRules, load_model
from rulewright.model.forms.terms import LinearTerm
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Adds, Coverage, NumberCoverage, Rule, parse_conjunction

pytestmark = pytest.mark.native

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
AGE = LinearTerm("age", 20.0, 60.0, 40.0, 10.0, (0.5,))


def rule(text, response, otherwise=0.0):
    return Rule(parse_conjunction(text), Adds(0, response, otherwise), NumberCoverage(4, 3.5, 2))


MODEL = RegressionRules(
    CHURN_SCHEMA, 10.0, (rule("color = red", -2.0), rule("age <= 34", 3.0, -1.0)), linear=(AGE,)
)


@st.composite
def regressions(draw):
    """Draw models with any formulas, amounts and lines."""
    bodies = draw(
        st.lists(formulas(st.sampled_from(CHURN_SCHEMA.columns).flatmap(conditions)), max_size=4)
    )
    rules = [Rule(body, Adds(0, draw(NUMBERS), -1.5), NumberCoverage(1, 0, 0)) for body in bodies]
    low, high = sorted((draw(NUMBERS), draw(NUMBERS)))
    line = LinearTerm("age", low, high, draw(NUMBERS), 1.0, (draw(NUMBERS),))
    return RegressionRules(CHURN_SCHEMA, draw(NUMBERS), tuple(rules), linear=(line,))


def test_a_model_by_hand():
    """The number is the intercept plus what fires plus the line; missing adds nothing."""
    rows = {"age": [30.0, 70.0, None], "color": ["red", "blue", "red"], "active": [None] * 3}
    rows |= {name: [None] * 3 for name in CHURN_SCHEMA.names if name not in rows}
    assert MODEL.predict(rows).tolist() == [10 - 2 + 3 - 5, 10 - 1 + 10, 10 - 2]
    text = str(MODEL)
    assert text.splitlines() == [
        "RegressionRules: 2 rules, one number",
        "start: 10",
        "Each rule that applies adds its number, in units of the target.",
        "A rule whose conditions are known to fail adds the number after 'otherwise'.",
        "line: +0.5 per unit of age above 40 (values clipped to 20 to 60)",
        "mean: average target of the training rows that a rule covers, with 95 % interval",
        "#              adds  rows       mean [95 %]  rule",
        "1  +3, otherwise -1     4  3.5 [1.54, 5.46]  age <= 34",
        "2                -2     4  3.5 [1.54, 5.46]  color = red",
    ]
    explained = MODEL.explain(rows)
    assert str(explained).splitlines()[7:12] == [
        "row 1: 19",
        "  adds  reason",
        "    10  start",
        "   +10  line of age",
        "    -1  rule 1: not (age <= 34)",
    ]
    assert explained.text(max_reasons=1).splitlines()[:5] == [
        "row 0: 6",
        "  adds  reason",
        "    10  start",
        "    -5  line of age",
        "    +1  2 more rules",
    ]
    assert explained.to_dict()["rows"][1] == {
        "row": 1,
        "prediction": 19.0,
        "rules": [],
        "linear": [{"column": "age", "added": 10.0}],
    }
    table = MODEL.rules_table()
    assert table["adds"] == [-2.0, 3.0]
    assert table["mean"] == [3.5, 3.5]
    assert "precision" not in table
    assert MODEL[:1].predict(rows).tolist() == [10 - 2 - 5, 20.0, 8.0]


@given(regressions())
@examples(30)
def test_every_export_answers_alike(model):
    """SQL, Python and JavaScript give the number of the model, and that is the definition's."""
    assert len(model.verify_exports().targets) == 4
    table = read_like(adversarial_rows(model.program), CHURN_SCHEMA)
    expected = np.full(len(table), model.intercept)
    for one in model.rules:
        expected = expected + np.where(one.body.holds(table), one.outcome.value, 0.0)
        expected = expected + np.where(one.body.fails(table), one.outcome.otherwise, 0.0)
    for line in model.linear:
        expected = expected + line.slopes[0] * line.units(table)
    np.testing.assert_allclose(model.predict(table), expected, rtol=1e-12, atol=1e-6)


@given(model=regressions())
@examples(20)
def test_a_loaded_model_is_the_same(tmp_path_factory, model):
    """Saving and loading changes no number."""
    path = tmp_path_factory.mktemp("m") / "model.json"
    model.save(path)
    loaded = load_model(path)
    assert loaded == model
    rows = adversarial_rows(model.program)
    np.testing.assert_array_equal(loaded.predict(rows), model.predict(rows))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"intercept": "1"}, "intercept"),
        ({"intercept": 1e308, "linear": [{**AGE.to_json(), "slopes": [1e308]}]}, "sums"),
        ({"linear": [{**AGE.to_json(), "slopes": [1.0, 2.0]}]}, "2 slopes instead of 1"),
        ({"linear": [{**AGE.to_json(), "column": "color"}]}, "no numeric column 'color'"),
        ({"linear": [AGE.to_json(), AGE.to_json()]}, "two linear terms"),
        ({"linear": [{**AGE.to_json(), "low": 61.0}]}, "low <= high"),
        ({"linear": [{"column": "age"}]}, "needs the keys"),
        ({"classes": {"type": "string", "values": ["a"]}}, "unknown fields"),
    ],
)
def test_wrong_files_are_refused(tmp_path, change, message):
    """Each wrong field ends in an error that names it."""
    path = tmp_path / "model.json"
    MODEL.save(path)
    document = json.loads(path.read_text())
    write(path, {**document, **change})
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


def test_coverages_fit_the_target(tmp_path):
    """Rules for numbers do not fit models of classes, nor the reverse."""
    of_classes = Rule(parse_conjunction("age <= 3"), Adds(0, 1.0), Coverage.of((1.0, 2.0)))
    with pytest.raises(ValueError, match="mean and deviation"):
        RegressionRules(CHURN_SCHEMA, 0.0, (of_classes,))
    with pytest.raises(ValueError, match="weights of the classes"):
        AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 0.0), MODEL.rules)
    assert saved(tmp_path / "m.json")["form"] == "additive"


def test_additive_rules_have_lines_too():
    """A linear term moves the scores of all classes, in every stage and every export."""
    line = LinearTerm("age", 20.0, 60.0, 40.0, 10.0, (0.0, 0.25))
    one = Rule(parse_conjunction("color = red"), Adds(1, 2.0), Coverage.of((1.0, 3.0)))
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 0.5), (one,), linear=(line,))
    *_, last = model.staged_scores(CHURN_ROWS)
    np.testing.assert_array_equal(last, model.scores(CHURN_ROWS))
    assert len(model.verify_exports().targets) == 4
    assert "line: +0.25 points for b per unit of age above 40" in str(model)
    assert "line of age" in str(model.explain(CHURN_ROWS))
    doubled = model.scale_scores(2.0, (0.0, 0.0))
    np.testing.assert_allclose(doubled.scores(CHURN_ROWS), 2 * model.scores(CHURN_ROWS))
