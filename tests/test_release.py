"""What is released agrees with itself: versions, extras, links, and the skill for coding agents."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import rulewright

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SKILL = ROOT / "skills" / "rulewright" / "SKILL.md"


def test_every_file_names_the_same_version():
    """The package, the lab, the citation and the top of the changelog."""
    found = {
        "lab": tomllib.loads((ROOT / "lab" / "pyproject.toml").read_text())["project"]["version"],
        "citation": re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1],
        "changelog": re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.M)[1],
    }
    assert set(found.values()) == {rulewright.__version__}, found


def test_the_extra_all_has_every_extra_for_users():
    """Nothing is left out but what only developers need."""
    extras = PROJECT["optional-dependencies"]
    (line,) = extras["all"]
    named = set(re.fullmatch(r"rulewright\[(.*)\]", line)[1].split(","))
    assert named == set(extras) - {"all", "attack", "bench", "dev", "docs"}


def test_messages_name_extras_that_exist():
    """Whoever is told to install an extra can do so."""
    files = [*ROOT.glob("src/rulewright/**/*.py"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    text = "".join(path.read_text() for path in files)
    named = set(",".join(re.findall(r"rulewright\[([\w,]+)\]", text)).split(","))
    assert {"excel", "onnx", "plots", "trust", "workbench"} <= named
    assert named <= set(PROJECT["optional-dependencies"])


def test_links_of_pages_for_agents_lead_somewhere():
    """Every file that llms.txt and the skill name exists."""
    links = re.findall(r"\]\(([^)]+)\)", (ROOT / "llms.txt").read_text())
    named = re.findall(r"\bdocs/[\w/-]+\.md\b", SKILL.read_text())
    assert len(links) > 15
    assert not [path for path in links + named if not (ROOT / path).exists()]


def test_the_skill_works(tmp_path):
    """Its program runs, and the numbers it explains are the ones that are printed."""
    text = SKILL.read_text()
    (program,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    for word in ("start", "points", "odds", "rows", "share", "all", "cost of compactness"):
        assert f"**{word}" in text
        assert word in done.stdout
    assert "same answers in duckdb" in done.stdout
