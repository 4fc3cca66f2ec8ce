"""The text of a model, read back alone, predicts as the model does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, churn_model, models, saying_models
from rules.builders import a_rule
from rulewright import CompactRulesClassifier, CompactRulesRegressor, RipperClassifier, read_table
from rulewright.model import (
    AdditiveRules,
    DecisionList,
    DnfModel,
    IsotonicSteps,
    LinearTerm,
    RegressionRules,
    Threshold,
    parse_model,
)
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Adds, Head, parse_conjunction

pytestmark = pytest.mark.native

LOANS = read_table("examples/loans.csv", target="repaid")
MORE = read_table("examples/loans.csv", target="amount", drop=["repaid"], task="regression")
AGE = LinearTerm("age", 20.0, 60.0, 40.125, 10.0, (0.0, 0.1 + 0.2))


def random_rows(table, n_rows=10_000):
    """Draw each column by itself, so that rows are new, and some values beyond those known."""
    random, frame = np.random.default_rng(7), table.X.to_frame("pandas")
    rows = {}
    for name in table.names:
        values = frame[name].to_numpy(dtype=object)[random.integers(0, len(table), n_rows)]
        if table[name].schema.kind == "numeric":
            noise = random.normal(scale=5.0, size=n_rows)
            values = np.where(random.random(n_rows) < 0.5, values.astype(float) + noise, values)
        rows[name] = values
    return rows


@pytest.mark.parametrize(
    "learner",
    [
        CompactRulesClassifier(random_state=0),
        CompactRulesClassifier(linear=True, random_state=0, max_rules=10),
        RipperClassifier(random_state=0),
    ],
)
def test_text_alone_gives_the_probabilities(learner):
    """With all digits to the last ones; printed with three decimals within 0.001."""
    model = learner.fit(LOANS).model_
    rows = random_rows(LOANS)
    known = model.predict_proba(rows)
    exact, printed = parse_model(model.to_text()), parse_model(str(model))
    np.testing.assert_allclose(exact.predict_proba(rows), known, rtol=0, atol=1e-9)
    np.testing.assert_allclose(printed.predict_proba(rows), known, rtol=0, atol=1e-3)
    assert exact.predict(rows).tolist() == model.predict(rows).tolist()


def test_text_alone_gives_the_numbers():
    """The text of regression rules predicts the same numbers, the printed one nearly so."""
    model = CompactRulesRegressor(6, size="max", linear=True, random_state=0).fit(MORE).model_
    rows = random_rows(MORE)
    known = model.predict(rows)
    np.testing.assert_allclose(parse_model(model.to_text()).predict(rows), known, rtol=1e-9)
    printed = parse_model(str(model)).predict(rows)
    np.testing.assert_allclose(printed, known, atol=1e-3 * np.ptp(known), rtol=0)


@given(models(), st.sampled_from([None, Threshold(0.3, 0), Threshold(0.123456789, 1)]))
@examples(100)
def test_every_additive_text_reads_back(model, decision):
    """Strange names, labels, thresholds and points do not break the grammar."""
    model = model.with_steps(None).with_decision(decision if len(model.classes) == 2 else None)
    again = parse_model(model.to_text(), model.schema)
    rows = adversarial_rows(model.program)
    np.testing.assert_allclose(
        again.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-9
    )
    assert again.class_names == model.class_names
    assert again.decision == model.decision
    assert (
        again.to_text().splitlines()[0].split(", ")[1:]
        == (model.to_text().splitlines()[0].split(", ")[1:])
    )


@given(saying_models(DecisionList))
@examples(60)
def test_every_text_of_a_list_reads_back(model):
    """Rules keep their order, and the default its probabilities."""
    again = parse_model(model.with_decision(None).to_text(), model.schema)
    rows = adversarial_rows(model.program)
    np.testing.assert_allclose(
        again.predict_proba(rows), model.predict_proba(rows), rtol=0, atol=1e-9
    )
    assert [rule.body for rule in again] == [rule.body for rule in model]


def test_steps_read_back_range_by_range():
    """The ranges of a step function are rules that predict the same; unions and lines too."""
    texts = [("age <= 30", 0, 1.5), ("age < 50", 1, 0.25), ("age >= 50", 0, -0.75), ("true", 1, 1)]
    rules = [a_rule(parse_conjunction(t), h, v, 2.0, (1.0, 1.0)) for t, h, v in texts]
    otherwise = rules[3].with_outcome(Adds(1, 1.0, -0.5))
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.5, 0.0), (*rules, otherwise), linear=(AGE,))
    assert "1-3" in model.to_text()
    again = parse_model(model.to_text())
    assert len(again) == 5
    rows = {"age": [20.0, 30.0, 30.5, 49.9, 50.0, 80.0, None]}
    assert again.predict_proba(rows) == pytest.approx(model.predict_proba(rows), abs=1e-12)
    assert again.linear[0].slopes == AGE.slopes


def test_several_classes_and_unions():
    """Heads of several classes are read by their words, also with names like those."""
    rules = (
        a_rule(parse_conjunction("age <= 34"), Head(1, 2), 0.5, 4.0, (1.0, 2.0, 1.0)),
        a_rule(parse_conjunction('color = "red"'), Head(0, 1), 0.25, 4.0, (1.0, 2.0, 1.0)),
        a_rule(parse_conjunction("age is missing"), 2, -0.125, 4.0, (1.0, 2.0, 1.0)),
    )
    names = ["low, very", "at least", 'say "high"']
    model = AdditiveRules(CHURN_SCHEMA, names, (0.1, -0.2, 0.0), rules)
    for text in (model.to_text(), str(model)):
        again = parse_model(text)
        assert again.class_names == tuple(names)
        assert [rule.outcome for rule in again] == [rule.outcome for rule in model]
        assert again.predict_proba(CHURN_ROWS) == pytest.approx(model.predict_proba(CHURN_ROWS))


def test_texts_that_do_not_say_all_are_refused():
    """Calibrated steps, costs, rules left out and other forms are named, with a remedy."""
    model = churn_model()
    steps = model.with_steps((IsotonicSteps((), (0.5,)),) * 2)
    many = model.with_rules(model.rules * 10)
    dnf = DnfModel(CHURN_SCHEMA, ["a", "b"], (), 0, (1.0, 1.0), (1.0, 1.0))
    for text, message in [
        (steps.to_text(), "calibrated by steps, which the text does not list; save it as a file"),
        (model.with_decision(1.0 - np.eye(2)).to_text(), "costs, which the text does not list"),
        (str(many), r"leaves out rules; parse model.to_text\(\)"),
        (dnf.to_text(), "DnfModel does not say all that it predicts; save the model as a file"),
        ("6 rules", "line 1: expected the title of a model"),
        ("", "line 1"),
        (model.to_text().replace("+0.83", "much"), "expected points, found 'much'"),
        (model.to_text().replace("active != false", "active !"), "expected a name, number or sign"),
        ("\n".join(model.to_text().splitlines()[:4]), "the text has no table of rules"),
        (model.to_text().replace("start", "begin"), "with how many points rows start"),
    ]:
        with pytest.raises(ValueError, match=message):
            parse_model(text)


def test_a_model_without_rules_reads_back():
    """The start alone is a model."""
    model = RegressionRules(CHURN_SCHEMA, 12.5, ())
    assert parse_model(str(model)).predict({"x0": [1.0, 2.0]}).tolist() == [12.5, 12.5]
    empty = replace(churn_model(), rules=())
    assert parse_model(empty.to_text()).intercepts[1] == pytest.approx(-0.3)
