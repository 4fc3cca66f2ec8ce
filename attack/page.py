"""The figures of a run, written into the page of the docs that describes the attacks."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from attack.attacks import ATTACKS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from attack.harness import Result

_SENTENCE = re.compile(r"^The last run .*$", re.MULTILINE)
_TABLE = re.compile(r"^\| attack \|.*\n(?:\|.*\n)+", re.MULTILINE)


def write_page(path: Path, results: Sequence[Result]) -> None:
    """Replace the table of attacks in a page, and the sentence about the last run."""
    text = path.read_text()
    for part, new in ((_TABLE, _table(results)), (_SENTENCE, _sentence(results))):
        found = part.search(text)
        if found is None:
            raise ValueError(f"{path} has no place for the figures: {part.pattern}")
        text = text[: found.start()] + new + text[found.end() :]
    path.write_text(text)


def _table(results: Sequence[Result]) -> str:
    """Write what each attack does, what must hold, and how often it was tried."""
    tries = {result.attack: result.tries for result in results}
    lines = ["| attack | what is done | what must hold | attempts |", "|---|---|---|---|"]
    lines += [
        f"| `{name}` | {one.summary} | {one.promise} | {tries.get(name, 0):,} |"
        for name, one in ATTACKS.items()
    ]
    return "\n".join(lines) + "\n"


def _sentence(results: Sequence[Result]) -> str:
    minutes = round(sum(result.seconds for result in results) / 60)
    tries = sum(result.tries for result in results)
    n = sum(len(result.findings) for result in results)
    found = {0: "no findings", 1: "1 finding"}.get(n, f"{n} findings")
    n_processors = len(os.sched_getaffinity(0))
    built = "" if "ATTACK_SANITIZE_PYTHON" in os.environ else ", without the sanitizer build"
    return (
        f"The last run took {minutes} minutes on {n_processors} processors{built}: {tries:,} "
        f"attempts, {found}."
    )
