import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from model.builders import CHURN_ROWS, churn_model, models
from rulewright.programs.adversarial import adversarial_rows

pytestmark = pytest.mark.native


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
@settings(max_examples=40, deadline=None)
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
    assert list(frame.columns) == ["row", "rule", "if", "class", "added"]
    assert list(frame["row"]) == [0] * 5 + [1] * 2 + [2] + [3] * 3


def test_text_of_a_row():
    """The printed row shows label, probabilities, what was added, and the scores."""
    text = str(churn_model().explain({name: values[1:2] for name, values in CHURN_ROWS.items()}))
    assert text.splitlines() == [
        "row 0: stay   probabilities stay 0.657, churn 0.343",
        "  +0.1 stay      intercept",
        "  -0.2 churn     intercept",
        "  +0.3 stay      rule 3: IF age is missing",
        "  +0.05 stay     rule 5: IF true",
        "  = +0.45 stay   score",
        "  = -0.2 churn   score",
    ]


def test_costs_explain_the_label():
    """A label that is not the most probable class comes with the expected costs."""
    model = replace(churn_model(), costs=((0.0, 1.0), (5.0, 0.0)))
    explanation = model.explain({name: values[1:2] for name, values in CHURN_ROWS.items()})
    assert explanation.label(0) == "churn" == model.predict(CHURN_ROWS)[1]
    assert str(explanation).splitlines()[:2] == [
        "row 0: churn   probabilities stay 0.657, churn 0.343",
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
