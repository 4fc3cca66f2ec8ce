"""The report of an experiment: tables, targets, charts and failures, as Markdown and JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import rulewright
from rulewright.data import replace_file
from rulewright.plots import save_chart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.comparison.trial import Record

Cell: TypeAlias = str | float | int | None


@dataclass(frozen=True)
class Grid:
    """A table; numbers are written with `digits` decimals."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    digits: int = 3

    def write_cells(self) -> list[list[str]]:
        """Return the cells as text."""
        return [[write_cell(cell, self.digits) for cell in row] for row in self.rows]

    def markdown(self) -> str:
        """Return the table in Markdown."""
        columns = range(len(self.head))
        rule = ["---:" if any(_is_number(row[i]) for row in self.rows) else "---" for i in columns]
        lines = [list(self.head), rule, *self.write_cells()]
        body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return f"{self.title}\n\n{body}" if self.title else body


@dataclass(frozen=True)
class Expectation:
    """A target, the measured value, and whether the target was met; None if undecided."""

    text: str
    measured: str
    met: bool | None

    def cells(self) -> list[Cell]:
        """Return the row of a table."""
        verdict = {True: "yes", False: "**no**", None: "undecided"}[self.met]
        return [self.text, self.measured, verdict]


@dataclass
class Report:
    """The report of an experiment, written to files called `name`.

    `about` and `notes` are paragraphs before and after the tables; `charts` are Altair charts by
    the suffix of their file name.
    """

    name: str
    title: str
    about: list[str]
    grids: list[Grid] = field(default_factory=list)
    targets: list[Expectation] = field(default_factory=list)
    charts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    failures: Sequence[Record] = ()

    def target_grid(self) -> Grid:
        """Return the targets as a table."""
        return Grid("", ["target", "measured", "met"], [t.cells() for t in self.targets])

    def failure_lines(self) -> list[str]:
        """List the failures; equal ones appear once."""
        counts: dict[tuple[str, str, str], int] = {}
        for record in self.failures:
            problem = " ".join(record["problem"].split())[:300]
            about = record["learner"], record["set"], problem
            counts[about] = counts.get(about, 0) + 1
        return [f"{who} on {what}: {why} ({n} trials)" for (who, what, why), n in counts.items()]

    def markdown(self, provenance: Mapping[str, str]) -> str:
        """Return the whole page."""
        parts = [f"# {self.title}", *self.about]
        parts += [Grid("", ["", ""], list(provenance.items())).markdown()]
        if self.targets:
            parts += ["## Targets", self.target_grid().markdown()]
        parts += [f"![{self.title}: {key}]({self.name}-{key}.svg)" for key in self.charts]
        parts += [f"## {grid.title}\n\n{_drop_title(grid)}" for grid in self.grids]
        parts += self.notes
        if lines := self.failure_lines():
            parts += ["## Failed", "\n".join(f"- {line}" for line in lines)]
        return "\n\n".join(parts) + "\n"

    def to_json(self, provenance: Mapping[str, str]) -> dict[str, Any]:
        """Return tables and targets as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "about": self.about,
            "provenance": dict(provenance),
            "targets": [vars(target) for target in self.targets],
            "tables": [
                {"title": g.title, "head": list(g.head), "rows": [_plain(row) for row in g.rows]}
                for g in self.grids
            ],
            "notes": self.notes,
            "failures": self.failure_lines(),
        }

    def write(self, folder: Path, provenance: Mapping[str, str]) -> list[Path]:
        """Write Markdown, JSON and charts, each file atomically."""
        paths = [folder / f"{self.name}-{key}.svg" for key in self.charts]
        for path, chart in zip(paths, self.charts.values(), strict=True):
            save_chart(chart, path)
        page, data = folder / f"{self.name}.md", folder / f"{self.name}.json"
        replace_file(data, (json.dumps(self.to_json(provenance), indent=1) + "\n").encode())
        replace_file(page, self.markdown(provenance).encode())
        return [page, data, *paths]


def write_cell(cell: Cell, digits: int) -> str:
    """Format a cell; missing figures are dashes."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "-"
    return f"{cell:.{digits}f}" if isinstance(cell, float) else str(cell)


def _is_number(cell: Cell) -> bool:
    return isinstance(cell, int | float)


def _plain(row: Sequence[Cell]) -> list[Cell]:
    """Replace NaN and infinity, which JSON does not have, by None."""
    return [None if isinstance(c, float) and not math.isfinite(c) else c for c in row]


def _drop_title(grid: Grid) -> str:
    return Grid("", grid.head, grid.rows, grid.digits).markdown()


def provenance(records: Sequence[Record]) -> dict[str, str]:
    """Return how, when and on which machine the figures were computed."""
    versions = {
        name: version for record in records for name, version in record.get("versions", {}).items()
    }
    versions |= {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn")}
    spent = sum(r.get("processor_seconds") or r.get("fit_seconds") or 0.0 for r in records)
    code = sorted({str(record.get("commit")) for record in records})
    return {
        "command": " ".join(["rulewright", *sys.argv[1:]]),
        "protocol": "; ".join(dict.fromkeys(record["protocol"] for record in records)),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "commit": ", ".join(code) + (" (+: with changes)" if any("+" in c for c in code) else ""),
        "versions": f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version}" for name, version in versions.items()),
        "machine": machine(),
        "cost": f"{len(records)} trials, {spent / 60:.1f} processor minutes",
    }


def commit() -> str:
    """Return the commit of the checkout that this package runs from, with + for changes of code.

    An installed package has a release instead.
    """
    here = str(Path(rulewright.__file__).parent)
    try:
        found = _git("-C", here, "rev-parse", "--short=12", "HEAD")
        changed = _git("-C", here, "status", "--porcelain", "--", ":/src", ":/native", ":/lab")
    except (OSError, subprocess.SubprocessError):
        return f"release {rulewright.__version__}"
    return f"{found}+" if changed else found


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], capture_output=True, text=True, check=True, timeout=10)
    return done.stdout.strip()


def machine() -> str:
    """Return processor, cores and system."""
    info, model = Path("/proc/cpuinfo"), platform.processor() or platform.machine()
    if info.exists():
        lines = info.read_text().splitlines()
        named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        model = named[0] if named else model
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"
