"""Columns of other types and names than those of training: right answers or an error, in SQL."""

import math
import sqlite3

import duckdb
import pytest

from programs.test_values import COLUMNS, MODELS, by_model
from rules.builders import a_rule
from rulewright.data import ColumnSchema, Schema
from rulewright.model import AdditiveRules
from rulewright.rules import Conjunction, Labels, Presence, Range

pytestmark = pytest.mark.native

REFUSED = "refused"
SAME = "same"


def model_of(*tests, schema):
    """Make a model of one class that adds a power of two for each condition that holds."""
    rules = tuple(
        a_rule(Conjunction((test,)), 0, float(2**i), 1.0, (1.0,)) for i, test in enumerate(tests)
    )
    return AdditiveRules(Schema(schema, named=True), ["a"], (0.0,), rules)


def in_sqlite(model, create, *values):
    """Give the scores of SQLite on a new table of one row."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(create)
        places = ", ".join("?" * len(values))
        connection.execute(f"INSERT INTO data VALUES ({places})", values)
        return [row[0] for row in connection.execute(model.to_sql(dialect="sqlite"))]
    finally:
        connection.close()


def in_duckdb(model, *statements):
    """Give the scores of DuckDB after some statements."""
    with duckdb.connect() as connection:
        for statement in statements:
            connection.execute(statement)
        return [row[0] for row in connection.execute(model.to_sql()).fetchall()]


TRUE_FALSE = model_of(
    Range("true", low=5.0),
    Labels("FALSE", ("x",)),
    Presence("null", True),
    schema=(
        ColumnSchema("true", "numeric"),
        ColumnSchema("FALSE", "nominal", ("x",)),
        ColumnSchema("null", "numeric"),
    ),
)


def test_columns_named_like_constants():
    """Columns named true, false and null are columns."""
    TRUE_FALSE.verify_exports()
    create = 'CREATE TABLE data ("true" REAL, "FALSE" TEXT, "null" REAL)'
    assert in_sqlite(TRUE_FALSE, create, 6.0, "x", 1.0) == [3.0]
    assert in_duckdb(TRUE_FALSE, create, "INSERT INTO data VALUES (6.0, 'x', 1.0)") == [3.0]


@pytest.mark.parametrize("name", ["late", "data", "true", "rowid", "count"])
@pytest.mark.parametrize("used", ["rule", "keep"])
def test_a_column_that_is_not_there_is_an_error(name, used):
    """A table without a column of the rules, or one to keep, gives an error that names it."""
    column = ColumnSchema(name, "nominal", ("x",))
    model = model_of(Labels(name, ("x",), negated=True), schema=(column,))
    keep = [name] if used == "keep" else []
    model = model if used == "rule" else model.with_rules(())
    create = "CREATE TABLE data AS SELECT 'x' AS other"
    with duckdb.connect() as connection:
        connection.execute(create)
        with pytest.raises(duckdb.BinderException, match=name):
            connection.execute(model.to_sql(keep=keep))
    if name != "rowid":  # which every table of SQLite has
        with sqlite3.connect(":memory:") as connection:
            connection.execute(create)
            with pytest.raises(sqlite3.OperationalError, match=name):
                connection.execute(model.to_sql(dialect="sqlite", keep=keep))


SQLITE = {
    "number": [
        *((value, SAME) for value in (None, 1, 1.5, -0.0, 2**53 + 1, 1e300, math.inf, -math.inf)),
        *((value, REFUSED) for value in ("", "1", "abc", "nan", b"1", "1.5")),
    ],
    "label": [
        *((value, SAME) for value in (None, 1, 1.0, -3, 1.5, 1e-5, 2**53, 2**53 + 1, 7, -0.0)),
        *((value, REFUSED) for value in ("", "1", "1.0", "abc", b"1")),
    ],
    "text": [
        *(
            (value, SAME)
            for value in (None, "", "1", "1.0", "true", "TRUE", 1, 1.0, 2**53 + 1, -0.0)
        ),
        *((value, REFUSED) for value in (1.5, 1e300, math.inf, b"1")),
    ],
    "truth": [
        *((value, SAME) for value in (None, True, 0, 1, 0.0, 1.0, 2, -1, "true", "True", "FALSE")),
        *((value, SAME) for value in ("1", "0", "1.0", "", "yes", " true")),
        *((value, REFUSED) for value in (0.5, b"true")),
    ],
}


@pytest.mark.parametrize("affinity", ["", "TEXT", "REAL", "INTEGER", "TEXT COLLATE NOCASE"])
@pytest.mark.parametrize("name", SQLITE)
def test_sqlite_reads_values_of_any_type(name, affinity):
    """SQLite reads what a column holds as the model does, or raises an error with its name."""
    for value, expected in SQLITE[name]:
        with sqlite3.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE data ({name} {affinity})")
            connection.execute("INSERT INTO data VALUES (?)", (value,))
            held = connection.execute("SELECT * FROM data").fetchone()[0]  # as the type made it
        create, right = f"CREATE TABLE data ({name} {affinity})", by_model(name, held)
        try:
            found = in_sqlite(MODELS[name], create, value)[0]
        except sqlite3.OperationalError as error:
            found = REFUSED if f'column "{name}" must hold' in str(error) else error
        if type(held) is type(value):
            assert found == (right if expected is SAME else REFUSED), value
        else:
            assert found in (right, REFUSED), value


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        *(("number", f"{value}", REFUSED) for value in ("'1'", "''", "'1_0'", "date '2020-01-01'")),
        *(("number", f"'{value}'::DOUBLE", REFUSED) for value in ("inf", "-inf")),
        ("number", "'{}'::JSON", REFUSED),
        ("number", "true", True),
        ("number", "'nan'::DOUBLE", None),
        ("number", "NULL::VARCHAR", None),
        ("number", "1.5::DECIMAL(10, 2)", 1.5),
        ("number", "10::UHUGEINT", 10),
        ("number", "0.1::FLOAT", 0.10000000149011612),
        *(("label", value, REFUSED) for value in ("'1'", "true", "''", "date '2020-01-01'")),
        ("label", "9007199254740993::BIGINT", 2**53 + 1),
        ("label", "9007199254740992::BIGINT", 2**53),
        ("label", "'nan'::DOUBLE", None),
        ("label", "'inf'::DOUBLE", math.inf),
        ("label", "1.50::DECIMAL(10, 2)", 1.5),
        *(("text", value, REFUSED) for value in ("1.5", "1e0", "date '2020-01-01'", "'1'::BLOB")),
        ("text", "1::UTINYINT", 1),
        ("text", "true", True),
        ("text", "'TRUE'", "TRUE"),
        ("text", "''", ""),
        ("text", "NULL", None),
        ("text", "'1'::ENUM('1', '2')", "1"),
        *(("truth", value, REFUSED) for value in ("1e0", "date '2020-01-01'")),
        *(("truth", f"'{value}'", value) for value in ("1", "True", "", "yes", "0", "1.0")),
        ("truth", "1", 1),
        ("truth", "2", 2),
        ("truth", "false", False),
        ("truth", "NULL::BOOLEAN", None),
    ],
)
def test_duckdb_reads_values_of_any_type(name, value, expected):
    """DuckDB reads what a column holds as the model does, or raises an error with its name."""
    create = f"CREATE TABLE data AS SELECT {value} AS {name}"
    if expected is REFUSED:
        with pytest.raises(duckdb.Error, match=name):
            in_duckdb(MODELS[name], create)
    else:
        assert in_duckdb(MODELS[name], create) == [by_model(name, expected)]


def test_collations_that_ignore_case():
    """A column whose collation ignores case still has labels that differ by case."""
    create = "CREATE TABLE data (text VARCHAR COLLATE NOCASE)"
    found = in_duckdb(MODELS["text"], create, "INSERT INTO data VALUES ('TRUE'), ('true')")
    assert found == [by_model("text", "TRUE"), by_model("text", "true")]


def test_the_text_says_what_it_expects():
    """The SQL begins with what the columns must be."""
    assert len(MODELS) == len(COLUMNS)
    for dialect in ("duckdb", "postgres", "sqlite"):
        assert "Numbers must" in MODELS["number"].to_sql(dialect=dialect).split("*/")[0]
