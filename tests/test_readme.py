"""The README shows what really happens."""

import doctest
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from rulewright.cli.main import app

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
OPTIONAL = ["altair", "onnx", "pandas", "polars", "pyarrow"]
COMMAND = re.compile(r"^\$ (?P<command>.*)\n(?P<printed>(?:(?!\$ |```).*\n)*)", re.MULTILINE)


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Work in a folder that holds the bundled table, and new rows of it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    lines = (ROOT / "examples" / "loans.csv").read_text().splitlines(keepends=True)
    (tmp_path / "new.csv").write_text("".join(lines[:20]))
    monkeypatch.chdir(tmp_path)


def test_the_python_tour_prints_what_it_says():
    """Every line gives the output below it, with the packages that `pip install .` brings."""
    tour = (
        "import sys, doctest\n"
        f"sys.modules |= dict.fromkeys({OPTIONAL})\n"  # an import of one fails
        f"print(doctest.testfile({str(README)!r}, False, optionflags=doctest.ELLIPSIS))"
    )
    done = subprocess.run([sys.executable, "-c", tour], capture_output=True, text=True, check=True)
    result = re.search(r"TestResults\(failed=(\d+), attempted=(\d+)\)", done.stdout)
    assert result is not None, done.stdout
    assert result[1] == "0", done.stdout
    assert int(result[2]) > 5


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
