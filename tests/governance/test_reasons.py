"""Reasons: each stated amount is what the model computes without the reason's contributions."""

import numpy as np
import pytest

from budget import n_examples
from governance.problems import SCHEMA, model
from model.builders import churn_model
from rulewright.data import read_like
from rulewright.governance import ReasonCode, read_reason_codes, reasons
from rulewright.model import AdditiveRules, DecisionList, RegressionRules, RuleCard, UnorderedRules
from rulewright.rules import Adds, Coverage, Rule, parse_formula

pytestmark = pytest.mark.native


def rows(rng, n):
    """Draw rows with missing values and unseen labels."""
    return {
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(0, 100, n)),
        "income": rng.choice([-5.0, 0.0, 500.0, 1000.0, 2000.0], n),
        "region": rng.choice(np.array(["east", "west", "north", "other", None]), n),
        "since": [["1969-01-01", "1970-06-01", None][i] for i in rng.integers(3, size=n)],
        "spare": np.zeros(n),
    }


def lack(drawn, scores, wanted):
    """Say by how many points a score vector lacks a class, found by trying leads."""
    others = np.delete(scores, wanted)
    if len(scores) > 2:
        return others.max() - scores[wanted]
    leads = np.linspace(-8, 8, 3201)
    tried = np.zeros((len(leads), 2))
    tried[:, wanted] = leads
    least = leads[drawn.decide(tried) == wanted].min()
    return least - (scores[wanted] - others[0])


def without(drawn, stated, row):
    """Return the scores of a row with the rules of a reason at their usual amounts, by hand."""
    scores = np.atleast_1d(drawn.scores(row)[0]).astype(float)
    total = drawn.summary.get("total_weight", 0.0)
    for number in stated.rules:
        rule = drawn.rules[drawn.numbers.index(number)]
        holds, fails = bool(rule.body.holds(row)[0]), bool(rule.body.fails(row)[0])
        adds = rule.outcome.value * holds + rule.outcome.otherwise * fails
        share = min(1.0, rule.coverage.support / total) if total else 0.0
        usual = (
            (share * rule.outcome.value + (1 - share) * rule.outcome.otherwise) if total else 0.0
        )
        scores[rule.head.classes] += usual - adds
    for line in drawn.linear:
        if (line.column,) == stated.columns:
            scores -= np.array(line.slopes) * line.units(row)[0]
    return scores


@pytest.mark.parametrize("seed", range(n_examples(60)))
def test_stated_amounts_are_real(seed):
    """Without the contributions of a reason the distance to the cutoff falls by its amount."""
    rng = np.random.default_rng(seed)
    drawn = model(rng).with_summary(
        {"total_weight": float(rng.integers(0, 3)), "class_shares": [0.6, 0.4]}
    )
    if isinstance(drawn, DecisionList):
        return
    table = read_like(rows(rng, 60), SCHEMA)
    regression = isinstance(drawn, RegressionRules)
    favourable = "high" if regression else str(rng.choice(drawn.classes))
    options = {"cutoff": 1.0} if regression else {}
    found = reasons(drawn, table, top=9, favourable=favourable, **options)
    for i, stated in enumerate(found):
        row = table[[i]]
        scores = np.atleast_1d(drawn.scores(row)[0])
        if regression:
            has = scores[0] >= 1.0
        else:
            wanted = drawn.class_names.index(favourable)
            has = drawn.decide(scores[np.newaxis])[0] == wanted
        assert not (has and stated)
        for one in stated:
            after = without(drawn, one, row)
            if regression:
                assert after[0] - scores[0] == pytest.approx(one.amount)
                assert one.flips == (after[0] >= 1.0 - 1e-12)
                continue
            fall = lack(drawn, scores, wanted) - lack(drawn, after, wanted)
            assert fall == pytest.approx(one.amount, abs=1e-9)
            assert one.flips == (drawn.decide(after[np.newaxis])[0] == wanted)
        amounts = [one.amount for one in stated]
        assert amounts == sorted(amounts, reverse=True)


@pytest.mark.full("ten thousand rows and models")
def test_stated_amounts_are_real_on_many_rows():
    """The promise holds for ten thousand rows of random models."""
    for seed in range(1000, 1170):
        test_stated_amounts_are_real(seed)


def test_reasons_of_a_decision_list():
    """Without the rules of its reasons, one after the other, a list decides as stated."""
    n = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        drawn = model(rng)
        if not isinstance(drawn, DecisionList):
            continue
        table = read_like(rows(rng, 30), SCHEMA)
        favourable = str(rng.choice(drawn.classes))
        place = drawn.class_names.index(favourable)
        for i, stated in enumerate(reasons(drawn, table, top=9, favourable=favourable)):
            row, gone = table[[i]], set()
            before = drawn.predict_proba(row)[0, place]
            assert not (stated and drawn.predict(row)[0] == favourable)
            covering = drawn.deciders(row)[0]
            while stated and covering < len(drawn.rules):
                gone.add(covering)
                kept = [rule for k, rule in enumerate(drawn.rules) if k not in gone]
                left = drawn.with_rules(kept)
                (one,) = [s for s in stated if s.rules == (drawn.numbers[covering],)] or [None]
                if one is not None:
                    n += 1
                    change = left.predict_proba(row)[0, place] - before
                    assert change == pytest.approx(one.amount)
                    assert one.flips == (left.predict(row)[0] == favourable)
                if left.predict(row)[0] == favourable:
                    break
                at = left.deciders(row)[0]
                covering = drawn.rules.index(kept[at]) if at < len(kept) else len(drawn.rules)
    assert n > 50


def test_missing_rewards_are_reasons():
    """A rule that most rows have and a row lacks is a reason; codes and texts come from users."""
    counts = Coverage(80.0, (20.0, 60.0))
    rules = (
        Rule(parse_formula("income >= 1000"), Adds(1, 2.0), counts),
        Rule(parse_formula("region = west and age < 18"), Adds(0, 0.5), Coverage(0.0, (0.0, 0.0))),
    )
    drawn = AdditiveRules(
        SCHEMA, np.array(["no", "yes"]), (1.0, 0.0), rules, {"total_weight": 100.0}
    )
    row = {"age": [17.0], "income": [10.0], "region": ["west"]}
    first, second = reasons(drawn, row, favourable="yes")[0]
    assert (first.columns, first.amount, first.flips) == (("income",), 1.6, True)
    assert str(first) == "income is 10 (1.6 points, decides)"
    assert (second.columns, second.amount, second.flips) == (("region", "age"), 0.5, False)
    codes = [ReasonCode("I1", "Income too low", ["income"]), ReasonCode("A1", "Too young", ["age"])]
    texts = [str(one) for one in reasons(drawn, row, favourable="yes", codes=codes)[0]]
    assert texts == ["I1: Income too low", "A1: Too young"]
    assert len(reasons(drawn, row, favourable="yes", top=1)[0]) == 1
    assert reasons(drawn, row, favourable="no") == [()]
    assert reasons(drawn, row) == reasons(drawn, row, favourable="yes")
    joined = [ReasonCode("X", "Both", rules=[1, 2])]
    (one,) = reasons(drawn, row, favourable="yes", codes=joined)[0]
    assert one.amount == pytest.approx(2.1)


def test_amounts_of_cards_are_points_of_the_card():
    """The amounts on a card are its whole points, not log-odds."""
    counts = Coverage(40.0, (20.0, 20.0))
    rules = (Rule(parse_formula("income >= 1000"), Adds(1, 1.5), counts),)
    card = RuleCard(SCHEMA, np.array(["no", "yes"]), (1.0, 0.0), rules, unit=0.5, start=10.0)
    card = card.with_summary({"total_weight": 40.0})
    (one,) = reasons(card, {"income": [10.0]}, favourable="yes")[0]
    assert str(one) == "income is 10 (3 points, decides)"


def test_errors(tmp_path):
    """Unknown classes, columns, rules and forms are named."""
    churn = churn_model()
    data = {"age": [1.0], "color": ["red"], "plan": [1], "active": [True]}
    for options, message in [
        ({"favourable": "maybe"}, "no class of the model"),
        ({"codes": [ReasonCode("a", "b", ["agee"])]}, "no column 'agee'"),
        ({"codes": [ReasonCode("a", "b", rules=[99])]}, "no rule 99"),
    ]:
        with pytest.raises(ValueError, match=message):
            reasons(churn, data, **options)
    with pytest.raises(ValueError, match="needs a model with rules"):
        reasons(3, data)
    votes = UnorderedRules(SCHEMA, np.array(["no", "yes"]), (), (1.0, 1.0))
    with pytest.raises(ValueError, match="UnorderedRules"):
        reasons(votes, {"age": [1.0]})
    path = tmp_path / "codes.toml"
    path.write_text("[[reason]]\nkode = 'x'\n")
    with pytest.raises(ValueError, match=r"codes\.toml"):
        read_reason_codes(path)
