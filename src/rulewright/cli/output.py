"""Output: files written completely or not at all, and the content of --json."""

import gzip
import io
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, cast

import numpy as np

from rulewright.data import Finding, Table, optional, replace_file, replacing
from rulewright.model import RuleModel, write_rule

STDOUT = Path("-")
_CONTROL = re.compile(r"[^\n\t -~\xa0-\U0010ffff]")


def check_output(path: Path, option: str, inputs: Iterable[Path] = ()) -> None:
    """Raise an error that names the option if a path cannot be written, before any work is done.

    Files that are read, or written by another option, are never overwritten.
    """
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise ValueError(f"{option} {path}: the folder {folder} does not exist. Create it first.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{option} {path}: this is not a regular file. Name a regular file.")
    if not os.access(folder, os.W_OK):
        raise ValueError(f"{option} {path}: the folder {folder} is not writable. Choose another.")
    if os.path.realpath(path) in {os.path.realpath(other) for other in inputs}:
        raise ValueError(
            f"{option} {path}: this file is already read or written. Name another file."
        )


@contextmanager
def show_reading(path: Path) -> Iterator[None]:
    """Show on a terminal that a file is being read."""
    if not sys.stderr.isatty():
        yield
        return
    console = optional("rich.console").Console(stderr=True)
    with console.status(f"reading {path}"):
        yield


class _Terminal:
    """A terminal that shows control characters instead of obeying them."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text; line ends and tabs stay."""
        return self._stream.write(_CONTROL.sub(lambda found: repr(found[0])[1:-1], text))


@contextmanager
def open_output(path: Path) -> Iterator[TextIO]:
    """Open standard output for "-", or a file that replaces `path` only if no error occurs.

    A name that ends in .gz gives a gzipped file. A terminal gets no control characters of the data.
    """
    if path == STDOUT:
        yield cast("TextIO", _Terminal(sys.stdout)) if sys.stdout.isatty() else sys.stdout
        return
    with replacing(path) as file:
        if path.suffix == ".gz":
            with gzip.open(file, "wt", encoding="utf-8", newline="") as text:
                yield text
        else:
            text = io.TextIOWrapper(file, encoding="utf-8", newline="")
            yield text
            text.flush()
            text.detach()


def write_content(path: Path, content: str | bytes) -> None:
    """Write text to standard output or a file, or bytes to a file; all or nothing."""
    if isinstance(content, bytes):
        replace_file(path, content)
        return
    with open_output(path) as stream:
        stream.write(content)


def table_content(file: object, table: Table, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return the columns of a table and its findings as plain data."""
    columns = [
        {
            "name": column.schema.name,
            "kind": column.schema.kind,
            "values": column.schema.type.describe(column),
            "missing": int(np.count_nonzero(column.is_missing)),
        }
        for column in table.columns
    ]
    listed = [finding.to_json() for finding in findings]
    return {"file": str(file), "rows": table.n_rows, "columns": columns, "findings": listed}


def model_content(model: RuleModel) -> dict[str, Any]:
    """Return the form of a model, its classes if any, and its rules in order, as plain data."""
    columns, names = model.rules_table(), model.head_names
    rows = zip(*columns.values(), strict=True)
    return {
        "form": model.form,
        "classes": list(names) or None,
        "n_rules": len(model),
        "rules": [
            {"text": write_rule(model, i)}
            | {key: drop_infinities(value) for key, value in zip(columns, row, strict=True)}
            for i, row in enumerate(rows)
        ],
    }


def drop_infinities(value: Any) -> Any:
    """Replace infinities and NaN, which JSON does not have, by None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {key: drop_infinities(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [drop_infinities(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
