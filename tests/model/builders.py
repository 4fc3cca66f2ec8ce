"""Models for tests: one made by hand, and strange ones made by hypothesis."""

import hashlib
import json

import numpy as np
from hypothesis import strategies as st

from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema, label_of
from rulewright.model import (
    AdditiveRules,
    AveragedModel,
    Balanced,
    DecisionList,
    DnfModel,
    IsotonicSteps,
    LowestCost,
    NearestRules,
    RuleSetVotes,
    Threshold,
    UnorderedRules,
)
from rulewright.model.forms.rule_sets import number_terms, term_shares
from rulewright.programs.distances import LabelDistance, NumberDistance
from rulewright.rules import (
    Claims,
    Conjunction,
    Coverage,
    Head,
    Labels,
    Presence,
    Range,
    Rule,
    Says,
    Votes,
    negate,
    parse_conjunction,
)

CHURN_SCHEMA = Schema(
    (
        ColumnSchema("age", "numeric"),
        ColumnSchema("color", "nominal", ("blue", "green", "red"), "string"),
        ColumnSchema("plan", "nominal", ("1", "2.5"), "number"),
        ColumnSchema("active", "nominal", ("false", "true"), "boolean"),
        ColumnSchema("unused", "numeric"),
    ),
    named=True,
)


def churn_model():
    """Make a model of two classes and six rules that use every kind of condition."""
    rules = [
        ("age <= 34 and color = red", 1, 0.83, (10.0, 110.0)),
        ('20 < age < 60 and plan in {"1", "2.5"}', 0, 0.4, (60.0, 20.0)),
        ('color not in {blue, green} and active = "true"', 1, 0.125, (5.0, 15.0)),
        ("age is missing", 0, 0.3, (9.0, 3.0)),
        ("color is known and active != false", 1, -2.345678901234567, (30.0, 30.0)),
        ("true", 0, 0.05, (200.0, 150.0)),
    ]
    return AdditiveRules(
        schema=CHURN_SCHEMA,
        classes=np.array(["stay", "churn"]),
        intercepts=(0.1, -0.2),
        rules=tuple(
            a_rule(parse_conjunction(text), head, response, sum(weights), weights)
            for text, head, response, weights in rules
        ),
        summary={"learner": "by hand", "rounds": 6},
    )


CHURN_ROWS = {
    "age": [30.0, None, 34.0, 60.0],
    "color": ["red", None, "purple", "red"],
    "plan": [1, None, 2, 2.5],
    "active": [True, None, False, True],
}

QUOTES = ["'", '"', "`", "\\", "\n", "--", ";", "/*", "{x}", "%s", "'''", '"""', "é", " ", "a", "B"]
strange_text = (
    st.lists(
        st.sampled_from(QUOTES)
        | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3),
        min_size=1,
        max_size=4,
    )
    .map("".join)
    .filter(bool)
)
finite = st.floats(allow_nan=False, allow_infinity=False)
label_numbers = (
    st.integers(-(2**53), 2**53) | st.floats(-1e6, 1e6) | finite.filter(lambda x: abs(x) < 2**53)
)


@st.composite
def decisions(draw, n_classes):
    """Draw costs, shares to balance, or a threshold."""
    kinds = [cost_tables(n_classes).map(LowestCost), class_shares(n_classes).map(Balanced)]
    if n_classes == 2:
        within = st.floats(0, 1, exclude_min=True, exclude_max=True)
        inside = st.sampled_from([0.5, 0.1, 1e-9]) | within
        kinds.append(st.builds(Threshold, inside, st.integers(0, 1)))
    return draw(st.one_of(kinds))


@st.composite
def class_shares(draw, n_classes):
    """Draw the shares of classes, some of them without rows."""
    weights = [draw(st.sampled_from([0, 1, 5, 1000])) for _ in range(n_classes)]
    weights[draw(st.integers(0, n_classes - 1))] = 7
    return tuple(weight / sum(weights) for weight in weights)


@st.composite
def cost_tables(draw, n_classes):
    """Draw what each error costs."""
    costs = st.sampled_from([0.0, 1.0, 1.0, 2.0]) | st.floats(0.0, 1e6)
    return tuple(
        tuple(0.0 if j == k else draw(costs) for j in range(n_classes)) for k in range(n_classes)
    )


def steps_of(thresholds, values):
    """Make steps of any thresholds and values: sorted, and as many as there are places."""
    thresholds = sorted(set(thresholds))[: len(values) - 1]
    return IsotonicSteps(tuple(thresholds), tuple(sorted(values)[: len(thresholds) + 1]))


climbs = st.builds(
    steps_of,
    st.lists(st.sampled_from([-0.3, 0.0, 0.1, 0.5]) | st.floats(-50.0, 50.0), max_size=6),
    st.lists(st.sampled_from([0.1, 0.5]) | st.floats(1e-9, 1 - 1e-9), min_size=1, max_size=7),
)


@st.composite
def column_schemas(draw, name):
    """Draw a column of any kind with strange labels."""
    kind = draw(st.sampled_from(["numeric", "numeric", "string", "number", "boolean"]))
    if kind == "numeric":
        return ColumnSchema(name, "numeric")
    if kind == "boolean":
        return ColumnSchema(name, "nominal", ("false", "true"), "boolean")
    values = strange_text if kind == "string" else label_numbers
    labels = draw(st.lists(values.map(label_of), min_size=1, max_size=5, unique=True))
    return ColumnSchema(name, "nominal", tuple(sorted(labels)), kind)


@st.composite
def conditions(draw, column):
    """Draw a condition on a column, or its opposite."""
    condition = draw(plain_conditions(column))
    return negate(condition) if draw(st.booleans()) else condition


@st.composite
def plain_conditions(draw, column):
    """Draw a condition on a column that has no alternatives."""
    kind = draw(st.sampled_from(["test", "test", "test", "presence"]))
    if kind == "presence":
        return Presence(column.name, draw(st.booleans()))
    if column.kind == "nominal":
        labels = draw(st.lists(st.sampled_from(column.labels), min_size=1, unique=True))
        return Labels(column.name, tuple(labels), draw(st.booleans()))
    low, high = sorted(draw(st.tuples(finite, finite)))
    low_open, high_open = (draw(st.booleans()) and low < high for _ in range(2))
    sides = draw(st.sampled_from(["low", "high", "both"]))
    if sides == "low":
        return Range(column.name, low=low, low_open=low_open)
    if sides == "high":
        return Range(column.name, high=high, high_open=high_open)
    return Range(column.name, low, high, low_open, high_open)


def assert_chosen(model, scores, label):
    """Check the label of one row: what the model decides, or of the same cost but for rounding."""
    costs, k = model.expected_costs(scores[None])[0], model.classes.tolist().index(label)
    same_cost = costs[k] - costs.min() <= 1e-9 * (1.0 + costs.max())
    by_score = model.program.costs is None
    assert k == model.decide(scores[None])[0] or (same_cost and not by_score)


@st.composite
def schemas_and_classes(draw, sizes=(1, 4)):
    """Draw columns and classes with strange names and labels."""
    names = draw(
        st.lists(strange_text, min_size=1, max_size=4, unique_by=lambda name: name.encode().lower())
    )
    schema = Schema(tuple(draw(column_schemas(name)) for name in names), named=True)
    values = draw(
        st.sampled_from(
            [strange_text, st.integers(-(2**40), 2**40), st.floats(-1e9, 1e9), st.booleans()]
        )
    )
    return schema, draw(st.lists(values, min_size=sizes[0], max_size=sizes[1], unique=True))


@st.composite
def conjunctions(draw, schema):
    """Draw a conjunction over the columns of a schema."""
    used = draw(st.lists(st.sampled_from(schema.columns), max_size=3, unique=True))
    return Conjunction(tuple(draw(conditions(column)) for column in used))


@st.composite
def dnf_models(draw):
    """Draw a DNF model with strange names, labels, thresholds and counts, often with ties."""
    schema, classes = draw(schemas_and_classes())
    responses = st.sampled_from([0.25, 0.5, 0.9, 1.0]) | st.floats(1e-6, 1.0)
    weights = st.tuples(*[st.integers(0, 3).map(float) | st.floats(0.0, 1e6)] * len(classes))
    ids = st.integers(0, len(classes) - 1)
    rules = [
        a_rule(draw(conjunctions(schema)), draw(ids), draw(responses), 3.0, draw(weights), Claims)
        for _ in range(draw(st.integers(0, 5)))
    ]
    return DnfModel(
        schema, np.array(classes), tuple(rules), draw(ids), draw(weights), draw(weights)
    )


@st.composite
def saying_models(draw, form):
    """Draw a decision list or unordered rules with strange names and labels, often with ties."""
    schema, classes = draw(schemas_and_classes())
    counts = st.tuples(*[st.integers(0, 3).map(float) | st.floats(0.0, 1e6)] * len(classes))
    weights = st.sampled_from([1.0, 1.0, 0.5, 3.0]) | st.floats(1e-6, 1e6)
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        found = draw(counts.filter(any))
        shares = tuple(np.array(found) / sum(found))
        weight = draw(weights) if form is UnorderedRules else 1.0
        rules.append(Rule(draw(conjunctions(schema)), Says(shares, weight), Coverage.of(found)))
    start = draw(counts.filter(any))
    if form is UnorderedRules:
        return UnorderedRules(schema, np.array(classes), tuple(rules), start)
    default = tuple(np.array(start) / sum(start))
    return DecisionList(schema, np.array(classes), tuple(rules), default, start)


@st.composite
def vote_models(draw, sizes=(1, 4)):
    """Draw a vote of rule sets with strange names and labels, shared terms and many ties.

    Of two classes one may have no rule sets: it is the opposite of the other.
    """
    schema, classes = draw(schemas_and_classes(sizes))
    pool = draw(st.lists(conjunctions(schema), max_size=4))
    formulas = st.lists(st.sampled_from(pool), max_size=3) if pool else st.just([])
    weights = st.sampled_from([1.0, 1.0, 0.1, 0.0]) | st.floats(0.0, 10.0)
    opposite = draw(st.sampled_from([None, 0, 1])) if len(classes) == 2 else None
    terms = {}
    members = tuple(
        number_terms(
            []
            if k == opposite
            else [(draw(formulas), 1.0), *draw(st.lists(st.tuples(formulas, weights), max_size=4))],
            k,
            terms,
        )
        for k in range(len(classes))
    )
    found = zip(terms.values(), term_shares(members, len(terms)), strict=True)
    rules = [
        a_rule(term, k, share, 3.0, (1.0,) * len(classes), Votes) for (k, term), share in found
    ]
    counts = st.integers(0, 3).map(float) | st.floats(0.0, 1e6)
    return RuleSetVotes(
        schema,
        np.array(classes),
        tuple(rules),
        members,
        draw(st.tuples(*[counts] * len(classes)).filter(any)),
        draw(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]) | st.floats(0.0, 2.5)),
    )


@st.composite
def models(draw):
    """Draw an additive model with strange names, labels, thresholds and responses."""
    schema, classes = draw(schemas_and_classes())
    responses = st.floats(-30.0, 30.0) | st.sampled_from([0.1, 0.2, 0.3, -0.3])
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        conjunction = draw(conjunctions(schema))
        ends = draw(st.tuples(*[st.integers(0, len(classes) - 1)] * 2))
        rules.append(
            a_rule(conjunction, Head(*sorted(ends)), draw(responses), 3.0, (1.0,) * len(classes))
        )
    intercepts = tuple(draw(responses) for _ in classes)
    return AdditiveRules(
        schema,
        np.array(classes),
        intercepts,
        tuple(rules),
        {},
        decision=draw(st.none() | decisions(len(classes))),
        steps=draw(st.none() | st.tuples(*[climbs] * len(classes))),
    )


@st.composite
def distances(draw, column):
    """Draw the distances of a column, of labels often ties."""
    if column.kind == "numeric":
        low, high = sorted(draw(st.tuples(*[finite | st.just(1.0)] * 2)))
        return NumberDistance(column.name, low, high)
    n = draw(st.integers(1, 3))
    gaps = st.sampled_from([0.0, 0.5, 1.0]) | st.floats(0.0, 2.0)
    group, *groups = draw(st.lists(st.integers(0, n - 1), min_size=9, max_size=9))
    table = tuple(tuple(draw(gaps) for _ in range(n)) for _ in range(n))
    return LabelDistance(column.name, tuple(groups[: len(column.labels)]), group, groups[-1], table)


@st.composite
def nearest_conditions(draw, distance, column):
    """Draw a condition that has distances."""
    if column.kind == "numeric":
        inside = st.floats(distance.low, distance.high)
        return Range(column.name, *sorted(draw(st.tuples(inside, inside))))
    label = draw(st.sampled_from([None, *column.labels]))
    return Presence(column.name, True) if label is None else Labels(column.name, (label,))


@st.composite
def nearest_models(draw):
    """Draw nearest rules with strange names and labels, often at equal distances."""
    schema, classes = draw(schemas_and_classes())
    known = tuple(draw(distances(column)) for column in schema)
    counts = st.tuples(*[st.integers(0, 3).map(float) | st.floats(0.0, 1e6)] * len(classes))
    rules = []
    for _ in range(draw(st.integers(0, 5))):
        used = draw(st.lists(st.sampled_from(known), max_size=4, unique=True))
        body = [draw(nearest_conditions(d, schema[d.column])) for d in used]
        found = draw(counts.filter(any))
        said = Says(tuple(np.array(found) / sum(found)))
        rules.append(Rule(Conjunction(tuple(body)), said, Coverage.of(found, "left out")))
    return NearestRules(schema, np.array(classes), tuple(rules), known, draw(counts))


@st.composite
def averages(draw):
    """Draw an average, or a vote, of a model and of what is left of it without some rules."""
    lists = saying_models(DecisionList) | saying_models(UnorderedRules)
    whole = draw(models() | dnf_models() | lists | nearest_models())
    sizes = draw(st.lists(st.integers(0, len(whole)), max_size=3))
    members = (whole, *(whole[:n] for n in sizes))
    raw = np.array([1.0, *(draw(st.sampled_from([0.0, 1e-300, 0.3, 1.0])) for _ in sizes)])
    weights = tuple((raw / raw.sum()).tolist())
    # Classes that cost the same but for rounding may be predicted either way, and so be voted for.
    may_vote = not isinstance(whole, AdditiveRules)
    combine = draw(st.sampled_from(["mean", "vote"])) if may_vote else "mean"
    return AveragedModel(whole.schema, whole.classes, members, weights, combine)


@st.composite
def every_form(draw):
    """Draw a model of any form of classes, often with a decision."""
    lists = saying_models(DecisionList) | saying_models(UnorderedRules)
    forms = models() | dnf_models() | vote_models() | lists | nearest_models() | averages()
    model = draw(forms)
    decision = draw(st.none() | decisions(len(model.classes)))
    return model if decision is None else model.with_decision(decision)


def write(path, document):
    """Write a document with a hash that fits, so that only its content can be wrong."""
    document = {key: value for key, value in document.items() if key != "sha256"}
    canonical = json.dumps(document, sort_keys=True, separators=(",", ":"))
    document["sha256"] = hashlib.sha256(canonical.encode()).hexdigest()
    path.write_text(json.dumps(document))


def saved(path, model=None):
    """Save a model and give the document that its file holds."""
    (model or churn_model()).save(path)
    return json.loads(path.read_text(encoding="utf-8"))
