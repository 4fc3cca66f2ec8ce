"""A command line to call, the bundled table, and a model learned from it once."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rulewright.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*args):
    """Call the command line; give exit code, standard output and standard error."""
    runner = CliRunner(env={"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100"})
    return runner.invoke(app, [str(arg) for arg in args])


def failure(*args):
    """Call the command line, which must fail with one line, and give that line."""
    result = run(*args)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").rstrip("\n")


@pytest.fixture
def cli():
    return run


@pytest.fixture
def cli_failure():
    return failure


@pytest.fixture(scope="session")
def examples():
    return EXAMPLES


@pytest.fixture(scope="session")
def loans():
    return EXAMPLES / "loans.csv"


@pytest.fixture(scope="session")
def learned(tmp_path_factory, loans):
    """Learn a small model; give what was printed and the file of the model."""
    path = tmp_path_factory.mktemp("model") / "loans.json"
    args = ["--target", "repaid", "--model", path, "--cv", 3, "--rules-shown", 5]
    args += ["--learner", "mlrules"]
    result = run("learn", loans, *args, "--set", "max_rules=40", "--set", "max_conditions=3")
    assert result.exit_code == 0, result.output
    return result, path


@pytest.fixture
def model(learned):
    """Give the file of the learned model."""
    return learned[1]


@pytest.fixture
def write(tmp_path):
    """Give a function that writes a text file and returns its path."""

    def write_text(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write_text


@pytest.fixture
def corrupted(model, tmp_path):
    """Give a copy of the model with one response changed."""
    document = json.loads(model.read_text())
    document["rules"][0]["then"]["adds"] += 0.5
    path = tmp_path / "corrupted.json"
    path.write_text(json.dumps(document))
    return path
