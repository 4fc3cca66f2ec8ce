"""Files: the reader of each format, by the extension of the file.

A new format is one file in this folder and one line in `READERS`.
"""

import glob
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rulewright.data.errors import DataError, refuse_remote
from rulewright.data.readers.arff import arff_source
from rulewright.data.readers.delimited import delimited_source
from rulewright.data.readers.excel import excel_source
from rulewright.data.readers.jsonlines import json_lines_source
from rulewright.data.readers.opened_file import (
    DEFAULT_OPTIONS,
    FileOptions,
    OpenedFile,
    open_file,
    zip_member,
)
from rulewright.data.readers.parquet import parquet_source
from rulewright.data.source import Source

READERS: dict[str, Callable[[OpenedFile], Source]] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data"), delimited_source),
    **dict.fromkeys((".parquet", ".pq"), parquet_source),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), json_lines_source),
    ".arff": arff_source,
    ".xlsx": excel_source,
}
STDIN = "-"


def file_source(path: str, options: FileOptions = DEFAULT_OPTIONS) -> Source:
    """Open a file of any format in `READERS`, zipped or not; ``-`` is standard input.

    Wildcards name several Parquet files with the same columns, unless a file has this very name.
    """
    if path == STDIN:
        return _standard_input(options)
    refuse_remote(path)
    file = Path(path)
    if glob.has_magic(path) and not os.path.lexists(path):
        return _several(path, options)
    suffix = _suffix(file)
    if suffix not in READERS:
        known = ", ".join(READERS)
        raise DataError(
            f"{file}: the extension {suffix!r} is unknown. Known are {known} (text also as .gz)."
        )
    return replace(READERS[suffix](open_file(file, options)), path=path)


def _suffix(file: Path) -> str:
    """Return the extension of a file, or of its content if it is zipped."""
    name = file.name.lower().removesuffix(".gz")
    if name.endswith(".zip"):
        name = name.removesuffix(".zip")
        if Path(name).suffix not in READERS and zipfile.is_zipfile(file):
            name = zip_member(file).lower()
    return Path(name).suffix


def _several(pattern: str, options: FileOptions) -> Source:
    paths = [Path(path) for path in sorted(glob.glob(pattern, recursive=True))]
    if not paths:
        raise DataError(f"{pattern}: no file has such a name. Check the path.")
    if other := [path for path in paths if READERS.get(_suffix(path)) is not parquet_source]:
        raise DataError(
            f"{pattern}: several files must be Parquet, but {other[0]} is not. Join them first."
        )
    files = [open_file(path, options) for path in paths]
    return replace(parquet_source(*files), path=pattern)


def _standard_input(options: FileOptions) -> Source:
    """Read standard input by way of a temporary file; the format is found in its first bytes."""
    stored = tempfile.NamedTemporaryFile(prefix="rulewright-")  # noqa: SIM115 - the source keeps it
    shutil.copyfileobj(sys.stdin.buffer, stored)
    stored.flush()
    file = open_file(Path(stored.name), options, title="standard input")
    start = file.head.lstrip()
    reader: Callable[[OpenedFile], Source] = delimited_source
    if start.startswith(b"PAR1"):
        reader = parquet_source
    elif start.startswith((b"{", b"[{")):
        reader = json_lines_source
    source = reader(file)

    def load(position, wanted, kept=stored):  # type: ignore[no-untyped-def]
        return source.load(position, wanted)

    def split(n_rows, kept=stored):  # type: ignore[no-untyped-def]
        return source.parts(n_rows)

    return replace(source, path="standard input", load=load, split=split)
