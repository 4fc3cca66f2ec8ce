"""Balanced decisions, thresholds and costs, for every form of model."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import checker
from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, churn_model, every_form
from rulewright import load_model
from rulewright.data import label_of
from rulewright.model import AdditiveRules, Balanced, LowestCost, Threshold
from rulewright.programs.parity import adversarial_rows

pytestmark = pytest.mark.native

SHARES = [0.88, 0.12]


def two_classes(p, **options):
    """Make a model whose second class has a probability, exactly for p = 0.5."""
    scores = (0.0, float(np.log(p / (1 - p))))
    return AdditiveRules(CHURN_SCHEMA, ["no", "yes"], scores, (), **options)


def label(model):
    return model.predict(CHURN_ROWS)[0]


def as_text(column, value):
    """Give a value as the checker takes it: a number, the text of a label or None."""
    return value if value is None or column == "age" else label_of(value)


@given(every_form())
@examples(40)
def test_probabilities_do_not_depend_on_the_decision(model):
    """Every form has the same scores and probabilities with and without a decision."""
    rows, free = adversarial_rows(model.program), model.with_decision("accuracy")
    np.testing.assert_array_equal(model.scores(rows), free.scores(rows))
    np.testing.assert_array_equal(model.predict_proba(rows), free.predict_proba(rows))
    assert free.program is free.base_program


@pytest.mark.parametrize("decision", [Balanced((0.88, 0.12)), 0.7, {"stay": 0.7}, [[0, 1], [5, 0]]])
def test_files_and_exports_have_the_decision(decision, tmp_path):
    """A saved model, an independent reader of its file and all exports decide the same."""
    model = churn_model().with_decision(decision)
    model.save(tmp_path / "m.json")
    assert load_model(tmp_path / "m.json") == model
    assert load_model(tmp_path / "m.json").decision == model.decision
    assert model != model.with_decision("accuracy")
    model.verify_exports()
    document = checker.load(tmp_path / "m.json")
    for i, expected in enumerate(model.predict(CHURN_ROWS).tolist()):
        row = {name: as_text(name, values[i]) for name, values in CHURN_ROWS.items()}
        assert checker.predict(document, row)[2] == expected


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=20), st.data())
@examples(60)
def test_a_threshold_is_compared_exactly(scores, data):
    """The class is predicted where its probability is at least the threshold, ties included."""
    rows = np.column_stack([np.zeros(len(scores)), scores])
    model = two_classes(0.5)
    chances = model.probabilities(rows)
    for place in (0, 1):
        at = data.draw(st.sampled_from(sorted(set(chances[:, place].tolist()))))
        for value in (at, np.nextafter(at, 1), np.nextafter(at, 0)):
            chosen = model.with_decision(Threshold(float(value), place)).decide(rows) == place
            np.testing.assert_array_equal(chosen, chances[:, place] >= value)


@given(st.integers(0, 1000), st.integers(2, 4))
@examples(60)
def test_balanced_divides_by_the_shares(seed, n_classes):
    """The label has the highest probability divided by its share."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(n_classes))
    names = [f"c{k}" for k in range(n_classes)]
    model = AdditiveRules(CHURN_SCHEMA, names, (0.0,) * n_classes, ())
    scores = rng.normal(size=(50, n_classes))
    chosen = model.with_decision(Balanced(tuple(shares.tolist()))).decide(scores)
    np.testing.assert_array_equal(chosen, (model.probabilities(scores) / shares).argmax(axis=1))
    equal = model.with_decision(Balanced((1 / n_classes,) * n_classes))
    np.testing.assert_array_equal(equal.decide(scores), model.decide(scores))


def test_by_hand():
    """Balanced and a low threshold predict the rare class where it is likelier than usual."""
    model = two_classes(0.2, summary={"class_shares": SHARES})
    assert label(model) == "no"
    assert label(model.with_decision("balanced")) == "yes"  # 0.2 / 0.12 > 0.8 / 0.88
    assert label(model.with_decision(0.19)) == "yes"
    assert label(model.with_decision(0.21)) == "no"
    assert label(model.with_decision({"no": 0.81})) == "yes"
    assert label(model.with_decision({"yes": {"no": 5}})) == "yes"
    assert label(model.with_decision({"yes": {"no": 3}})) == "no"
    assert model.with_decision({"yes": {"no": 5}}).decision == LowestCost(((0.0, 1.0), (5.0, 0.0)))
    assert label(two_classes(0.5, decision={"yes": 0.5})) == "yes"  # a tie
    assert label(two_classes(0.5, decision={"no": 0.5})) == "no"


def test_a_class_without_rows_is_never_predicted():
    """Its share is 0, and nothing is divided by that."""
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b", "c"], (0.0, 0.0, 9.0), ())
    balanced = model.with_decision(Balanced((0.9, 0.1, 0.0)))
    assert label(balanced) == "b"
    balanced.verify_exports()


def test_text_and_explanations_name_the_decision():
    """People read how the class is chosen, and why it was."""
    model = two_classes(0.18, summary={"class_shares": SHARES})
    at_least, balanced = model.with_decision(0.12), model.with_decision("balanced")
    assert "predicts yes where its probability is at least 0.12\n" in at_least.to_text()
    assert "relative to its share (no 0.88, yes 0.12)\n" in balanced.to_text()
    first = [str(one.explain(CHURN_ROWS)).splitlines()[:2] for one in (at_least, balanced)]
    assert first == [
        [
            "row 0: yes with probability 0.180 (no 0.820)",
            "  predicted yes: probability 0.180 is at least the threshold 0.12",
        ],
        [
            "row 0: yes with probability 0.180 (no 0.820)",
            "  balanced: probability relative to class share no 0.932, yes 1.5",
        ],
    ]
    below = str(model.with_decision(0.1801).explain(CHURN_ROWS)).splitlines()[1]
    assert below == "  predicted no: probability 0.180 of yes is below the threshold 0.1801"
    told = at_least.explain(CHURN_ROWS).to_dict()
    assert told["decision"] == {"threshold": {"class": 1, "at": 0.12}}
    np.testing.assert_allclose(told["rows"][0]["expected_costs"], [0.18 * 0.88, 0.82 * 0.12])


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ("balance", 'decision=\'balance\' must be "accuracy", "balanced", a threshold'),
        (0.0, "decision: threshold 0 must be a probability above 0 and below 1"),
        (1, "decision: threshold 1 must be"),
        (float("nan"), "decision: threshold must not be NaN"),
        ({"maybe": 0.3}, "decision: 'maybe' is not a class. There are: no, yes."),
        ({"no": {"maybe": 2}}, "decision: 'maybe' is not a class. There are: no, yes."),
        ({"maybe": {"no": 2}}, "decision: 'maybe' is not a class. There are: no, yes."),
        ({"no": 0.3, "yes": 0.4}, "decision: costs by name must be {true: {predicted: cost}}"),
        ({"no": {"yes": -1}}, "cost of predicting 'yes' for 'no' is -1"),
        ({"no": {"no": 1}}, "0 where the prediction is true"),
        (np.ones(2), "decision: costs must be 2 rows of 2 numbers"),
        (True, "decision: costs must be 2 rows of 2 numbers"),
        ("balanced", 'decision: "balanced" needs the class shares of the training rows'),
        (Balanced((0.5, 0.6)), "decision: class shares must not be negative and must sum to 1"),
    ],
)
def test_wrong_decisions_are_refused(decision, message):
    """The error names the option and what is wrong."""
    with pytest.raises(ValueError, match=re.escape(message)):
        two_classes(0.5).with_decision(decision)


def test_a_threshold_needs_two_classes():
    """With more the error says what to give instead."""
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b", "c"], (0.0, 0.0, 0.0), ())
    with pytest.raises(ValueError, match="needs two classes, but there are 3; give costs or"):
        model.with_decision(0.2)
