"""Run the examples of the docs and write what they print below them.

Every ``python`` block of a page is run, in order and in one namespace; the ``text`` block below it
holds its output. In a ``console`` block the lines after ``$`` are run, in a ``pycon`` block the
lines after ``>>>``; their output follows them, where ``...`` stands for anything. Everything runs
in a new folder that contains ``examples/``.

``python docs/build.py`` refreshes all pages, ``python docs/build.py docs/start.md`` the pages that
are named. With ``--check`` it only reports which are out of date.
"""

from __future__ import annotations

import argparse
import contextlib
import doctest
import io
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from typer.testing import CliRunner

from rulewright.cli.main import app

PAGES = Path(__file__).parent
EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n.*?^```\n)?"
    r"|^```pycon\n(?P<dialogue>.*?)^```\n|^```console\n(?P<session>.*?)^```\n",
    re.DOTALL | re.MULTILINE,
)
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)\n(?P<output>(?:(?!\$ ).*\n)*)", re.MULTILINE)
SHELL = re.compile(r"[|<>;&*]")


def built(page: str) -> str:
    """Return the text of a page with the output of its examples filled in."""
    namespace: dict[str, object] = {"__name__": "__main__"}

    def run(found: re.Match[str]) -> str:
        if found["session"] is not None:
            return f"```console\n{COMMAND.sub(_refresh, found['session'])}```\n"
        if found["dialogue"] is not None:
            return f"```pycon\n{_converse(found['dialogue'], namespace)}\n```\n"
        output = _run(found["code"], "exec", namespace)
        block = f"```python\n{found['code']}```\n"
        return f"{block}\n```text\n{output}```\n" if output else block

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("examples").symlink_to(PAGES.parent / "examples")
        return EXAMPLE.sub(run, page)


def _run(source: str, mode: str, namespace: dict[str, object]) -> str:
    """Run Python and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(source, "example", mode), namespace)
    return _tidy(printed.getvalue())


def _converse(dialogue: str, namespace: dict[str, object]) -> str:
    """Return a Python session with its output; keep the old output if dots make it match."""
    lines = []
    for example in doctest.DocTestParser().get_examples(dialogue):
        output = _run(example.source, "single", namespace)
        if doctest.OutputChecker().check_output(example.want, output, doctest.ELLIPSIS):
            output = example.want
        first, *others = example.source.splitlines()
        lines += [f">>> {first}\n", *(f"... {line}\n" for line in others), output]
    return "".join(lines)


def _refresh(found: re.Match[str]) -> str:
    """Return a command with its output; keep the old output if dots make it match."""
    output = _tidy(printed_by(found["command"]))
    if doctest.OutputChecker().check_output(found["output"], output, doctest.ELLIPSIS):
        return found[0]
    return f"$ {found['command']}\n{output}"


def printed_by(command: str) -> str:
    """Run a command of the shell and return what it prints; one that fails is an error."""
    words = shlex.split(command.replace("\\\n", " "), comments=True)
    if words[0] == "rulewright" and not SHELL.search(" ".join(words)):
        done = CliRunner().invoke(app, words[1:])
        code, output = done.exit_code, done.output
    else:
        path = f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH; "
        ended = subprocess.run(path + command, shell=True, capture_output=True, text=True)
        code, output = ended.returncode, ended.stdout + ended.stderr
    if code != 0:
        raise ValueError(f"{command}: exit code {code}\n{output}")
    return output


def _tidy(output: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


def pages() -> list[Path]:
    """List the pages whose examples are run: the README, and all of docs/ except the results."""
    found = sorted(path for folder in (PAGES, PAGES / "research") for path in folder.glob("*.md"))
    return [PAGES.parent / "README.md", *found]


def main() -> int:
    """Refresh pages, or report which are out of date."""
    parser = argparse.ArgumentParser(description="Run the examples of the docs.")
    parser.add_argument("page", nargs="*", type=Path, help="pages to refresh (all of them)")
    parser.add_argument("--check", action="store_true", help="only report pages out of date")
    options = parser.parse_args()
    stale = 0
    for path in options.page or pages():
        old = path.read_text()
        if (new := built(old)) == old:
            continue
        stale += 1
        print(f"{path} {'is out of date: run make docs' if options.check else 'refreshed'}")
        if not options.check:
            path.write_text(new)
    return stale if options.check else 0


if __name__ == "__main__":
    sys.exit(main())
