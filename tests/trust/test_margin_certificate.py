"""Certificates of weighted rules as functions of a model and its rows."""

import numpy as np
import pytest

from rulewright.bounds import held_out_bound
from rulewright.data import DataError, read_table
from rulewright.encoding.signed import SignedCovers
from rulewright.model import AdditiveRules
from rulewright.rules import Adds, Coverage, Rule, parse_formula
from rulewright.trust import held_out_certificate, margin_certificate
from rulewright.trust.certificates.margins import OTHER_DECISIONS, margin_certificates
from rulewright.trust.certificates.votes import WEIGHTED

pytestmark = pytest.mark.native


def rows(n=400, seed=0):
    """Draw rows with missing values, whose class depends on both columns."""
    rng = np.random.default_rng(seed)
    a, color = rng.normal(size=n), rng.choice(["red", "green", "blue"], n).astype(object)
    y = np.where((a > 0) | (color == "red"), "yes", "no")
    a[::7] = np.nan
    color[::11] = None
    return {"a": a, "color": color}, y


def weighted_model(summary=None, otherwise=-1.0, **options):
    """Make a model of two rules, one for each class, and a start."""
    X, _ = rows()
    given = [("a >= 0", 1, 0.5), ("color = green or color = blue", 0, 0.25)]
    made = tuple(
        Rule(parse_formula(body), Adds(head, w, otherwise * w), Coverage.of((0.0, 0.0)))
        for body, head, w in given
    )
    summary = {"prefixes": [12], "doubts": []} if summary is None else summary
    classes, schema = np.array(["no", "yes"]), read_table(X).schema
    return AdditiveRules(schema, classes, (0.0, 0.1), made, summary, **options)


def expected_covers():
    """Give the constant rule, and the two rules in three values."""
    X, y = rows()
    first = np.where(np.isnan(X["a"]), 0, np.where(X["a"] >= 0, 1, -1))
    unknown = np.array([value is None for value in X["color"]])
    second = np.where(unknown, 0, np.where(X["color"] == "red", -1, 1))
    signs = np.where(y == "yes", 1.0, -1.0)
    return SignedCovers.pack(np.array([np.ones(len(y)), first, second])), signs


def test_the_certificate_is_that_of_the_rules_and_weights():
    """Rules for the first class have negative weights; the start is the constant rule."""
    X, y = rows()
    found = margin_certificate(weighted_model(), X, y, delta=0.1)
    covers, signs = expected_covers()
    expected = margin_certificates(
        covers, [0.1, 0.5, -0.25], signs, 12, 0.1, bins_from_other_rows=True
    )
    assert found == expected
    assert found.mmv.certified
    wrong = weighted_model().predict(X) != y
    assert np.array_equal(wrong, signs * covers.scores([0.1, 0.5, -0.25]) <= 0)
    again = margin_certificate(weighted_model(summary={}), X, y, 0.1, generated=12)
    assert again == found


def test_doubts_of_the_learner_weights_and_costs_are_reasons():
    """What the model or the rows say against a bound is said by the bound."""
    X, y = rows()
    doubted = margin_certificate(weighted_model({"prefixes": [3], "doubts": ["same rows"]}), X, y)
    assert doubted.mmv.reasons == ("same rows",)
    assert not doubted.margin.certified
    weighted = margin_certificate(weighted_model(), X, y, sample_weight=np.arange(1.0, len(y) + 1))
    assert WEIGHTED in weighted.pac_bayes_mmv.reasons
    costs = margin_certificate(weighted_model(decision=[[0, 1], [5, 0]]), X, y)
    assert costs.mmv.reasons == (OTHER_DECISIONS,)


def test_other_models_and_labels_are_refused():
    """Rules must take what they add, of two classes, and the learner must have counted rules."""
    X, y = rows()
    with pytest.raises(ValueError, match="pass `generated`"):
        margin_certificate(weighted_model(summary={}), X, y)
    with pytest.raises(ValueError, match="held_out_certificate"):
        margin_certificate(weighted_model(otherwise=0.0), X, y)
    with pytest.raises(DataError, match="'perhaps' is not a class"):
        margin_certificate(weighted_model(), X, np.where(y == "no", "perhaps", y))
    three = AdditiveRules(
        weighted_model().schema, np.array(["a", "b", "c"]), (0.0, 0.0, 0.0), (), {}
    )
    with pytest.raises(ValueError, match="two classes"):
        margin_certificate(three, X, y)


def test_held_out_rows_of_a_model_that_always_predicts():
    """All three bounds are those of the errors on all rows."""
    X, y = rows(seed=3)
    model = weighted_model()
    found = held_out_certificate(model, X, y, delta=0.1)
    errors = int((model.predict(X) != y).sum())
    expected = held_out_bound(errors, len(y), 0.1).value
    assert found.error.value == found.joint.value == expected
    assert found.among_predicted.value == expected
