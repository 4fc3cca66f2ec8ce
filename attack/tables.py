"""Random tables as plain columns, and the files that hold them in every format."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet

from attack import randoms
from attack.randoms import chance, pick

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from attack.randoms import Rng

Columns: TypeAlias = "dict[str, list[Any]]"
"""Column name to values: floats, integers, Booleans or text; None is missing."""

_TYPES = {float: pa.float64(), int: pa.int64(), bool: pa.bool_(), str: pa.string()}
_BLANKS = str.maketrans({"\0": "", "\r": " ", "\n": " ", "\ufeff": "", "\v": " ", "\f": " "})


def columns(rng: Rng, most_rows: int = 12) -> Columns:
    """Draw a table whose text no reader takes for numbers, Booleans or missing."""
    n_rows = int(rng.integers(1, most_rows + 1))
    drawn = (_text(rng, "n") for _ in range(int(rng.integers(1, 6))))
    table = {}
    for name in dict.fromkeys(name.strip() for name in drawn):
        draw = pick(rng, (_float, _integer, _boolean, _label))
        holes = float(pick(rng, (0.0, 0.0, 0.3)))
        values = [None if chance(rng, holes) else draw(rng) for _ in range(n_rows)]
        if any(value is not None for value in values):
            table[name] = values
    return table or {"n": [1.0] * n_rows}


def type_of(values: list[Any]) -> type:
    """Return the type of the known values of a column."""
    return next(type(value) for value in values if value is not None)


def _float(rng: Rng) -> float:
    return randoms.number(rng)


def _integer(rng: Rng) -> int:
    size = pick(rng, (10, 10, 10, 2**53, 2**62))  # large ones that are no float are refused
    return int(rng.integers(-size, size)) if size < 2**53 else size - 1024 * int(rng.integers(5))


def _boolean(rng: Rng) -> bool:
    return chance(rng, 0.5)


def _label(rng: Rng) -> str:
    return _text(rng, "w").strip()


def _text(rng: Rng, start: str) -> str:
    """Draw text that begins with a letter, so that it can be no number and no missing field."""
    text = start + randoms.word(rng).translate(_BLANKS)
    return text + "_" if text.strip().lower() in _MEANINGFUL else text


_MEANINGFUL = {"na", "n/a", "nan", "nil", "none", "null", "n.a.", "no"}


def delimited(table: Columns, delimiter: str = ",") -> bytes:
    """Write CSV or TSV: text in quotes, missing values as empty fields."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(table)
    lines = [
        [_Plain() if value is None else _field(value) for value in row]
        for row in zip(*table.values(), strict=True)
    ]
    writer.writerows(lines)
    return stream.getvalue().encode()


class _Plain(float):
    """An empty field without quotes."""

    def __repr__(self) -> str:
        return ""

    __str__ = __repr__


def _field(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def json_lines(table: Columns) -> bytes:
    """Write one object per row."""
    rows = zip(*table.values(), strict=True)
    return "".join(json.dumps(dict(zip(table, row, strict=True))) + "\n" for row in rows).encode()


def arff(table: Columns) -> bytes:
    """Write ARFF with declared labels."""
    lines = ["@relation r"]
    for name, values in table.items():
        known = [value for value in values if value is not None]
        kind = "numeric"
        if isinstance(known[0], bool):
            kind = "{false, true}"
        elif isinstance(known[0], str):
            kind = "{" + ", ".join(map(_quoted, sorted(set(known)))) + "}"
        lines.append(f"@attribute {_quoted(name)} {kind}")
    lines.append("@data")
    lines += [",".join(map(_entry, row)) for row in zip(*table.values(), strict=True)]
    return ("\n".join(lines) + "\n").encode()


def _entry(value: Any) -> str:
    if value is None:
        return "?"
    return _quoted(value) if isinstance(value, str) else str(value).lower()


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def arrow(table: Columns) -> pa.Table:
    """Create an Arrow table with typed columns."""
    arrays = [pa.array(values, _TYPES[type_of(values)]) for values in table.values()]
    return pa.Table.from_arrays(arrays, names=list(table))


def parquet(table: Columns) -> bytes:
    """Write Parquet."""
    stream = io.BytesIO()
    pa.parquet.write_table(arrow(table), stream)
    return stream.getvalue()


FORMATS: dict[str, Callable[[Columns], bytes]] = {
    "csv": delimited,
    "tsv": lambda table: delimited(table, "\t"),
    "jsonl": json_lines,
    "arff": arff,
    "parquet": parquet,
    "csv.gz": lambda table: gzip.compress(delimited(table)),
    "tsv.gz": lambda table: gzip.compress(delimited(table, "\t")),
    "jsonl.gz": lambda table: gzip.compress(json_lines(table)),
    "arff.gz": lambda table: gzip.compress(arff(table)),
}
"""The content of a file of each extension."""


def write(folder: Path, table: Columns, extension: str) -> Path:
    """Write a table to a file of the given extension."""
    path = folder / f"table.{extension}"
    path.write_bytes(FORMATS[extension](table))
    return path
