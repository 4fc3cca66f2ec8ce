"""Decision lists and unordered rules: what they answer, print, explain and refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, saved, saying_models, write
from rulewright.data import read_table
from rulewright.data.training import TrainingSet
from rulewright.encoding.covers import PackedCovers
from rulewright.estimators.lists.assembly import SMOOTHING, decision_list, unordered_rules
from rulewright.model import DecisionList, ModelFileError, UnorderedRules, load_model
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import Coverage, Rule, Says, parse_formula
from rulewright.trust import rule_statistics

pytestmark = pytest.mark.native

STAY, CHURN = 0, 1


def rule(text, shares, counts, weight=1.0):
    return Rule(parse_formula(text), Says(shares, weight), Coverage.of(counts))


def a_list():
    rules = (
        rule("age <= 34 and color = red", (0.1, 0.9), (1.0, 9.0)),
        rule('age is missing or active = "true"', (0.6, 0.4), (6.0, 4.0)),
        rule("color = red", (0.25, 0.75), (1.0, 3.0)),
    )
    classes = np.array(["stay", "churn"])
    return DecisionList(CHURN_SCHEMA, classes, rules, (0.75, 0.25), (15.0, 5.0))


def unordered():
    rules = (
        rule("age <= 34 and color = red", (0.0, 1.0), (0.0, 9.0), 9.0),
        rule("color = red", (0.75, 0.25), (3.0, 1.0), 4.0),
        rule('active = "true"', (0.5, 0.5), (4.0, 4.0), 8.0),
    )
    return UnorderedRules(CHURN_SCHEMA, np.array(["stay", "churn"]), rules, (1.5, 0.5))


def test_the_first_rule_decides():
    """The first rule that holds says the probabilities, the default where none does."""
    model = a_list()
    assert model.deciders(CHURN_ROWS).tolist() == [0, 1, 3, 1]
    assert model.predict_proba(CHURN_ROWS)[:, CHURN].tolist() == [0.9, 0.4, 0.25, 0.4]
    assert model.predict(CHURN_ROWS).tolist() == ["churn", "stay", "stay", "stay"]


def test_a_list_is_printed_in_its_order():
    """Rules are printed as they are tried, with what is left to them, after the default."""
    assert str(a_list()).splitlines() == [
        "DecisionList: 3 rules, 2 classes (stay, churn)",
        "The first rule that applies decides; each is counted on the rows that reach it.",
        "where no rule applies: stay with probability 0.750 (20 training rows)",
        "share: precision on training rows with 95 % interval (these rows chose the rules: "
        "expect less on new rows)",
        "#  probability     rows   share [95 %]  rule",
        "1        0.900  9 of 10  90 % [60, 98]  IF age <= 34 and color = red THEN churn",
        "2        0.600  6 of 10  60 % [31, 83]  IF age is missing or active = true THEN stay",
        "3        0.750   3 of 4  75 % [30, 95]  IF color = red THEN churn",
    ]


def test_explanations_name_the_rule_and_what_failed_before_it():
    """The rule that decides is named, and the conditions that kept those before it from holding."""
    rows = {name: [values[1], values[2], values[3]] for name, values in CHURN_ROWS.items()}
    assert a_list().explain(rows).text(max_reasons=2).splitlines() == [
        "row 0: stay with probability 0.600 (churn 0.400)",
        "  reason",
        "  decided by rule 2: age is missing or active = true (10 training rows)",
        "  rule 1 does not apply: age <= 34 fails (age is missing) and color = red fails "
        "(color is missing)",
        "row 1: stay with probability 0.750 (churn 0.250)",
        "  reason",
        "  decided by the default, as no rule applies (20 training rows)",
        "  rule 3 does not apply: color = red fails (color is (unseen label))",
        "  rule 2 does not apply: not (age is missing or active = true)",
        "  1 more rule before it: none applies",
        "row 2: stay with probability 0.600 (churn 0.400)",
        "  reason",
        "  decided by rule 2: age is missing or active = true (10 training rows)",
        "  rule 1 does not apply: age <= 34 fails (age is 60)",
    ]
    explained = a_list().explain(CHURN_ROWS)
    assert [explained.rule_ids(row) for row in range(4)] == [[0], [1], [], [1]]
    assert explained.to_frame("pandas")["probability"].tolist() == [0.9, 0.6, 0.6]


@given(saying_models(DecisionList))
@examples(60)
def test_lists_agree_with_their_definition(model):
    """The distribution is that of the first rule whose cover holds the row."""
    rows = adversarial_rows(model.program)
    expected = [
        next((r.outcome.distribution for r, h in zip(model.rules, holds, strict=True) if h), None)
        or model.default
        for holds in model.covers(rows)
    ]
    np.testing.assert_array_equal(model.predict_proba(rows), np.array(expected))
    assert model.explain(rows).text(max_rows=3)
    decided = PackedCovers(model.decided_bits(rows), len(expected))
    for i in range(len(model)):
        np.testing.assert_array_equal(decided[i : i + 1].row_mask(), model.deciders(rows) == i)


@given(saying_models(DecisionList) | saying_models(UnorderedRules))
@examples(40)
def test_every_export_of_lists_and_sets(model):
    """SQL, Python and JavaScript answer as the native program."""
    assert len(model.verify_exports().targets) == 4


def test_statistics_of_a_list_count_what_is_left_to_a_rule():
    """Rules are judged on the rows that they decide."""
    rows = CHURN_ROWS | {"y": ["churn", "stay", "stay", "stay"]}
    stats = rule_statistics(a_list(), rows, "y")
    assert stats.support.tolist() == [1.0, 2.0, 0.0]
    assert stats.precision[:2].tolist() == [1.0, 1.0]


def test_counts_are_added_up():
    """Weights times distributions are added to the start, and divided by their sum."""
    model = unordered()
    assert model.scores(CHURN_ROWS).tolist() == [[8.5, 14.5], [1.5, 0.5], [1.5, 0.5], [8.5, 5.5]]
    chances = model.predict_proba(CHURN_ROWS)[:, CHURN]
    assert chances == pytest.approx([14.5 / 23, 0.25, 0.25, 5.5 / 14])
    assert model.predict(CHURN_ROWS).tolist() == ["churn", "stay", "stay", "stay"]


def test_ties_go_to_the_class_with_more_of_the_start():
    """Of equal scores the class with the larger start wins."""
    even = UnorderedRules(
        CHURN_SCHEMA, np.array(["a", "b"]), (rule("true", (2 / 3, 1 / 3), (2.0, 1.0), 3.0),), (1, 2)
    )
    assert even.scores(CHURN_ROWS)[0].tolist() == [3.0, 3.0]
    assert even.predict(CHURN_ROWS)[0] == "b"


def test_unordered_rules_say_what_they_add():
    """Text and explanations tell weights, of which the largest comes first."""
    assert "where no rule applies: stay with probability 0.750" in str(unordered())
    assert "       1.000 x 9" in str(unordered())
    text = str(unordered().explain({name: values[:1] for name, values in CHURN_ROWS.items()}))
    assert [line.split("  ")[-1] for line in text.splitlines()[2:]] == [
        "start",
        "rule 1: age <= 34 and color = red",
        "rule 3: active = true",
        "rule 2: color = red",
        "total",
    ]
    assert "0.5 of 2" in text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"default": [0.5, 0.4]}, "sum to 1"),
        ({"default": [1.0]}, "2 classes need as many probabilities"),
        ({"default_weights": [1.0, -1.0]}, "finite weights"),
        ({"default": 3}, "default must be a list"),
    ],
)
def test_wrong_files_of_lists(tmp_path, change, words):
    """What is wrong with the default of a file is told."""
    path = tmp_path / "list.json"
    write(path, saved(path, a_list()) | change)
    with pytest.raises(ModelFileError, match=words):
        load_model(path)


@pytest.mark.parametrize(
    ("start", "words"),
    [([0.0, 0.0], "at least one class"), ([1.0], "2 classes need"), ([1e308, 1e308], "finite")],
)
def test_wrong_starts(tmp_path, start, words):
    """A start must give some class something, and be finite in sum."""
    path = tmp_path / "set.json"
    write(path, saved(path, unordered()) | {"start": start})
    with pytest.raises(ModelFileError, match=words):
        load_model(path)


@pytest.mark.parametrize("make", [a_list, unordered])
def test_rules_say_as_many_probabilities_as_there_are_classes(make):
    """A rule for other classes is refused, in the constructor and when rules are changed."""
    wrong = Rule(parse_formula("true"), Says((0.2, 0.3, 0.5)), Coverage.of((1.0, 1.0)))
    with pytest.raises(ValueError, match="none has the index 2"):
        make().with_rules([wrong])
    with pytest.raises(ValueError, match="too large to be added"):
        unordered().with_rules([rule("true", (0.5, 0.5), (1.0, 1.0), 1e308)] * 3)


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf, "1", True])
def test_weights_of_rules_are_above_zero(weight):
    """The weight of a rule is a finite number above 0."""
    with pytest.raises(ValueError, match="weight of a rule"):
        Says((0.5, 0.5), weight)


def training():
    table = {"x": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, np.nan], "y": ["a", "a", "b", "b", "a", "b", "b"]}
    return TrainingSet.of(read_table(table, target="y"))


def found(*rules):
    return [(parse_formula(text), k) for text, k in rules]


def test_assembly_counts_what_reaches_a_rule():
    """Coverage is that of the rows left, distributions are m-estimates, the default is the rest."""
    rows = training()
    model = decision_list(rows, found(("x <= 2", 0), ("x <= 4", 1)), summary={"by": "hand"})
    assert [r.coverage.class_weights for r in model.rules] == [(2.0, 0.0), (0.0, 2.0)]
    prior = 3 / 7
    first = (2 + SMOOTHING * prior) / (2 + SMOOTHING)
    assert model.rules[0].outcome.distribution[0] == pytest.approx(first)
    assert model.default_weights == (1.0, 2.0)
    assert model.default[1] == pytest.approx((2 + SMOOTHING * (1 - prior)) / (3 + SMOOTHING))
    assert model.summary == {"by": "hand"}


def test_assembly_keeps_the_class_of_a_rule():
    """A rule that was wrong more often than right still says its class; one without rows goes."""
    rows = training()
    model = decision_list(rows, found(("x >= 3", 0), ("x >= 5", 1)), default=0, summary={})
    assert len(model) == 1
    assert model.predict({"x": [4.0, np.nan]}).tolist() == ["a", "a"]
    assert 0.5 < model.predict_proba({"x": [4.0]})[0, 0] < 0.51


@given(st.integers(0, 10_000))
@examples(30)
def test_assembled_lists_reach_every_row_once(seed):
    """The rows of all rules and of the default add up to the training rows."""
    rng = np.random.default_rng(seed)
    cuts = rng.choice(np.arange(0.5, 7), 3)
    rules = found(*((f"x <= {cut}", int(rng.integers(2))) for cut in cuts))
    model = decision_list(training(), rules, summary={})
    counted = [r.coverage.class_weights for r in model.rules]
    assert np.sum([*counted, model.default_weights], axis=0).tolist() == [3.0, 4.0]


def test_assembled_counts():
    """Unordered rules weigh what they cover of all rows; classes start with their shares."""
    model = unordered_rules(
        training(), [parse_formula("x <= 4"), parse_formula("x >= 3")], summary={}
    )
    assert [r.outcome.weight for r in model.rules] == [4.0, 4.0]
    expected = np.array([2.0, 2.0]) + [1.0, 3.0] + SMOOTHING * np.array([3, 4]) / 7
    np.testing.assert_allclose(model.scores({"x": [3.5]})[0], expected)
