"""The notebooks of the examples run, and hold what they show."""

import importlib.util
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])


@pytest.fixture(scope="module")
def runner():
    """Load the program that runs notebooks."""
    spec = importlib.util.spec_from_file_location("runner", ROOT / "examples/run_notebooks.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_one_for_each_task():
    """Two classes with constraints, abstention, editing, several classes, and numbers."""
    assert [path.stem for path in NOTEBOOKS] == [
        "credit_risk",
        "diabetes_regression",
        "medical_abstention",
        "owning_a_model",
        "wine_classes",
    ]


@pytest.mark.full("starts a kernel for each notebook; the docs run the same calls")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client")
@every_notebook
def test_notebooks_are_up_to_date(path, runner):
    """Running a notebook prints and shows what it holds; `make notebooks` refreshes it."""
    assert runner.printed(runner.executed(path)) == runner.printed(nbformat.read(path, 4))


@every_notebook
def test_notebooks_hold_views_and_charts(path):
    """Tables, models and charts are there for viewers that run nothing, without a network."""
    outputs = [
        output.data
        for cell in nbformat.read(path, 4).cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if "data" in output
    ]
    assert sum("image/svg+xml" in data for data in outputs) >= 2
    assert sum('class="rulewright"' in data.get("text/html", "") for data in outputs) >= 2
    assert path.stat().st_size < 300_000
