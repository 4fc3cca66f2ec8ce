"""CSV, TSV and similar files: the dialect is sniffed here, the rows are read by DuckDB."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, pairwise

from rulewright.data.errors import DataError
from rulewright.data.readers.database import Blocks
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.readers.text_rows import MISSING_FIELDS, NUMERIC, TextDialect, TextRows
from rulewright.data.source import Raw, Source, Wanted, positional_names
from rulewright.data.values import text_to_number

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
            raw = blocks.load(position, wanted)
            if wanted != "any":
                return raw
            return raw._replace(decisions=rows.note_codes(names[position], position, some))

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


_WHOLE = re.compile(r"[0-9]+")
_YEAR = r"(19|20)[0-9]{2}"
_SHORTEST_COUNT = 3


def is_header(first: Sequence[str], rows: TextRows) -> bool:
    """
    Return whether the first line of a file names the columns.

    It does if all its fields are names (text that is no number), or if one name stands above a
    numeric column. Whole numbers are names too, as in ``id,2019,2020``, if there is a name
    beside them, no name occurs again in its column, and the numbers cannot be the first row:

    - each stands above a column in which nothing is a number, or
    - they count from 0, as pandas names columns: ``0,1,2,y``, or
    - they are years that rise or fall, above numeric columns with few years; a
      single year must also lie outside the range of its column.

    Any other first line with a number is a row.
    """
    named = [field not in MISSING_FIELDS and not _is_number(field) for field in first]
    if all(named):
        return True
    if first[0] == "" and len(first) > 1 and all(named[1:]):
        return True  # a nameless index column, as pandas writes it
    if any(is_name and rows.looks(at) in NUMERIC for at, is_name in enumerate(named)):
        return True
    return _has_numeric_names(first, named, rows)


def _has_numeric_names(first: Sequence[str], named: Sequence[bool], rows: TextRows) -> bool:
    nameless = first[0] == ""
    numbers = [at for at, is_name in enumerate(named) if not is_name][nameless:]
    written = [first[at] for at in numbers]
    if not any(named) or rows.n_rows == 0 or len(set(written)) < len(written):
        return False
    if not all(_WHOLE.fullmatch(field) for field in written):
        return False
    if not (
        all(rows.looks(at) in ("text", "boolean") for at in numbers)
        or (len(numbers) >= _SHORTEST_COUNT and written == [str(k) for k in range(len(numbers))])
        or _are_years(numbers, written, rows)
    ):
        return False
    return not any(rows.contains(at, first[at]) for at, is_name in enumerate(named) if is_name)


def _are_years(numbers: Sequence[int], written: Sequence[str], rows: TextRows) -> bool:
    if not all(re.fullmatch(_YEAR, field) for field in written):
        return False
    steps = {a < b for a, b in pairwise(written)}
    if len(steps) > 1 or any(rows.looks(at) not in NUMERIC for at in numbers):
        return False
    if len(numbers) == 1 and rows.spans(numbers[0], float(written[0])):
        return False
    return all(rows.share(at, _YEAR) < 0.5 for at in numbers)


def _is_number(field: str) -> bool:
    try:
        text_to_number(field.replace(",", ".", 1))
    except ValueError:
        return False
    return True
