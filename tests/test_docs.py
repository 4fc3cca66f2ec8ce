"""The pages of the docs show what their examples really print, and name what really exists."""

import ast
import importlib.util
import re
import shlex
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import typer

import changes
import rulewright
from rulewright.cli.main import COMMANDS, added_commands, import_command
from rulewright.estimators.contract.parameters import check_parameters

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(path for folder in (DOCS, DOCS / "research") for path in folder.glob("*.md"))
BLOCK = re.compile(r"^```(?P<language>.*)\n(?P<code>(?:.*\n)*?)^```$", re.MULTILINE)


def page_name(page):
    """Name a page by its place in the docs, so that no two have the same name."""
    return page.relative_to(ROOT).as_posix()


every_page = pytest.mark.parametrize("page", PAGES, ids=page_name)


@pytest.fixture(scope="module")
def build():
    """Load the program that fills in the output of examples."""
    spec = importlib.util.spec_from_file_location("build", ROOT / "docs" / "build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pages_by_change():
    """Give every page; one that no change concerns is left to a full run.

    Notes of research are run where they changed themselves: guides run the same code.
    """
    changed = changes.changed_files()
    same = pytest.mark.full("neither the page nor, for a guide, what it uses differs from main")
    for page in [*PAGES, ROOT / "README.md"]:
        name, text = page.relative_to(ROOT).as_posix(), page.read_text()
        if page.parent.name == "research":
            run = changed is not None and {name, "docs/build.py"} & set(changed)
        else:
            run = changed is None or any(changes.concerns(file, name, text) for file in changed)
        yield pytest.param(page, id=name, marks=() if run else same)


@pytest.mark.parametrize("page", list(pages_by_change()))
def test_pages_are_up_to_date(page, build, monkeypatch):
    """Running the examples of a page changes nothing in it; `make docs` refreshes it."""
    monkeypatch.chdir(ROOT)
    text = page.read_text()
    assert build.built(text) == text


@pytest.mark.parametrize(
    ("file", "concerned"),
    [
        ("docs/page.md", True),
        ("docs/other.md", False),
        ("README.md", False),
        ("docs/build.py", True),
        ("examples/loans.csv", True),
        ("native/search/grow.cpp", True),
        ("src/rulewright/rules/rule.py", True),
        ("src/rulewright/scale/fitting.py", True),
        ("src/rulewright/plots/rules.py", False),
        ("src/rulewright/__init__.py", True),
        ("tests/test_docs.py", False),
    ],
)
def test_changes_concern_pages_that_use_them(file, concerned):
    """A page is run when it, or code that it may call, is another than on main."""
    text = "```python\nfrom rulewright.scale import fit\n```\n"
    assert changes.concerns(file, "docs/page.md", text) == concerned


def test_commands_use_every_room():
    """A page with commands is run whatever room changed."""
    text = "```console\n$ rulewright learn t.csv\n```\n"
    assert changes.concerns("src/rulewright/plots/rules.py", "docs/page.md", text)


def test_single_pages_are_refreshed(build, monkeypatch, tmp_path):
    """`docs/build.py PAGE` touches the page that is named, and no other."""
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    for path in (page, other):
        path.write_text("```python\nprint(2)\n```\n\n```text\nold\n```\n")
    monkeypatch.setattr(sys, "argv", ["build.py", "--check", str(page)])
    assert build.main() == 1
    assert "old" in page.read_text()
    monkeypatch.setattr(sys, "argv", ["build.py", str(page)])
    assert build.main() == 0
    assert "old" not in page.read_text()
    assert "old" in other.read_text()


def test_stale_output_is_replaced(build):
    """What a block printed stands below it, and nothing else."""
    page = "a\n```python\nx = 2\nprint(x)\n```\n\n```text\nold\n```\n\n```python\nx += 1\n```\nb\n"
    fresh = build.built(page)
    assert fresh == page.replace("old", "2")
    assert build.built(fresh) == fresh


def test_stale_output_of_sessions_is_replaced(build):
    """What a statement prints or evaluates to stands below it; dots stand for anything."""
    page = "```pycon\n>>> for x in (1, 2):\n...     print(x)\nold\n>>> [x]  # ?\n[...]\n\n```\n"
    fresh = build.built(page)
    assert fresh == page.replace("old", "1\n2")
    assert build.built(fresh) == fresh


def test_the_readme_is_refreshed_too(build):
    """`make docs` runs the README, and every page whose examples are tested."""
    assert {path.resolve() for path in build.pages()} == {*PAGES, ROOT / "README.md"}


def test_stale_output_of_commands_is_replaced(build):
    """What a command prints stands below it; dots stand for anything; a failure is an error."""
    page = "```console\n$ rulewright --version  # ?\nold\n$ echo a \\\n  b | tr a c\nc ...\n```\n"
    fresh = build.built(page)
    assert fresh == page.replace("old", f"rulewright {rulewright.__version__}")
    with pytest.raises(ValueError, match=r"learn nothing\.csv --target y: exit code 2"):
        build.built("```console\n$ rulewright learn nothing.csv --target y\n```\n")


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=page_name)
def test_no_block_escapes_the_tests(page):
    """Commands are in blocks that are run or parsed; what cannot be run is Python at least."""
    for found in BLOCK.finditer(page.read_text()):
        language, code = found["language"], found["code"]
        assert language in ("python", "pycon", "py", "console", "shell", "text", "")
        if language == "py":
            ast.parse(code)
        if language in ("", "text"):
            assert not re.search(r"^(rulewright [a-z]+ \S|>>> )", code, re.MULTILINE), code


@every_page
def test_commands_that_are_not_run_can_be_parsed(page):
    """Every command of a shell block exists, with all its options."""
    for found in BLOCK.finditer(page.read_text()):
        if found["language"] != "shell":
            continue
        for line in found["code"].replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "rulewright":
                assert words[1] in {*COMMANDS, *added_commands()}, line
                with suppress(typer.Exit):  # --list ends the command
                    import_command(words[1]).make_context(words[1], words[2:])


def test_calls_for_those_who_move_here_exist():
    """Every call of rulewright in the tables of the migration notes can be made."""
    text = (ROOT / "docs" / "migration.md").read_text()
    calls = re.findall(r"`(rw\.\w+\([^`]*\))`", text)
    assert len(calls) > 25
    for call in calls:
        learner = eval(call, {"rw": rulewright})
        check_parameters(call, learner.get_params(deep=False), learner.DOMAINS)
