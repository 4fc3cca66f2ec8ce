import sqlite3
import struct
from dataclasses import replace

import duckdb
import numpy as np
import pytest
from hypothesis import given

from budget import examples
from model.builders import (
    CHURN_ROWS,
    CHURN_SCHEMA,
    churn_model,
    every_form,
    finite,
)
from programs.builders import tamper
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema
from rulewright.model import AdditiveRules, IsotonicSteps
from rulewright.programs import ParityError
from rulewright.programs.sql import write_sql
from rulewright.programs.sql_dialects import DIALECTS
from rulewright.programs.targets import TARGETS
from rulewright.rules import Conjunction, Head, Labels, Range

pytestmark = pytest.mark.native


def one_rule(condition, schema, classes=("a", "b")):
    rule = a_rule(Conjunction((condition,)), 1, 0.5, 1.0, (1.0,) * len(classes))
    return AdditiveRules(schema, list(classes), (0.0,) * len(classes), (rule,))


@given(every_form())
@examples(40)
def test_sql_answers_as_the_model(model):
    """Strange names, labels and thresholds give the same answers in DuckDB and SQLite."""
    report = model.verify_exports()
    assert report.targets == ("duckdb", "sqlite", "python", "javascript")
    assert report.probability_error <= 1e-12


@given(finite)
@examples(200)
@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_numbers_are_exact_doubles(dialect, value):
    """Every float is read back as the same double."""
    value += 0.0  # SQL has no -0.0
    text = DIALECTS[dialect].number(value)
    if dialect == "sqlite":
        with sqlite3.connect(":memory:") as connection:
            answer, kind = connection.execute(f"SELECT {text}, typeof({text})").fetchone()
    else:
        answer, kind = duckdb.execute(f"SELECT {text}, typeof({text})").fetchone()
    assert struct.pack("d", answer) == struct.pack("d", value)
    assert kind in ("real", "DOUBLE")


@pytest.mark.parametrize("n_rules", [200, 201, 1500])
def test_many_rules_do_not_nest_too_deep(n_rules):
    """Models with more rules than an expression may nest still run."""
    rng = np.random.default_rng(0)
    rules = tuple(
        a_rule(
            Conjunction((Range("age", high=float(rng.integers(100))),)),
            int(rng.integers(2)),
            float(rng.normal()),
            1.0,
            (1.0, 1.0),
        )
        for _ in range(n_rules)
    )
    AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.1, 0.2), rules).verify_exports()


def test_many_classes():
    """More classes than a function may have arguments run too."""
    rules = tuple(a_rule(Conjunction(), k, 0.1 * k, 1.0, (1.0,) * 150) for k in range(150))
    AdditiveRules(CHURN_SCHEMA, list(range(150)), (0.0,) * 150, rules).verify_exports()


def test_many_classes_with_unions_costs_and_steps():
    """Long unions, costs of all pairs and long steps run too."""
    rng, n = np.random.default_rng(0), 60
    heads = [Head(*sorted(rng.integers(0, n, 2).tolist())) for _ in range(40)]
    rules = [
        a_rule(
            Conjunction((Range("age", high=float(i)),)), head, float(rng.normal()), 1.0, (1.0,) * n
        )
        for i, head in enumerate(heads)
    ]
    thresholds = np.sort(rng.normal(size=1500)).tolist()
    values = np.sort(rng.uniform(0.01, 0.99, 1501)).tolist()
    model = AdditiveRules(
        CHURN_SCHEMA,
        list(range(n)),
        tuple(rng.normal(size=n).tolist()),
        tuple(rules),
        decision=rng.uniform(0.0, 9.0, (n, n)) * (1.0 - np.eye(n)),
        steps=(IsotonicSteps(thresholds, values), *[IsotonicSteps((0.0,), (0.1, 0.2))] * (n - 1)),
    )
    model.verify_exports()


def test_many_conditions():
    """A rule of more conditions than an expression may nest runs too."""
    schema = Schema(tuple(ColumnSchema(f"c{i}", "numeric") for i in range(1100)), named=True)
    tests = Conjunction(tuple(Range(name, low=0.0) for name in schema.names))
    model = AdditiveRules(schema, ["a"], (0.0,), (a_rule(tests, 0, 2.0, 1.0, (1.0,)),))
    source = "SELECT " + ", ".join(f"1 AS {name}" for name in schema.names)
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE VIEW data AS {source}")
        assert connection.execute(model.to_sql(dialect="sqlite")).fetchone() == (2.0, 1.0, "a")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW data AS {source}")
        assert connection.execute(model.to_sql()).fetchone() == (2.0, 1.0, "a")


def test_the_select_by_hand():
    """The result has scores, probabilities and the label after the columns that are kept."""
    model = churn_model()
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE customers (age INT, color TEXT, plan REAL, active BOOL)")
        rows = list(zip(*CHURN_ROWS.values(), strict=True))
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?, ?)", rows)
        answer = connection.execute(model.to_sql("customers", keep=["age", "color"]))
        names = [column[0] for column in answer.description]
        lines = answer.fetchall()
    assert names == [
        *("age", "color", "score_stay", "score_churn"),
        *("probability_stay", "probability_churn", "label"),
    ]
    assert [line[:2] for line in lines] == [row[:2] for row in rows]
    assert [list(line[2:4]) for line in lines] == model.scores(CHURN_ROWS).tolist()
    assert [line[-1] for line in lines] == model.predict(CHURN_ROWS).tolist()


def test_nan_is_missing_in_duckdb():
    """NaN, which databases take for the largest number, is missing here."""
    model = one_rule(Range("age", low=5.0), CHURN_SCHEMA)
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE data AS SELECT CAST('NaN' AS DOUBLE) AS age")
        assert connection.execute(model.to_sql()).fetchone()[:2] == (0.0, 0.0)


def test_qualified_table_names():
    """A sequence of names is a qualified name."""
    model = churn_model()[:0]
    with duckdb.connect() as connection:
        connection.execute("CREATE SCHEMA shop; CREATE TABLE shop.data AS SELECT 1 AS id")
        assert connection.execute(model.to_sql(("shop", "data"))).fetchone()[-1] == "stay"


@pytest.mark.parametrize("name", ["rw_step_0", "RW_score_0", "_rw_top"])
def test_internal_names_give_way(name):
    """A column or table named like an internal step does no harm."""
    schema = Schema((ColumnSchema(name, "numeric"),), named=True)
    model = one_rule(Range(name, low=5.0), schema)
    model.verify_exports()
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE {name} ({name} REAL)")
        connection.execute(f"INSERT INTO {name} VALUES (6)")
        assert connection.execute(model.to_sql(name, "sqlite")).fetchone()[-1] == "b"


@given(every_form())
@examples(25)
def test_postgres_sql_answers_as_the_model(model):
    """DuckDB, which reads the same grammar, gives the right answers to the SQL for PostgreSQL."""

    def to_postgres(program, table, dialect, keep):
        return write_sql(program, table, "postgres", keep)

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TARGETS, "sql", replace(TARGETS["sql"], write=to_postgres))
        model.verify_exports(["duckdb"])


def test_postgres_types_its_literals():
    """PostgreSQL would add decimals; typed literals make it add doubles."""
    text = churn_model().to_sql(dialect="postgres")
    assert "float8 '0.83'" in text
    assert "GREATEST(" in text
    assert "active = 1 " in text


@pytest.mark.parametrize(
    ("condition", "column", "message"),
    [
        (Range("a\0b", low=1.0), ColumnSchema("a\0b", "numeric"), "NUL"),
        (Range("", low=1.0), ColumnSchema("", "numeric"), "empty name"),
        (Labels("c", ("x\0",)), ColumnSchema("c", "nominal", ("x\0",)), "NUL"),
        (
            Labels("c", (str(2**60),)),
            ColumnSchema("c", "nominal", (str(2**60),), "number"),
            "too large",
        ),
        (Labels("c", ("x",)), ColumnSchema("c", "nominal", ("x",), "number"), "not convert"),
    ],
)
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
def test_what_sql_cannot_hold_is_refused(condition, column, message, dialect):
    """Names and labels that no database could hold are refused, not changed."""
    model = one_rule(condition, Schema((column,), named=True))
    with pytest.raises(ValueError, match=message):
        model.to_sql(dialect=dialect)


def test_columns_that_differ_by_case_only():
    """Databases that ignore case cannot hold both columns; PostgreSQL can."""
    schema = Schema((ColumnSchema("Age", "numeric"), ColumnSchema("age", "numeric")), named=True)
    tests = Conjunction((Range("Age", low=1.0), Range("age", low=1.0)))
    model = AdditiveRules(schema, ["a"], (0.0,), (a_rule(tests, 0, 1.0, 1.0, (1.0,)),))
    with pytest.raises(ValueError, match="'Age' and 'age'"):
        model.to_sql(dialect="sqlite")
    assert model.to_sql(dialect="postgres")


def test_wrong_options_are_refused():
    """Unknown dialects and a text instead of a list are refused with the remedy."""
    with pytest.raises(ValueError, match="duckdb, postgres, sqlite, snowflake, bigquery"):
        churn_model().to_sql(dialect="oracle")
    with pytest.raises(ValueError, match=r"\['age'\]"):
        churn_model().to_sql(keep="age")
    with pytest.raises(ValueError, match="duckdb, sqlite, python, javascript"):
        churn_model().verify_exports(["oracle"])


@pytest.mark.parametrize(
    ("old", "new"), [("0.83e0", "0.84e0"), ("<= 34e0", "< 34e0"), ("'red'", "'Red'")]
)
def test_a_wrong_export_is_found(monkeypatch, old, new):
    """The check sees a response, a comparison or a label that is wrong."""
    tamper(monkeypatch, "sql", lambda text: text.replace(old, new))
    with pytest.raises(ParityError, match="duckdb answers differently"):
        churn_model().verify_exports(["duckdb"])


@pytest.mark.parametrize(("old", "new"), [("* 7e0", "* 6e0"), ("<= 0.5e0", "< 0.5e0")])
def test_a_wrong_decision_is_found(monkeypatch, old, new):
    """The check sees a cost that gives other labels and a step taken at the wrong side."""
    rule = a_rule(Conjunction((Range("age", low=5.0),)), 1, 0.5, 1.0, (1.0, 1.0))
    model = AdditiveRules(CHURN_SCHEMA, ["a", "b"], (0.0, 0.0), (rule,))
    if "*" in old:
        model = replace(model, decision=((0.0, 7.0), (4.0, 0.0)))
    else:
        model = replace(model, steps=(IsotonicSteps((), (0.5,)), IsotonicSteps((0.5,), (0.4, 0.6))))
    assert old in model.to_sql()
    tamper(monkeypatch, "sql", lambda text: text.replace(old, new))
    with pytest.raises(ParityError, match="duckdb answers differently"):
        model.verify_exports(["duckdb"])


def test_the_report_prints():
    """The report says where, on how many rows and how well the SQL agrees."""
    text = str(churn_model().verify_exports())
    assert text.startswith("same answers in duckdb, sqlite, python and javascript on ")


def test_sqlite_without_exp_gets_one(monkeypatch):
    """Where SQLite lacks math functions, the check brings its own and says so."""

    class Plain(sqlite3.Connection):
        def execute(self, text, *values):
            if text == "SELECT EXP(1.0)":
                raise sqlite3.OperationalError("no such function: EXP")
            return super().execute(text, *values)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path: connect(path, factory=Plain))
    assert "lacks exp()" in str(churn_model().verify_exports(["sqlite"]))
