"""CSV, TSV and similar files: the dialect is sniffed here, the rows are read by DuckDB."""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.readers.database import FileDatabase, quoted
from rulewright.data.readers.opened import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects, positional_names
from rulewright.data.values import text_to_number

MISSING_FIELDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
_MISSING_SQL = ", ".join(quoted(field) for field in MISSING_FIELDS)
_DELIMITERS = "\t;|,"  # a comma may be a decimal mark, so it is the last choice
_SNIFFED_RECORDS = 200
_WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)


@dataclass(frozen=True)
class Dialect:
    """How a file is written: delimiter, fields per record, blanks after the delimiter."""

    delimiter: str
    width: int
    spaced: bool = False


def delimited_source(file: OpenedFile) -> Source:
    """Open a delimited file; its columns are named x0, x1, ... if it has no header."""
    rows = _Rows(file, sniff(file.text_head(), whole=file.whole))
    first = rows.database.rows("SELECT * FROM t WHERE rowid = 0")
    if not first:
        raise DataError(f"{file}: the file has no rows.")
    fields = [field or "" for field in first[0]]
    names = positional_names(len(fields))
    if _is_header(fields, rows):
        names = tuple(field or name for field, name in zip(fields, names, strict=True))
    else:
        rows.start = 0
    n_rows = rows.database.rows(f"SELECT count(*) FROM t WHERE rowid >= {rows.start}")[0][0]
    return Source(names, True, n_rows, rows.load)


def sniff(head: str, *, whole: bool = True) -> Dialect:
    """Find the delimiter that cuts the first records into equally many fields."""
    best, best_share = Dialect(",", 1), 0.0
    for delimiter in _DELIMITERS:
        records = _records(head, delimiter, whole)
        width = len(records[0]) if records else 1
        share = sum(len(record) == width for record in records) / max(len(records), 1)
        if width > 1 and share > best_share:
            best, best_share = Dialect(delimiter, width, _spaced(head, delimiter)), share
    return best


def _records(head: str, delimiter: str, whole: bool) -> list[list[str]]:
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter, skipinitialspace=True)
    try:
        records = list(islice(reader, _SNIFFED_RECORDS))
    except csv.Error:
        return []
    if not whole and len(records) > 1 and len(records) < _SNIFFED_RECORDS:
        records.pop()  # it may be cut off
    return [record for record in records if record]


def _spaced(head: str, delimiter: str) -> bool:
    lines = [line.split(delimiter) for line in head.splitlines()[:_SNIFFED_RECORDS]]
    return all(field.startswith(" ") for fields in lines[:-1] or lines for field in fields[1:])


def _is_header(first: Sequence[str], rows: "_Rows") -> bool:
    named = [field not in MISSING_FIELDS and not _is_number(field) for field in first]
    if all(named):
        return True
    if first[0] == "" and len(first) > 1 and all(named[1:]):
        return True  # a nameless index column, as pandas writes it
    # a name above numbers: the first line is no row
    return any(
        is_name and rows.looks(at) in ("number", "comma") for at, is_name in enumerate(named)
    )


def _is_number(field: str) -> bool:
    try:
        text_to_number(field.replace(",", ".", 1))
    except ValueError:
        return False
    return True


class _Rows:
    """The rows of one file as text in DuckDB's memory, in columns c0, c1, ..."""

    def __init__(self, file: OpenedFile, dialect: Dialect) -> None:
        self.start = 1  # the first row that is data
        self.database = FileDatabase(file, "CSV")
        self.decimal_comma = dialect.delimiter != ","
        columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(dialect.width))
        selected = "*"
        if dialect.spaced:
            selected = ", ".join(f"trim(c{at}) AS c{at}" for at in range(dialect.width))
        self.database.rows(
            f"CREATE TABLE t AS SELECT {selected} FROM read_csv({self.database.path}, "
            f"auto_detect=false, columns={{{columns}}}, delim={quoted(dialect.delimiter)}, "
            "quote='\"', escape='\"', header=false, nullstr='', null_padding=false, "
            f"strict_mode=true, compression='{'gzip' if file.zipped else 'none'}')"
        )

    def looks(self, at: int) -> str:
        """Return the type of the known fields of a column, ``empty`` when there are none."""
        point, comma = f"c{at}", f"replace(c{at}, ',', '.')"
        known, points, commas, booleans = self.database.rows(
            f"SELECT count(*), count(*) FILTER ({_number_sql(point)}), "
            f"count(*) FILTER ({_number_sql(comma)} AND NOT contains(c{at}, '.')), "
            f"count(*) FILTER (lower(c{at}) IN ('true', 'false')) FROM t "
            f"WHERE rowid >= {self.start} AND c{at} NOT IN ({_MISSING_SQL})"
        )[0]
        if known == 0:
            return "empty"
        if points == known:
            return "number"
        if commas == known and self.decimal_comma:
            return "comma"
        return "boolean" if booleans == known else "text"

    def load(self, at: int, wanted: Wanted) -> Raw:
        """Load a column with its inferred type, or as the text in the file."""
        looks = self.looks(at) if wanted != "text" else "text"
        field = f"replace(c{at}, ',', '.')" if looks == "comma" else f"c{at}"
        if looks in ("empty", "number", "comma") and wanted == "any":
            field = f"TRY_CAST({field} AS DOUBLE)"
        values = self.database.column(
            f"SELECT CASE WHEN c{at} IN ({_MISSING_SQL}) THEN NULL ELSE {field} END AS v "
            f"FROM t WHERE rowid >= {self.start}"
        )
        if looks == "boolean":
            return Raw(_mapped(values, lambda text: text.lower() == "true"))
        if looks != "text" and wanted == "labels":
            return Raw(_mapped(values, _exact))
        return Raw(values, untyped=True)


def _number_sql(field: str) -> str:
    # DuckDB reads 1_000 as a number, people read it as text
    return f"TRY_CAST({field} AS DOUBLE) IS NOT NULL AND NOT contains({field}, '_')"


def _exact(text: str) -> int | float:
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def _mapped(values: Any, convert: Any) -> Any:
    table = {text: convert(text) for text in set(values) if text is not None}
    return as_objects(map(table.get, values))
