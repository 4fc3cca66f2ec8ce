"""Pages of results as reproductions write them, and the figures that can be read from them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_TRIALS = re.compile(r"(\d+) trials")
_DONE = re.compile(r"(\d+) of (\d+) trials")
_FAILED = re.compile(r"\((\d+) trials\)$")
_MINUTES = re.compile(r"([\d.]+) processor minutes")

MOST_NAMED = 8
"""Data sets that a verdict names; beyond it, it counts them."""

CODE = "nothing to measure: pseudo-code"
DRAWING = "nothing to measure: a drawing"
OTHER_SYSTEM = "not ours: another program"
VERDICTS = {True: "agrees", False: "differs", None: "undecided"}


class Comparison(NamedTuple):
    """Our figure and the printed one as text, and the verdict on them."""

    ours: str
    printed: str
    verdict: str


class Reading(Protocol):
    """How two figures are read from a page."""

    def read(self, page: Page) -> Comparison | None:
        """Return the figures, None if the page does not have them."""


class Item(NamedTuple):
    """A table or figure, or a learner's column of it.

    `source` is the reproduction with its figures, which `reading` finds. `note` follows the
    verdict; without a source it is the verdict.
    """

    paper: str
    number: str
    what: str
    source: str | None
    reading: Reading | None
    note: str = ""


@dataclass(frozen=True)
class Page:
    """A page of results: its tables, its targets and how it was computed."""

    name: str
    content: dict[str, Any]

    def table(self, title: str) -> dict[str, Any] | None:
        """Return a table by the beginning of its title."""
        found = (t for t in self.content["tables"] if t["title"].startswith(title))
        return next(found, None)

    @property
    def provenance(self) -> dict[str, str]:
        """How the page was computed."""
        found: dict[str, str] = self.content["provenance"]
        return found

    @property
    def trials(self) -> tuple[int, int]:
        """Numbers of trials with figures and of all; older pages list failures instead."""
        if match := _DONE.match(self.provenance.get("trials", "")):
            return int(match[1]), int(match[2])
        known = _TRIALS.match(self.provenance["cost"])
        n = int(known[1]) if known else 0
        failed = (_FAILED.search(line) for line in self.content["failures"])
        return n - sum(int(match[1]) for match in failed if match), n

    @property
    def minutes(self) -> float:
        """Processor minutes of the trials."""
        match = _MINUTES.search(self.provenance["cost"])
        return float(match[1]) if match else math.nan

    @property
    def commits(self) -> list[str]:
        """Code versions of the records; without one, the list is empty."""
        named = self.provenance["commit"].partition(" (")[0].split(", ")
        return [] if "None" in named else named

    @property
    def part(self) -> str:
        """Which trials a page of a part has, as a parenthesis; empty for other pages."""
        said = (self.content.get("about") or [""])[-1]
        kind, _, rest = said.rstrip(".").partition(" ")
        if kind not in ("Only", "Quick"):
            return ""
        names = rest.split(", ")
        if kind == "Only" and len(names) > MOST_NAMED:
            rest = f"{len(names)} data sets"
        return f" ({kind.lower()} {rest})"

    @property
    def runs(self) -> str:
        """The option of the command that says how often trials were repeated."""
        match = re.search(r"--runs \d+", self.provenance["command"])
        return f" {match[0]}" if match else ""


def read_page(folder: Path, name: str) -> Page | None:
    """Read the page of a reproduction: the whole one, else one of some sets or of a quick run."""
    for ending in ("", "-part", "-quick"):
        path = folder / f"{name}{ending}.json"
        if path.exists():
            return Page(f"{name}{ending}", json.loads(path.read_text(encoding="utf-8")))
    return None


@dataclass(frozen=True)
class Mean:
    """A row of a table, ours in a column and the printed figure after it.

    Figures agree if ours is at most `within` worse: lower, or higher where `lower_is_better`. A
    share of the printed figure, in either direction, is given by `share` instead.
    """

    table: str
    column: str
    row: str = "mean"
    within: float = 1.5
    lower_is_better: bool = False
    share: float | None = None
    printed: str = "printed"
    digits: int = 1

    def read(self, page: Page) -> Comparison | None:
        """Return the two figures."""
        table = page.table(self.table)
        rows = [row for row in (table or {"rows": []})["rows"] if row[0] == self.row]
        if table is None or not rows or self.column not in table["head"]:
            return None
        place = table["head"].index(self.column)
        start = place if self.printed == "printed" else 0
        theirs, ours = rows[0][table["head"].index(self.printed, start)], rows[0][place]
        if ours is None or theirs is None:
            return None
        return self._compare(float(ours), float(theirs))

    def _compare(self, ours: float, theirs: float) -> Comparison:
        loss = ours - theirs if self.lower_is_better else theirs - ours
        agrees = loss <= self.within
        if self.share is not None:
            agrees = abs(ours - theirs) <= self.share * abs(theirs)
        return Comparison(f"{ours:.{self.digits}f}", f"{theirs:.{self.digits}f}", VERDICTS[agrees])


@dataclass(frozen=True)
class Whole:
    """All cells of a table, each followed by the printed figure: the mean over those that exist."""

    table: str
    within: float = 2.0

    def read(self, page: Page) -> Comparison | None:
        """Return the means; cells without our figure do not count."""
        table = page.table(self.table)
        if table is None:
            return None
        places = [i for i, name in enumerate(table["head"]) if name == "printed"]
        pairs = [
            (row[i - 1], row[i])
            for row in table["rows"]
            for i in places
            if row[i - 1] is not None and row[i] is not None
        ]
        if not pairs:
            return None
        ours, theirs = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
        text = f"mean of {len(pairs)} cells "
        agrees = theirs - ours <= self.within
        return Comparison(f"{text}{ours:.1f}", f"{text}{theirs:.1f}", VERDICTS[agrees])


@dataclass(frozen=True)
class Balance:
    """Wins and losses, printed as 5-3-10: they agree if the same side wins more often."""

    table: str
    row: str
    ours: str = "ours"
    printed: str = "printed"
    losses: int = 1

    def read(self, page: Page) -> Comparison | None:
        """Return the two counts."""
        table = page.table(self.table)
        rows = [row for row in (table or {"rows": []})["rows"] if row[0] == self.row]
        if table is None or not rows:
            return None
        ours, theirs = (rows[0][table["head"].index(name)] for name in (self.ours, self.printed))
        if ours is None or theirs is None:
            return None
        return Comparison(ours, theirs, VERDICTS[self._sign(ours) == self._sign(theirs)])

    def _sign(self, text: str) -> int:
        counts = [int(part) for part in text.split("-")]
        ahead = counts[0] - counts[self.losses]
        return (ahead > 0) - (ahead < 0)


@dataclass(frozen=True)
class Targets:
    """What a paper says in words or shows without numbers: the page's targets with this text."""

    contains: str
    printed: str

    def read(self, page: Page) -> Comparison | None:
        """Return the measured figures of the targets."""
        found = [t for t in page.content["targets"] if self.contains in t["text"]]
        if not found:
            return None
        measured = "; ".join(f"{_short(t['text'])}: {t['measured']}" for t in found)
        met: Sequence[bool | None] = [target["met"] for target in found]
        return Comparison(measured, self.printed, VERDICTS[None if None in met else all(met)])


def _short(text: str) -> str:
    """Drop the goal from the text of a target."""
    return re.sub(r"[:,]? at (most|least) .*$", "", text)


@dataclass(frozen=True)
class Shown:
    """A table or chart that is on our page, for which the paper prints nothing to compare."""

    what: str

    def read(self, page: Page) -> Comparison | None:
        """Say what is on the page."""
        return Comparison(self.what, "no numbers", "shown")
