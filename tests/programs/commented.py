"""A small model of every form, for tests of what exports say about rules."""

import numpy as np

from model.builders import CHURN_SCHEMA, churn_model
from rules.builders import a_rule
from rulewright.data import read_table
from rulewright.model import (
    AdditiveRules,
    AveragedModel,
    DecisionList,
    DnfModel,
    NearestRules,
    RegressionRules,
    RuleSetVotes,
    UnorderedRules,
)
from rulewright.model.forms.terms import LinearTerm
from rulewright.programs.distances import LabelDistance, NumberDistance
from rulewright.rules import (
    Adds,
    Conjunction,
    Coverage,
    Head,
    NumberCoverage,
    Rule,
    Says,
    parse_conjunction,
    parse_formula,
)

CLASSES = np.array(["stay", "churn"])
FIRST, SECOND, THIRD = map(
    parse_formula, ("age <= 34 and color = red", "age is missing or color = blue", "age > 60")
)
ROWS = {
    "age": [20.0, 30.0, 50.0, None, 70.0, 25.0],
    "color": ["red", "blue", None, "red", "green", "green"],
}
TABLE = read_table(ROWS, target=["yes", "yes", "no", "no", "no", "no"])


def saying(shares, weight=1.0):
    bodies = zip((FIRST, SECOND, THIRD), shares, strict=True)
    return tuple(
        Rule(body, Says((share, 1.0 - share), weight), Coverage.of((share * 20, 20 - share * 20)))
        for body, share in bodies
    )


def three_rules():
    """Make additive rules of two classes, the strongest one last."""
    return AdditiveRules(
        CHURN_SCHEMA,
        CLASSES,
        (0.1, -0.2),
        (
            a_rule(parse_conjunction("age <= 34 and color = red"), 1, 0.83, 120.0, (10.0, 110.0)),
            a_rule(parse_conjunction('active = "true"'), 0, 0.4, 80.0, (60.0, 20.0)),
            a_rule(parse_conjunction('age > 60 and plan != "1"'), 1, 1.25, 20.0, (5.0, 15.0)),
        ),
    )


def _several_classes():
    bodies = map(parse_conjunction, ("age <= 34", "color = red", 'active = "true"'))
    heads = (Head(0, 1), Head(2, 2), Head(1, 2))
    rules = (
        a_rule(body, head, 0.5 + k, 3.0, (1.0,) * 3)
        for k, (body, head) in enumerate(zip(bodies, heads, strict=True))
    )
    return AdditiveRules(CHURN_SCHEMA, ["low", "middle", "high"], (0.0, 0.1, 0.2), tuple(rules))


def _dnf():
    formula = [*map(parse_conjunction, ("age <= 30 and color != red", "color = red and age < 60"))]
    return DnfModel.from_training(TABLE, {1: formula})


def _votes():
    young, red, old = map(parse_conjunction, ("age <= 30", "color = red and age < 60", "age > 40"))
    members = {0: [((old,), 7.0)], 1: [((young, red), 2.0), ((young,), 1.0), ((), 1.0)]}
    return RuleSetVotes.from_training(TABLE, members, 0.1)


def _nearest():
    texts = ("20 <= age <= 34 and color = red", "40 <= age <= 60 and color = blue")
    rules = tuple(
        Rule(parse_conjunction(text), Says((share, 1.0 - share)), Coverage.of((4.0, 1.0)))
        for text, share in zip(texts, (0.1, 0.8), strict=True)
    )
    table = ((0.0, 1.0, 0.5), (1.0, 0.0, 0.5), (0.5, 0.5, 0.0))
    distances = (LabelDistance("color", (0, 0, 1), 2, 1, table), NumberDistance("age", 20.0, 60.0))
    return NearestRules(CHURN_SCHEMA, CLASSES, rules, distances, (8.0, 10.0))


def _regression():
    def rule(text, response, otherwise=0.0):
        body = parse_conjunction(text)
        return Rule(body, Adds(0, response, otherwise), NumberCoverage(4, 3.5, 2))

    line = LinearTerm("age", 20.0, 60.0, 40.0, 10.0, (0.5,))
    rules = (rule("color = red", -2.0), rule("age <= 34", 3.0, -1.0))
    return RegressionRules(CHURN_SCHEMA, 10.0, rules, linear=(line,))


def _list():
    return DecisionList(CHURN_SCHEMA, CLASSES, saying((0.1, 0.6, 0.25)), (0.75, 0.25), (15.0, 5.0))


def _unordered():
    return UnorderedRules(CHURN_SCHEMA, CLASSES, saying((0.1, 0.6, 0.25), 4.0), (1.5, 0.5))


def _ending_with_true():
    rules = (*_list().rules, Rule(Conjunction(), Says((0.5, 0.5)), Coverage.of((1.0, 1.0))))
    return DecisionList(CHURN_SCHEMA, CLASSES, rules, (0.75, 0.25), (15.0, 5.0))


FORMS = {
    "additive": churn_model(),
    "additive of three classes": _several_classes(),
    "list": _list(),
    "list that ends with true": _ending_with_true(),
    "unordered": _unordered(),
    "dnf": _dnf(),
    "votes": _votes(),
    "nearest": _nearest(),
    "regression": _regression(),
    "average": AveragedModel(CHURN_SCHEMA, CLASSES, (churn_model(), _list()), (0.75, 0.25)),
}
