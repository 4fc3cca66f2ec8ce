"""Averages of models: what they say, how they travel, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import checker
from budget import always, examples
from model.builders import CHURN_ROWS, CHURN_SCHEMA, averages, churn_model, saved, write
from rulewright.data import ColumnSchema, Schema
from rulewright.model import (
    AdditiveRules,
    AveragedModel,
    DecisionList,
    ModelFileError,
    UnorderedRules,
    load_model,
)
from rulewright.rules import Adds, Coverage, Rule, Says, parse_conjunction

pytestmark = pytest.mark.native

WHOLE = churn_model()
CLASSES = WHOLE.classes
LIST = DecisionList(
    CHURN_SCHEMA,
    CLASSES,
    (
        Rule(parse_conjunction("age <= 40"), Says((0.9, 0.1)), Coverage.of((9.0, 1.0))),
        Rule(parse_conjunction("color = red"), Says((0.25, 0.75)), Coverage.of((1.0, 3.0))),
    ),
    (0.4, 0.6),
    (2.0, 3.0),
)
COUNTS = UnorderedRules(
    CHURN_SCHEMA,
    CLASSES,
    (Rule(parse_conjunction("age > 20"), Says((0.2, 0.8), 5.0), Coverage.of((1.0, 4.0))),),
    (1.0, 2.0),
)
MEMBERS = (WHOLE, LIST, COUNTS)
WEIGHTS = (0.5, 0.3, 0.2)


def average(members=MEMBERS, weights=WEIGHTS, **options):
    return AveragedModel(CHURN_SCHEMA, CLASSES, members, weights, **options)


def test_probabilities_are_the_weighted_mean():
    """Members of any form count by their weights."""
    model = average()
    expected = sum(w * m.predict_proba(CHURN_ROWS) for m, w in zip(MEMBERS, WEIGHTS, strict=True))
    np.testing.assert_allclose(model.predict_proba(CHURN_ROWS), expected, rtol=1e-14)
    np.testing.assert_array_equal(model.predict(CHURN_ROWS), CLASSES[expected.argmax(axis=1)])
    assert model.rules == (*WHOLE.rules, *LIST.rules, *COUNTS.rules)
    assert set(model.columns) == {"age", "color", "plan", "active"}


def test_a_vote_counts_the_predicted_class_only():
    """By hand: a class that is predicted with less certainty by more members wins."""
    model = average(combine="vote")
    scores = np.zeros((4, 2))
    for member, weight in zip(MEMBERS, WEIGHTS, strict=True):
        p = member.predict_proba(CHURN_ROWS)
        scores[np.arange(4), p.argmax(axis=1)] += weight * p.max(axis=1)
    np.testing.assert_allclose(model.scores(CHURN_ROWS), scores, rtol=1e-14)
    odds = scores + 1 / 6
    expected = odds / odds.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(CHURN_ROWS), expected, rtol=1e-14)


def test_copies_of_one_model_predict_what_it_predicts():
    """K copies leave predictions unchanged, and one member of weight 1 is that model."""
    for members, weights in (((LIST,) * 5, (0.2,) * 5), ((LIST, WHOLE), (1.0, 0.0))):
        found = average(members, weights).predict_proba(CHURN_ROWS)
        np.testing.assert_allclose(found, LIST.predict_proba(CHURN_ROWS), rtol=1e-14)


@pytest.mark.parametrize("combine", ["mean", "vote"])
def test_every_target_and_every_file_answers_alike(combine, tmp_path):
    """Exports, a saved file and an independent reader agree, also for averages of averages."""
    model = average((average(combine=combine), LIST), (0.75, 0.25), combine=combine)
    assert model.verify_exports().targets == ("duckdb", "sqlite", "python", "javascript")
    assert "CASE" in model.to_sql(dialect="postgres")
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert loaded == model
    assert str(loaded) == str(model)
    document = checker.load(tmp_path / "model.json")
    rows = [
        {"age": 30.0, "color": "red", "plan": "1", "active": "true"},
        {"age": None, "color": None, "plan": None, "active": None},
        {"age": 70.0, "color": "purple", "plan": "2.5", "active": "false"},
    ]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    for i, row in enumerate(rows):
        scores, chances, label = checker.predict(document, row)
        np.testing.assert_allclose(scores, model.scores(table)[i], rtol=1e-12)
        np.testing.assert_allclose(chances, model.predict_proba(table)[i], rtol=1e-12)
        assert label == model.predict(table)[i]


def test_explanations_tell_what_each_member_says():
    """The heaviest member first, with its strongest rule and how many more hold."""
    told = average().explain({name: values[:1] for name, values in CHURN_ROWS.items()})
    assert str(told).splitlines() == [
        "row 0: stay with probability 0.767 (churn 0.233)",
        "  weight         says  because",
        "     0.5   stay 0.895  model 1: rule 1: color is known and active != false, "
        "and 4 more rules",
        "     0.3   stay 0.900  model 2: rule 3: age <= 40",
        "     0.2  churn 0.750  model 3: rule 6: age > 20",
    ]
    row = told.to_dict()["rows"][0]
    assert [part["model"] for part in row["members"]] == [0, 1, 2]
    assert [rule["id"] for rule in row["rules"]][-2:] == [6, 8]
    assert "1 more model" in told.text(max_reasons=2)


def test_rules_are_listed_with_their_model():
    """Text and table name the member of each rule; heavy members come first."""
    model = average()
    text = str(model)
    assert "model 1 0.5 (6 rules), model 2 0.3 (2 rules), model 3 0.2 (1 rule)" in text
    table = model.rules_table()
    assert table["model"] == [1] * 6 + [2, 2, 3]
    assert table["weight"][-1] == 0.2
    assert model.effect_title == "says"
    assert average((LIST, LIST), (0.5, 0.5)).effect_title == "probability"


def test_a_slice_leaves_rules_out_of_members():
    """The members stay, with fewer rules."""
    first = average()[:7]
    assert [len(member) for member in first.members] == [6, 1, 0]
    assert first.rules == average().rules[:7]
    with pytest.raises(ValueError, match="no new ones"):
        average((WHOLE,), (1.0,)).with_rules(LIST.rules)


def other_classes():
    return DecisionList(CHURN_SCHEMA, np.array(["a", "b"]), (), (0.5, 0.5), (1.0, 1.0))


def other_columns():
    schema = Schema((ColumnSchema("age", "numeric"),), named=True)
    return DecisionList(schema, CLASSES, (), (0.5, 0.5), (1.0, 1.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: average((), ()), "an average needs members"),
        (lambda: average(MEMBERS, (0.5, 0.5)), "as many weights: 3 members"),
        (lambda: average(MEMBERS, (0.5, 0.6, -0.1)), "not be negative and sum to 1"),
        (lambda: average(MEMBERS, (0.5, 0.3, 0.1)), "not be negative and sum to 1"),
        (lambda: average((WHOLE, other_classes()), (0.5, 0.5)), "member 1 has the classes a, b"),
        (lambda: average((WHOLE, other_columns()), (0.5, 0.5)), "member 1 has other columns"),
        (lambda: average((WHOLE, 3), (0.5, 0.5)), "member 1 must be a model of classes, not int"),
        (lambda: average(combine="sum"), "combine must be mean or vote"),
        (lambda: average(rules=LIST.rules), "an average takes its rules from its members"),
    ],
)
def test_wrong_members(make, words):
    """Members that do not fit are named."""
    with pytest.raises(ValueError, match=words):
        make()


def test_nesting_is_bounded(tmp_path):
    """Nine levels are too many, in memory and in a file."""
    model = LIST
    for _ in range(8):
        model = average((model,), (1.0,))
    model.verify_exports(["python"])
    with pytest.raises(ValueError, match="nested 8 deep"):
        average((model,), (1.0,))
    document = saved(tmp_path / "deep.json", model)
    inner = {k: document[k] for k in ("form", "members", "weights", "combine", "rules", "summary")}
    write(tmp_path / "deeper.json", {**document, "members": [inner]})
    with pytest.raises(ModelFileError, match="nested 8 deep"):
        load_model(tmp_path / "deeper.json")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d["members"][1].update(form="none"), "member 1: unknown model form 'none'"),
        (lambda d: d["members"][1].update(schema={}), "member 1: .* without schema and classes"),
        (lambda d: d["members"].append(7), "member 3: it must be an object"),
        (lambda d: d["members"][0].pop("rules"), r"member 0: fields are missing: \['rules'\]"),
        (lambda d: d.update(members={}), "members must be a list"),
        (lambda d: d.update(weights=[1.0]), "as many weights"),
        (lambda d: d.update(members=[]), "an average needs members"),
    ],
)
def test_wrong_files(tmp_path, change, words):
    """A file is read member by member, and the message says which is wrong."""
    document = saved(tmp_path / "model.json", average())
    change(document)
    write(tmp_path / "wrong.json", document)
    with pytest.raises(ModelFileError, match=words):
        load_model(tmp_path / "wrong.json")


@pytest.mark.parametrize("n_rules", always([20], [20, 100], "a longer text of the same kind"))
def test_many_members_of_many_rules(n_rules, tmp_path):
    """Twenty members of many rules each are saved, loaded and exported everywhere."""
    rng = np.random.default_rng(0)
    members = []
    for _ in range(20):
        rules = [
            Rule(
                parse_conjunction(f"age <= {rng.integers(1000) / 10} and color != green"),
                Adds(int(rng.integers(2)), float(rng.normal())),
                Coverage.of((1.0, 2.0)),
            )
            for _ in range(n_rules)
        ]
        members.append(AdditiveRules(CHURN_SCHEMA, CLASSES, (0.0, 0.1), tuple(rules)))
    model = average(tuple(members), (0.05,) * 20)
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(CHURN_ROWS), model.predict_proba(CHURN_ROWS))
    assert len(loaded) == 20 * n_rules
    assert len(model.verify_exports().targets) == 4


@given(averages())
@examples(30)
def test_every_export_of_averages(model):
    """Members with strange names and scores answer alike in all targets."""
    assert len(model.verify_exports().targets) == 4


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
@examples(20)
def test_the_order_of_adding_is_that_of_pairs(n_members, seed):
    """Any number of members is added up completely."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(n_members))
    members = tuple(MEMBERS[i] for i in rng.integers(0, 3, n_members))
    expected = sum(w * m.predict_proba(CHURN_ROWS) for m, w in zip(members, weights, strict=True))
    found = average(members, tuple(weights.tolist())).predict_proba(CHURN_ROWS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
