"""DuckDB files as data: what they define is not run, and damaged ones are refused."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from attack import tables
from attack.attempts import Outcome, told
from attack.randoms import chance, pick
from attack.readers import unequal
from rulewright.data import DataError, DataWarning, database_tables, read_table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from attack.randoms import Rng

_DAMAGES, _SECONDS = 12, 20.0
_BOMBS, _ROWS, _COLUMNS = 0.03, 60_000_000, 10
_SECRET = "the content of another file"
_ENDLESS = "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n FROM r) SELECT * FROM r"
_MACROS = ("count(x) AS 77", "strlen(x) AS 0", "sum(x) AS 77", "isinf(x) AS true")


def attempt(rng: Rng, folder: Path) -> Iterator[Outcome]:
    """Read a database with hostile definitions, then damaged copies of it."""
    secret = folder / "secret.txt"
    secret.write_text(_SECRET)
    if chance(rng, _BOMBS):
        yield _refuses_bomb(folder / "bomb.duckdb")
    table, path = tables.columns(rng, most_rows=40), folder / "x.duckdb"
    if len({name.lower() for name in table}) < len(table):  # DuckDB ignores the case of names
        table = {"n": [1.0, 2.0]}
    _write(rng, path, table, secret)
    yield read_well(path, table)
    content = path.read_bytes()
    for _ in range(_DAMAGES):
        path.write_bytes(_damaged(rng, content))
        yield read_well(path)


def read_well(path: Path, whole: tables.Columns | None = None) -> Outcome:
    """Read all tables: the whole one if it is given, otherwise tables or a DataError, in time."""
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            sources = database_tables(path).sources
        for source in sources.values():
            texts = [source.load(at, "text").values.tolist() for at in range(len(source.names))]
            if any(_SECRET in str(value) for column in texts for value in column):
                return "a database read another file"
        if whole and (changed := unequal(read_table(sources["t"]), read_table(whole))):
            return f"a table of a database differs: {changed}; {whole!r:.300}"
    except DataError as error:
        return f"a whole database is refused: {error}" if whole else None
    except Exception as error:
        return told(error)
    seconds = time.process_time() - began
    return f"reading took {seconds:.0f} s of processor time" if seconds > _SECONDS else None


def _write(rng: Rng, path: Path, table: tables.Columns, secret: Path) -> None:
    """Write a table, and beside it what could run when it is read."""
    schema, others = pick(rng, ("main", "other")), []
    computed = ", c DOUBLE GENERATED ALWAYS AS (1 + 1)" if chance(rng, 0.3) else ""
    if schema == "other":
        view = pick(rng, (f"SELECT content AS n1 FROM read_text('{secret}')", _ENDLESS))
        others.append(f"CREATE VIEW main.t AS {view}")
    others += [f"CREATE MACRO {macro}" for macro in _MACROS if chance(rng, 0.3)]
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE SCHEMA other")
        connection.register("given", tables.arrow(table))
        kinds = connection.execute("DESCRIBE SELECT * FROM given").fetchall()
        listed = ", ".join(f'"{_doubled(name)}" {kind}' for name, kind, *_ in kinds)
        if "c" in map(str.lower, table):
            computed = ""
        connection.execute(f"CREATE TABLE {schema}.t ({listed}{computed})")
        names = ", ".join(f'"{_doubled(name)}"' for name in table)
        connection.execute(f"INSERT INTO {schema}.t ({names}) SELECT * FROM given")
        for statement in others:
            connection.execute(statement)


def _doubled(name: str) -> str:
    return name.replace('"', '""')


def _damaged(rng: Rng, content: bytes) -> bytes:
    """Change bytes where the file holds something, or cut it."""
    data = np.frombuffer(content, np.uint8).copy()
    held = np.flatnonzero(data).tolist()
    for _ in range(int(pick(rng, (1, 1, 3, 30)))):
        data[pick(rng, held)] ^= 1 << int(rng.integers(8))
    whole: bytes = data.tobytes()
    return whole[: rng.integers(len(whole))] if chance(rng, 0.2) else whole


def _refuses_bomb(path: Path) -> Outcome:
    """Read a file of equal cells that would not fit: a DataError, and no memory."""
    cells = ", ".join(f"7 AS c{at}" for at in range(_COLUMNS))
    with duckdb.connect(str(path)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT {cells} FROM range({_ROWS})")
    try:
        database_tables(path).sources["t"].load(0, "any")
    except DataError:
        return None
    return f"{path.stat().st_size:,} bytes gave {_ROWS * _COLUMNS:,} cells"
