"""Collect the pages of the site: docs/, some pages of the repository, and the API reference.

``python docs/assemble.py FOLDER`` writes the sources that Sphinx builds (``make docs``). Pages keep
links that work in the repository; this program rewrites them for the site. A
link to a file that does not exist and a page that is not in ``nav.toml`` are errors.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tomllib
from pathlib import Path, PurePosixPath

import api

DOCS = Path(__file__).parent
ROOT = DOCS.parent
LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


class PageError(Exception):
    """A broken link or navigation."""


def navigation() -> list[tuple[str, list[str]]]:
    """Return the parts of the navigation: a title and the pages, without suffix."""
    parts = tomllib.loads((DOCS / "nav.toml").read_text())["part"]
    return [(part["title"], part["pages"]) for part in parts]


def pages() -> dict[str, Path]:
    """Map the place of each hand-written page in the site to its file."""
    found = {path.relative_to(DOCS).as_posix(): path for path in DOCS.rglob("*.md")}
    for _, names in navigation():
        for name in names:
            if f"{name}.md" not in found and not name.startswith("api/"):
                found[f"{name}.md"] = ROOT / f"{name}.md"
    return found


def check_navigation() -> None:
    """Raise a PageError unless the navigation and the pages of docs/ are the same."""
    listed = [name for _, names in navigation() for name in names]
    own = {
        path.relative_to(DOCS).with_suffix("").as_posix()
        for folder in (DOCS, DOCS / "research")
        for path in folder.glob("*.md")
    } - {"index"}
    if missing := sorted(own - set(listed)):
        raise PageError(f"docs/nav.toml: add the pages {', '.join(missing)} to a part")
    for place, path in pages().items():
        if not path.is_file():
            raise PageError(f"docs/nav.toml: there is no page {place}")
    if repeated := sorted({name for name in listed if listed.count(name) > 1}):
        raise PageError(f"docs/nav.toml: {', '.join(repeated)} must be in one part only")


def rewrite_links(place: str, path: Path, places: dict[Path, str]) -> str:
    """Return the text of a page with its links rewritten for the site."""
    text = path.read_text()
    code = [found.span() for found in CODE.finditer(text)]

    def turn(found: re.Match[str]) -> str:
        if any(start <= found.start() < end for start, end in code):
            return found[0]
        target = (path.parent / found["path"]).resolve()
        if not target.exists():
            raise PageError(f"{path.relative_to(ROOT)}: {found['path']} does not exist")
        there = places.get(target) or target.relative_to(ROOT).as_posix()
        link = os.path.relpath(there, PurePosixPath(place).parent)
        return f"[{found['text']}]({link}{found['anchor'] or ''})"

    return LINK.sub(turn, text)


def contents() -> str:
    """Return the navigation in Sphinx's syntax, to append to the front page."""
    trees = []
    for title, names in navigation():
        lines = "\n".join(names)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{lines}\n```\n")
    return "\n".join(trees)


def assemble(folder: Path) -> None:
    """Write the sources of the site to a folder, which is emptied first."""
    check_navigation()
    shutil.rmtree(folder, ignore_errors=True)
    found = pages()
    places = {path.resolve(): place for place, path in found.items()}
    places[ROOT / "README.md"] = "index.md"
    for place, path in found.items():
        text = rewrite_links(place, path, places)
        if place == "index.md":
            text += f"\n{contents()}"
        elif place == "results/README.md":
            text += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    for image in (DOCS / "results").glob("*.svg"):
        shutil.copy(image, folder / "results")
    for name in ("images", "examples"):
        shutil.copytree((DOCS if name == "images" else ROOT) / name, folder / name)
    api.write(folder / "api")


if __name__ == "__main__":
    try:
        assemble(Path(sys.argv[1]))
    except PageError as error:
        sys.exit(str(error))
