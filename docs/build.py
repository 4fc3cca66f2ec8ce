"""Run the examples of the docs and write what they print below them.

Every ``python`` block of a page is run, in order and in one namespace; the ``text`` block that
follows it holds what it printed. ``python docs/build.py`` refreshes the pages, with ``--check`` it
only tells whether they are up to date.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

PAGES = Path(__file__).parent
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def built(page: str) -> str:
    """Return the text of a page with the output of its examples filled in."""
    namespace: dict[str, object] = {"__name__": "__main__"}

    def run(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(found["code"], "example", "exec"), namespace)
        output = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
        block = f"```python\n{found['code']}```\n"
        return f"{block}\n```text\n{output}\n```\n" if output else block

    return EXAMPLE.sub(run, page)


def main() -> int:
    """Refresh all pages, or report those that are out of date."""
    check, stale = "--check" in sys.argv[1:], 0
    for path in sorted(PAGES.glob("*.md")):
        old = path.read_text()
        if (new := built(old)) == old:
            continue
        stale += 1
        print(f"{path.name} {'is out of date: run make docs' if check else 'refreshed'}")
        if not check:
            path.write_text(new)
    return stale if check else 0


if __name__ == "__main__":
    sys.exit(main())
