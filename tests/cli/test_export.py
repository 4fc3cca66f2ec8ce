import duckdb
import pytest

from rulewright import load_model


def test_sql_gives_the_labels_of_the_model(cli, model, loans):
    """The exported SELECT runs on the table it was written for."""
    sql = cli("export", model, "--to", "sql", "--table", "main.loans").stdout
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE loans AS FROM read_csv('{loans}')")
        found = [row[-1] for row in connection.execute(sql).fetchall()]
    assert found == load_model(model).predict(loans).tolist()


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
def test_dialects(cli, model, dialect):
    """The dialect is handed to the model."""
    out = cli("export", model, "--to", "sql", "--dialect", dialect).stdout
    assert out == load_model(model).to_sql(dialect=dialect)


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
        (["--to", "onnx"], "Give a file: -o model.onnx"),
        ([], "Missing option '--to'"),
        (["--to", "java"], "'java' is not one of"),
        (["--to", "text", "--table", "t"], "--table goes with --to sql only"),
        (["--to", "python", "--dialect", "sqlite"], "--dialect goes with --to sql only"),
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
