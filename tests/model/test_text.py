import numpy as np

from model.builders import CHURN_SCHEMA, churn_model
from rules.builders import a_rule
from rulewright.model import AdditiveRules, Head, IsotonicSteps
from rulewright.rules import Conjunction

FIRST = "IF age <= 34 and color = red THEN churn (+0.83)"
RECORD = "covers 120, precision 0.92 [0.85, 0.95]"


def test_print_puts_the_strongest_first():
    """Rules are printed by the size of their response, numbered by their place."""
    lines = str(churn_model()).splitlines()
    assert lines[0] == "AdditiveRules: 6 rules, 2 classes (stay, churn)"
    assert lines[1] == "intercept: stay +0.1, churn -0.2"
    assert [line.split()[0] for line in lines[2:]] == ["4", "0", "1", "3", "2", "5"]
    assert lines[3].startswith(f"0  {FIRST} ")
    assert lines[3].endswith(f"   {RECORD}")


def test_to_text_keeps_the_order_of_learning():
    """The text export lists all rules as they were learned."""
    lines = churn_model().to_text().splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["0", "1", "2", "3", "4", "5"]


def test_long_models_are_cut(capsys):
    """Printing shows the strongest rules and says how many more there are."""
    churn_model().print(max_rules=2)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[-1] == "... and 4 more; print(max_rules=None) shows all"
    churn_model().print(max_rules=None)
    assert len(capsys.readouterr().out.splitlines()) == 8


def test_one_class_and_no_rules():
    """Small models print well too."""
    model = AdditiveRules(CHURN_SCHEMA, np.array([True]), (0.5,), ())
    assert str(model) == "AdditiveRules: no rules, 1 class (true)\nintercept: true +0.5"


def test_three_classes_and_a_rule_without_cover():
    """Every class is named, and a rule that covered nothing has no precision."""
    rules = (a_rule(Conjunction(), 2, -0.00123, 0.0, (0.0, 0.0, 0.0)),)
    model = AdditiveRules(CHURN_SCHEMA, [1, 2, 3], (0.0, 0.5, -0.5), rules)
    assert str(model).splitlines() == [
        "AdditiveRules: 1 rule, 3 classes (1, 2, 3)",
        "intercept: 1 +0, 2 +0.5, 3 -0.5",
        "0  IF true THEN 3 (-0.00123)   covers 0",
    ]


def test_unions_costs_and_steps_are_named():
    """Rules for several classes read as words, and unusual decisions are said in the preamble."""
    rules = (
        a_rule(Conjunction(), Head(1, 2), 0.5, 4.0, (1.0, 2.0, 1.0)),
        a_rule(Conjunction(), Head(0, 1), 0.25, 4.0, (1.0, 2.0, 1.0)),
    )
    model = AdditiveRules(
        CHURN_SCHEMA,
        ["low", "middle", "high"],
        (0.0, 0.0, 0.0),
        rules,
        costs=1.0 - np.eye(3),
        steps=(IsotonicSteps((), (0.5,)),) * 3,
    )
    assert str(model).splitlines()[1:] == [
        "intercept: low +0, middle +0, high +0; order: low < middle < high; "
        "probabilities by calibrated steps; label by lowest expected cost",
        "0  IF true THEN at least middle (+0.5)   covers 4, precision 0.75 [0.30, 0.95]",
        "1  IF true THEN at most middle (+0.25)   covers 4, precision 0.75 [0.30, 0.95]",
    ]


def test_labels_cannot_break_lines():
    """A label with a line break is escaped."""
    model = AdditiveRules(CHURN_SCHEMA, ["a\nb", "c"], (0.0, 0.0), churn_model().rules)
    assert len(model.to_text().splitlines()) == 8
    assert "a\\nb" in str(model)
