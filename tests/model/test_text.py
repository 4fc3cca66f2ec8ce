from dataclasses import replace

import numpy as np

from model.builders import CHURN_SCHEMA, churn_model
from rules.builders import a_rule
from rulewright.model import AdditiveRules, IsotonicSteps
from rulewright.rules import Adds, Conjunction, Head

NOTE = (
    "share: precision on training rows with 95 % interval (these rows chose the rules: "
    "expect less on new rows)"
)
SAYS = "Each rule that applies adds its points to its class"
ODDS = f"{SAYS}; one point multiplies the odds of the class by 2.72."


def rules_of(text):
    """Give the lines of the rules, which follow the titles of their columns."""
    lines = text.splitlines()
    return lines[next(i for i, line in enumerate(lines) if line.lstrip().startswith("#")) + 1 :]


def test_print_puts_the_strongest_first():
    """Rules are printed by the size of their points, numbered from 1 as printed."""
    lines = str(churn_model()).splitlines()
    assert lines[:8] == [
        "AdditiveRules: 6 rules, 2 classes (stay, churn)",
        "start: -0.300 points for churn, probability 43 %",
        ODDS,
        "points for churn minus stay     -4     -2     -1      0     +1     +2     +4",
        "probability of churn         0.018  0.119  0.269  0.500  0.731  0.881  0.982",
        NOTE,
        "#  points  class    odds        rows         share [95 %]  rule",
        "1  -2.346  churn  x0.096    30 of 60        50 % [38, 62]  color is known and "
        "active != false",
    ]
    assert lines[8] == (
        "2  +0.830  churn    x2.3  110 of 120  91.7 % [85.3, 95.4]  age <= 34 and color = red"
    )
    assert churn_model().numbers == (2, 3, 5, 4, 1, 6)


def test_the_scale_is_that_of_the_model():
    """Points of two classes give the probabilities that the model gives, with steps too."""
    model = churn_model()
    totals = np.array([-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0])
    steps = (IsotonicSteps((0.5,), (0.25, 0.75)), IsotonicSteps((-1.5, 1.5), (0.1, 0.2, 0.9)))
    for made in (model, model.with_steps(steps)):
        line = next(x for x in str(made).splitlines() if x.startswith("probability of churn"))
        chances = made.probabilities(np.column_stack([np.zeros(7), totals]))[:, 1]
        assert line.split()[3:] == [f"{chance:.3f}" for chance in chances]
    assert "probabilities by calibrated steps" in str(made)


def test_rows_that_were_counted_are_named():
    """The title of the column says on which rows; the note is for training rows only."""
    model = churn_model()
    given = [
        replace(rule, coverage=replace(rule.coverage, rows="left out")) for rule in model.rules
    ]
    text = str(model.with_rules(given))
    assert "held-out rows         share [95 %]  rule" in text
    assert NOTE not in text
    mixed = str(model.with_rules([given[0], *model.rules[1:]]))
    assert "                    rows         share [95 %]  rule" in mixed
    assert "x2.3  110 of 120 held-out rows  91.7 % [85.3, 95.4]" in mixed
    assert "x1.5    60 of 80 training rows        75 % [65, 83]" in mixed
    assert NOTE in mixed


def test_to_text_has_all_digits():
    """The text has the printed rules in the printed order, with all digits of their points."""
    model = churn_model()
    lines, printed = rules_of(model.to_text()), rules_of(str(model))
    assert [line.split()[0] for line in lines] == list("123456")
    assert lines[0].split()[1] == "-2.345678901234567"
    assert [line.split("  ")[-1] for line in lines] == [line.split("  ")[-1] for line in printed]


def test_long_models_are_cut(capsys):
    """Printing shows the strongest rules and says how many more there are."""
    churn_model().print(max_rules=2)
    lines = rules_of(capsys.readouterr().out)
    assert len(lines) == 3
    assert lines[-1] == "... and 4 more; print(max_rules=None) shows all"
    churn_model().print(max_rules=None)
    assert len(rules_of(capsys.readouterr().out)) == 6


def test_one_class_and_no_rules():
    """Small models print well too."""
    model = AdditiveRules(CHURN_SCHEMA, np.array([True]), (0.5,), ())
    assert str(model).splitlines() == [
        "AdditiveRules: no rules, 1 class (true)",
        "start: +0.500 points for true",
        f"{SAYS}.",
    ]
    assert str(model.explain({name: [None] for name in CHURN_SCHEMA.names})).splitlines() == [
        "row 0: true with probability 1.000",
        "  points for true  P(true)  reason (changes of P add up in this order)",
        "           +0.500    1.000  start: no rule applies",
    ]


def test_three_classes_and_a_rule_without_cover():
    """Every class is named, and a rule that covered nothing has no precision."""
    rules = (a_rule(Conjunction(), 2, -0.00123, 0.0, (0.0, 0.0, 0.0)),)
    model = AdditiveRules(CHURN_SCHEMA, [1, 2, 3], (-1e-17, 0.5, -0.5), rules)
    assert str(model).splitlines() == [
        "AdditiveRules: 1 rule, 3 classes (1, 2, 3)",
        "start in points (probability): 1: 0.000 (31 %), 2: +0.500 (51 %), 3: -0.500 (19 %)",
        ODDS,
        "lead over all others, points      0     +1     +2     +4",
        "probability                   0.333  0.576  0.787  0.965",
        NOTE,
        "#  points  class  odds    rows  share [95 %]  rule",
        "1  -0.001  3      x1.0  0 of 0             -  true",
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
        decision=1.0 - np.eye(3),
        steps=(IsotonicSteps((), (0.5,)),) * 3,
    )
    assert str(model).splitlines()[1:] == [
        "start in points (probability): low: 0.000 (33 %), middle: 0.000 (33 %), "
        "high: 0.000 (33 %)",
        f"{SAYS}.",
        "order: low < middle < high",
        "probabilities by calibrated steps",
        "label by lowest expected cost",
        NOTE,
        "#  points  class              rows   share [95 %]  rule",
        "1  +0.500  at least middle  3 of 4  75 % [30, 95]  true",
        "2  +0.250  at most middle   3 of 4  75 % [30, 95]  true",
    ]


def test_labels_cannot_break_lines():
    """A label with a line break is escaped."""
    model = AdditiveRules(CHURN_SCHEMA, ["a\nb", "c"], (0.0, 0.0), churn_model().rules)
    assert len(model.to_text().splitlines()) == 7 + 6
    assert "a\\nb" in str(model)


def test_what_rules_add_where_they_fail_is_announced():
    """The preamble says so only if a rule does."""
    model, note = churn_model(), "A rule whose conditions are known to fail adds the points"
    assert note not in str(model)
    rule = model.rules[0].with_outcome(Adds(model.rules[0].head, 0.5, -0.5))
    assert note in str(model.with_rules([rule]))
