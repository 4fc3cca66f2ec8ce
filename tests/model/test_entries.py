"""Entries of the text: step functions of a column, base rates, weights, ends of scales."""

import json

import numpy as np
import pytest

from model.builders import CHURN_ROWS, CHURN_SCHEMA, churn_model
from rules.builders import a_rule
from rulewright import CompactRulesClassifier, CompactRulesRegressor, load_model, read_table
from rulewright.model import AdditiveRules, RegressionRules, parse_model
from rulewright.rules import Adds, Coverage, Head, NumberCoverage, Rule, parse_conjunction

pytestmark = pytest.mark.native

NOTES = {"class_shares": [0.9, 0.1], "total_weight": 1000.0, "n_rows": 1000}


def adding(text, head, points, counts):
    """Make a rule from its text, points and counts."""
    return a_rule(parse_conjunction(text), head, points, sum(counts), counts)


def stairs(**training):
    """Make a model with three thresholds of age, one other rule, and 1,000 training rows."""
    rules = (
        adding("age >= 50", 1, 1.0, (150.0, 50.0)),
        adding("age >= 60", 1, 0.5, (60.0, 40.0)),
        adding("age <= 20", 0, 0.25, (198.0, 2.0)),
        adding("color = red", 1, 0.75, (299.0, 1.0)),
    )
    summary = NOTES | {"training": training}
    return AdditiveRules(CHURN_SCHEMA, ["no", "yes"], (2.0, 0.0), rules, summary)


def table_of(model):
    """Give the lines of the rules with their titles, blanks as single ones."""
    lines = str(model).splitlines()
    top = next(i for i, line in enumerate(lines) if line.lstrip().startswith("#"))
    return [" ".join(line.split()) for line in lines[top:]]


def test_thresholds_of_one_column_are_one_entry():
    """Each range has the total of all rules for one class, with counts that follow from theirs."""
    assert table_of(stairs(missing=[])) == [
        "# points class odds rows share [95 %] all rule",
        "1-3 steps of age:",
        "-0.250 yes x0.78 2 of 200 1.0 % 10 % age <= 20",
        "0.000 yes x1.0 48 of 600 8.0 % 10 % 20 < age < 50",
        "+1.000 yes x2.7 10 of 100 10 % 10 % 50 <= age < 60",
        "+1.500 yes x4.5 40 of 100 40 % 10 % age >= 60",
        "4 +0.750 yes x2.1 1 of 300 0.33 % [0.06, 1.86] 10 % color = red",
    ]


def test_counts_that_do_not_follow_are_left_out():
    """Where rows without the value may lie between the rules, the range has no counts."""
    for model in (stairs(missing=["age"]), stairs()):
        assert table_of(model)[3] == "0.000 yes x1.0 - - 10 % 20 < age < 50"
        assert table_of(model)[4] == "+1.000 yes x2.7 10 of 100 10 % 10 % 50 <= age < 60"


def test_steps_are_numbered_and_explained_as_printed():
    """Rules keep their places, have the numbers of their entry, and explain the range of a row."""
    model = stairs()
    assert model.numbers == (2, 3, 1, 4)
    assert model.rules_table()["rule"] == [2, 3, 1, 4]
    text = str(model.explain({"age": [70.0], "color": ["red"]}))
    assert "+1.500" in text
    assert "rules 1-3: age >= 60" in text
    assert "rule 4: color = red" in text
    assert str(model[:1].explain({"age": [70.0]})).count("rule 1: age >= 50") == 1


def test_steps_of_several_classes_are_of_one_class():
    """Of three classes rules for different heads are different entries."""
    counts = (1.0, 1.0, 1.0)
    rules = tuple(
        adding(text, head, 1.0, counts)
        for text, head in [
            ("age <= 3", 0),
            ("age <= 5", 0),
            ("age <= 4", 1),
            ("age >= 9", Head(1, 2)),
        ]
    )
    lines = table_of(AdditiveRules(CHURN_SCHEMA, ["a", "b", "c"], (0.0,) * 3, rules))
    assert [line for line in lines if "steps" in line] == ["1-2 steps of age:"]
    assert any(line.startswith("4 +1.000 at least b") for line in lines)


def test_steps_of_numbers():
    """Means of ranges follow from those of the rules; money has separators and no exponent."""
    rules = (
        Rule(parse_conjunction("age <= 30"), Adds(0, -20_000.0), NumberCoverage(40.0, 1e5, 2e4)),
        Rule(parse_conjunction("age <= 50"), Adds(0, 59_090.0), NumberCoverage(100.0, 16e4, 3e4)),
        Rule(parse_conjunction("color = red"), Adds(0, 1234.5), NumberCoverage(5909.0, 2e5, 5e4)),
    )
    summary = {"total_weight": 6000.0, "training": {"missing": [], "mean": 180_921.0}}
    model = RegressionRules(CHURN_SCHEMA, 354_600.4, rules, summary)
    assert table_of(model) == [
        "# adds rows mean [95 %] all rule",
        "1-2 steps of age:",
        "+39,090 40 100,000 180,921 age <= 30",
        "+59,090 60 200,000 180,921 30 < age <= 50",
        "+0 5,900 181,276 180,921 age > 50",
        "3 +1,234 5,909 200,000 [198,725, 201,275] 180,921 color = red",
    ]
    assert "start: 354,600\n" in str(model)
    assert "e+" not in str(model)
    assert parse_model(model.to_text()).predict({"age": [20.0], "color": ["red"]}).tolist() == [
        354_600.4 + 39_090.0 + 1234.5
    ]


def test_base_rates_and_lift_come_from_the_fit():
    """The share of a class in all rows stands beside each rule and in the frame."""
    table = read_table("examples/loans.csv", target="repaid")
    model = CompactRulesClassifier(random_state=0, size="max", max_rules=3).fit(table).model_
    share = float(np.mean(np.array(table.y) == "no"))
    frame = model.rules_table()
    for rule, rate, lift in zip(model, frame["base_rate"], frame["lift"], strict=True):
        assert rate == pytest.approx(share if rule.head == Head(0, 0) else 1.0 - share)
        assert lift == pytest.approx(rule.share / rate)
    assert "; all: share in all training rows" in str(model)
    weights = np.array([frame["weight_no"], frame["weight_yes"]])
    np.testing.assert_allclose(weights.sum(axis=0), frame["support"])
    heads = [weights[rule.head.first, i] for i, rule in enumerate(model)]
    np.testing.assert_allclose(np.array(heads) / frame["support"], frame["precision"])
    assert "weighted" not in str(model)


@pytest.mark.parametrize(
    ("options", "weights", "why"),
    [({"class_weight": "balanced"}, None, "class_weight=balanced"), ({}, 0.5, "row weights")],
)
def test_weighted_counts_are_named(options, weights, why):
    """Class weights and row weights are named in the title of the counts and in the header."""
    table = read_table("examples/loans.csv", target="repaid")
    given = None if weights is None else np.where(np.arange(len(table)) % 2, 1.0, weights)
    learner = CompactRulesClassifier(random_state=0, size="max", max_rules=2, **options)
    text = str(learner.fit(table, sample_weight=given).model_)
    assert "  weighted rows  " in text
    assert f"counts, shares and probabilities are weighted ({why})" in text


def test_the_mean_of_all_rows_is_noted():
    """Regression notes the mean of the target, weighted as the rows are."""
    rows = {"a": np.arange(60.0), "y": np.where(np.arange(60) < 30, 0.0, 10.0)}
    weights = np.where(np.arange(60) < 30, 3.0, 1.0)
    table = read_table(rows, target="y", task="regression")
    learner = CompactRulesRegressor(2, size="max", random_state=0)
    model = learner.fit(table, sample_weight=weights).model_
    assert model.summary["training"]["mean"] == pytest.approx(2.5)
    assert model.rules_table()["base_mean"] == pytest.approx([2.5] * len(model))


def test_ends_of_scales_are_equal_signs():
    """Counts from 0 and months to 12 end with =, the rule and the file keep their thresholds."""
    texts = ["age <= 0 and color = red", "age >= 12", "unused >= 12", "age >= 3"]
    rules = tuple(adding(text, 1, 0.5 + i, (1.0, 1.0)) for i, text in enumerate(texts))
    whole = {"age": [0.0, 12.0], "unused": [1.0, 12.0]}
    model = AdditiveRules(
        CHURN_SCHEMA, ["a", "b"], (0.0, 0.0), rules, {"training": {"whole": whole}}
    )
    text = str(model)
    line = "whole numbers: age from 0, unused 1 to 12 (= at an end also covers values beyond it)"
    assert line in text.splitlines()
    assert "  age = 0 and color = red" in text
    assert "  unused = 12" in text
    assert "age >= 12" in text  # 12 is the largest count so far, and no end
    again = parse_model(text)
    assert again.rules[-1].body == parse_conjunction("age <= 0 and color = red")
    assert parse_conjunction("unused >= 12") in [rule.body for rule in again]
    rows = {"age": [-1.0, 0.0, 12.0, 13.0], "color": ["red"] * 4, "unused": [0.0, 13.0, 12.0, 1.0]}
    assert again.predict_proba(rows) == pytest.approx(model.predict_proba(rows))
    assert "rule 4: age = 0 and color = red" in str(
        model.explain({n: v[:1] for n, v in rows.items()})
    )


def test_a_rule_for_the_end_alone_keeps_its_text():
    """Where a rule means 0 and nothing below, no text of the column stands for more."""
    texts = ["age <= 0 and color = red", "age = 0 and color = blue"]
    rules = tuple(adding(text, 1, 0.5, (1.0, 1.0)) for text in texts)
    summary = {"training": {"whole": {"age": [0.0, 5.0]}}}
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 0.0), rules, summary)
    assert "whole numbers" not in str(model)
    assert "age <= 0 and color = red" in str(model)


@pytest.mark.parametrize(
    "notes", [None, 3, {"whole": [1]}, {"whole": {"age": ["x", 1]}}, {"mean": "x"}]
)
def test_notes_of_a_file_may_hold_anything(notes):
    """What cannot be read is not known, and the model prints."""
    summary = {"training": notes, "class_shares": "none", "settings": 3, "total_weight": "much"}
    assert "-2.346" in str(churn_model().with_summary(summary))
    assert RegressionRules(CHURN_SCHEMA, 1.0, (), {"training": notes}).to_text()


def test_old_files_have_corrected_weights_only(tmp_path):
    """Files without counts keep share and interval; counts and precision are not known."""
    old = Coverage(10.0, (1.0, 3.0), "corrected")
    assert (old.counts, old.share(Head(1, 1)), old.count_text(Head(1, 1))) == (None, 0.75, "10")
    new = Coverage(10.0, (2.0, 8.0), "corrected", (1.0, 3.0))
    assert (new.precision(Head(1, 1)), new.share(Head(1, 1))) == (0.8, 0.75)
    assert new.count_text(Head(1, 1)) == "8 of 10"
    rule = churn_model().rules[0]
    model = churn_model().with_rules([Rule(rule.body, rule.outcome, c) for c in (old, new)])
    model.save(tmp_path / "m.json")
    lines = json.loads((tmp_path / "m.json").read_text())["rules"]
    assert [line["coverage"].get("corrected_weights") for line in lines] == [None, [1.0, 3.0]]
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    assert np.isnan(loaded.rules_table()["weight_stay"][0])
    assert loaded.rules_table()["weight_stay"][1] == 2.0
    assert loaded.predict_proba(CHURN_ROWS) == pytest.approx(model.predict_proba(CHURN_ROWS))
    with pytest.raises(ValueError, match="as many corrected weights as class weights"):
        Coverage(10.0, (2.0, 8.0), "corrected", (1.0,))
