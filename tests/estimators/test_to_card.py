"""Additive models as cards: the rules stay, the points are whole, and the loss is stated."""

import numpy as np
import pytest

from builders import cards, compact, mixed_table, mlrules, rulefit
from rulewright import to_card
from rulewright.estimators import StumpClassifier

pytestmark = pytest.mark.native


@pytest.fixture(scope="module")
def data():
    """Draw a mixed table of two classes."""
    return mixed_table(np.random.default_rng(4), 250, missing=0.05)


@pytest.mark.parametrize("make", [compact, cards, mlrules])
def test_the_rules_stay_with_whole_points(data, make):
    """Bodies are those of the model, directions stay, and the card loses little."""
    X, y = data
    model = make().fit(X, y).model_.merge_rules()
    card = to_card(model, X, y, max_rules=20)
    assert {str(rule.body) for rule in card} <= {str(rule.body) for rule in model}
    assert all(points == round(points) and 0 < abs(points) <= 5 for points in card.points)
    signs = {str(r.body): (r.outcome.value > 0) == (r.head.first == card.positive) for r in model}
    for rule, points in zip(card, card.points, strict=True):
        assert (points > 0) == signs[str(rule.body)]
    found = card.summary["card"]
    assert found["bound"] <= found["loss"] < found["before"] + 0.05
    card.verify_exports()


def test_a_large_model_is_compressed(data):
    """The card has at most `max_rules` of its rules."""
    X, y = data
    model = mlrules(max_rules=40).fit(X, y).model_
    assert 0 < len(to_card(model, X, y, max_rules=4)) <= 4


def test_the_scale_and_the_class(data):
    """Points count for the named class, on the given scale."""
    X, y = data
    model = compact().fit(X, y).model_
    scale = {"double": 10, "score": 100, "odds": 1}
    card = to_card(model, X, y, scale=scale, positive_class=0)
    np.testing.assert_allclose(card.probability_of([100, 110]), [1 / 2, 2 / 3])
    assert {rule.head.first for rule in card} == {0}


def test_what_cannot_be_a_card_is_refused(data):
    """Lines, several classes and other forms have no points."""
    X, y = data
    lined = fitted_lines(X, y)
    with pytest.raises(ValueError, match="lines have no points"):
        to_card(lined, X, y)
    rows, labels = mixed_table(np.random.default_rng(1), 90, n_classes=3)
    with pytest.raises(ValueError, match="two classes, not of 3"):
        to_card(mlrules().fit(rows, labels), rows, labels)
    with pytest.raises(ValueError, match="AdditiveRules"):
        to_card(StumpClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="max_points"):
        to_card(compact().fit(X, y), X, y, 0)


def fitted_lines(X, y):
    """Fit a model with a line at least."""
    model = rulefit(linear=True).fit(X, y).model_
    assert model.linear
    return model
