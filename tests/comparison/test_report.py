import json
import math

import pytest

from rulewright.comparison.report import Expectation, Grid, Report, commit, machine, provenance

GRID = Grid("Errors", ["data", "ours", "printed"], [["s", 0.12345, 0.1], ["t", math.nan, None]])
WORDS = Grid("", ["data", "verdict"], [["s", "yes"]])


@pytest.fixture
def report():
    failures = [
        {"learner": "a", "set": "s", "problem": "ValueError: no\n  good"},
        {"learner": "a", "set": "s", "problem": "ValueError: no\n  good"},
    ]
    targets = [
        Expectation("small", "0.1", True),
        Expectation("tiny", "0.1", False),
        Expectation("x", "?", None),
    ]
    return Report("name", "Title", ["About."], [GRID], targets, notes=["Note."], failures=failures)


def test_a_grid_is_a_markdown_table_with_dashes_for_gaps():
    assert GRID.markdown().splitlines()[2:] == [
        "| data | ours | printed |",
        "| --- | ---: | ---: |",
        "| s | 0.123 | 0.100 |",
        "| t | - | - |",
    ]


def test_words_stand_on_the_left_and_figures_on_the_right():
    assert WORDS.markdown().splitlines()[1] == "| --- | --- |"


def test_a_page_has_provenance_targets_tables_notes_and_failures(report):
    page = report.markdown({"commit": "abc"})
    assert page.startswith("# Title\n\nAbout.\n")
    parts = ("| commit | abc |", "| tiny | 0.1 | **no** |", "## Errors", "Note.", "## Failed")
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "- a on s: ValueError: no good (2 trials)" in page
    assert "| x | ? | undecided |" in page


def test_files_are_written_whole_and_as_strict_json(report, tmp_path):
    paths = report.write(tmp_path, {"commit": "abc"})
    assert [path.name for path in paths] == ["name.md", "name.json"]
    assert sorted(tmp_path.iterdir()) == sorted(paths)

    def refuse(constant):
        raise AssertionError(constant)

    content = json.loads((tmp_path / "name.json").read_text(), parse_constant=refuse)
    assert content["tables"][0]["rows"] == [["s", 0.12345, 0.1], ["t", None, None]]
    assert content["targets"][1] == {"text": "tiny", "measured": "0.1", "met": False}


def test_provenance_names_the_code_of_the_records():
    records = [
        {"protocol": "p", "commit": "abc", "fit_seconds": 30.0, "versions": {"rival": "2"}},
        {"protocol": "p", "commit": "def+", "fit_seconds": 30.0},
    ]
    found = provenance(records)
    assert found["commit"] == "abc, def+ (+: with changes)"
    assert "rival 2" in found["versions"]
    assert found["protocol"] == "p"
    assert "1.0 processor minutes" in found["cost"]
    assert machine()
    assert commit().startswith("release ") or len(commit().rstrip("+")) == 12
