"""The page of all tables and figures: command, commit, our figure, the printed one, verdict."""

from __future__ import annotations

import re
from itertools import groupby
from typing import TYPE_CHECKING

from rulewright.comparison import Grid, Report
from rulewright_lab.experiments.papers.items import ITEMS
from rulewright_lab.experiments.papers.pages import read_page
from rulewright_lab.experiments.reproductions import REPRODUCTIONS, Extent

if TYPE_CHECKING:
    from pathlib import Path

    from rulewright.comparison import Cell
    from rulewright_lab.experiments.papers.pages import Item, Page

NAME = "papers"
HEAD = ("", "what", "command", "commit", "ours", "printed", "verdict")
TEXT = (
    "Every table and figure of the five papers. *Agrees* means that our figure is at most the "
    "tolerance of its target worse than the printed one; the pages behind the commands state the "
    "targets. *Partial* counts the trials that have run; its figures are those of the data sets "
    "that are finished. *Shown* means that the paper has a chart without numbers. "
    "`rulewright reproduce all --resume` runs what is missing and writes this page again."
)


def overview(folder: Path) -> tuple[Report, dict[str, str]]:
    """Return the page from the pages in a folder, and how much it cost."""
    pages = {name: read_page(folder, name) for name in REPRODUCTIONS}
    full = {name: len(one.trials(Extent())) for name, one in REPRODUCTIONS.items()}
    grids = [
        Grid(paper, HEAD, [row_of(item, pages, full) for item in items])
        for paper, items in groupby(ITEMS, key=lambda item: item.paper)
    ]
    known = [page for page in pages.values() if page is not None]
    spent = sum(page.minutes for page in known)
    verdicts = [re.split("[:;]", str(row[-1]))[0] for grid in grids for row in grid.rows]
    counts = {kind: verdicts.count(kind) for kind in dict.fromkeys(verdicts)}
    summary = f"{len(verdicts)} rows: " + ", ".join(f"{n} {kind}" for kind, n in counts.items())
    cost = f"{sum(page.trials[0] for page in known)} trials, {spent:.0f} processor minutes in all"
    report = Report(NAME, "Tables and figures of the papers", [TEXT, f"{summary}."], grids)
    return report, {"command": f"rulewright reproduce {NAME}", "cost": cost}


def row_of(item: Item, pages: dict[str, Page | None], full: dict[str, int]) -> list[Cell]:
    """Return the row of a table or figure."""
    if item.source is None or item.reading is None:
        return [item.number, item.what, "-", "-", "-", "-", item.note]
    page = pages[item.source]
    command = f"`rulewright reproduce {item.source}{page.runs if page else ''}`"
    if page is None:
        verdict = _noted(f"not run: 0 of {full[item.source]} trials", item)
        return [item.number, item.what, command, "-", "-", "-", verdict]
    commits = ", ".join(page.commits) or "-"
    found = item.reading.read(page)
    ours, printed = ("-", "-") if found is None else (found.ours, found.printed)
    verdict = _noted(judge(page, found and found.verdict, full[item.source]), item)
    link = f"[{command}]({page.name}.md)"
    return [item.number, item.what, link, commits, ours, printed, verdict]


def judge(page: Page, verdict: str | None, n_full: int) -> str:
    """Return the verdict on the figures of a page; records need a commit, and all trials."""
    if not page.commits:
        return "refused: records without a commit"
    n_done, n_planned = page.trials
    if n_done < max(n_planned, n_full):
        return f"partial: {n_done} of {max(n_planned, n_full)} trials{page.part}"
    if verdict is None:
        return "missing: an older page, to be written again"
    several = f"; records of {len(page.commits)} commits" if len(page.commits) > 1 else ""
    return verdict + several


def _noted(verdict: str, item: Item) -> str:
    return f"{verdict}; {item.note}" if item.note else verdict
