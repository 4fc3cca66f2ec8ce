"""Votes that tie, and votes of two classes of which one is the opposite of the other."""

import sqlite3
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import assume, given

from budget import examples
from model.builders import saved, vote_models
from rulewright.data import read_table
from rulewright.model import RuleSetVotes, load_model
from rulewright.programs.parity import adversarial_rows
from rulewright.rules import parse_conjunction

pytestmark = pytest.mark.native

ROWS = {"age": [20.0, 30.0, 50.0, None, 70.0, 25.0]}
TARGET = ["no", "yes", "yes", "no", "yes", "yes"]
YOUNG, OLD, ANY = map(parse_conjunction, ("age <= 25", "age > 40", "true"))


def table():
    """Read the rows; "yes" has the larger prior."""
    return read_table(ROWS, target=TARGET)


def tied_vote():
    """Make a vote that is level but where age is at most 25."""
    return RuleSetVotes.from_training(
        table(), {0: [((ANY,), 1), ((), 1)], 1: [((YOUNG,), 1), ((ANY,), 1)]}
    )


def opposite_vote(abstain=0.0):
    """Make a vote for "yes" by three rule sets; "no" is where more weight does not vote."""
    members = {0: [], 1: [((OLD,), 2.0), ((OLD, YOUNG), 1.0), ((ANY,), 1.0)]}
    return RuleSetVotes.from_training(table(), members, abstain)


def exported(model):
    """Run the exported Python module."""
    space = {}
    exec(compile(model.to_python("vote"), "export", "exec"), space)
    return space


def run_sql(model, dialect):
    """Run the SQL on the rows: probabilities of both classes and label of each."""
    lines = [(i, age) for i, age in enumerate(ROWS["age"])]
    connection = duckdb.connect() if dialect == "duckdb" else sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE data ("row" INTEGER, age DOUBLE)')
    connection.executemany("INSERT INTO data VALUES (?, ?)", lines)
    found = sorted(connection.execute(model.to_sql(dialect=dialect, keep=["row"])).fetchall())
    connection.close()
    return [line[3:6] for line in found]


def test_level_classes_are_told_apart_by_a_hair():
    """On a tie the label is the frequent class, and its probability the larger one, just so."""
    model = tied_vote()
    assert model.scores(ROWS)[:, 1].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    assert model.margins(ROWS).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]
    chances = model.predict_proba(ROWS)
    assert set(model.predict(ROWS)) == {"yes"}
    assert (chances[:, 1] > chances[:, 0]).all()
    assert chances[1] == pytest.approx([0.5, 0.5], abs=1e-15)


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_exports_tell_level_classes_apart(dialect):
    """In SQL and in Python the label is the most probable class too."""
    model = tied_vote()
    for no, yes, label in run_sql(model, dialect):
        assert label == "yes"
        assert yes > no
    vote = exported(model)["vote"]
    for chances in (vote({"age": age}) for age in ROWS["age"]):
        assert max(chances, key=chances.get) == "yes"


def test_opposites_by_hand():
    """The score of a class without rule sets is minus the other's; the sign decides."""
    model = opposite_vote(abstain=1.0)
    assert model.opposite == 0
    scores = model.scores(ROWS)
    assert scores[:, 1].tolist() == [0.0, -0.5, 1.0, -0.5, 1.0, 0.0]
    assert np.array_equal(scores[:, 0], -scores[:, 1])
    # On the level the larger prior decides.
    assert model.predict(ROWS).tolist() == ["yes", "no", "yes", "no", "yes", "yes"]
    assert model.predict_proba(ROWS)[:, 1] == pytest.approx((1 + scores[:, 1]) / 2)
    assert model.margins(ROWS).tolist() == [0.0, 1.0, 2.0, 1.0, 2.0, 0.0]
    assert model.abstains(ROWS).tolist() == [True, False, False, False, False, True]
    assert model.effective_sizes == (0.0, 1 / (0.25 + 2 / 16))
    assert "yes 3 (ESS 2.67), no where most of them do not vote" in str(model)


def test_opposites_have_terms_of_one_class_only():
    """Slices keep the opposite; without any term all votes are against the other class."""
    model = opposite_vote()
    assert {rule.head.first for rule in model} == {1}
    assert model[:1].members == ((), (((0,), 0.75), ((), 0.25)))
    assert model[:0].scores(ROWS).tolist() == [[1.0, -1.0]] * 6


def test_opposites_explain_themselves():
    """Rule sets that do not cover a row are votes for the opposite."""
    explanation = opposite_vote().explain(ROWS)
    votes = explanation.to_dict()["rows"][1]["votes"]
    assert votes == [
        {"class": "no", "rule_sets": [0, 1], "of": 3, "weight": 0.75},
        {"class": "yes", "rule_sets": [2], "of": 3, "weight": 0.25},
    ]
    text = str(explanation)
    assert "  75 of 100 votes for no, by 2 of 3 rule sets\n" in text
    assert "  -25.00 no  -0.250  rule 2: true\n" in text


def test_opposites_survive_files(tmp_path):
    """The file says it by an empty list of rule sets, and comes back the same."""
    path = tmp_path / "vote.json"
    document = saved(path, opposite_vote(0.5))
    assert document["members"][0] == []
    loaded = load_model(path)
    assert loaded == opposite_vote(0.5)
    assert np.array_equal(loaded.predict_proba(ROWS), opposite_vote().predict_proba(ROWS))


@given(vote_models(sizes=(2, 2)))
@examples(25)
def test_opposites_are_exported_as_they_are(model):
    """SQL and Python give the answers of the model; a class is as it was with its opposite."""
    assume(len(model.rules) > 0)
    k = 0 if model.members[0] else 1
    kept = [rule for rule in model.rules if rule.head.first == k]
    own = RuleSetVotes(
        model.schema,
        model.classes,
        tuple(kept),
        tuple(sets if head == k else () for head, sets in enumerate(model.members)),
        model.priors,
        model.abstain,
    )
    rows = adversarial_rows(own.program)
    scores, chances = own.scores(rows), own.predict_proba(rows)
    assert np.array_equal(scores[:, k], model.scores(rows)[:, k])
    assert np.array_equal(scores[:, 1 - k], -scores[:, k])
    assert np.array_equal(own.classes[np.argmax(chances, axis=1)], own.predict(rows))
    own.verify_exports()
    module = exported(own)
    for i in range(0, len(scores), 5):
        row = {name: rows[name][i] for name in rows}
        assert list(module["vote"](row).values()) == pytest.approx(chances[i], abs=1e-12)
        assert module["vote_label"](row) == own.predict(rows)[i]
        assert module["vote_abstains"](row) == own.abstains(rows)[i]


def test_only_one_of_two_is_an_opposite():
    """A class of three without rule sets is an error, and so is a vote without any."""
    model = opposite_vote()
    with pytest.raises(ValueError, match="members of class 0 must be"):
        replace(model, rules=(), members=((), ()))
    with pytest.raises(ValueError, match="only one of two"):
        RuleSetVotes(model.schema, ["a", "b", "c"], (), ((((), 1.0),),) * 2 + ((),), (1.0,) * 3)
