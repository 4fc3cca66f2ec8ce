"""DuckDB as reader of files and databases.

Columns of wide files are loaded in blocks: a query costs time for every column of the file.
"""

import contextlib
import os
import re
import shutil
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import finalize

from numpy.typing import NDArray

from rulewright.data.errors import DataError, DataWarning
from rulewright.data.late_imports import optional
from rulewright.data.readers.arrays import unmask
from rulewright.data.readers.budget import MAX_UNZIPPED_BYTES, Budget
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.schema import check_encodable
from rulewright.data.source import Raw, Source, Wanted, as_objects

_NOISE = re.compile(r"\s*$|Invalid Input Error: CSV Error on Line|Original Line")
_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|\"NULL\"")
WHOLE_DECIMAL = re.compile(r"DECIMAL\(\d+,0\)")
_DATES = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?")
_ZONED = {
    "TIMESTAMP WITH TIME ZONE": "make_timestamp(epoch_us({}))",
    "TIMESTAMPTZ_NS": "make_timestamp_ns(epoch_ns({}))",
}
"""How moments of a zone are selected, in UTC."""
OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_STREAMED_BYTES = 1 << 28  # of a streamed file that are kept in memory; more is kept on disk
_STREAMING_THREADS = 4  # each needs some of that memory


def private_database() -> Any:
    """Open a database in memory that loads no extensions and draws no progress bar."""
    duckdb = optional("duckdb")
    connection = duckdb.connect(":memory:", config=OFFLINE)
    # a notebook without ipywidgets has no bar, and refuses this setting
    with contextlib.suppress(duckdb.InvalidInputException):
        connection.execute("SET enable_progress_bar = false")
    return connection


class FileDatabase:
    """A private in-memory database that loads no extensions, to read one file of a kind."""

    def __init__(self, file: OpenedFile, kind: str) -> None:
        self._file, self._kind = file, kind
        self._connection = private_database()
        if file.options.streamed:
            self._limit_memory()

    def _limit_memory(self) -> None:
        """Let rows beyond a limit be kept in a folder that lives as long as the database."""
        folder = tempfile.mkdtemp(prefix="rulewright-")
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._connection.execute(f"SET temp_directory = {quote_literal(folder)}")
        self._connection.execute(f"SET memory_limit = '{_STREAMED_BYTES} bytes'")
        self._connection.execute(f"SET threads = {min(os.cpu_count() or 1, _STREAMING_THREADS)}")

    def path(self, path: Path) -> str:
        """Write a path as an SQL literal that names one file and nothing else."""
        # wildcards stand for themselves, and ~ and protocols mean nothing in an absolute path
        text = re.sub(r"([*?\[])", r"[\1]", os.path.join(os.getcwd(), path))
        check_encodable([text], "path")
        return quote_literal(text)

    def rows(self, query: str) -> Any:
        """Return the rows of a query."""
        return self._run(query, "fetchall")

    def columns(self, query: str) -> list[NDArray[Any]]:
        """Return the columns of a query, nulls as NaN or None."""
        return [unmask(values) for values in self._run(query, "fetchnumpy").values()]

    def _run(self, query: str, fetch: str) -> Any:
        try:
            return getattr(self._connection.execute(query), fetch)()
        except optional("duckdb").OutOfMemoryException:
            raise DataError(
                f"{self._file}: there is not enough memory to read it. Read fewer columns, or a "
                "part of the rows; Parquet files can be learned from in parts (--in-parts)."
            ) from None
        except optional("duckdb").Error as error:
            raise _error(str(error), self._file, self._kind) from None


def quote_literal(text: str) -> str:
    """Write text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def write_selection(type_: str, alias: str, wanted: Wanted) -> str | None:
    """Write how a column is selected, or return None if its type is refused."""
    if type_ in ("BOOLEAN", "VARCHAR") or (type_ == "DURATION" and wanted == "text"):
        return alias
    if WHOLE_DECIMAL.fullmatch(type_) and wanted != "any":
        return f"{alias}::VARCHAR"
    if _NUMBERS.fullmatch(type_):
        return alias if type_.endswith(("INT", "INTEGER")) else f"{alias}::DOUBLE"
    if type_.startswith("ENUM") or wanted == "text":
        return f"{alias}::VARCHAR"
    if type_ in _ZONED:
        moment = _ZONED[type_].format(alias)
        return f"CASE WHEN isinf({alias}::TIMESTAMPTZ) THEN TIMESTAMP 'infinity' ELSE {moment} END"
    return alias if _DATES.fullmatch(type_) else None


def _error(message: str, file: OpenedFile, kind: str) -> DataError:
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f", line {line[1]}" if line else ""
    width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if width:
        reason = f"the line has {width[2]} fields, but {width[1]} are expected"
    elif "unterminated quote" in message:
        reason = "a quote is not closed"
    elif "not utf-8" in message or "nvalid unicode" in message:
        reason = (
            "the file is not UTF-8 text; give its encoding, such as --encoding latin-1, or convert "
            "it with 'iconv -f latin1 -t utf-8'"
        )
    elif "invalid state" in message:
        reason = "its quotes or its line ends (mixed \\n and \\r\\n) are inconsistent"
    else:
        lines = [text for text in message.splitlines() if not _NOISE.match(text)]
        reason = re.sub(r"^.*?Error: ", "", lines[0] if lines else message).rstrip(".")
    skip = ", or leave such rows out (skip_bad_rows=True, --skip-bad-rows)" if line else ""
    return DataError(
        f"{file}{where}: not a readable {kind} file: {reason}. Correct the file{skip}."
    )


_NARROW = 64  # tables with as many columns are loaded column by column
_BLOCK_COLUMNS = 1024
_BLOCK_CELLS = 1 << 20


def block_of(at: int, n_rows: int, n_columns: int) -> range:
    """Return the columns to load with a column: none of a narrow table, few of a tall one."""
    if n_columns <= _NARROW:
        return range(at, at + 1)
    width = max(1, min(_BLOCK_COLUMNS, _BLOCK_CELLS // max(n_rows, 1)))
    start = at - at % width
    return range(start, min(start + width, n_columns))


class Blocks:
    """Loads single columns by way of blocks of neighbours, of which the last ones are kept."""

    def __init__(
        self, load: Callable[[range, Wanted], dict[int, Raw]], n_rows: int, n_columns: int
    ) -> None:
        self._load, self._shape = load, (n_rows, n_columns)
        self._kept: dict[Wanted, dict[int, Raw]] = {}

    def load(self, at: int, wanted: Wanted) -> Raw:
        """Load a column."""
        if at not in self._kept.get(wanted, ()):
            self._kept[wanted] = self._load(block_of(at, *self._shape), wanted)
        return self._kept[wanted].pop(at)


_ISOLATED = {**OFFLINE, "enable_external_access": "false"}
"""A database from somebody else: what it computes reads no files."""
_TABLES = """SELECT database_name, schema_name, table_name FROM duckdb_tables()
WHERE NOT internal ORDER BY table_oid"""
_COMPUTED = """SELECT table_catalog, table_schema, table_name, column_name
FROM system.information_schema.columns WHERE is_generated = 'ALWAYS' ORDER BY ALL"""
_VIEWS = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY view_oid"
_CONSTRAINTS = """SELECT constraint_type, table_name, constraint_column_names, referenced_table,
referenced_column_names FROM duckdb_constraints() ORDER BY table_oid, constraint_index"""


@dataclass(frozen=True)
class DatabaseTables:
    """The tables, and their primary and foreign keys of one column."""

    sources: dict[str, Source]
    primary: dict[str, str]  # table to column
    foreign: dict[tuple[str, str], tuple[str, str]]  # (table, column) to (table, column)


def database_tables(path: Path) -> DatabaseTables:
    """Open the tables of a DuckDB file, which is not changed; columns are read on demand.

    Columns of nested or binary types are left out. So are views and columns that the database
    computes: they are queries of whoever made the file.
    """
    database = _StoredDatabase(path)
    computed: dict[tuple[str, ...], list[str]] = {}
    for *place, column in database.fetch(_COMPUTED, "fetchall"):
        computed.setdefault(tuple(place), []).append(column)
    tables: dict[str, tuple[str, ...]] = {}
    for place in database.fetch(_TABLES, "fetchall"):
        name = place[-1]
        if name in tables:
            raise DataError(
                f"{path}: several schemas have a table {name!r}. Export one of them to a database "
                "of its own, or rename it."
            )
        tables[name] = tuple(place)
    if not tables and (views := database.fetch(_VIEWS, "fetchall")):
        raise DataError(
            f"{path}: there is no table, only views, which are not run: {views[0][0]!r}. Store "
            "their rows: CREATE TABLE ... AS SELECT * FROM ..."
        )
    primary: dict[str, str] = {}
    foreign: dict[tuple[str, str], tuple[str, str]] = {}
    for kind, table, columns, other, others in database.fetch(_CONSTRAINTS, "fetchall"):
        if len(columns) == 1 and kind == "PRIMARY KEY":
            primary[table] = columns[0]
        if len(columns) == 1 and kind == "FOREIGN KEY":
            foreign[table, columns[0]] = (other, others[0])
    sources = {
        name: database.source(place, computed.get(place, [])) for name, place in tables.items()
    }
    return DatabaseTables(sources, primary, foreign)


class _StoredDatabase:
    """A DuckDB file. Names mean what DuckDB means by them, whatever the file defines."""

    def __init__(self, path: Path) -> None:
        self._path, self._error = path, optional("duckdb").Error
        try:
            self._connection = optional("duckdb").connect(
                str(path), read_only=True, config=_ISOLATED
            )
        except self._error as error:
            raise self._unreadable(error) from None
        self.fetch("SET search_path = 'system.main'", "fetchall")

    def fetch(self, query: str, how: str) -> Any:
        """Run a query and fetch its rows or columns."""
        try:
            return getattr(self._connection.execute(query), how)()
        except self._error as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: Exception) -> DataError:
        if isinstance(error, optional("duckdb").OutOfMemoryException):
            return DataError(f"{self._path}: there is not enough memory to read it.")
        reason = str(error).partition("\n")[0]
        return DataError(f"{self._path}: not a readable DuckDB database: {reason}")

    def source(self, place: tuple[str, ...], computed: Sequence[str]) -> Source:
        """Open a table by its full place, without the columns that the database computes."""
        title, table = f"{self._path}, table {place[-1]}", ".".join(map(_quote_name, place))
        if computed:
            warnings.warn(
                f"{title}: column {computed[0]!r} is computed by the database, and is left out. "
                "Store its values: CREATE TABLE ... AS SELECT * FROM ...",
                DataWarning,
                stacklevel=4,
            )
        described = self.fetch(f"DESCRIBE SELECT {_all_but(computed)} FROM {table}", "fetchall")
        types = {
            row[0]: row[1] for row in described if write_selection(row[1], "", "any") is not None
        }
        names = tuple(types)
        ((n_rows,),) = self.fetch(f"SELECT count(*) FROM {table}", "fetchall")
        budget = Budget(title, MAX_UNZIPPED_BYTES, option="pass dataframes instead of the file")

        def load(position: int, wanted: Wanted) -> Raw:
            column = _quote_name(names[position])
            type_ = types[names[position]]
            size = (
                f"SELECT sum(strlen({column})) FROM {table}" if type_ == "VARCHAR" else "SELECT 0"
            )
            ((n_bytes,),) = self.fetch(size, "fetchall")
            budget.check_cells(n_rows, len(names), int(n_bytes or 0))
            text = write_selection(type_, column, wanted)
            found = self.fetch(f"SELECT {text} AS c FROM {table}", "fetchnumpy")
            values = unmask(found["c"])
            whole = wanted == "labels" and WHOLE_DECIMAL.fullmatch(type_)
            return Raw(as_objects(v and int(v) for v in values) if whole else values)

        return Source(names, True, n_rows, load, title)


def _all_but(names: Sequence[str]) -> str:
    return f"* EXCLUDE ({', '.join(map(_quote_name, names))})" if names else "*"


def _quote_name(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
