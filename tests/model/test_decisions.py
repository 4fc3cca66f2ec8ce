"""How scores become probabilities and labels."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, models
from rulewright.model import AdditiveRules, IsotonicSteps, LowestCost
from rulewright.programs.parity import adversarial_rows

pytestmark = pytest.mark.native


def three_classes(scores, **options):
    return AdditiveRules(CHURN_SCHEMA, ["a", "b", "c"], scores, (), **options)


def label(model):
    return model.predict(CHURN_ROWS)[0]


@given(models())
@examples(60)
def test_probabilities_are_the_steps_at_the_margins(model):
    """Each class has its step at score minus best other score, divided by their sum."""
    assume(model.steps is not None)
    scores = model.scores(adversarial_rows(model.program))[:50]
    for row, chances in zip(scores.tolist(), model.probabilities(scores), strict=True):
        values = []
        for k, steps in enumerate(model.steps):
            others = row[:k] + row[k + 1 :]
            margin = row[k] - max(others) if others else 0.0
            values.append(steps.values[sum(t < margin for t in steps.thresholds)])
        np.testing.assert_allclose(chances, np.divide(values, sum(values)), rtol=1e-14)


@given(models())
@examples(60)
def test_no_label_is_cheaper_than_the_chosen_one(model):
    """The label has the lowest expected cost, but for rounding."""
    assume(model.decision is not None)
    scores = model.scores(adversarial_rows(model.program))[:50]
    chances, chosen = model.probabilities(scores), model.decide(scores)
    for i, k in enumerate(chosen.tolist()):
        costs = chances[i] @ np.array(model.decision.costs)
        found = model.expected_costs(scores)[i]
        np.testing.assert_allclose(found, costs, rtol=1e-12, atol=1e-12 * max(costs))
        assert found[k] - min(found) <= 1e-12 * max(found)
        if isinstance(model.decision, LowestCost):  # of equal ones the best score, then the first
            ranks = list(zip(found, -scores[i], range(len(found)), strict=True))
            assert min(ranks) == ranks[k]


@given(models())
@examples(60)
def test_equal_costs_choose_the_most_probable(model):
    """If every error costs the same, the label is the most probable class."""
    n = len(model.classes)
    same = replace(model, decision=(3.0 * (1.0 - np.eye(n))).tolist())
    scores = model.scores(adversarial_rows(model.program))
    chances = model.probabilities(scores)
    best = chances[np.arange(len(scores)), same.decide(scores)]
    np.testing.assert_allclose(best, chances.max(axis=1), rtol=1e-12)


def test_labels_by_hand():
    """An expensive error moves the label away from the most probable class."""
    scores = tuple(np.log([0.6, 0.3, 0.1]))
    missed_c = ((0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (9.0, 9.0, 0.0))
    assert label(three_classes(scores)) == "a"
    model = three_classes(scores, decision=missed_c)
    assert label(model) == "c"
    costs = model.expected_costs(model.scores(CHURN_ROWS))[0]
    np.testing.assert_allclose(costs, [0.3 + 0.9, 0.6 + 0.9, 0.6 + 0.3])


def test_distances_choose_the_median():
    """With the distance of classes as costs the label is the median class."""
    distance = np.abs(np.subtract.outer(range(3), range(3)))
    assert label(three_classes(tuple(np.log([0.4, 0.2, 0.4])), decision=distance)) == "b"


@pytest.mark.parametrize(
    ("scores", "expected"), [((0.0, 0.2, 0.1), "b"), ((0.1, 0.2, 0.2), "b"), ((0.1, 0.0, 0.0), "a")]
)
def test_equal_costs_go_to_the_best_score(scores, expected):
    """Where probabilities are tied by the steps, the score decides, then the first class."""
    flat = (IsotonicSteps((-1.0, 1.0), (0.1, 0.5, 0.9)),) * 3
    model = three_classes(scores, steps=flat)
    assert len(set(model.predict_proba(CHURN_ROWS)[0])) == 1
    assert label(model) == expected
    free = three_classes(scores, decision=np.zeros((3, 3)))
    assert label(free) == expected


def test_one_class_needs_no_decision():
    """Costs and steps of one class change nothing."""
    model = AdditiveRules(
        CHURN_SCHEMA,
        ["only"],
        (0.7,),
        (),
        decision=((0.0,),),
        steps=(IsotonicSteps((0.0,), (0.2, 0.3)),),
    )
    assert model.predict_proba(CHURN_ROWS).tolist() == [[1.0]] * 4
    assert label(model) == "only"
    model.verify_exports()


def test_no_rows_have_no_labels():
    """Nothing to decide gives an empty answer."""
    flat = (IsotonicSteps((0.0,), (0.1, 0.5)),) * 3
    for options in ({}, {"steps": flat}, {"decision": np.zeros((3, 3))}):
        assert three_classes((0.0, 1.0, 2.0), **options).decide(np.empty((0, 3))).shape == (0,)


@given(st.lists(st.floats(-5, 5), max_size=5, unique=True), st.floats(-5, 5))
def test_steps_count_the_thresholds_below(thresholds, margin):
    """The value is that of the number of thresholds below the margin."""
    thresholds = tuple(sorted(value + 0.0 for value in thresholds))
    values = tuple((i + 1) / 10 for i in range(len(thresholds) + 1))
    assume(len(set(thresholds)) == len(thresholds))
    steps = IsotonicSteps(thresholds, values)
    for at in (margin, *thresholds):
        assert steps(np.array([at])) == [values[sum(t < at for t in thresholds)]]
    assert IsotonicSteps.from_json(steps.to_json()) == steps


@pytest.mark.parametrize(
    ("thresholds", "values", "message"),
    [
        ((), (), "one value more"),
        ((0.0,), (0.5,), "one value more"),
        ((1.0, 0.0), (0.1, 0.2, 0.3), "ascend"),
        ((0.0, 0.0), (0.1, 0.2, 0.3), "ascend"),
        ((float("inf"),), (0.1, 0.2), "finite"),
        ((0.0,), (0.2, 0.1), "not fall"),
        ((0.0,), (0.0, 0.1), "between 0 and 1"),
        ((0.0,), (0.1, 1.0), "between 0 and 1"),
        (("0",), (0.1, 0.2), "must be a number"),
    ],
)
def test_wrong_steps_are_refused(thresholds, values, message):
    """Steps ascend and stay inside the range of probabilities."""
    with pytest.raises(ValueError, match=message):
        IsotonicSteps(thresholds, values)
