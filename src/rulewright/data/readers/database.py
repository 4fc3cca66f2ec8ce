"""DuckDB as reader of files."""

import contextlib
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any
from weakref import finalize

from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.late_imports import optional
from rulewright.data.readers.arrays import unmask
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.schema import check_encodable
from rulewright.data.source import Wanted

_NOISE = re.compile(r"\s*$|Invalid Input Error: CSV Error on Line|Original Line")
_NUMBERS = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|\"NULL\"")
WHOLE_DECIMAL = re.compile(r"DECIMAL\(\d+,0\)")
_DATES = re.compile(r"DATE|TIMESTAMP(_S|_MS|_NS)?")
_ZONED = "TIMESTAMP WITH TIME ZONE"
OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
_STREAMED_BYTES = 1 << 28  # of a streamed file that are kept in memory; more is kept on disk
_STREAMING_THREADS = 4  # each needs some of that memory


def private_database() -> Any:
    """Open a database in memory that loads no extensions and draws no progress bar."""
    duckdb = optional("duckdb")
    connection = duckdb.connect(":memory:", config=OFFLINE)
    # a notebook without ipywidgets has no bar, and refuses to be told so
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
    if type_ == _ZONED:
        return f"make_timestamp(epoch_us({alias}))"  # in UTC
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
