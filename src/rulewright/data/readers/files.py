"""Files: what a path holds, and the reader for it; Parquet through DuckDB."""

import codecs
import gzip
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

from rulewright.data.errors import DataError
from rulewright.data.readers.arff import parse_arff
from rulewright.data.readers.database import connect, fetch, quoted_path, run
from rulewright.data.readers.delimited import delimited_source
from rulewright.data.readers.jsonlines import parse_json_lines
from rulewright.data.source import Raw, Source, Wanted

_HEAD_BYTES = 1 << 16
_FORMATS = {
    ".csv": "delimited",
    ".tsv": "delimited",
    ".tab": "delimited",
    ".txt": "delimited",
    ".data": "delimited",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
    ".arff": "arff",
}
_NUMBER_TYPES = re.compile(r"U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL.*|\"NULL\"")


def file_source(path: str) -> Source:
    """Open a CSV, TSV, Parquet, JSON lines or ARFF file, gzipped or not."""
    return replace(_opened(Path(path)), path=path)


def _opened(file: Path) -> Source:
    format_ = _format(file)
    try:
        head, zipped = _head(file)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{file}: the file cannot be read ({error}). Check the path.") from None
    if format_ == "parquet":
        return _parquet_source(file, head)
    text = _text_head(file, head)
    if format_ == "delimited":
        return delimited_source(file, text, whole=len(head) < _HEAD_BYTES, zipped=zipped)
    parse = parse_arff if format_ == "arff" else parse_json_lines
    return parse(str(file), _whole_text(file, zipped))


def _format(file: Path) -> str:
    name = file.name.lower().removesuffix(".gz")
    suffix = Path(name).suffix
    if suffix in _FORMATS:
        return _FORMATS[suffix]
    known = ", ".join(_FORMATS)
    raise DataError(
        f"{file}: the extension {suffix!r} is unknown. Known are {known} (text also as .gz)."
    )


def _head(file: Path) -> tuple[bytes, bool]:
    with file.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    # by content: a wrong or absent .gz is no reason to fail
    if not head.startswith(b"\x1f\x8b"):
        return head, False
    with gzip.open(file) as unzipped:
        return unzipped.read(_HEAD_BYTES), True


def _text_head(file: Path, head: bytes) -> str:
    if head.startswith(b"PAR1"):
        raise DataError(f"{file}: this is a Parquet file. Rename it to end in .parquet.")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise _not_utf8(file, "it is UTF-16")
    if b"\0" in head:
        raise DataError(f"{file}: this is a binary file, not text. Check its format.")
    try:
        decoder = codecs.getincrementaldecoder("utf-8-sig")()
        text = decoder.decode(head, final=len(head) < _HEAD_BYTES)
    except UnicodeDecodeError as error:
        raise _not_utf8(file, str(error)) from None
    if not text.strip():
        raise DataError(f"{file}: the file is empty.")
    return text


def _whole_text(file: Path, zipped: bool) -> str:
    try:
        content = gzip.decompress(file.read_bytes()) if zipped else file.read_bytes()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_utf8(file, str(error)) from None
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{file}: the file cannot be read ({error}).") from None


def _not_utf8(file: Path, reason: str) -> DataError:
    return DataError(
        f"{file}: the file is not UTF-8 text ({reason}). Convert it, for example with "
        "'iconv -f latin1 -t utf-8'."
    )


def _parquet_source(file: Path, head: bytes) -> Source:
    if not head.startswith(b"PAR1"):
        raise DataError(f"{file}: this is no Parquet file. Give it the extension of its format.")
    connection, table = connect(), f"read_parquet({quoted_path(file)})"
    where, kind = str(file), "Parquet"
    described = run(connection, f"DESCRIBE SELECT * FROM {table}", where, kind).fetchall()
    types = [row[1] for row in described]
    names = _parquet_names(connection, file)
    # DuckDB's names are case-insensitive and need quotes, positions are neither
    aliases = ", ".join(f"c{at}" for at in range(len(types)))
    view = f"CREATE VIEW t AS SELECT * FROM {table} AS t({aliases})"
    run(connection, view, where, kind).fetchall()
    n_rows = run(connection, "SELECT count(*) FROM t", where, kind).fetchall()[0][0]

    def load(position: int, wanted: Wanted) -> Raw:
        selected = _selected(file, names[position], types[position], f"c{position}", wanted)
        return Raw(fetch(connection, f"SELECT {selected} AS v FROM t", where, kind))

    return Source(names, True, n_rows, load)


def _parquet_names(connection: Any, file: Path) -> tuple[str, ...]:
    query = f"SELECT name, num_children FROM parquet_schema({quoted_path(file)})"
    rows = run(connection, query, str(file), "Parquet").fetchall()
    names: list[str] = []
    pending = 0  # descendants of a nested column that are still to come
    for name, children in rows[1:]:
        if pending == 0:
            names.append(name)
        else:
            pending -= 1
        pending += children or 0
    return tuple(names)


def _selected(file: Path, name: str, type_: str, alias: str, wanted: Wanted) -> str:
    if type_ in ("BOOLEAN", "VARCHAR"):
        return alias
    if _NUMBER_TYPES.fullmatch(type_):
        return alias if type_.endswith(("INT", "INTEGER")) else f"{alias}::DOUBLE"
    if type_.startswith("ENUM") or wanted == "text":
        return f"{alias}::VARCHAR"
    raise DataError(
        f"{file}: column {name!r} holds {type_} values. Store it as numbers or text "
        "(dates as days since a date), or drop it."
    )
