"""Models of all forms with rows that they were not learned from, and a large model."""

from functools import cache
from pathlib import Path

import numpy as np

from builders import LEARNERS, mixed_table
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema, read_table
from rulewright.estimators import (
    CompactRulesCounts,
    CompactRulesRegressor,
    CompactRulesSurvival,
    RuleFitRegressor,
    calibrate,
)
from rulewright.model import AdditiveRules
from rulewright.rules import Conjunction, Range

EVIL = [
    "</script><script>window.hacked=1</script>",
    '"><img src=x onerror="hacked=1">',
    "<!-- &amp;",
]


def rows_of(rng, n_rows, n_classes=3):
    """Make a table of numbers, labels, missing values and classes that are text."""
    columns, y = mixed_table(rng, n_rows, n_classes=n_classes)
    return read_table(columns, target=np.array(["low", "mid", "high"])[y])


@cache
def learned(name):
    """Fit a small learner; give its model and other rows."""
    rng = np.random.default_rng(1)
    n_classes = 2 if name == "two classes" else 3
    train, test = rows_of(rng, 150, n_classes), rows_of(rng, 120, n_classes)
    if name == "two classes":
        model = LEARNERS["rulefit"]().fit(train).model_
        return calibrate(model, test, None, "isotonic").with_decision([[0, 2], [1, 0]]), test
    return LEARNERS[name]().fit(train).model_, test


@cache
def regression(linear):
    """Fit a regressor, with lines or without; give its model and other rows."""
    rng = np.random.default_rng(2)
    tables = []
    for n_rows in (150, 120):
        columns, y = mixed_table(rng, n_rows)
        numbers = 10.0 * y + np.nan_to_num(columns["b"]) + rng.normal(size=n_rows)
        tables.append(read_table(columns, target=numbers, task="regression"))
    make = RuleFitRegressor if linear else CompactRulesRegressor
    return make(random_state=0).fit(tables[0]).model_, tables[1]


@cache
def of_events(task):
    """Fit rules to counts, or to times until an event; give the model and other rows."""
    rng = np.random.default_rng(3)
    tables = []
    for n_rows in (250, 120):
        columns, y = mixed_table(rng, n_rows)
        exposure, times = rng.uniform(0.5, 2, n_rows), rng.exponential(np.exp(-2.0 * y))
        target = (rng.poisson(0.3 * exposure * np.exp(1.5 * y)).astype(float), exposure)
        if task == "survival":
            target = np.minimum(times, 2.0), times < 2.0
        tables.append(read_table(columns, target=target, task=task))
    learner = CompactRulesCounts if task == "counts" else CompactRulesSurvival
    return learner(5, size="max", cv=3, random_state=0).fit(tables[0]).model_, tables[1]


@cache
def dated(name):
    """Fit a learner to a column of dates, some of them missing; give its model and other rows."""
    rng = np.random.default_rng(4)
    tables = []
    for n_rows in (150, 120):
        days = np.datetime64("2024-01-01") + rng.integers(0, 300, n_rows)
        y = (days >= np.datetime64("2024-06-01")) ^ (rng.random(n_rows) < 0.1)
        days[rng.random(n_rows) < 0.1] = np.datetime64("NaT")
        tables.append(read_table({"day": days, "x": rng.normal(size=n_rows)}, target=y))
    return LEARNERS[name]().fit(tables[0]).model_, tables[1]


MODELS = {
    **{name: (learned, name) for name in LEARNERS},
    "two classes": (learned, "two classes"),
    "card": (learned, "cards"),
    "dates": (dated, "mlrules"),
    "numbers": (regression, False),
    "numbers with lines": (regression, True),
    "counts": (of_events, "counts"),
    "times": (of_events, "survival"),
}
"""Makers of a model and rows, by name; between them they have every form."""


def model_and_rows(name):
    """Give the model of a name, and rows."""
    make, argument = MODELS[name]
    return make(argument)


def evil_model():
    """Give a model whose columns, labels and classes try to break out of the page, and rows."""
    rng = np.random.default_rng(3)
    n = 120
    columns = {
        EVIL[0]: rng.normal(size=n),
        EVIL[1]: rng.choice(EVIL, n).astype(object),
        "${x} {{ 7 * 7 }} \\u2028\n": rng.normal(size=n),
    }
    y = np.where(columns[EVIL[0]] + (columns[EVIL[1]] == EVIL[0]) > 0.3, EVIL[0], EVIL[1])
    table = read_table(columns, target=y)
    return LEARNERS["mlrules"]().fit(table).model_, table


@cache
def loans_model():
    """Give a model of the bundled table, whose labels have several words, and its rows."""
    table = read_table(Path(__file__).parents[2] / "examples" / "loans.csv", target="repaid")
    return LEARNERS["mlrules"](max_rules=60).fit(table.take(np.arange(0, 800, 2))).model_, table


def large_model(n_rules=1000, n_columns=200, n_rows=2000):
    """Give a model at the limits that a report promises, and rows."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_rows, n_columns))
    names = [f"measurement_{j:03d}" for j in range(n_columns)]
    schema = Schema(tuple(ColumnSchema(name, "numeric") for name in names), named=True)
    rules = []
    for _ in range(n_rules):
        parts = [
            Range(names[j], round(float(rng.normal()), 3))
            for j in sorted(rng.choice(n_columns, 3, replace=False))
        ]
        weights = tuple(map(float, rng.integers(1, 300, 2)))
        rules.append(
            a_rule(Conjunction(tuple(parts)), int(rng.integers(2)), 0.05, sum(weights), weights)
        )
    model = AdditiveRules(schema, np.array(["no", "yes"]), (0.0, 0.0), tuple(rules))
    y = np.array(["no", "yes"])[(X[:, :5].sum(axis=1) > 0).astype(int)]
    return model, dict(zip(names, X.T, strict=True)), y
