"""The page of all tables and figures: a row each, with a command and a verdict."""

import json
import re

import pytest

from rulewright.comparison import Grid, Report
from rulewright_lab.experiments.papers import ITEMS, overview, read_page
from rulewright_lab.experiments.papers.overview import HEAD, judge, row_of
from rulewright_lab.experiments.papers.pages import Balance, Mean, Page, Targets, Whole
from rulewright_lab.experiments.reproductions import REPRODUCTIONS, Extent

COST = {"cost": "20 trials, 1.5 processor minutes", "command": "rulewright reproduce x --runs 5"}


def page(commit="0123456789ab", trials="20 of 20 trials have figures", **content):
    """Return a page of results."""
    origin = {**COST, "commit": commit, "trials": trials}
    known = {"tables": [], "targets": [], "failures": [], "provenance": origin}
    return Page("x", known | content)


def test_every_row_has_a_command_or_a_reason_and_all_reproductions_have_rows():
    """A row without a command says why in its verdict."""
    for item in ITEMS:
        assert (item.source is None) == (item.reading is None)
        assert item.source in REPRODUCTIONS or item.note
    assert {item.source for item in ITEMS} - {None} == set(REPRODUCTIONS)
    assert len({(i.paper, i.number, i.what) for i in ITEMS}) == len(ITEMS)


@pytest.mark.parametrize(
    ("paper", "numbers"),
    [
        ("MLRules", ["Table 1", "Figure 1", "Figure 2"]),
        ("SLIPPER", ["Table 1", "Table 2", *(f"Figure {k}" for k in range(1, 5))]),
        (
            "A statistical",
            [
                *(f"Table 4.{k}" for k in range(1, 8)),
                *(f"Table 5.{k}" for k in (1, 2)),
                *(f"Table 6.{k}" for k in range(1, 9)),
                *("Figure 4.1", "Figure 4.2", "Figure 5.1", "Figure 5.2", "Figure 5.3"),
                *(f"Figure 6.{k}" for k in range(1, 9)),
            ],
        ),
        ("Feature", ["Table 1", "Table 2", *(f"Figure {k}" for k in range(1, 12))]),
    ],
)
def test_every_table_and_figure_of_a_paper_has_a_row(paper, numbers):
    """Rows may name several figures, such as "Figures 2 to 4"."""
    texts = [item.number for item in ITEMS if item.paper.startswith(paper)]
    known = {name for text in texts for name in names_in(text)}
    assert known == set(numbers)


def names_in(text):
    """Return the tables and figures that a text names."""
    for kind, first, last in re.findall(
        r"(Table|Figure)s? ([\d.]+)(?: (?:to|and) ([\d.]+))?", text
    ):
        numbers = [first, *([last] if last else [])]
        if last and " to " in text:
            numbers = [str(k) for k in range(int(first), int(last) + 1)]
        yield from (f"{kind} {number}" for number in numbers)


def test_every_row_of_an_empty_folder_has_a_command_and_a_verdict(tmp_path):
    """Nothing has run: all rows with a command say so."""
    report, origin = overview(tmp_path)
    assert [grid.head for grid in report.grids] == [HEAD] * 5
    rows = [row for grid in report.grids for row in grid.rows]
    assert len(rows) == len(ITEMS)
    for item, row in zip(ITEMS, rows, strict=True):
        _, _, command, commit, ours, printed, verdict = row
        assert verdict
        assert (commit, ours, printed) == ("-", "-", "-")
        assert (command == "-") == (item.source is None)
        if item.source is not None:
            assert verdict.startswith("not run: 0 of ")
    assert "0 processor minutes" in origin["cost"]
    assert f"{len(ITEMS)} rows" in report.about[1]


def test_rows_show_figures_commit_and_processor_time(tmp_path):
    """Two pages are there: one whole, one a part."""
    n_trials = len(REPRODUCTIONS["sl2-tables"].trials(Extent()))
    for name, title, done in (
        ("sl2-tables", "Accuracy in %", n_trials),
        ("lri-mlrules-part", "Error", 7),
    ):
        label = "SL2" if name == "sl2-tables" else "LRI"
        grid = Grid(title, ["data", label, "printed", "difference"], [["mean", 80.0, 82.6, -2.6]])
        trials = f"{done} of {done} trials have figures"
        origin = {**COST, "commit": "0123456789ab", "trials": trials}
        Report(name, name, [], [grid]).write(tmp_path, origin)
    report, origin = overview(tmp_path)
    rows = {(row[0], row[1]): row for grid in report.grids for row in grid.rows}
    row = rows["Table 4.2", "accuracy of SL2"]
    command = "[`rulewright reproduce sl2-tables --runs 5`](sl2-tables.md)"
    assert row[2:] == [command, "0123456789ab", "80.0", "82.6", "differs"]
    assert rows["Table 4.3", "rules of SL2"][-1].startswith("missing: ")
    assert rows["Table 1", "mean error of LRI"][-1] == "partial: 7 of 350 trials"
    assert f"{n_trials + 7} trials, 3 processor minutes" in origin["cost"]


def test_verdicts_refuse_records_without_a_commit_and_count_trials():
    """Partial pages and records of several commits are named."""
    assert judge(page("None, 0123456789ab"), "agrees", 20).startswith("refused: ")
    assert judge(page(), "agrees", 20) == "agrees"
    assert judge(page(), "agrees", 30) == "partial: 20 of 30 trials"
    for about, told in (
        ("Quick run: two of the ten folds.", " (quick run: two of the ten folds)"),
        ("Only iris, sonar.", " (only iris, sonar)"),
        (f"Only {', '.join('abcdefghi')}.", " (only 9 data sets)"),
    ):
        verdict = judge(page(about=["The paper.", about]), "agrees", 30)
        assert verdict == f"partial: 20 of 30 trials{told}"
    assert judge(page(trials="12 of 20 trials have figures"), "agrees", 20).startswith(
        "partial: 12"
    )
    assert judge(page("a, b+ (+: with changes)"), "differs", 20).endswith("records of 2 commits")
    assert judge(page(), None, 20).startswith("missing: ")
    old = page(failures=["a on b: not run (5 trials)"])
    del old.content["provenance"]["trials"]
    assert judge(old, "agrees", 20) == "partial: 15 of 20 trials"


def test_figures_are_read_from_tables_and_targets():
    """A mean row, all cells, wins and losses, and targets."""
    grid = {
        "title": "Accuracy in %",
        "head": ["data", "A", "printed", "difference", "B", "printed"],
        "rows": [["s", 50.0, 60.0, -10.0, None, 70.0], ["mean", 81.0, 82.0, -1.0, 9.0, 10.0]],
    }
    wins = {"title": "Wins", "head": ["", "ours", "printed"], "rows": [["r", "1-0-7", "5-3-10"]]}
    target = {"text": "gap: at most 1", "measured": "0.5", "met": True}
    one = page(tables=[grid, wins], targets=[target, {**target, "text": "gap too", "met": False}])
    assert Mean("Accuracy", "A").read(one) == ("81.0", "82.0", "agrees")
    assert Mean("Accuracy", "A", within=0.5).read(one)[-1] == "differs"
    assert Mean("Accuracy", "B", share=0.05).read(one)[-1] == "differs"
    assert Mean("Accuracy", "A", lower_is_better=True, within=0).read(one)[-1] == "agrees"
    assert Mean("Accuracy", "C").read(one) is None
    assert Whole("Accuracy").read(one)[0] == "mean of 3 cells 46.7"
    assert Balance("Wins", "r").read(one) == ("1-0-7", "5-3-10", "agrees")
    assert Balance("Wins", "r", losses=2).read(one)[-1] == "agrees"  # ties are in the middle
    assert Targets("gap", "1").read(one) == ("gap: 0.5; gap too: 0.5", "1", "differs")
    assert Targets("nothing", "1").read(one) is None


def test_the_page_of_the_documentation_has_all_rows(pytestconfig):
    """It was written by this registry: no row is without a verdict."""
    content = json.loads((pytestconfig.rootpath / "docs/results/papers.json").read_text())
    rows = [row for table in content["tables"] for row in table["rows"]]
    assert [row[:2] for row in rows] == [[item.number, item.what] for item in ITEMS]
    assert all(row[-1] for row in rows)


def test_pages_of_parts_are_found_after_whole_ones(tmp_path):
    """The whole page comes first."""
    for ending in ("-quick", "-part", ""):
        Report(f"x{ending}", "x", []).write(tmp_path, {**COST, "commit": "a"})
        assert read_page(tmp_path, "x").name == f"x{ending}"
    assert read_page(tmp_path, "y") is None


def test_a_row_of_something_else_has_only_its_reason():
    """Drawings have nothing to measure."""
    item = next(item for item in ITEMS if item.source is None)
    assert row_of(item, {}, {})[2:] == ["-", "-", "-", "-", item.note]
