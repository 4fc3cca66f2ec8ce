import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

import rulewright as rw
from relational.builders import shop, shop_tables
from rules.builders import a_rule
from rulewright.data import DataError
from rulewright.model import AdditiveRules
from rulewright.programs import ParityError
from rulewright.programs.databases import provide_exp
from rulewright.relational import relational_sql, verify_relational_sql
from rulewright.relational.choosing import ChoiceSettings, choose_columns
from rulewright.relational.export import _Writer
from rulewright.rules import Conjunction, Labels, Presence, Range

PLAIN = ("exists", "count", "recency", "max", "min", "mean", "sum", "stddev")


def model_of_all(relations, functions=(*PLAIN, "median", "last"), n_columns=None):
    """Make a model with rules on every derived column, at values of the instances."""
    choosing = ChoiceSettings(functions=functions, windows=(2.5,), n_thresholds=1, min_support=0)
    recipe, columns, _ = choose_columns(relations, choosing)
    table = relations.training_table(recipe, columns, "classification")
    conditions = []
    for column in table.columns[:n_columns]:
        name = column.schema.name
        if column.schema.kind == "nominal":
            conditions += [Labels(name, (label,)) for label in column.schema.labels]
        else:
            known = np.unique(column.values[~column.is_missing])
            conditions += [Range(name, low=value) for value in known[[len(known) // 2, -1]]]
        conditions.append(Presence(name, missing=True))
    rules = [
        a_rule(Conjunction((one,)), i % 2, 0.1 + 0.01 * i, 2.0, (1.0, 1.0))
        for i, one in enumerate(conditions)
    ]
    classes = np.array(["no", "yes"])
    return AdditiveRules(table.schema, classes, (0.0, 0.1), tuple(rules), {"learner": "by hand"})


def dated(tables):
    """Turn the numbers of days into dates, and rename a table and a column to strange names."""
    tables = {name: dict(table) for name, table in tables.items()}
    for name, column in (("customers", "asked"), ("orders", "day"), ("items", "packed")):
        days = pd.to_timedelta(pd.Series(tables[name][column], dtype=float), unit="D")
        tables[name][column] = pd.Timestamp("2024-02-20") + days
    tables['it"ems'] = tables.pop("items")
    tables["orders"]["a'm"] = tables["orders"].pop("amount")
    return tables


def test_all_functions_in_duckdb():
    """Every function answers in DuckDB as in Python, on adversarial databases."""
    model = model_of_all(shop(shop_tables(7)))
    report = verify_relational_sql(model, ["duckdb"])
    assert report.dialects == ("duckdb",)
    assert report.n_databases == 5
    assert report.n_instances == 125
    used = {column.function for column in model.schema.recipe.columns}
    assert used >= {*PLAIN, "median", "last", "value"}


def test_plain_functions_in_sqlite():
    """SQLite computes all functions but median and last, and says so."""
    report = verify_relational_sql(model_of_all(shop(shop_tables(7)), PLAIN), ["sqlite"])
    assert report.dialects == ("sqlite",)
    with_median = model_of_all(shop(shop_tables(7)))
    with pytest.raises(ValueError, match="sqlite has no aggregate for 'median': export for duckdb"):
        relational_sql(with_median, "sqlite")
    report = verify_relational_sql(with_median)
    assert report.dialects == ("duckdb",)
    assert "sqlite was not run" in str(report)


def test_dates_and_strange_names():
    """Dates, quotes in names and text keys are written as the database reads them."""
    keys = {"orders": "customer", 'it"ems.order': "orders.id"}
    times = {"orders": "day", 'it"ems': "packed"}
    relations = shop(dated(shop_tables(8, text_keys=True)), keys=keys, times=times)
    model = model_of_all(relations, PLAIN)
    assert "count(orders within 2.5 days)" in model.columns
    assert 'count(orders -> "it\\"ems")' in model.columns
    verify_relational_sql(model)


def test_parity_is_really_compared(monkeypatch):
    """A statement that sees rows at the cutoff is caught."""
    model = model_of_all(shop(shop_tables(7)), PLAIN, n_columns=8)
    right = relational_sql(model)
    wrong = right.replace("rw_moment < t0.rw_moment", "rw_moment <= t0.rw_moment")
    assert wrong != right
    monkeypatch.setattr(
        "rulewright.relational.verification.relational_sql", lambda model, dialect: wrong
    )
    with pytest.raises(ParityError, match="duckdb answers differently"):
        verify_relational_sql(model, ["duckdb"])


def run(sql, tables, dialect):
    """Run a statement on tables of a database."""
    frames = {name: pd.DataFrame(table) for name, table in tables.items()}
    if dialect == "duckdb":
        with duckdb.connect() as connection:
            for name, frame in frames.items():
                connection.register("frame", frame)
                connection.execute(f'CREATE TABLE "{name}" AS FROM frame')
            return connection.execute(sql).fetchall()
    connection = sqlite3.connect(":memory:")
    provide_exp(connection)
    for name, frame in frames.items():
        frame.to_sql(name, connection, index=False)
    lines = connection.execute(sql).fetchall()
    connection.close()
    return lines


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_one_statement_over_the_tables_of_the_user(dialect):
    """The statement runs where the tables are, under other names too, and gives the keys."""
    tables = shop_tables(11, n_customers=30, n_orders=90)
    relations = shop(tables)
    model = model_of_all(relations, PLAIN, n_columns=25)
    sql = relational_sql(model, dialect, tables={"orders": "all orders"})
    stored = {"all orders" if name == "orders" else name: t for name, t in tables.items()}
    found = {line[0]: line[1:3] for line in run(sql, stored, dialect)}
    scores = model.scores(relations)
    assert [found[key] for key in tables["customers"]["id"]] == list(map(tuple, scores.tolist()))


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_derived_values_have_the_same_bits(dialect):
    """Each derived number of the statement is the one that Python computes."""
    tables = shop_tables(12, n_customers=20, n_orders=80, n_items=150)
    relations = shop(tables)
    model = model_of_all(relations, PLAIN)
    writer = _Writer(model.schema.recipe, model.schema, model.columns, dialect, {})
    prelude = writer.prelude()
    numbers = [n for n in model.columns if model.schema[n].kind == "numeric" and n in prelude.names]
    listed = ", ".join(prelude.names[name] for name in numbers)
    sql = f"WITH {', '.join(prelude.steps)} SELECT id, {listed} FROM {writer.derived}"
    found = sorted(run(sql, tables, dialect))
    table = relations.derive(model.schema, numbers)
    for at, name in enumerate(numbers):
        values = [np.nan if line[at + 1] is None else line[at + 1] for line in found]
        np.testing.assert_array_equal(table[name].values, values, err_msg=name)


def test_postgres_text():
    """PostgreSQL has its own words for the median and the last value."""
    sql = relational_sql(model_of_all(shop(shop_tables(7))), "postgres")
    assert "PERCENTILE_DISC(ARRAY" in sql
    assert "ARRAY_AGG(" in sql


ABSENT = ["snowflake", "bigquery", "sqlserver", "spark"]


@pytest.mark.parametrize("dialect", ABSENT)
def test_databases_that_are_not_at_hand(dialect):
    """The statement is parsed as the database would, and its translation gives the same answers."""
    model = model_of_all(shop(shop_tables(7)), PLAIN, n_columns=24)
    report = verify_relational_sql(model, [dialect])
    assert (report.dialects, report.translated) == ((), (dialect,))
    assert str(report).startswith(f"syntax checked for {dialect}: ")
    with_median = model_of_all(shop(shop_tables(7)))
    with pytest.raises(ValueError, match=f"{dialect} has no aggregate for 'median'"):
        relational_sql(with_median, dialect)


@pytest.mark.parametrize("dialect", ABSENT)
def test_dates_and_strange_names_elsewhere(dialect):
    """Names of derived columns that a database cannot hold are replaced, others are refused."""
    keys = {"orders": "customer", 'it"ems.order': "orders.id"}
    times = {"orders": "day", 'it"ems': "packed"}
    relations = shop(dated(shop_tables(8, text_keys=True)), keys=keys, times=times)
    model = model_of_all(relations, PLAIN, n_columns=16)
    sql = relational_sql(model, dialect)
    assert "FILTER" not in sql
    assert ("AS _rw_x_3" in sql) == (dialect == "bigquery")
    assert verify_relational_sql(model, [dialect]).translated == (dialect,)
    if dialect == "bigquery":
        with pytest.raises(ValueError, match="BigQuery cannot hold the name 'it\"ems'"):
            relational_sql(model_of_all(relations, PLAIN), dialect)


def test_what_cannot_be_written():
    """Plain models and unknown tables are told."""
    plain = rw.StumpClassifier().fit([[0], [1]] * 5, [0, 1] * 5).model_
    with pytest.raises(DataError, match=r"no derived columns: write it with model.to_sql\(\)"):
        relational_sql(plain)
    with pytest.raises(DataError, match="no derived columns"):
        verify_relational_sql(plain)
    model = model_of_all(shop(shop_tables(7)), PLAIN, n_columns=4)
    with pytest.raises(DataError, match="the model does not read a table 'order'"):
        relational_sql(model, tables={"order": "x"})
    with pytest.raises(
        ValueError, match="dialect must be one of duckdb, postgres, sqlite, snowflake"
    ):
        relational_sql(model, "oracle")
    with pytest.raises(ValueError, match="SQL can be verified in duckdb, sqlite, snowflake"):
        verify_relational_sql(model, ["postgres"])
