"""The README shows what really happens."""

import doctest
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rulewright.cli.main import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Work in a folder that holds the bundled table only."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)


def test_the_python_tour_prints_what_it_says():
    """Every line of the tour gives the output below it."""
    result = doctest.testfile(str(README), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_shell_tour_prints_what_it_says():
    """The first command of the README prints the text below it."""
    text = README.read_text()
    start = text.index("$ rulewright learn ")
    command, _, printed = text[start:].partition("\n")
    result = CliRunner().invoke(app, command.removeprefix("$ rulewright ").split())
    assert result.exit_code == 0
    assert printed.startswith(result.stdout)
