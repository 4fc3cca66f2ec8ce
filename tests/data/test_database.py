"""DuckDB files: their tables are data, and nothing that they define is run."""

import contextlib
import datetime

import duckdb
import numpy as np
import pytest

from rulewright.data import DataError, DataWarning, database_tables
from rulewright.data.readers import database


def stored(path, *statements):
    """Make a database file."""
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)
    return path


def values(source, name):
    """Read a column."""
    return source.load(source.positions[name], "any").values.tolist()


CASES = "CREATE TABLE other.cases AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) t(id, y)"


def test_a_view_cannot_take_the_place_of_a_table(tmp_path):
    """A table of another schema is meant, not a view of its name that reads a file."""
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    view = f"CREATE VIEW cases AS SELECT 1 AS id, content AS y FROM read_text('{secret}')"
    path = stored(tmp_path / "x.duckdb", "CREATE SCHEMA other", CASES, view)
    found = database_tables(path).sources
    assert [*found] == ["cases"]
    assert values(found["cases"], "y") == ["a", "b"]


def test_macros_do_not_change_what_is_read(tmp_path):
    """Functions are DuckDB's, whatever the file calls so."""
    macros = ["CREATE MACRO count(x) AS 77", "CREATE MACRO epoch_us(x) AS 77"]
    table = "CREATE TABLE t AS SELECT TIMESTAMPTZ '2020-01-02 00:00:00+00' AS day"
    found = database_tables(stored(tmp_path / "x.duckdb", table, *macros)).sources["t"]
    assert found.n_rows == 1
    assert found.load(0, "any").values.astype("M8[D]").tolist() == [datetime.date(2020, 1, 2)]


def test_views_alone_are_refused(tmp_path):
    """The message says what to do with a view; an endless one is not run."""
    endless = "CREATE VIEW v AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n FROM t) FROM t"
    with pytest.raises(DataError, match=r"only views, which are not run: 'v'. .*CREATE TABLE"):
        database_tables(stored(tmp_path / "x.duckdb", endless))


def test_computed_columns_are_not_computed(tmp_path):
    """Two rows could ask for gigabytes; the warning says what to do with an honest column."""
    table = "CREATE TABLE t(id INT, big DOUBLE GENERATED ALWAYS AS (len(range(id))))"
    path = stored(tmp_path / "x.duckdb", table, "INSERT INTO t VALUES (1), (2)")
    with pytest.warns(DataWarning, match=r"table t: column 'big' is computed .*CREATE TABLE"):
        found = database_tables(path).sources["t"]
    assert found.names == ("id",)
    assert values(found, "id") == [1, 2]


@pytest.mark.parametrize("value", ["7", "repeat('x', 2000)"])
def test_equal_cells_of_a_database_are_counted(tmp_path, monkeypatch, value):
    """A column of one value takes next to no bytes in the file."""
    table = f"CREATE TABLE t AS SELECT {value} AS a FROM range(100_000)"
    path = stored(tmp_path / "x.duckdb", table)
    monkeypatch.setattr(database, "MAX_UNZIPPED_BYTES", 1 << 19)
    found = database_tables(path).sources["t"]
    with pytest.raises(DataError, match=r"table t: 100,000 rows .* 524,288 bytes\. .*dataframes"):
        found.load(0, "any")


def test_tables_of_the_same_name_are_refused(tmp_path):
    """Neither of two schemas wins silently."""
    path = stored(tmp_path / "x.duckdb", "CREATE SCHEMA other", CASES, "CREATE TABLE cases(id INT)")
    with pytest.raises(DataError, match="several schemas have a table 'cases'"):
        database_tables(path)


def test_damaged_databases_are_data_errors(tmp_path):
    """Whatever is wrong with the file, the error is a DataError."""
    table = "CREATE TABLE t AS SELECT i, i::VARCHAR AS s FROM range(5000) t(i)"
    sound = stored(tmp_path / "x.duckdb", table).read_bytes()
    rng, n_read = np.random.default_rng(0), 0
    for k in range(60):
        damaged = np.frombuffer(sound, np.uint8).copy()
        places = rng.integers(len(damaged) if k % 2 else 20_000, size=40)
        damaged[places] = rng.integers(256, size=40)
        path = tmp_path / f"{k}.duckdb"
        path.write_bytes(damaged.tobytes()[: None if k % 3 else int(rng.integers(len(sound)))])
        with contextlib.suppress(DataError):
            for source in database_tables(path).sources.values():
                for name in source.names:
                    values(source, name)
            n_read += 1
    assert n_read < 30
