"""The pages of the docs show what their examples really print."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))


@pytest.fixture(scope="module")
def build():
    """Load the program that fills in the output of examples."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_pages_are_up_to_date(page, build, monkeypatch):
    """Running the examples of a page changes nothing in it; `make docs` refreshes it."""
    monkeypatch.chdir(ROOT)
    text = page.read_text()
    assert build.built(text) == text


def test_stale_output_is_replaced(build):
    """What a block printed stands below it, and nothing else."""
    page = "a\n```python\nx = 2\nprint(x)\n```\n\n```text\nold\n```\n\n```python\nx += 1\n```\nb\n"
    fresh = build.built(page)
    assert fresh == page.replace("old", "2")
    assert build.built(fresh) == fresh
