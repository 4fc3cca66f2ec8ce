import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import mixed_table
from model.builders import (
    CHURN_ROWS,
    CHURN_SCHEMA,
    churn_model,
    dnf_models,
    models,
    saying_models,
    vote_models,
)
from rules.builders import a_rule
from rulewright.data import read_table
from rulewright.estimators import LEARNERS
from rulewright.model import AdditiveRules, UnorderedRules
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Adds, Conjunction, Head, parse_conjunction

pytestmark = pytest.mark.native


@pytest.mark.parametrize(
    ("index", "names"),
    [([6, 6, 2, 9], [6, 6, 2, 9]), (["a", "b", "b", "c\nd"], ["a", "b", "b", "c\nd"])],
)
def test_rows_are_called_as_in_their_dataframe(index, names):
    """Text, HTML, plain data and dataframes call rows by the index, also one that repeats."""
    frame = pd.DataFrame(CHURN_ROWS, index=index)
    explanation = churn_model().explain(frame)
    titles = [line for line in str(explanation).splitlines() if line.startswith("row ")]
    written = [f"row {str(name).replace(chr(10), chr(92) + 'n')}:" for name in names]
    assert [line.startswith(title) for line, title in zip(titles, written, strict=True)] == [
        True
    ] * 4
    assert all(title in explanation._repr_html_() for title in written)
    assert [row["row"] for row in explanation.to_dict()["rows"]] == names
    assert list(dict.fromkeys(explanation.to_frame()["row"])) == list(dict.fromkeys(names))
    assert explanation.text(row_names=list("wxyz")).startswith("row w:")


def test_rules_that_fired_strongest_first():
    """The rules that fired come by the size of what they added."""
    explanation = churn_model().explain(CHURN_ROWS)
    assert [explanation.rule_ids(row) for row in range(4)] == [
        [4, 0, 1, 2, 5],
        [3, 5],
        [5],
        [4, 2, 5],
    ]


@given(models())
@examples(40)
def test_contributions_add_up_to_the_scores(model):
    """Intercepts plus what the rules added, in their order, are the scores."""
    rows = adversarial_rows(model.program)
    answers = model.explain(rows).to_dict()
    names = answers["classes"]
    for row, expected in zip(answers["rows"][:60], model.scores(rows), strict=False):
        sums = dict(zip(names, answers["intercepts"], strict=True))
        for fired in sorted(row["rules"], key=lambda fired: fired["id"]):
            head = model[fired["id"]].head
            assert fired["class"] == head.text(names)
            for name in names[head.classes]:
                sums[name] += fired["added"]
        assert list(sums.values()) == expected.tolist() == row["scores"]


def test_to_dict_is_plain_data():
    """The explanation can be written as JSON and holds the model's answers."""
    model = churn_model()
    answers = json.loads(json.dumps(model.explain(CHURN_ROWS).to_dict()))
    assert [row["label"] for row in answers["rows"]] == model.predict(CHURN_ROWS).tolist()
    chances = [row["probabilities"] for row in answers["rows"]]
    np.testing.assert_array_equal(chances, model.predict_proba(CHURN_ROWS))


def test_frame_has_a_line_for_each_fired_rule():
    """The frame lists row, rule, text, class and what was added."""
    frame = churn_model().explain(CHURN_ROWS).to_frame()
    assert list(frame.columns) == ["row", "id", "rule", "if", "class", "added"]
    assert list(frame["row"]) == [0] * 5 + [1] * 2 + [2] + [3] * 3


ONE_ROW = {name: values[1:2] for name, values in CHURN_ROWS.items()}


def test_text_of_a_row():
    """The printed row shows label and probability, and what each reason adds and changes."""
    text = str(churn_model().explain(ONE_ROW))
    assert text.splitlines() == [
        "row 0: stay with probability 0.657 (churn 0.343)",
        "  points for stay  P(stay)  reason (changes of P add up in this order)",
        "           +0.300    0.574  start",
        "           +0.300   +0.071  rule 4: age is missing",
        "           +0.050   +0.011  rule 6: true",
        "           +0.650    0.657  total",
    ]


def test_other_reasons_are_summed_up():
    """Five reasons are written out, fewer or all if asked for; the others are one line."""
    explanation = churn_model().merge_rules().explain(CHURN_ROWS)
    lines = explanation.text(max_reasons=2, max_rows=1).splitlines()
    assert lines[3:7] == [
        "           +2.346   +0.359  rule 1: color is known and active != false",
        "           -0.830   -0.074  rule 2: age <= 34 and color = red",
        "           +0.325   +0.035  3 more rules",
        "           +2.141    0.895  total",
    ]
    assert lines[7] == "... and 3 more rows"
    assert "more" not in explanation.text(max_reasons=None)
    assert explanation.text(row_names=["a", "b", "c", "d"]).startswith("row a: stay")
    with pytest.raises(ValueError, match="max_reasons=-1"):
        explanation.text(max_reasons=-1)


@given(models(), st.sampled_from([0, 1, 5, None]))
@examples(40)
def test_changes_add_up_to_the_probability(model, max_reasons):
    """The probability at the start and all changes sum to that of the predicted class."""
    explanation = model.explain(adversarial_rows(model.program))
    for row in range(min(20, len(explanation))):
        _, *table = explanation.reason_table(row, max_reasons)
        if table[-1][2] == "total":
            *table, total = table
            changes = [float(line.change) for line in table]
            assert sum(changes) == pytest.approx(float(total[1]), abs=0.0006 * len(table))
            assert float(total[1]) == pytest.approx(
                explanation.probabilities[row, explanation.chosen[row]], abs=0.0006
            )
        assert len(table) <= 2 + (len(model) if max_reasons is None else max_reasons)


def numbers_in(text):
    """Give the numbers of the rules that a reason names: of steps, those of all their rules."""
    first, *last = text.split()[1].removesuffix(":").split("-")
    return range(int(first), int(last[0] if last else first) + 1)


@given(models() | dnf_models() | vote_models() | saying_models(UnorderedRules))
@examples(60)
def test_after_all_reasons_the_scores_are_those_of_the_model(model):
    """Every form tells each rule that fired once, and nothing is left to explain."""
    explanation = model.explain(adversarial_rows(model.program))
    for row in range(min(20, len(explanation))):
        found = model.reasons_for(explanation, row, None)
        steps = [*found.start, *found.reasons]
        scores = explanation.scores[row]
        np.testing.assert_allclose(steps[-1].scores, scores, rtol=1e-9, atol=1e-9)
        told = [number for step in steps[1:] for number in numbers_in(step.text)]
        fired = {model.numbers[i] for i in np.flatnonzero(explanation.fired[row])}
        assert fired <= set(told)
        assert len(told) == len(set(told))
        assert explanation.text(max_rows=1)


@given(vote_models())
@examples(30)
def test_votes_come_by_what_they_add(model):
    """Each reason makes at least as much weight vote as the next one."""
    explanation = model.explain(adversarial_rows(model.program))
    for row in range(min(20, len(explanation))):
        gains = [gain for _, gain in explanation.evidence.gains(explanation.rule_ids(row))]
        assert gains == sorted(gains, reverse=True)


def test_points_of_several_classes_are_told_apart():
    """A reason for another class than the predicted one names it."""
    rules = (
        a_rule(Conjunction(), Head(1, 2), 2.0, 1.0, (1.0, 0.0, 0.0)),
        a_rule(Conjunction(), 0, 1.0, 1.0, (1.0, 0.0, 0.0)),
    )
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b", "c"], (0.0, 0.5, 0.0), rules)
    assert str(model.explain(ONE_ROW)).splitlines() == [
        "row 0: b with probability 0.547 (c 0.331, a 0.122)",
        "    points    P(b)  reason (changes of P add up in this order)",
        "  +0.500 b   0.452  start",
        "  +2.000 b  +0.140  rule 1: true",
        "  +1.000 a  -0.046  rule 2: true",
        "  +2.500 b   0.547  total",
    ]


def test_rules_that_fail_are_reasons_too():
    """What a rule adds where it is known not to hold is told; where it is unknown nothing is."""
    rule = a_rule(parse_conjunction("age <= 34"), 1, 1.0, 1.0, (1.0, 0.0))
    rule = rule.with_outcome(Adds(1, 1.0, -0.5))
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 0.0), (rule,))
    rows = {name: [None] * 3 for name in CHURN_SCHEMA.names} | {"age": [20.0, 50.0, None]}
    text = str(model.explain(rows))
    assert "+1.000  +0.231  rule 1: age <= 34\n" in text
    assert "+0.500  +0.122  rule 1: not (age <= 34)\n" in text
    assert text.count("rule 1") == 2


def test_costs_explain_the_label():
    """A label that is not the most probable class comes with the expected costs."""
    model = replace(churn_model(), decision=((0.0, 1.0), (5.0, 0.0)))
    explanation = model.explain(ONE_ROW)
    assert explanation.label(0) == "churn" == model.predict(CHURN_ROWS)[1]
    assert str(explanation).splitlines()[:2] == [
        "row 0: churn with probability 0.343 (stay 0.657)",
        "  expected costs stay 1.71, churn 0.657",
    ]
    costs = explanation.to_dict()["rows"][0]["expected_costs"]
    np.testing.assert_allclose(costs, [5 * 0.34299, 0.65701], rtol=1e-4)


def test_many_rows_are_cut():
    """Printing many rows stops with the number of the others."""
    rows = {name: values * 10 for name, values in CHURN_ROWS.items()}
    explanation = churn_model().explain(rows)
    assert len(explanation) == 40
    assert str(explanation).endswith("... and 20 more rows")


@pytest.mark.parametrize("name", ["mlrules", "sl2", "ripper", "cn2", "rise"])
def test_reasons_are_those_of_the_text(name):
    """Each form gives its strongest reasons one by one, in the words of the whole explanation."""
    columns, y = mixed_table(np.random.default_rng(1), 60)
    table = read_table(columns, target=y)
    small = {"mlrules": {"max_rules": 5}, "sl2": {"max_steps": 50}}.get(name, {})
    model = LEARNERS[name](random_state=0, **small).fit(table).model_
    explanation = model.explain(table.take(np.arange(8)))
    found = 0
    for row in range(8):
        text = explanation.text(None, None).replace("\n", " ")
        reasons = explanation.reasons(row, None)
        found += len(reasons)
        assert explanation.reasons(row, 1) == reasons[:1]
        for reason in reasons:
            assert reason.rpartition(": ")[2] in text
    assert found > 0
