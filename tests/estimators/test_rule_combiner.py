"""Rules that cover the same row: every way to combine them."""

import math

import numpy as np
import pytest

from builders import mixed_table, mlrules
from rulewright import RuleCombiner, load_model
from rulewright.data import read_table
from rulewright.estimators.averaging.combiner import KINDS, LEAST, relative_weights
from rulewright.model import AdditiveRules, DecisionList, UnorderedRules
from rulewright.rules import Coverage, Rule, Says, parse_conjunction
from rulewright.weighting import log_rule_weights

pytestmark = pytest.mark.native


def card_rows():
    """Make 200 rows on which rule A covers (12, 0), rule B (3, 27), and both 2 of the first class.

    Column a holds A, column b holds B.
    """
    rows = [(1, 0, 0)] * 10 + [(1, 1, 0)] * 2 + [(0, 1, 0)] + [(0, 1, 1)] * 27
    rows += [(0, 0, 0)] * 87 + [(0, 0, 1)] * 73
    a, b, y = np.array(rows).T
    return {"a": a.astype(float), "b": b.astype(float)}, y


X, Y = card_rows()
A_AND_B, A_ONLY, B_ONLY, NEITHER = (
    {"a": [a], "b": [b]} for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))
)


def the_rules(*texts_and_says, start=(3.0, 1.0)):
    rules = [
        Rule(parse_conjunction(text), Says(says), Coverage.of((1.0, 1.0)))
        for text, says in texts_and_says
    ]
    return UnorderedRules(read_table(X).schema, np.array([0, 1]), tuple(rules), start)


RULES = the_rules(("a >= 1", (1.0, 0.0)), ("b >= 1", (0.1, 0.9)))


def chance(kind, row, **options):
    return float(RuleCombiner(kind, **options).fit(RULES, X, Y).predict_proba(row)[0, 1])


@pytest.mark.parametrize(
    ("kind", "weight_of_b"), [("bma1", 0.9384), ("bma2", 0.9827), ("bma3", 0.1432)]
)
def test_the_vector_of_the_card(kind, weight_of_b):
    """Where both rules hold the weights are the card's; B says 0.9, A says 0."""
    assert chance(kind, A_AND_B) == pytest.approx(0.9 * weight_of_b, abs=5e-5)
    assert chance(kind, A_ONLY) == pytest.approx(0.0, abs=1e-9)
    assert chance(kind, B_ONLY) == pytest.approx(0.9, abs=1e-9)
    assert chance(kind, NEITHER) == pytest.approx(0.25)


def test_votes_of_cn2_and_by_laplace_accuracy():
    """Count vectors (12, 0) + (3, 27) = (15, 27); votes of 13/14 and 28/32."""
    combined = RuleCombiner("cn2").fit(RULES, X, Y)
    np.testing.assert_allclose(combined.model_.scores(A_AND_B), [[15, 27]])
    assert combined.predict(A_AND_B).tolist() == [1]
    votes = RuleCombiner("vote").fit(RULES, X, Y)
    expected = (28 / 32) / (28 / 32 + 13 / 14)
    assert votes.predict_proba(A_AND_B)[0, 1] == pytest.approx(expected)
    assert votes.predict(A_AND_B).tolist() == [0]


def test_ties_of_counts_go_to_the_larger_prior_then_to_the_order():
    """Two rules of opposite counts tie; the default of the rule set decides."""
    columns = {"a": [1.0] * 4 + [0.0], "b": [1.0] * 4 + [0.0]}
    y = [0, 0, 1, 1, 1]
    for start, expected in (((1.0, 3.0), 1), ((3.0, 1.0), 0), ((1.0, 1.0), 0)):
        model = the_rules(("a >= 1", (1.0, 0.0)), ("b >= 1", (0.0, 1.0)), start=start)
        found = RuleCombiner("cn2").fit(model, columns, y)
        assert found.predict({"a": [1.0], "b": [1.0]}).tolist() == [expected]


def test_lists_of_rules():
    """The most accurate rule first; or the rules of the class with the fewest false positives."""
    best = RuleCombiner("laplace_best").fit(RULES, X, Y).model_
    assert isinstance(best, DecisionList)
    assert [str(rule.body) for rule in best.rules] == ["a >= 1", "b >= 1"]  # 13/14 and 28/32
    assert best.predict(A_AND_B).tolist() == [0]
    more = the_rules(
        ("b >= 1", (0.1, 0.9)), ("a >= 1", (1.0, 0.0)), ("a <= 0", (1.0, 0.0)), start=(1.0, 1.0)
    )
    listed = RuleCombiner("c45rules").fit(more, X, Y).model_
    assert str(listed.rules[0].body) == "b >= 1"  # 3 against 100
    assert listed.predict(A_AND_B).tolist() == [1]
    assert best.default == pytest.approx((0.75, 0.25))


def test_naive_bayes_of_rules():
    """By hand: log P(c) plus log P(rule holds or fails | c), smoothed."""
    model = RuleCombiner("itrule").fit(RULES, X, Y).model_
    assert isinstance(model, AdditiveRules)
    holds = np.array([[13, 1], [4, 28]]) / 102
    for row, held in ((A_AND_B, (1, 1)), (A_ONLY, (1, 0)), (NEITHER, (0, 0))):
        odds = np.array([0.5, 0.5])
        for p, h in zip(holds, held, strict=True):
            odds = odds * (p if h else 1 - p)
        assert model.predict_proba(row)[0] == pytest.approx(odds / odds.sum())


def test_powers_between_equal_weights_and_bayes():
    """Beta 0 averages, 1 is the first weighting; gamma 0 too, and gamma 1 divides by coverage."""
    assert chance("tempered", A_AND_B, beta=0.0) == pytest.approx(0.45)
    assert chance("tempered", A_AND_B, beta=1.0) == pytest.approx(chance("bma1", A_AND_B))
    assert chance("coverage_normalised", A_AND_B, gamma=0.0) == pytest.approx(
        chance("bma1", A_AND_B)
    )
    per_row = log_rule_weights([[12, 0], [3, 27]], [100, 100], 1) / [12, 30]
    weight = 1 / (1 + math.exp(per_row[0] - per_row[1]))
    found = chance("coverage_normalised", A_AND_B, gamma=1.0)
    assert found == pytest.approx(0.9 * weight)
    chosen = RuleCombiner("tempered").fit(RULES, X, Y).model_.summary["beta"]
    assert chosen == 0.0  # where both hold, all rows are of A's class


def test_smoothed_shares():
    """With the Laplace estimator rules say (e + 1) / (n + C)."""
    assert chance("bma1", A_ONLY, estimator="laplace") == pytest.approx(1 / 14)
    assert chance("bma1", B_ONLY, estimator="laplace") == pytest.approx(28 / 32)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_an_ordinary_model(kind, tmp_path):
    """It predicts better than guessing, is saved and loaded, and runs everywhere."""
    columns, y = mixed_table(np.random.default_rng(2), 200, n_classes=3)
    source = mlrules(max_rules=12).fit(columns, y)
    combined = RuleCombiner(kind, random_state=0, n_draws=100).fit(source, columns, y)
    p = combined.predict_proba(columns)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.mean(combined.predict(columns) == y) > 0.45
    combined.model_.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json") == combined.model_
    assert len(combined.model_.verify_exports().targets) == 4
    if combined.log_weights_ is None:
        with pytest.raises(ValueError, match="has no rule weights"):
            combined.row_diagnostics(columns)
        return
    covers = combined.model_.covers(columns)
    if kind not in ("cn2", "vote"):
        weights = relative_weights(combined.log_weights_) * covers
        shares = np.array([rule.outcome.distribution for rule in combined.model_.rules])
        seen = covers.any(axis=1)
        expected = (weights @ shares)[seen] / weights.sum(axis=1)[seen, None]
        np.testing.assert_allclose(p[seen], expected, atol=1e-9)
    found = combined.row_diagnostics(columns)
    np.testing.assert_array_equal(found["n_rules"], covers.sum(axis=1))
    seen = found["n_rules"] > 0
    assert np.all(found["perplexity"][seen] <= found["n_rules"][seen] + 1e-9)
    assert np.isnan(found["perplexity"][~seen]).all()
    assert combined.model_.summary["posterior"]["perplexity"] >= 1


def test_bayes_is_more_concentrated_than_votes():
    """On learned rules the third scheme is flatter than the first two, votes are flattest."""
    columns, y = mixed_table(np.random.default_rng(4), 300)
    source = mlrules(max_rules=25).fit(columns, y)
    spread = {
        kind: RuleCombiner(kind).fit(source, columns, y).report_.perplexity
        for kind in ("bma1", "bma2", "bma3", "cn2")
    }
    assert max(spread["bma1"], spread["bma2"]) < spread["bma3"] < spread["cn2"]


def test_light_rules_still_decide_rows_of_their_own():
    """Weights are held above a limit: such a row has neither NaN nor the default."""
    weights = relative_weights(np.array([0.0, -5000.0, -9000.0]))
    assert weights.tolist() == [1.0, pytest.approx(LEAST), pytest.approx(LEAST)]
    big = {name: np.tile(values, 100) for name, values in X.items()}
    found = RuleCombiner("bma1").fit(RULES, big, np.tile(Y, 100))
    assert found.log_weights_.max() - found.log_weights_.min() > 200
    assert found.predict_proba(A_ONLY)[0, 1] == pytest.approx(0.0, abs=1e-9)


def test_weights_count_as_rows():
    """Row weights are numbers of rows."""
    weights = np.random.default_rng(0).integers(0, 3, len(Y))
    repeated = {name: np.repeat(values, weights) for name, values in X.items()}
    for kind in ("bma1", "bma3", "cn2", "stacking"):
        one = RuleCombiner(kind).fit(RULES, X, Y, sample_weight=weights)
        two = RuleCombiner(kind).fit(RULES, repeated, np.repeat(Y, weights))
        tolerance = 0.02 if kind == "stacking" else 1e-9  # a weighted row is left out as a whole
        np.testing.assert_allclose(
            one.predict_proba(A_AND_B), two.predict_proba(A_AND_B), atol=tolerance
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_rule_without_rows_is_left_out(kind):
    """It is warned of, and the others are combined."""
    model = the_rules(("a >= 1", (1.0, 0.0)), ("a >= 7", (0.0, 1.0)), ("b >= 1", (0.1, 0.9)))
    with pytest.warns(UserWarning, match="rule 1 covers no row"):
        combined = RuleCombiner(kind, random_state=0).fit(model, X, Y)
    assert {str(rule.body) for rule in combined.model_.rules} == {"a >= 1", "b >= 1"}


@pytest.mark.parametrize("kind", KINDS)
def test_no_rules_leave_the_default(kind):
    """A model without rules is its default everywhere, but for naive Bayes: the class shares."""
    combined = RuleCombiner(kind, random_state=0).fit(the_rules(), X, Y)
    expected = 0.5 if kind == "itrule" else 0.25
    assert combined.predict_proba(NEITHER)[0, 1] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kind": "mean"}, "kind must be one of cn2, vote"),
        ({"estimator": "m"}, "estimator must be ml or laplace"),
        ({"kind": "tempered", "beta": -1.0}, "beta=-1.0 must be"),
        ({"kind": "tempered", "beta": math.nan}, "beta=nan must be"),
        ({"kind": "coverage_normalised", "gamma": 2.0}, "gamma=2.0 must be from 0 to 1"),
    ],
)
def test_bad_options(options, words):
    """Options outside their domain are named."""
    with pytest.raises(ValueError, match=words):
        RuleCombiner(**options).fit(RULES, X, Y)


def test_bad_input():
    """Only models of classes, and only classes they know."""
    with pytest.raises(ValueError, match="not str"):
        RuleCombiner().fit("rules", X, Y)
    with pytest.raises(ValueError, match="class 6"):
        RuleCombiner().fit(RULES, X, Y + 6)
