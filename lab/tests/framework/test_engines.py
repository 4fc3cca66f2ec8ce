"""Prolog derives the columns that DuckDB does; goals are proven only where allowed."""

import shutil

import numpy as np
import pytest

from relational.builders import shop, shop_tables, signal_tables
from rulewright.data import DataError
from rulewright.relational import Relations
from rulewright.relational.choosing import ChoiceSettings, propose_columns
from rulewright.search import Bias, BiasError
from rulewright_lab.framework import DataSpec, Goals, Pipeline, Sql, load_query_rules
from rulewright_lab.framework.prolog import EngineUnavailable, Prolog

HAS_SWIPL = shutil.which("swipl") is not None


def same(found, expected):
    """Compare columns, to the last bit."""
    assert found.keys() == expected.keys()
    for name, column in expected.items():
        assert found[name].schema == column.schema
        np.testing.assert_array_equal(found[name].values, column.values, err_msg=name)


def prolog_or_error(run):
    """Run with Prolog; without it the error must name the package."""
    if HAS_SWIPL:
        return run()
    with pytest.raises(EngineUnavailable, match="swi-prolog-nox"):
        run()
    return None


@pytest.mark.parametrize("seed", range(3))
def test_prolog_derives_what_duckdb_does(seed):
    """Exists, counts and sums over paths, text and number keys, quoted labels."""
    relations = shop(shop_tables(seed, text_keys=seed % 2 == 1))
    functions = ("exists", "count", "max", "min", "mean", "sum", "stddev")
    recipe, _ = propose_columns(relations, ChoiceSettings(functions=functions))
    found = prolog_or_error(lambda: Prolog().derive(relations, recipe))
    if found is not None:
        same(found, relations.derive_columns(recipe))


def test_engines_learn_the_same_rules():
    """A pipeline finds the same queries and answers with every engine."""
    relations = Relations(
        signal_tables(40), "cases", key="id", keys={"parts": "case"}, target="class"
    )
    bias = Bias([Sql("exists", id="e"), Sql("count", at_least=(2,), id="c")])
    answers = {}
    for engine in ("duckdb", "memory", *(["prolog"] if HAS_SWIPL else [])):
        data = DataSpec(engine=engine)
        pipeline = Pipeline(bias, data=data, calibration=None, random_state=0).fit(relations)
        keys = tuple(query.key for query in pipeline.queries_)
        answers[engine] = keys, tuple(pipeline.predict_proba(relations)[:, 0])
    assert len(set(answers.values())) == 1


BACKGROUND = """
big(M) :- orders(_, M, A, _, _), number(A), A > 10.
slow(M) :- M < 3, repeat, fail.
slow(M) :- M >= 3.
ref(M, big(M)).
ref(M, (orders(_, M, _, Kind, _), Kind == K)) :- setof(X, A^B^C^D^orders(A, B, C, X, D), Xs),
    member(K, Xs), atom(K).
"""


def test_goals_are_proven_unknown_or_refused():
    """A time limit gives 0; wrong goals are errors that name them; code needs leave."""
    relations = shop(shop_tables(2), cutoff=None, times=None)
    prolog = Prolog(BACKGROUND, time_limit=0.5, allow_code=True)
    goals = ["big(M)", "customers(M, _, _, _)"]
    found = prolog_or_error(lambda: prolog.answers(relations, goals))
    with pytest.raises(BiasError, match="code: set allow_code=True"):
        Prolog().answers(relations, ["true"])
    if found is None:
        return
    expected = relations.derive_columns(_largest(relations))["max(orders.amount)"].values > 10
    np.testing.assert_array_equal(found[:, 0], np.where(expected, 1, -1))
    assert (found[:, 1] == 1).all()
    assert prolog.answers(relations[[0, 5, 2]], ["slow(M)"]).ravel().tolist() == [0, 1, 0]
    for goal, message in (
        ("gone(M)", "existence_error"),
        ("big(M", "syntax error"),
        ("X > 3", "instantiation_error"),
    ):
        with pytest.raises(BiasError, match=message) as caught:
            prolog.answers(relations, [goal])
        assert repr(goal) in str(caught.value)
    with pytest.raises(BiasError, match="goals would see rows after the cutoff"):
        prolog.answers(shop(shop_tables(2)), ["true"])
    with pytest.raises(BiasError, match="swipl says"):
        Prolog("a :- .", allow_code=True).answers(relations, ["true"])


def _largest(relations):
    recipe, _ = propose_columns(relations, ChoiceSettings(functions=("max",)))
    return recipe.only({"max(orders.amount)"})


def test_an_operator_sees_the_rows_of_training_instances_only():
    """Goals come in order; labels that only other instances have are not among them."""
    tables = shop_tables(2)
    kinds = ["secret" if c == 5 else k for c, k in zip(*_orders(tables), strict=True)]
    tables["orders"]["kind"] = kinds
    relations = shop(tables, cutoff=None, times=None)
    prolog = Prolog(BACKGROUND, allow_code=True)
    others = relations[np.flatnonzero(np.arange(12) != 5)]
    everywhere = prolog_or_error(lambda: prolog.propose_goals(relations, "ref", 50))
    elsewhere = prolog_or_error(lambda: prolog.propose_goals(others, "ref", 50))
    if everywhere is not None:
        assert any("secret" in goal for goal in everywhere)
        assert not any("secret" in goal for goal in elsewhere)
        assert everywhere[0] == "big(M)"


def _orders(tables):
    return tables["orders"]["customer"], tables["orders"]["kind"]


def test_a_bias_file_with_goals(tmp_path):
    """Goals, an operator and derived columns in one model, which is saved and asks for leave."""
    saved = tmp_path / "model.json"
    (tmp_path / "rules.pl").write_text("ref(M, parts(M, K, _)) :- member(K, [a, c]).\n")
    text = """
version = 1
[data]
engine = "prolog"
instances = "cases"
key = "id"
keys = { parts = "case" }
background = "rules.pl"
[target]
column = "class"
[[refine]]
id = "own"
plugin = "prolog"
op = "goal"
goals = ["parts(M, b, _)", "parts(M, K, S), S > 1"]
[[refine]]
id = "mine"
plugin = "prolog"
op = "operator"
predicate = "ref"
[[refine]]
id = "count"
plugin = "sql"
op = "count"
where = ["kind = d"]
at_least = [2]
"""
    (tmp_path / "bias.toml").write_text(text)
    with pytest.raises(BiasError, match=r"rules\.pl is code: set allow_code=True"):
        Pipeline.from_bias(tmp_path / "bias.toml")
    pipeline = Pipeline.from_bias(
        tmp_path / "bias.toml", allow_code=True, calibration=None, random_state=0
    )
    tables = signal_tables(30)
    relations = Relations(tables, "cases", key="id", keys={"parts": "case"}, target="class")
    if prolog_or_error(lambda: pipeline.fit(tables)) is None:
        return
    assert pipeline.score(relations, relations.y) == 1.0
    assert str(pipeline.queries_[0]) == "parts(M, b, _) = true"
    pipeline.model_.save(saved)
    with pytest.raises(BiasError, match="allow_code"):
        load_query_rules(saved).predict(relations)
    loaded = load_query_rules(saved, allow_code=True)
    np.testing.assert_array_equal(loaded.predict(relations), relations.y)


def test_goals_need_prolog():
    """Other engines refuse goals."""
    relations = Relations(
        signal_tables(20), "cases", key="id", keys={"parts": "case"}, target="class"
    )
    with pytest.raises(DataError, match="needs Prolog, which the data do not have"):
        Pipeline(Bias([Goals(["true"])])).fit(relations)


def test_without_the_program_the_package_is_named(monkeypatch):
    """The error says what to install."""
    monkeypatch.setattr("rulewright_lab.framework.prolog.shutil.which", lambda name: None)
    relations = shop(shop_tables(2), cutoff=None, times=None)
    with pytest.raises(EngineUnavailable, match="apt install swi-prolog-nox"):
        Prolog(allow_code=True).answers(relations, ["true"])


def test_strings_that_look_like_code_stay_strings():
    """Labels and names are quoted: none ends its atom."""
    nasty = ["a'b", "x). halt. y(", "back\\slash", "new\nline", "ünï"]
    n = len(nasty)
    tables = {
        "cases": {"id": np.arange(n), "class": ["x", "y", "x", "y", "x"]},
        "it's": {"case": np.arange(n), "kind": nasty},
    }
    relations = Relations(tables, "cases", key="id", keys={"it's": "case"}, target="class")
    recipe, _ = propose_columns(
        relations, ChoiceSettings(functions=("exists",), min_support=0.0, max_labels=9)
    )
    found = prolog_or_error(lambda: Prolog().derive(relations, recipe))
    if found is not None:
        same(found, relations.derive_columns(recipe))
