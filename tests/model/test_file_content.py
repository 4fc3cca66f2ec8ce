"""Files that say they are models and are not: every field is checked."""

import json
import math
import random
from dataclasses import replace

import pandas as pd
import polars as pl
import pytest

from model.builders import CHURN_ROWS, churn_model, saved, write
from rulewright.data import read_table
from rulewright.model import AdditiveRules, IsotonicSteps, ModelFileError, load_model
from rulewright.rules import Adds, Head

pytestmark = pytest.mark.native


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.json"


STEPS = {"thresholds": [0.0], "values": [0.2, 0.7]}
COUNTS = {"rows": "training", "support": 1.0, "class_weights": [1.0, 0.0]}
RULE = {"if": [], "then": {"head": 0, "adds": 1.0}, "coverage": COUNTS}


def then(**fields):
    """Give a rule with another outcome."""
    return RULE | {"then": RULE["then"] | fields}


def counted(**fields):
    """Give a rule with another coverage."""
    return RULE | {"coverage": COUNTS | fields}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"form": "tree"}, "unknown model form"),
        ({"form": ["additive"]}, "unknown model form"),
        ({"extra": 1}, "unknown fields"),
        ({"library_version": 3}, "library_version"),
        ({"intercepts": [0.0]}, "intercepts"),
        ({"intercepts": {"a": 1}}, "must be a list"),
        ({"intercepts": [10**400, 0.0]}, "too large"),
        ({"intercepts": [True, 0.0]}, "must be a number"),
        ({"classes": ["a", "b"]}, "'type' and 'values'"),
        ({"classes": {"type": "string", "values": ["a", 1]}}, "of the type string"),
        ({"classes": {"type": "integer", "values": [1, True]}}, "of the type integer"),
        ({"classes": {"type": "integer", "values": [1, 10**30]}}, "64 bits"),
        ({"classes": {"type": "string", "values": []}}, "list of 1"),
        ({"classes": {"type": "string", "values": ["a", "a"]}}, "different"),
        ({"classes": {"type": "date", "values": ["a", "b"]}}, "unknown type"),
        ({"rules": {}}, "must be a list"),
        ({"rules": [then(head=2)]}, "rule 0: there are 2 classes"),
        ({"rules": [then(head=0.0)]}, "rule 0: head"),
        ({"rules": [then(head=[1, 0])]}, "rule 0: head"),
        ({"rules": [then(head=[0, 1, 1])]}, "rule 0: head"),
        ({"rules": [then(adds="1")]}, "rule 0: response"),
        ({"rules": [then(otherwise=None)]}, "rule 0: otherwise"),
        ({"rules": [then(claims=1.0)]}, "rule 0: an outcome cannot have the keys"),
        ({"rules": [RULE | {"then": {"head": 0, "claims": 1.0}}]}, "must be Adds, not Claims"),
        ({"rules": [RULE | {"then": {"says": [0.5, 0.5]}}]}, "must be Adds, not Says"),
        ({"rules": [RULE | {"then": {"says": [0.5, 0.6]}}]}, "sum to 1"),
        ({"rules": [RULE | {"then": 3}]}, "rule 0: an outcome must be"),
        ({"rules": [counted(rows="all")]}, "rows of a coverage"),
        ({"rules": [counted(support=-1.0)]}, "not negative"),
        ({"rules": [counted(class_weights=[1.0])]}, "class weights"),
        ({"rules": [counted(class_weights={"0": 1.0})]}, "must be a list with a number"),
        ({"rules": [RULE | {"more": 1}]}, "rule 0: a rule must be"),
        ({"rules": [RULE, 3]}, "rule 1: a rule must be"),
        ({"rules": [RULE | {"if": [{"column": "age", "in": ["a"]}]}]}, "nominal column"),
        ({"rules": [RULE | {"if": [{"column": "color", "high": 3}]}]}, "numeric column"),
        ({"rules": [RULE | {"if": [{"column": "color", "in": ["pink"]}]}]}, "no label 'pink'"),
        ({"rules": [RULE | {"if": [{"column": "size", "high": 3}]}]}, "column 'size'"),
        ({"rules": [RULE | {"if": {"or": 3}}]}, "must be a list of formulas"),
        ({"rules": [RULE | {"if": {"and": []}}]}, "an And needs parts"),
        ({"rules": [RULE | {"if": {"xor": []}}]}, "'and', 'or' or 'not'"),
        ({"costs": {}}, "must be a list"),
        ({"costs": [[0.0, 1.0]]}, "2 rows of 2 numbers"),
        ({"costs": [[0.0, 1.0], [0.0]]}, "2 rows of 2 numbers"),
        ({"costs": [[0.0, -1.0], [1.0, 0.0]]}, "'churn' for 'stay' is -1.0"),
        ({"costs": [[0.5, 1.0], [1.0, 0.0]]}, "0 where the prediction is true"),
        ({"costs": [[0.0, "1"], [1.0, 0.0]]}, "cost must be a number"),
        ({"costs": [[0.0, 1.7e308], [1.0, 0.0]]}, "must be finite"),
        ({"balanced": 0.5}, "must be a list"),
        ({"balanced": [1.0]}, "2 classes need as many shares"),
        ({"balanced": [0.5, 0.6]}, "must sum to 1"),
        ({"balanced": [1.5, -0.5]}, "must not be negative"),
        ({"threshold": 0.5}, "'class' and 'at'"),
        ({"threshold": {"class": 1, "at": 1.0}}, "above 0 and below 1"),
        ({"threshold": {"class": 1, "at": "half"}}, "threshold must be a number"),
        ({"threshold": {"class": 2, "at": 0.5}}, "must be 0 or 1"),
        ({"threshold": {"class": True, "at": 0.5}}, "must be 0 or 1"),
        ({"balanced": [0.5, 0.5], "costs": [[0, 1], [1, 0]]}, "one decision, not costs and bal"),
        ({"steps": STEPS}, "must be a list"),
        ({"steps": [STEPS]}, "2 IsotonicSteps"),
        ({"steps": [STEPS, [1.0]]}, "'thresholds' and 'values'"),
        ({"steps": [STEPS, STEPS | {"values": 0.5}]}, "must be numeric lists"),
        ({"steps": [STEPS, STEPS | {"values": [0.7, 0.2]}]}, "must not fall"),
        ({"steps": [STEPS, STEPS | {"values": [0.2, 1.0]}]}, "between 0 and 1"),
        ({"steps": [STEPS, STEPS | {"values": [0.2, 0.3, 0.4]}]}, "one value more"),
        ({"steps": [STEPS, {"thresholds": [1.0, 1.0], "values": [0.1] * 3}]}, "ascend"),
        ({"summary": [1]}, "summary"),
        ({"schema": {}}, "schema"),
    ],
)
def test_wrong_content_is_refused(path, change, message):
    """A file with a hash that fits is still checked field by field."""
    write(path, saved(path) | change)
    with pytest.raises(ModelFileError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("column", "labels", "label_type"),
    [
        *(
            (2, [label], "number")
            for label in ("x", "", "1.0", "01", " 1", "+1", "-0", "1e5", "nan")
        ),
        *(
            (2, [label], "number")
            for label in ("1_0", "0x10", "\u0661", "true", "1" * 5000, "1e400")
        ),
        *((3, labels, "boolean") for labels in ([], ["true"], ["true", "false"], ["0", "1"])),
        (3, ["false", "true", "x"], "boolean"),
    ],
)
def test_labels_that_no_value_of_their_type_has_are_refused(path, column, labels, label_type):
    """Labels of numbers are written as the library writes numbers, those of Booleans are fixed."""
    document = saved(path, churn_model()[:0])
    document["schema"]["columns"][column] |= {"labels": labels, "label_type": label_type}
    write(path, document)
    name = document["schema"]["columns"][column]["name"]
    with pytest.raises(ModelFileError, match=f"Column '{name}'.*label"):
        load_model(path)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.5, -0.0, 1e300, 5e-324, 2**53 + 1, None],
        [math.nan, math.nan],
        [2**63 + 1, 10**30],
        [True, None, False],
        [True, 1, "01"],
        pd.Categorical([1, 2], [10**30, 2, 1, math.inf]),
        pd.Categorical([None, None], []),
        pd.Categorical(["1", "01"], ["01", "1", "1.0"]),
        pd.Categorical([True], [True]),
        pl.Series(["1"], dtype=pl.Enum(["1", "1.0"])),
    ],
)
def test_labels_that_the_library_finds_can_be_loaded(path, values):
    """Whatever a nominal column holds, its schema is saved and loaded."""
    schema = read_table({"c": values}, nominal=["c"]).schema
    model = AdditiveRules(schema, ["a"], (0.0,), ())
    model.save(path)
    assert load_model(path).schema == schema


def test_missing_fields_are_refused(path):
    """Each field of the file is needed."""
    document = saved(path)
    for key in document:
        write(path, {name: value for name, value in document.items() if name != key})
        if key != "sha256":
            with pytest.raises(ModelFileError):
                load_model(path)


HOSTILE = [
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "x",
    [],
    {},
    [[]],
    {"a": []},
    [None],
    "__import__('os')",
]


def places(node, way=()):
    """Give the way to every value inside plain data."""
    yield way
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in items:
        if isinstance(value, dict | list):
            yield from places(value, (*way, key))
        else:
            yield (*way, key)


def decided_model():
    """Make a model that has all fields a file can have."""
    union = churn_model()[0].with_outcome(Adds(Head(0, 1), 0.5, -0.5))
    costs, steps = ((0.0, 1.0), (5.0, 0.0)), (IsotonicSteps((0.0, 1.5), (0.2, 0.3, 0.7)),) * 2
    model = churn_model()
    return replace(model, rules=(*model.rules, union), decision=costs, steps=steps)


def test_malformed_files_end_in_a_model_or_a_clean_error(path):
    """Hundreds of files with a value replaced or removed load or are refused."""
    document, rng = saved(path, decided_model()), random.Random(1)
    ways = [way for way in places(document) if way]
    for _ in range(600):
        mutant = json.loads(json.dumps(document))
        *above, last = rng.choice(ways)
        node = mutant
        for key in above:
            node = node[key]
        if rng.random() < 0.2:
            del node[last]
        else:
            node[last] = rng.choice(HOSTILE)
        write(path, mutant)
        try:
            load_model(path).predict(CHURN_ROWS)
        except ValueError:
            continue
