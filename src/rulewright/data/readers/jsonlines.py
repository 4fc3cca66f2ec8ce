"""JSON lines: one object per line; a list of objects is read too."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.findings import report_skipped_rows
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects

_REASONS = ["no JSON object"]
_RECORD_BYTES, _VALUE_BYTES = 200, 64  # that Python needs for an object, and for each of its values

Record = dict[str, Any]
_Types = dict[str, set[type]]


def json_lines_source(file: OpenedFile) -> Source:
    """Open a JSON lines file."""
    # unlike Python's reader, DuckDB's converts text and ignores the case of column names
    if file.text_head().lstrip().startswith("["):
        source = _source(_read_list(file, file.text()))
        return replace(source, budget=file.budget())
    skipped: list[int] = []
    records = _records(file, skipped)
    if file.options.streamed:
        return _stream_records(file, records, skipped)
    source = _source(list(_within_budget(file, records)))
    return replace(source, notes=report_skipped_rows(skipped, _REASONS), budget=file.budget())


def _within_budget(file: OpenedFile, records: Iterator[Record]) -> Iterator[Record]:
    """Yield the records of a file; a zipped one may hold far more than its size."""
    if not file.zipped:
        yield from records
        return
    budget = file.budget()
    for record in records:
        budget.spend(_RECORD_BYTES + _VALUE_BYTES * len(record))
        yield record


def _source(records: Sequence[Record], types: _Types | None = None) -> Source:
    """Open records in memory, all of a file or a part of those whose types are known."""
    known: _Types = types or {name: set() for record in records for name in record}
    names = tuple(known)

    def load(position: int, wanted: Wanted) -> Raw:
        name = names[position]
        values = as_objects(record.get(name) for record in records)
        return Raw(values, untyped=True, types=frozenset(known[name]))

    return Source(names, True, len(records), load)


def _stream_records(file: OpenedFile, records: Iterator[Record], skipped: list[int]) -> Source:
    """Open a file of which only some rows are kept in memory: it is read once for each use."""
    types: _Types = {}
    n_rows = 0
    for n_rows, record in enumerate(records, start=1):  # noqa: B007 - the last one is the number
        for name, value in record.items():
            types.setdefault(name, set()).add(type(value))

    def load(position: int, wanted: Wanted) -> Raw:
        return _source(list(_records(file, []))).load(position, wanted)

    def split(n_rows: int) -> Iterator[Source]:
        rows = _records(file, [])
        while some := list(islice(rows, n_rows)):
            yield _source(some, types)

    notes = report_skipped_rows(skipped, _REASONS)
    return Source(tuple(types), True, n_rows, load, notes=notes, split=split)


def _read_list(file: OpenedFile, text: str) -> list[Record]:
    """Return the records of one list."""
    if file.zipped:
        file.budget().spend(_RECORD_BYTES * text.count("{") + _VALUE_BYTES * text.count(","))
    records = _parse_json(str(file), 1, text)
    rows = enumerate(records, start=1) if isinstance(records, list) else ()
    return [_check_record(str(file), number, record) for number, record in rows]


def _records(file: OpenedFile, skipped: list[int]) -> Iterator[Record]:
    """Yield the records of the lines; the numbers of skipped lines are recorded."""
    for number, line in enumerate(file.lines(), start=1):
        if line.strip():
            try:
                yield _check_record(str(file), number, _parse_json(str(file), number, line))
            except DataError:
                if not file.options.skip_bad_rows:
                    raise
                skipped.append(number)


def _check_record(path: str, number: int, record: Any) -> Record:
    if not isinstance(record, dict):
        raise DataError(f"{path}, record {number}: expected one object like {{'a': 1}}.")
    return record


def _parse_json(path: str, number: int, text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}, line {number}: not valid JSON: {error}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> Record:
    record = dict(pairs)
    if len(record) != len(pairs):
        raise ValueError("a key occurs twice in one object")
    return record
