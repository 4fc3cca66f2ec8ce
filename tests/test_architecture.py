"""The pages on the house name what exists: every path, and every room."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "rulewright"
BASES = (ROOT, CORE, ROOT / "lab" / "src" / "rulewright_lab", ROOT / "native")
PATH = re.compile(r"`([\w./-]+/|[\w./-]+\.(?:py|pyi|md|toml|cpp|hpp|json|csv))`")


def named_paths(page):
    """Give the paths that a page names, in code and as links; those with <name> are patterns."""
    text = (ROOT / "docs" / page).read_text()
    return sorted(set(PATH.findall(text)))


@pytest.mark.parametrize("page", ["architecture.md", "decisions.md"])
def test_every_path_exists(page):
    """A path is given from the top, from the core, from the lab or from native/."""
    paths = named_paths(page)
    assert len(paths) > 10
    missing = [path for path in paths if not any((base / path).exists() for base in BASES)]
    assert not missing


def test_the_table_of_rooms_is_complete():
    """It lists the packages of the core, and no others."""
    table = (ROOT / "docs" / "architecture.md").read_text().split("## Rooms of the core")[1]
    rooms = set(re.findall(r"^\| `(\w+)/` \|", table, flags=re.MULTILINE))
    assert rooms == {init.parent.name for init in CORE.glob("*/__init__.py")}
