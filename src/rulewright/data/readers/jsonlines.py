"""JSON lines: one object per line; a list of objects is read too."""

import json
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.findings import skipped_rows
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects


def json_lines_source(file: OpenedFile) -> Source:
    """Open a JSON lines file."""
    # unlike Python's reader, DuckDB's converts text and ignores the case of column names
    records, skipped = _records(str(file), file.text(), skip=file.options.skip_bad_rows)
    names = tuple(dict.fromkeys(name for record in records for name in record))

    def load(position: int, wanted: Wanted) -> Raw:
        return Raw(as_objects(record.get(names[position]) for record in records), untyped=True)

    notes = skipped_rows(skipped, ["no JSON object"])
    return Source(names, True, len(records), load, notes=notes)


def _records(path: str, text: str, *, skip: bool = False) -> tuple[list[dict[str, Any]], list[int]]:
    """Return the records, and the lines that were skipped."""
    if text.lstrip().startswith("["):
        records = _parsed(path, 1, text)
        rows = list(enumerate(records, start=1)) if isinstance(records, list) else []
        return [_checked(path, number, record) for number, record in rows], []
    found, skipped = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(_checked(path, number, _parsed(path, number, line)))
            except DataError:
                if not skip:
                    raise
                skipped.append(number)
    return found, skipped


def _checked(path: str, number: int, record: Any) -> dict[str, Any]:
    if not isinstance(record, dict):
        raise DataError(f"{path}, record {number}: expected one object like {{'a': 1}}.")
    return record


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
