import csv
import gzip
import io
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from rulewright import load_model, parse_conjunction, read_table
from rulewright.cli.output import STDOUT, open_output
from rulewright.data.readers.files import READERS
from rulewright.model import RuleSetVotes

WRITERS = {"csv": "write_csv", "parquet": "write_parquet", "jsonl": "write_ndjson"}
ARFF_TYPES = dict.fromkeys(
    ("owns_home", "region", "purpose", "credit_history", "repaid"), "string"
) | {"day": "date yyyy-MM-dd"}


def read(text, **options):
    """Read CSV text as a list of dicts."""
    return list(csv.DictReader(io.StringIO(text), **options))


def test_label_and_probabilities_equal_those_of_the_model(cli, model, loans):
    """Standard output holds exactly what the library predicts."""
    result = cli("predict", model, loans)
    assert (result.exit_code, result.stderr) == (0, "")
    rows, loaded = read(result.stdout), load_model(model)
    assert list(rows[0]) == ["label", "probability_no", "probability_yes"]
    assert [row["label"] for row in rows] == loaded.predict(loans).tolist()
    found = [[float(row["probability_no"]), float(row["probability_yes"])] for row in rows]
    assert np.array_equal(found, loaded.predict_proba(loans))


def test_labels_follow_the_costs(cli, model, loans, tmp_path):
    """A model with costs gives its own labels, not the most probable ones."""
    costly = replace(load_model(model), decision=((0.0, 50.0), (1.0, 0.0)))
    costly.save(path := tmp_path / "costly.json")
    labels = [row["label"] for row in read(cli("predict", path, loans).stdout)]
    assert labels == costly.predict(loans).tolist() != load_model(model).predict(loans).tolist()


def test_files_by_name(cli, model, loans, tmp_path):
    """The name decides about tabs and compression; the rows are the same."""
    expected = cli("predict", model, loans, "-o", "-").stdout
    for name in ("out.csv", "out.tsv", "out.csv.gz"):
        result = cli("predict", model, loans, "-o", tmp_path / name)
        assert (result.exit_code, result.output) == (0, "")
    assert (tmp_path / "out.csv").read_text() == expected
    assert (tmp_path / "out.tsv").read_text() == expected.replace(",", "\t")
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == expected


def test_keep_repeats_the_input_in_front(cli, model, write, loans):
    """With --keep the input columns come first, missing values as empty fields."""
    head, first, *_ = loans.read_text().splitlines()
    path = write("new.csv", f"id,{head}\n'7,{first}\nNA,{first}\n".replace(",east,", ',"a, b",'))
    rows = read(cli("predict", model, path, "--keep").stdout)
    assert [row["id"] for row in rows] == ["'7", ""]
    assert rows[0]["region"] == "a, b"
    assert list(rows[0])[-3:] == ["label", "probability_no", "probability_yes"]
    assert rows[0]["probability_no"] == rows[1]["probability_no"]


@pytest.mark.parametrize("suffix", ["csv", "parquet", "jsonl", "arff"])
def test_keep_passes_unused_columns_through(cli, model, loans, tmp_path, suffix):
    """A column that the model does not use may hold dates, in any format."""
    path = tmp_path / f"new.{suffix}"
    frame = pl.read_csv(loans).head(3).with_columns(day=pl.date(2024, 1, pl.Series([5, 6, 7])))
    if suffix == "arff":
        types = [f"@attribute {name} {ARFF_TYPES.get(name, 'real')}\n" for name in frame.columns]
        rows = frame.write_csv(include_header=False, null_value="?")
        path.write_text(f"{''.join(types)}@data\n{rows}")
    else:
        getattr(frame, WRITERS[suffix])(path)
    rows = read(cli("predict", model, path, "--keep").stdout)
    assert [row["day"] for row in rows] == ["2024-01-05", "2024-01-06", "2024-01-07"]
    expected = load_model(model).predict(loans)[:3].tolist()
    assert [row["label"] for row in rows] == expected


def test_keep_writes_nested_values_as_json(cli, model, write, loans):
    """Lists and objects of a JSON file that the model does not use are kept as they are."""
    row = pl.read_csv(loans).row(0, named=True)
    path = write("new.jsonl", json.dumps({**row, "tags": ["a", 1]}))
    assert read(cli("predict", model, path, "--keep").stdout)[0]["tags"] == '["a", 1]'


def test_a_file_is_opened_once(cli, model, loans, tmp_path, opened):
    """Predicting with --keep, compressing and learning with errors open the file once."""
    assert cli("predict", model, loans, "--keep").exit_code == 0
    assert opened.pop() == loans
    output = ("-o", tmp_path / "small.json")
    assert cli("compress", model, loans, "--target", "repaid", *output).exit_code == 0
    assert opened.pop() == loans
    assert cli("learn", loans, "--target", "repayed").exit_code == 2
    assert opened.pop() == loans
    assert not opened


@pytest.fixture
def opened(monkeypatch):
    """Give the list of the files that were opened."""
    paths, read = [], READERS[".csv"]

    def reader(file):
        paths.append(file.path)
        return read(file)

    monkeypatch.setitem(READERS, ".csv", reader)
    return paths


def test_keep_refuses_a_clash_of_names(cli_failure, model, write, loans):
    """An input column that has the name of an output is not silently doubled."""
    lines = loans.read_text().splitlines()[:3]
    path = write("new.csv", "\n".join([f"label,{lines[0]}", *(f"1,{line}" for line in lines[1:])]))
    assert "has a column 'label' already" in cli_failure("predict", model, path, "--keep")


def test_only_the_needed_columns_are_needed(cli, cli_failure, model, write, loans):
    """Columns that no rule uses may be absent; others are named in the error."""
    rows = read(loans.read_text())[:5]
    needed = load_model(model).columns
    lines = [",".join(row[name] for name in reversed(needed)) for row in rows]
    path = write("new.csv", "\n".join([",".join(reversed(needed)), *lines]))
    assert cli("predict", model, path).exit_code == 0
    short = write("short.csv", "region,age\nnorth,30\n")
    message = cli_failure("predict", model, short)
    assert message.startswith(f"{short} lacks columns ")
    assert "'late_payments', " in message
    assert ", which the model needs. Its columns are: region, age." in message


def test_unseen_and_missing_values_are_predicted(cli, model, write, loans):
    """A category that was never seen is no error."""
    head, first, *_ = loans.read_text().splitlines()
    odd = first.replace("medical", "spaceship").replace("east", "?")
    rows = read(cli("predict", model, write("new.csv", f"{head}\n{odd}\n")).stdout)
    assert len(rows) == 1


def test_text_in_a_numeric_column_is_an_error_with_its_place(cli, cli_failure, model, write, loans):
    """The error names file, column, row and value, and no output is left."""
    head, first, *_ = loans.read_text().splitlines()
    path = write("new.csv", f"{head}\n{first}\n{first.replace('7400', 'lots')}\n")
    output = path.with_name("out.csv")
    message = cli_failure("predict", model, path, "-o", output)
    assert message.startswith(f"{path}: Column 'amount' must be numeric, but row 1")
    assert cli("predict", model, path).stdout == ""
    assert [file.name for file in path.parent.iterdir()] == ["new.csv"]


@pytest.mark.parametrize("name", ["out.parquet", "out", "out.gz"])
def test_the_output_is_csv(cli_failure, model, loans, tmp_path, name):
    """A name that promises another format is refused."""
    assert "the output is CSV" in cli_failure("predict", model, loans, "-o", tmp_path / name)


def test_inputs_are_not_overwritten(cli_failure, model, write, loans):
    """The output must be another file than the inputs."""
    path = write("new.csv", loans.read_text())
    assert "this file is already read or written" in cli_failure("predict", model, path, "-o", path)
    assert path.read_text() == loans.read_text()


def test_a_missing_input(cli_failure, model, tmp_path):
    """The error names the file, and nothing is written."""
    path = tmp_path / "nothing.csv"
    message = cli_failure("predict", model, path, "-o", tmp_path / "out.csv")
    assert message.startswith(f"{path}: ")
    assert list(tmp_path.iterdir()) == []


def test_a_corrupted_model(cli_failure, corrupted, loans):
    """A model that was edited is refused, and nothing is written."""
    output = corrupted.with_name("out.csv")
    assert "damaged or edited" in cli_failure("predict", corrupted, loans, "-o", output)
    assert not output.exists()


def test_abstention_is_a_column(cli, loans, tmp_path):
    """Rule sets that vote say of every row whether the margin is too small."""
    table = read_table(loans, target="repaid")
    young, rich = parse_conjunction("age <= 30"), parse_conjunction("income >= 4000")
    members = {0: [((young,), 1.0)], 1: [((rich,), 2.0), ((), 1.0)]}
    votes = RuleSetVotes.from_training(table, members, abstain=1.0)
    votes.save(path := tmp_path / "votes.json")
    rows = read(cli("predict", path, loans).stdout)
    said = [row["abstains"] == "true" for row in rows]
    assert said == votes.abstains(loans).tolist()
    assert 0 < sum(said) < len(said)


def test_gzipped_files_are_limited(cli, cli_failure, model, loans, tmp_path):
    """Every command that reads a table takes the size to which a gzipped file may expand."""
    path = tmp_path / "loans.csv.gz"
    path.write_bytes(gzip.compress(loans.read_bytes()))
    options = ["--target", "repaid", "--rules", 3, "-o", tmp_path / "small.json"]
    commands = [
        ["predict", model, path],
        ["learn", path, "--target", "repaid"],
        ["compress", model, path, *options],
    ]
    for command in commands:
        message = cli_failure(*command, "--max-unzipped", 1000)
        assert "more than the limit of 1,000 bytes" in message
        assert "--max-unzipped" in message
    assert cli(*commands[0], "--max-unzipped", 10**6).exit_code == 0


def test_a_terminal_shows_control_characters(monkeypatch):
    """Data cannot move the cursor or change colours; a file gets it unchanged."""
    text = "a\x1b[31m,\x9b2J\r\u2028ü\tb\n"
    for is_terminal, shown in ((True, "a\\x1b[31m,\\x9b2J\\r\u2028ü\tb\n"), (False, text)):
        screen = io.StringIO(newline="")
        monkeypatch.setattr(screen, "isatty", lambda answer=is_terminal: answer)
        monkeypatch.setattr("sys.stdout", screen)
        with open_output(STDOUT) as stream:
            stream.write(text)
        assert screen.getvalue() == shown
