"""CSV, TSV and similar files: the dialect is sniffed here, the rows are read by DuckDB."""

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from rulewright.data.errors import DataError
from rulewright.data.readers.blocks import Blocks
from rulewright.data.readers.header import is_header
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.readers.text_rows import TextDialect, TextRows
from rulewright.data.source import Raw, Source, Wanted, positional_names

_DELIMITERS = "\t;|,"  # a comma may be a decimal mark, so it is the last choice
_SNIFFED_RECORDS = 200


def delimited_source(file: OpenedFile) -> Source:
    """
    Open a delimited file; its columns are named x0, x1, ... if it has no header.

    With another delimiter than a comma, a comma is a decimal mark if the file shows it, as in
    ``0,5`` or ``1234,567``. If all its commas could separate thousands (``1,234``), the columns
    with commas are read as labels, and refused where numbers are asked for or inferred.
    """
    dialect = sniff(file.text_head(), whole=file.whole)
    rows = TextRows(file, dialect)
    first = rows.first()
    if first is None:
        raise DataError(f"{file}: the file has no rows.")
    names = positional_names(len(first))
    header = file.options.header
    if is_header(first, rows) if header is None else header:
        names = tuple(field or name for field, name in zip(first, names, strict=True))
    else:
        rows.include_first()

    def part(some: range | None, n_rows: int) -> Source:
        blocks = Blocks(partial(rows.load, some), n_rows, len(names))

        def load(position: int, wanted: Wanted) -> Raw:
            if wanted == "any" and rows.type_of(position) == "thousands":
                raise _ambiguous(file, names[position])
            return blocks.load(position, wanted)

        return Source(names, True, n_rows, load, notes=rows.notes)

    def split(n_rows: int) -> Iterator[Source]:
        for start in range(0, rows.n_rows, n_rows):
            some = range(start, min(start + n_rows, rows.n_rows))
            yield part(some, len(some))

    return replace(part(None, rows.n_rows), split=split)


def sniff(head: str, *, whole: bool = True) -> TextDialect:
    """Find the delimiter that cuts the first records into equally many fields.

    Of delimiters that cut all records alike the one with more records is taken: a wrong one may
    find a quote that swallows lines.
    """
    best, best_share = TextDialect(",", 1), (0.0, 0)
    for delimiter in _DELIMITERS:
        records = _records(head, delimiter, whole)
        width = len(records[0]) if records else 1
        fitting = sum(len(record) == width for record in records)
        share = fitting / max(len(records), 1), fitting
        if width > 1 and share > best_share:
            best, best_share = TextDialect(delimiter, width, _has_spaces(head, delimiter)), share
    return best


def _records(head: str, delimiter: str, whole: bool) -> list[list[str]]:
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, skipinitialspace=True)
    records: list[list[str]] = []
    try:
        records.extend(islice(reader, _SNIFFED_RECORDS))
    except csv.Error:
        return records  # the first ones, before a field that is too long for this reader
    if not whole and len(records) > 1 and len(records) < _SNIFFED_RECORDS:
        records.pop()  # it may be cut off
    return [record for record in records if record]


def _has_spaces(head: str, delimiter: str) -> bool:
    lines = [line.split(delimiter) for line in head.splitlines()[:_SNIFFED_RECORDS]]
    return all(field.startswith(" ") for fields in lines[:-1] or lines for field in fields[1:])


def _ambiguous(file: OpenedFile, name: str) -> DataError:
    return DataError(
        f"{file}: the commas in column {name!r} may separate thousands or be decimal marks, as in "
        "1,234. Remove the separators or write points as decimal marks, or name it numeric as "
        f"{name}:thousands or {name}:comma, or nominal, or drop it."
    )
