"""The README shows what really happens."""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rulewright.cli.main import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<printed>(?:(?!\$ |```).*\n)*)", re.MULTILINE)


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Work in a folder that holds the bundled table, and new rows of it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    lines = (ROOT / "examples" / "loans.csv").read_text().splitlines(keepends=True)
    (tmp_path / "new.csv").write_text("".join(lines[:20]))
    monkeypatch.chdir(tmp_path)


def test_the_python_tour_prints_what_it_says():
    """Every line of the tour gives the output below it."""
    result = doctest.testfile(str(README), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 5
    assert result.failed == 0


def test_the_shell_tour_prints_what_it_says():
    """All commands run; what stands below one is what it prints, dots for anything."""
    found = list(COMMAND.finditer(README.read_text()))
    assert len(found) > 3
    for line in found:
        name, *words = shlex.split(line["command"], comments=True)
        assert name == "rulewright"
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, result.output
        if line["printed"]:
            check = doctest.OutputChecker().check_output
            assert check(line["printed"], result.stdout, doctest.ELLIPSIS), result.stdout
