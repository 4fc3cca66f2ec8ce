"""JSON lines: one object per line; a list of objects is read too."""

import json
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects


def json_lines_source(file: OpenedFile) -> Source:
    """Open a JSON lines file."""
    # unlike Python's reader, DuckDB's converts text and ignores the case of column names
    records = _records(str(file), file.text())
    names = tuple(dict.fromkeys(name for record in records for name in record))

    def load(position: int, wanted: Wanted) -> Raw:
        return Raw(as_objects(record.get(names[position]) for record in records), untyped=True)

    return Source(names, True, len(records), load)


def _records(path: str, text: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        records = _parsed(path, 1, text)
        rows = list(enumerate(records, start=1)) if isinstance(records, list) else []
    else:
        lines = enumerate(text.split("\n"), start=1)
        rows = [(number, _parsed(path, number, line)) for number, line in lines if line.strip()]
    for number, record in rows:
        if not isinstance(record, dict):
            raise DataError(f"{path}, record {number}: expected one object like {{'a': 1}}.")
    return [record for _, record in rows]


def _parsed(path: str, number: int, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not valid JSON: {error}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return record
