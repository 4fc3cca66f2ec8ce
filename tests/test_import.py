"""Importing is quick because libraries are loaded when they are used."""

import functools
import subprocess
import sys

HEAVY = {"altair", "duckdb", "matplotlib", "narwhals", "pandas", "polars", "pyarrow"}
HEAVY |= {"rich", "typer"}
FIT = "from rulewright import MLRulesClassifier as M; M(3).fit([[1], [2]] * 9, [0, 1] * 9)"


@functools.cache
def every_module_after(code):
    """Run code in a fresh interpreter and give the modules that it loaded."""
    program = f"{code}\nimport sys\nprint(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return set(result.stdout.split())


def modules_after(code):
    """Give the packages that code loads in a fresh interpreter."""
    return {name.partition(".")[0] for name in every_module_after(code)}


def test_the_package_itself_loads_nothing():
    """`import rulewright` is one small file."""
    assert not modules_after("import rulewright") & (HEAVY | {"numpy", "sklearn"})


def test_reading_and_predicting_need_no_scikit_learn():
    """The rooms below the estimators do not load scikit-learn."""
    loaded = modules_after("from rulewright import load_model, read_table")
    assert not loaded & (HEAVY | {"sklearn"})


def test_the_help_of_the_commands_draws_nothing():
    """Drawing charts is left to the commands that do it."""
    code = "from rulewright.cli.main import COMMANDS, import_command\nfor name in COMMANDS:"
    loaded = modules_after(f"{code} import_command(name)")
    assert "typer" in loaded
    assert not loaded & {"altair", "vl_convert"}


def test_learning_adds_nothing_to_scikit_learn():
    """No plotting, dataframe, database or command-line library comes along, but what it brings."""
    assert not (modules_after(FIT) - modules_after("import sklearn.base")) & HEAVY


def test_learning_loads_no_rooms_that_it_does_not_need():
    """Explanations, exports, other forms, file formats and other searches wait for their use."""
    loaded = every_module_after(FIT)
    unneeded = {"capacity.bounds", "data.doctor", "data.readers.files", "explain"}
    unneeded |= {"model.forms.votes", "model.storage", "programs.targets", "search.dnf"}
    assert not {f"rulewright.{room}" for room in unneeded} & loaded
    assert "rulewright.estimators.mlrules.estimator" in loaded
