"""Parquet files, through DuckDB; only their Arrow schema distinguishes durations from integers."""

import base64
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from rulewright.data.errors import DataError
from rulewright.data.readers.database import WHOLE_DECIMAL, Blocks, FileDatabase, write_selection
from rulewright.data.readers.opened_file import OpenedFile
from rulewright.data.source import Raw, Source, Wanted, as_objects
from rulewright.data.values import date_error

_TIMES = re.compile(r"TIME(_NS)?|TIME WITH TIME ZONE|INTERVAL|DURATION")


def parquet_source(file: OpenedFile, *others: OpenedFile) -> Source:
    """Open Parquet files with the same columns; these are read when they are loaded."""
    for one in (file, *others):
        if not one.head.startswith(b"PAR1"):
            raise DataError(f"{one}: this is no Parquet file. Give it the extension of its format.")
        if one.zipped:
            raise DataError(f"{one}: a Parquet file must not be zipped. Unzip it.")
    columns = _Columns(file)
    columns.extend(others)

    def part(table: str, n_rows: int) -> Source:
        blocks = Blocks(partial(columns.load, table, n_rows), n_rows, len(columns.names))

        def load(position: int, wanted: Wanted) -> Raw:
            columns.check(position, wanted)
            return blocks.load(position, wanted)

        return Source(columns.names, True, n_rows, load, budget=columns.budget)

    def split(n_rows: int) -> Iterator[Source]:
        for table, some in columns.parts(n_rows):
            yield part(table, some)

    return replace(part(columns.table, columns.n_rows), split=split)


class _Columns:
    """The columns of one file or of several; `table` is what queries select from."""

    def __init__(self, file: OpenedFile) -> None:
        self._file, self._database = file, FileDatabase(file, "Parquet")
        self.budget = file.budget()
        path = self._database.path(file.path)
        # the file's own columns, none from the names of its folders
        self.table = f"read_parquet({path}, hive_partitioning=false)"
        described = self._database.rows(f"DESCRIBE SELECT * FROM {self.table}")
        # DuckDB ignores the case of names and renames duplicates
        self._aliases = ['"' + row[0].replace('"', '""') + '"' for row in described]
        self.names = _names(self._database, path)
        held = _durations(self._database, path)
        self._types = [
            "DURATION" if held.get(name) else row[1]
            for name, row in zip(self.names, described, strict=True)
        ]
        self.n_rows = self._database.rows(f"SELECT count(*) FROM {self.table}")[0][0]
        self._files = [(path, self.n_rows)]

    def extend(self, others: Sequence[OpenedFile]) -> None:
        """Add the rows of other files, which must have the same columns."""
        if not others:
            return
        tables = [self.table]
        for other in others:
            columns = _Columns(other)
            if (columns.names, columns._types) != (self.names, self._types):
                raise DataError(
                    f"{other}: its columns differ from the columns of {self._file} in name, "
                    "type or order. Read the files one by one."
                )
            tables.append(columns.table)
            self.n_rows += columns.n_rows
            self._files += columns._files
        self.table = f"({' UNION ALL '.join(f'SELECT * FROM {table}' for table in tables)})"

    def parts(self, n_rows: int) -> Iterator[tuple[str, int]]:
        """Yield tables of so many rows at most, none of which are of two files."""
        for path, of_file in self._files:
            table = f"read_parquet({path}, hive_partitioning=false, file_row_number=true)"
            for start in range(0, of_file, n_rows):
                stop = min(start + n_rows, of_file)
                # row groups that lie outside are not read
                where = f"file_row_number >= {start} AND file_row_number < {stop}"
                yield f"(SELECT * FROM {table} WHERE {where})", stop - start

    def check(self, at: int, wanted: Wanted) -> None:
        """Reject a column whose type is neither a number nor a label."""
        type_ = self._types[at]
        if write_selection(type_, "", wanted) is not None:
            return
        if _TIMES.fullmatch(type_):
            raise date_error(f"column {self.names[at]!r}", type_)
        raise DataError(
            f"{self._file}: column {self.names[at]!r} holds {type_} values. Store it as numbers or "
            "text, or drop it."
        )

    def _check_size(self, table: str, chosen: dict[int, str], n_rows: int) -> None:
        """Refuse a block that is too large in memory: equal cells take no bytes in the file."""
        texts = [text for at, text in chosen.items() if self._types[at] == "VARCHAR"]
        n_bytes = 0
        if texts:
            lengths = " + ".join(f"sum(strlen({text}))" for text in texts)
            n_bytes = int(self._database.rows(f"SELECT {lengths} FROM {table}")[0][0] or 0)
        self.budget.check_cells(n_rows, len(chosen), n_bytes)

    def load(self, table: str, n_rows: int, block: range, wanted: Wanted) -> dict[int, Raw]:
        """Load the columns of a block that are not refused."""
        found = {at: write_selection(self._types[at], self._aliases[at], wanted) for at in block}
        chosen = {at: selected for at, selected in found.items() if selected is not None}
        self._check_size(table, chosen, n_rows)
        listed = ", ".join(f"{selected} AS c{at}" for at, selected in chosen.items())
        loaded = self._database.columns(f"SELECT {listed} FROM {table}")
        raws = {}
        for at, values in zip(chosen, loaded, strict=True):
            whole = wanted == "labels" and WHOLE_DECIMAL.fullmatch(self._types[at])
            raws[at] = Raw(as_objects(v and int(v) for v in values) if whole else values)
        return raws


def _names(database: FileDatabase, path: str) -> tuple[str, ...]:
    rows = database.rows(f"SELECT name, num_children FROM parquet_schema({path})")
    names: list[str] = []
    pending = 0  # descendants of a nested column that are still to come
    for name, children in rows[1:]:
        if pending == 0:
            names.append(name)
        else:
            pending -= 1
        pending += children or 0
    return tuple(names)


def _durations(database: FileDatabase, path: str) -> dict[str, bool]:
    rows = database.rows(
        f"SELECT value FROM parquet_kv_metadata({path}) WHERE key = 'ARROW:schema'::BLOB"
    )
    return durations(rows[0][0]) if rows else {}


_DURATION = 18  # in the enumeration of Arrow's types
_NAME, _TYPE = 0, 2  # slots of a field
_HEADER = 2  # slot of a message
_FIELDS = 1  # slot of a schema


def durations(encoded: bytes) -> dict[str, bool]:
    """Return which columns hold durations; an unreadable schema has none.

    The schema is a flatbuffer: a table begins with the distance to its list of slots, which holds
    the place of each field in the table.
    """
    try:
        data = base64.b64decode(encoded, validate=True)
        start = 8 if data.startswith(b"\xff\xff\xff\xff") else 4
        schema = _child(data, start + _read_unsigned(data, start), _HEADER)
        fields = _child(data, schema, _FIELDS)
        # a generator, for a damaged file may claim any number of fields
        places = (fields + 4 + 4 * at for at in range(_read_unsigned(data, fields)))
        return dict(_field(data, place + _read_unsigned(data, place)) for place in places)
    except (ValueError, struct.error):
        return {}


def _field(data: bytes, table: int) -> tuple[str, bool]:
    name, type_ = _child(data, table, _NAME), _slot(data, table, _TYPE)
    text = data[name + 4 : name + 4 + _read_unsigned(data, name)].decode()
    return text, type_ is not None and data[type_ : type_ + 1] == bytes([_DURATION])


def _child(data: bytes, table: int, slot: int) -> int:
    place = _slot(data, table, slot)
    if place is None:
        raise ValueError("a field is absent")
    return place + _read_unsigned(data, place)


def _slot(data: bytes, table: int, slot: int) -> int | None:
    slots = table - struct.unpack_from("<i", data, table)[0]
    if 4 + 2 * slot >= struct.unpack_from("<H", data, slots)[0]:
        return None
    distance = struct.unpack_from("<H", data, slots + 4 + 2 * slot)[0]
    return table + distance if distance else None


def _read_unsigned(data: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", data, at)[0])
