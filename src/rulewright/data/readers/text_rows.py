"""The rows of a delimited file as text, read by DuckDB, and what its columns look like."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.findings import Finding, of_values, report_skipped_rows
from rulewright.data.readers.database import FileDatabase, block_of, quote_literal
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.source import Raw, Wanted, as_objects
from rulewright.data.values import LARGEST_EXACT, exact_number

MISSING_FIELDS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
_WORDS_SQL = ", ".join(quote_literal(word) for word in MISSING_FIELDS if len(word) > 1)
_MANY_CODES = 0.1  # of the rows
NUMERIC = ("number", "comma", "thousands")
_MISSING_SQL = ", ".join(quote_literal(field) for field in MISSING_FIELDS)
# not IN, of which DuckDB makes a join: joins do not keep the order of the rows
_IS_MISSING = " OR ".join(f"v = {quote_literal(field)}" for field in MISSING_FIELDS)
_KNOWN = f"CASE WHEN {_IS_MISSING} THEN NULL ELSE v END"
_POINTED = "replace(v, ',', '.')"
_THOUSANDS = r"\s*[+-]?[1-9][0-9]{0,2},[0-9]{3}\s*"
_REASONS = {
    "MISSING COLUMNS": "too few fields",
    "TOO MANY COLUMNS": "too many fields",
    "UNQUOTED VALUE": "open quotes",
    "INVALID ENCODING": "wrong encoding",
}
_MAX_LINE_BYTES = 2_000_000
_BUFFER_BYTES = 4 * _MAX_LINE_BYTES  # of each thread; by default these alone need much memory
_LAST_BYTES = 1 << 14


@dataclass(frozen=True)
class TextDialect:
    """How a file is written: delimiter, fields per record, blanks after the delimiter."""

    delimiter: str
    width: int
    spaced: bool = False


class TextRows:
    """The rows of one file, without the first one: a table in memory with columns c0, c1, ..."""

    def __init__(self, file: OpenedFile, dialect: TextDialect) -> None:
        self._start = 1
        self._database = FileDatabase(file, "CSV")
        self._dialect = dialect
        self._looks: dict[int, str] = {}
        self.notes: tuple[Finding, ...] = ()
        skip = file.options.skip_bad_rows
        with file.plain_path() as path:
            _refuse_long_lines(file, path)
            columns = ", ".join(f"'c{at}': 'VARCHAR'" for at in range(dialect.width))
            self._database.rows(
                f"CREATE TABLE t AS SELECT * FROM read_csv({self._database.path(path)}, "
                f"auto_detect=false, columns={{{columns}}}, "
                f"delim={quote_literal(dialect.delimiter)}, "
                "quote='\"', escape='\"', header=false, nullstr='', null_padding=false, "
                "strict_mode=true, compression='none', hive_partitioning=false, "
                f"max_line_size={_MAX_LINE_BYTES}, buffer_size={_BUFFER_BYTES}"
                f"{', ignore_errors=true, store_rejects=true' if skip else ''})"
            )
        if skip:
            self.notes = self._report_skipped()
        self._n_records = int(self._database.rows("SELECT count(*) FROM t")[0][0])

    def _report_skipped(self) -> tuple[Finding, ...]:
        """Warn of lines that could not be read."""
        rows = self._database.rows(
            "SELECT line, min(error_type) FROM reject_errors GROUP BY line ORDER BY line"
        )
        return report_skipped_rows(
            [line for line, _ in rows], sorted({_REASONS.get(why, why.lower()) for _, why in rows})
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._n_records - self._start

    def first(self) -> list[str] | None:
        """Return the fields of the first row, None if the file has no rows."""
        rows = self._database.rows("SELECT * FROM t WHERE rowid = 0")
        return [self._trim(field or "") for field in rows[0]] if rows else None

    def include_first(self) -> None:
        """Take the first row as data."""
        self._start, self._looks = 0, {}

    def looks(self, at: int) -> str:
        """
        Return what the known fields of a column look like.

        ``empty`` (there are none), ``number``, ``comma`` (numbers with decimal commas),
        ``thousands`` (commas that may separate thousands), ``boolean``, ``text``, or ``mixed``
        (text and numbers).
        """
        if at not in self._looks:
            self._look(block_of(at, self.n_rows, self._dialect.width))
        return self._looks[at]

    def type_of(self, at: int) -> str:
        """Return what a column looks like; one decimal comma explains all commas of a file."""
        looks = self.looks(at)
        return "comma" if looks == "thousands" and self._has_decimal_commas else looks

    def load(self, rows: range | None, block: range, wanted: Wanted) -> dict[int, Raw]:
        """Load columns, of some rows or all, with their inferred types or as text in the file."""
        types = {at: self.type_of(at) if wanted != "text" else "text" for at in block}
        forms: dict[str, list[int]] = {}
        for at, type_ in types.items():
            forms.setdefault(_form(type_, wanted), []).append(at)
        loaded: dict[int, NDArray[Any]] = {}
        for form, columns in forms.items():
            cells_of = self._cells(columns, rows)
            query = f"SELECT {form} AS v FROM (SELECT {_KNOWN} AS v FROM {cells_of})"
            cells = self._database.columns(query)[0].reshape(-1, len(columns))
            loaded.update(zip(columns, np.ascontiguousarray(cells.T), strict=True))
        raws = {at: _raw(loaded[at], types[at], wanted) for at in block}
        if wanted != "any":
            return raws
        large = [at for at in block if types[at] == "number" and _has_large(loaded[at])]
        exact = (self.load(rows, range(at, at + 1), "labels") for at in large)
        return raws | {at: raw for one in exact for at, raw in one.items()}

    def note_codes(self, name: str, at: int, rows: range | None) -> tuple[Finding, ...]:
        """Report words that are read as missing in many rows of a column of labels."""
        if self.type_of(at) not in ("text", "mixed"):
            return ()
        query = f"SELECT v, count(*) FROM {self._cells([at], rows)} WHERE v IN ({_WORDS_SQL})"
        found = dict(self._database.rows(f"{query} GROUP BY v ORDER BY v"))
        if sum(found.values()) < _MANY_CODES * (self.n_rows if rows is None else len(rows)):
            return ()
        remedy = "if they are labels, write them in another way in the file"
        codes = ("missing code", name, found, sum(found.values()), "read as missing", remedy)
        return (of_values(*codes),)

    def contains(self, at: int, text: str) -> bool:
        """Return whether a column holds a text."""
        return self._count(at, f"v = {quote_literal(text)}") > 0

    def share(self, at: int, pattern: str) -> float:
        """Return the share of the known fields of a column that match a regular expression."""
        known = self._count(at, f"v NOT IN ({_MISSING_SQL})")
        return self._count(at, f"regexp_full_match(v, {quote_literal(pattern)})") / max(known, 1)

    def spans(self, at: int, number: float) -> bool:
        """Return whether a number lies in the range of a numeric column."""
        value = f"TRY_CAST({_POINTED} AS DOUBLE)"
        low, high = (self._count(at, f"{value} {sign} {number!r}") for sign in ("<=", ">="))
        return low > 0 and high > 0

    @cached_property
    def _has_decimal_commas(self) -> bool:
        return any(self.looks(at) == "comma" for at in range(self._dialect.width))

    def _look(self, block: range) -> None:
        commas = self._dialect.delimiter != ","  # where they may be decimal marks
        counts = [
            "count(*)",
            f"count(*) FILTER ({_number_sql('v')})",
            "count(*) FILTER (lower(v) IN ('true', 'false'))",
            f"count(*) FILTER ({_number_sql(_POINTED)} AND NOT contains(v, '.'))",
            f"count(*) FILTER (contains(v, ',') AND NOT regexp_full_match(v, '{_THOUSANDS}'))",
        ]
        rows = self._database.rows(
            f"SELECT n, {', '.join(counts if commas else counts[:3])} FROM {self._cells(block)} "
            f"WHERE v NOT IN ({_MISSING_SQL}) GROUP BY n"
        )
        found = {name: counted for name, *counted in rows}
        for at in block:
            self._looks[at] = _looks(*found.get(f"c{at}", (0, 0, 0)))

    def _cells(self, columns: Sequence[int], rows: range | None = None) -> str:
        """Write the fields of columns as one column ``v``, row by row, with their columns ``n``."""
        listed = ", ".join(f"c{at}" for at in columns)
        where = f"rowid >= {self._start}"
        if rows is not None:
            first, last = self._start + rows.start, self._start + rows.stop
            where = f"rowid >= {first} AND rowid < {last}"
        # many expressions in one query take DuckDB time that grows with their square
        table = f"(SELECT {listed} FROM t WHERE {where})"
        cells = f"(SELECT n, v FROM {table} UNPIVOT INCLUDE NULLS (v FOR n IN ({listed})))"
        if len(columns) == 1:
            cells = f"(SELECT '{listed}' AS n, {listed} AS v FROM t WHERE {where})"
        return f"(SELECT n, trim(v) AS v FROM {cells})" if self._dialect.spaced else cells

    def _count(self, at: int, condition: str) -> int:
        query = f"SELECT count(*) FROM {self._cells([at])} WHERE {condition}"
        return int(self._database.rows(query)[0][0])

    def _trim(self, field: str) -> str:
        return field.strip(" ") if self._dialect.spaced else field


def _looks(known: int, points: int, booleans: int, commas: int = 0, decimals: int = 0) -> str:
    if known == 0:
        return "empty"
    if points == known:
        return "number"
    if commas == known:
        return "comma" if decimals else "thousands"
    if booleans == known:
        return "boolean"
    return "mixed" if points else "text"


def _form(type_: str, wanted: Wanted) -> str:
    """Write the form in which the fields ``v`` of a column are loaded."""
    field = _POINTED if type_ == "comma" else "v"
    if type_ in ("empty", "number", "comma") and wanted == "any":
        return f"TRY_CAST({field} AS DOUBLE)"
    return field


def _number_sql(field: str) -> str:
    # DuckDB reads 1_000 as a number, people read it as text
    return f"TRY_CAST({field} AS DOUBLE) IS NOT NULL AND NOT contains({field}, '_')"


def _raw(values: NDArray[Any], type_: str, wanted: Wanted) -> Raw:
    if type_ == "boolean":
        return Raw(_map_values(values, lambda text: text.lower() == "true"))
    if type_ in ("empty", "number", "comma") and wanted == "labels":
        return Raw(_map_values(values, exact_number))
    return Raw(values, untyped=True, written=wanted == "any")


def _has_large(numbers: NDArray[Any]) -> bool:
    """Return whether some whole numbers may have lost digits."""
    with np.errstate(invalid="ignore"):
        return bool((np.abs(np.ma.filled(numbers, 0.0)) >= LARGEST_EXACT).any())


def _map_values(values: Any, convert: Callable[[str], Any]) -> Any:
    table = {text: convert(text) for text in set(values) if text is not None}
    return as_objects(map(table.get, values))


def _refuse_long_lines(file: OpenedFile, path: Path) -> None:
    """Reject lines beyond the longest that DuckDB reads: it may drop one that ends the file."""
    start, size = 0, path.stat().st_size
    with path.open("rb") as stream:
        while size - start > _MAX_LINE_BYTES:
            # the last bytes before the limit usually hold the end of a line
            for length in (_LAST_BYTES, _MAX_LINE_BYTES):
                stream.seek(start + _MAX_LINE_BYTES - length)
                last = stream.read(length)
                at = max(last.rfind(b"\n"), last.rfind(b"\r"))
                if at >= 0:
                    break
            else:
                raise DataError(
                    f"{file}, line {_line_number(stream, start)}: the line exceeds the maximum "
                    f"line size of {_MAX_LINE_BYTES:,} bytes. Check quotes and line ends."
                )
            start += _MAX_LINE_BYTES - length + at + 1


def _line_number(stream: BinaryIO, place: int) -> int:
    stream.seek(0)
    lines, last = 1, b""
    while place > 0 and (chunk := stream.read(min(place, 1 << 20))):
        ends = chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
        lines += ends - (last == b"\r" and chunk.startswith(b"\n"))
        last, place = chunk[-1:], place - len(chunk)
    return lines
