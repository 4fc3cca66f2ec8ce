"""Files: the reader of each format, by the extension of the file.

A new format is one file in this folder and one line in `READERS`.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from rulewright.data.errors import DataError
from rulewright.data.readers.arff import arff_source
from rulewright.data.readers.delimited import delimited_source
from rulewright.data.readers.jsonlines import json_lines_source
from rulewright.data.readers.opened import MAX_UNZIPPED_BYTES, OpenedFile, open_file
from rulewright.data.readers.parquet import parquet_source
from rulewright.data.source import Source

READERS: dict[str, Callable[[OpenedFile], Source]] = {
    **dict.fromkeys((".csv", ".tsv", ".tab", ".txt", ".data"), delimited_source),
    **dict.fromkeys((".parquet", ".pq"), parquet_source),
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), json_lines_source),
    ".arff": arff_source,
}


def file_source(path: str, max_unzipped_bytes: int = MAX_UNZIPPED_BYTES) -> Source:
    """Open a file of any format in `READERS`, gzipped or not."""
    file = Path(path)
    suffix = Path(file.name.lower().removesuffix(".gz")).suffix
    if suffix not in READERS:
        known = ", ".join(READERS)
        raise DataError(
            f"{file}: the extension {suffix!r} is unknown. Known are {known} (text also as .gz)."
        )
    return replace(READERS[suffix](open_file(file, max_unzipped_bytes)), path=path)
