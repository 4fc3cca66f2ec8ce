"""Which pages of the docs a change concerns, so that `make test` runs those and no others."""

import importlib
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
MAIN = "origin/main"
"""What was tested before: nothing lands on it that has not passed."""
NO_FIT_NEEDS = ("cli", "explain", "plots", "relational", "report", "scale", "trust")
"""Rooms that a page uses only if it names them or something of them; all others serve every fit."""
WITHOUT_PAGES = ("benchmarks/", "lab/", "tests/", ".ci/")


def _git(*arguments):
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def changed_files():
    """List what differs from main and what is new; None if that is unknown or nothing differs.

    Where nothing differs, this is main itself: in a fresh clone all pages are run.
    """
    base = _git("merge-base", "HEAD", MAIN)
    differing = _git("diff", "--name-only", *base) if base else None
    new = _git("ls-files", "--others", "--exclude-standard")
    return None if differing is None or new is None else differing + new or None


def concerns(file, page, text):
    """Tell whether a change of a file may change what the examples of a page print."""
    if file.endswith(".md"):
        return file == page
    if file.startswith("src/rulewright/"):
        room = file.split("/")[2].removesuffix(".py")
        return room not in NO_FIT_NEEDS or _uses(text, room)
    return not file.startswith(WITHOUT_PAGES)


def _uses(text, room):
    """Tell whether a page has commands, or Python that names a room or something public of it."""
    if "```console" in text:
        return True
    names = getattr(importlib.import_module(f"rulewright.{room}"), "__all__", ())
    return any(re.search(rf"\b{name}\b", text) for name in (room, *names))
