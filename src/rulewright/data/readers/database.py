"""DuckDB as reader of files: a private in-memory connection, quoted text, short errors."""

import re
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rulewright.data.errors import DataError
from rulewright.data.optional import optional
from rulewright.data.readers.arrays import unmasked

_NOISE = re.compile(r"\s*$|Invalid Input Error: CSV Error on Line|Original Line")
_OFFLINE = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}


def connect() -> Any:
    """Open a private in-memory database that loads no extensions."""
    return optional("duckdb").connect(":memory:", config=_OFFLINE)


def run(connection: Any, query: str, path: str, kind: str) -> Any:
    """Run a query; what DuckDB refuses becomes a DataError about the file."""
    try:
        return connection.execute(query)
    except optional("duckdb").Error as error:
        raise _clean(str(error), path, kind) from None


def fetch(connection: Any, query: str, path: str, kind: str) -> NDArray[Any]:
    """Return the single column ``v`` of a query, nulls as NaN or None."""
    try:
        values = connection.execute(query).fetchnumpy()["v"]
    except optional("duckdb").Error as error:
        raise _clean(str(error), path, kind) from None
    return unmasked(values)


def quoted(text: str) -> str:
    """Write text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def quoted_path(file: Path) -> str:
    """Write a path as an SQL literal in which wildcards stand for themselves."""
    return quoted(re.sub(r"([*?\[])", r"[\1]", str(file)))


def _clean(message: str, path: str, kind: str) -> DataError:
    line = re.search(r"CSV Error on Line: (\d+)", message)
    where = f", line {line[1]}" if line else ""
    width = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if width:
        reason = f"the line has {width[2]} fields, but {width[1]} are expected"
    elif "unterminated quote" in message:
        reason = "a quote is not closed"
    elif "not utf-8" in message or "nvalid unicode" in message:
        reason = "the file is not UTF-8 text; convert it with 'iconv -f latin1 -t utf-8'"
    elif "invalid state" in message:
        reason = "its quotes or its line ends (mixed \\n and \\r\\n) are inconsistent"
    else:
        lines = [text for text in message.splitlines() if not _NOISE.match(text)]
        reason = re.sub(r"^.*?Error: ", "", lines[0] if lines else message).rstrip(".")
    return DataError(f"{path}{where}: not a readable {kind} file: {reason}. Correct the file.")
