import csv
import sqlite3
from contextlib import closing

import duckdb
import pytest

from rulewright import load_model, read_table
from rulewright.cli.export import SqlDialect
from rulewright.programs import DIALECTS


def test_sql_gives_the_labels_of_the_model(cli, model, loans):
    """The exported SELECT runs on the table it was written for."""
    sql = cli("export", model, "--to", "sql", "--table", "main.loans").stdout
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE loans AS FROM read_csv('{loans}')")
        found = [row[-1] for row in connection.execute(sql).fetchall()]
    assert found == load_model(model).predict(loans).tolist()


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_sql_returns_the_keys(cli, model, loans, dialect):
    """The key columns stand in front of the answers, so that these can be joined."""
    sql = cli(
        "export", model, "--to", "sql", "--dialect", dialect, "--key", 'id,"the, place"'
    ).stdout
    table = read_table(loans)
    rows = [["id", "the, place", *table.names]]
    with loans.open() as file:
        rows += [[f"k{k}", "x", *row] for k, row in enumerate([*csv.reader(file)][1:21])]
    names = [f'"{name}"' for name in rows[0]]
    typed = [[*row[:2], *map(_value, row[2:])] for row in rows[1:]]
    connect = duckdb.connect if dialect == "duckdb" else sqlite3.connect
    with closing(connect(":memory:")) as connection:
        kinds = ["VARCHAR" if isinstance(value, str) else "DOUBLE" for value in typed[0]]
        columns = ", ".join(map(" ".join, zip(names, kinds, strict=True)))
        connection.execute(f"CREATE TABLE data ({columns})")
        marks = ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", typed)
        found = connection.execute(sql).fetchall()
    labels = load_model(model).predict(loans)[:20].tolist()
    assert {row[0]: row[-1] for row in found} == {f"k{k}": v for k, v in enumerate(labels)}
    assert {row[1] for row in found} == {"x"}


def _value(text):
    """Read a field as a number, or else as text; an empty one is missing."""
    try:
        return float(text)
    except ValueError:
        return text or None


@pytest.mark.parametrize("dialect", SqlDialect)
def test_dialects(cli, model, dialect):
    """The dialect is handed to the model."""
    out = cli("export", model, "--to", "sql", "--dialect", dialect).stdout
    assert out == load_model(model).to_sql(dialect=dialect)


def test_every_dialect_is_an_option(cli):
    """The command offers all databases, and says which of them no test runs."""
    assert [dialect.value for dialect in SqlDialect] == list(DIALECTS)
    text = " ".join(cli("export", "--help").stdout.replace("│", " ").split())
    assert "for the others only the syntax is tested, with a parser" in text


def test_python_javascript_and_text(cli, model, tmp_path):
    """The file holds what the model writes."""
    for form, text in (
        ("python", load_model(model).to_python()),
        ("javascript", load_model(model).to_javascript()),
        ("text", load_model(model).to_text()),
    ):
        path = tmp_path / form
        assert cli("export", model, "--to", form, "-o", path).output == ""
        assert path.read_text() == text


def test_onnx_is_a_file(cli, model, tmp_path):
    """The bytes are those of the model."""
    path = tmp_path / "model.onnx"
    assert cli("export", model, "--to", "onnx", "-o", path).output == ""
    assert path.read_bytes() == load_model(model).to_onnx()


@pytest.mark.parametrize(
    ("options", "part"),
    [
        (["--to", "onnx"], "Write it to a file: -o model.onnx"),
        ([], "Missing option '--to'"),
        (["--to", "java"], "'java' is not one of"),
        (["--to", "text", "--table", "t"], "--table goes with --to sql only"),
        (["--to", "python", "--dialect", "sqlite"], "--dialect goes with --to sql only"),
        (["--to", "javascript", "--key", "id"], "--key goes with --to sql only"),
        (["--to", "sql", "--key", "label"], "--key label: an answer has this name"),
        (["--to", "sql", "--key", "id,id"], "--key id: the column is named twice"),
        (["--to", "sql", "--table", "a..b"], "SQL cannot hold the empty name"),
        (["--to", "sql", "-o", "no/such/folder/x.sql"], "does not exist"),
    ],
)
def test_wrong_options(cli_failure, model, options, part):
    """Each wrong option is refused with a reason."""
    assert part in cli_failure("export", model, *options)


def test_a_corrupted_model_leaves_no_file(cli_failure, corrupted):
    """Nothing is written when the model cannot be read."""
    output = corrupted.with_name("out.sql")
    cli_failure("export", corrupted, "--to", "sql", "-o", output)
    assert not output.exists()


def test_sql_returns_the_codes_of_reasons(cli, cli_failure, model, loans, tmp_path):
    """The query has the codes that `predict --reasons` writes, and needs the favourable outcome."""
    codes = tmp_path / "codes.toml"
    codes.write_text("[[reason]]\ncode = 'L'\ntext = 'Late'\ncolumns = ['late_payments']\n")
    options = ("--reasons", 1, "--favourable", "yes", "--reason-codes", codes)
    query = cli("export", model, "--to", "sql", "--table", "loans", *options).stdout
    with duckdb.connect() as database:
        database.execute(f"CREATE TABLE loans AS FROM read_csv('{loans}')")
        found = [row[-1] for row in database.execute(query).fetchall()]
    lines = cli("predict", model, loans, *options).stdout.splitlines()[1:]
    assert [value == "L" for value in found] == [line.endswith("L: Late") for line in lines]
    assert "L" in found
    assert "needs --favourable" in cli_failure("export", model, "--to", "sql", "--reasons", 1)
    assert "goes with --to sql" in cli_failure("export", model, "--to", "python", *options)
    message = cli_failure("export", model, "--to", "sql", "--favourable", "yes")
    assert "need --reasons" in message
