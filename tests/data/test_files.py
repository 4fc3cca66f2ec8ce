import datetime
import gzip
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from rulewright import load_model
from rulewright.data import DataError, Source, read_like, read_table
from rulewright.data.readers.database import FileDatabase
from rulewright.data.readers.files import READERS
from rulewright.data.readers.opened_file import open_file
from rulewright.data.source import Raw
from rulewright.model import ModelFileError

FRAME = pl.DataFrame(
    {
        "n": [1, None, 3],
        "f": [0.5, None, 2.0],
        "s": ["b", None, "a"],
        "b": [True, None, False],
        "N": [1, 2, 3],
    }
)


@pytest.fixture
def parquet(tmp_path):
    """Give the path of a Parquet file with every kind of column."""
    path = tmp_path / "it's [1].parquet"
    FRAME.write_parquet(path)
    return path


def test_parquet_equals_the_frame(parquet, assert_same):
    """A Parquet file gives the table of the dataframe that was written."""
    assert_same(read_table(parquet), read_table(FRAME))
    assert_same(read_table(str(parquet)), read_table(FRAME))
    assert_same(read_table(parquet, nominal=["n"]), read_table(FRAME, nominal=["n"]))


def test_parquet_at_predict_time(parquet, assert_same):
    """Only the needed columns of a file are read."""
    schema = read_table(FRAME).schema
    table = read_like(parquet, schema, needed=["s", "n"])
    assert_same(table, read_like(FRAME, schema, needed=["n", "s"]))
    assert table.names == ("n", "s")


def test_parquet_types(tmp_path):
    """Decimals and categories are read; dates and nested values are refused by name."""
    frame = pl.DataFrame(
        {
            "d": pl.Series(["1.5"]).cast(pl.Decimal(4, 2)),
            "c": pl.Series(["x"], dtype=pl.Categorical),
            "u": pl.Series([2**63 + 2**12], dtype=pl.UInt64),
            "nested": [{"p": 1, "q": {"r": 2}}],
            "after": [7],
        }
    )
    path = tmp_path / "t.parquet"
    frame.write_parquet(path)
    with pytest.raises(DataError, match=r"column 'nested' holds STRUCT"):
        read_table(path)
    schema = read_table(frame.drop("nested")).schema
    table = read_like(path, schema)
    assert [column.values[0] for column in table.columns] == [1.5, 0, 2.0**63 + 2**12, 7]
    pl.DataFrame({"when": [datetime.date(2020, 1, 1)]}).write_parquet(path)
    assert read_table(path).schema["when"].kind == "date"


def test_parquet_of_pandas(tmp_path):
    """A Parquet file that pandas wrote is read."""
    path = tmp_path / "t.pq"
    pd.DataFrame({"a": [1.5, None], "s": ["x", None]}).to_parquet(path)
    table = read_table(path)
    np.testing.assert_array_equal(table["a"].values, [1.5, np.nan])
    assert table["s"].values.tolist() == [0, -1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", b"", "t.csv: the file is empty"),
        ("t.csv", b" \n \n", "the file is empty"),
        ("t.arff", b"", "the file is empty"),
        ("t.jsonl", b"", "the file is empty"),
        ("t.parquet", b"", "no Parquet file"),
        ("t.parquet", b"a,b\n1,2\n", "no Parquet file. Give it the extension"),
        ("t.parquet", b"PAR1junkPAR1", "t.parquet: not a readable Parquet file"),
        ("t.csv", b"PAR1\0\0", "this is a Parquet file. Rename it"),
        ("t.csv", bytes(range(256)), "binary file"),
        ("t.csv", b"a,b\n\xe9,1\n", "not UTF-8 text .*iconv"),
        ("t.arff", b"@relation \xe9\n", "not UTF-8 text .*iconv"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16") + b"x", "not utf-16 text .*another encoding"),
        ("t.csv.gz", b"\x1f\x8bjunk", "t.csv.gz: the file cannot be read"),
        ("t.csv.gz", gzip.compress(b"a,b\n" + b"1,2\n" * 99, mtime=0)[:-20], "t.csv.gz"),
        ("t.arff.gz", gzip.compress(b"@relation r\n" * 99, mtime=0)[:-20], "t.arff.gz"),
        ("t.xls", b"PK\3\4", "extension '.xls' is unknown. Known are .csv"),
        ("t", b"a,b\n", "extension '' is unknown"),
    ],
)
def test_refused_files(write, name, content, message):
    """Bad files are refused with their path and a remedy."""
    with pytest.raises(DataError, match=message):
        read_table(write(name, content))


def test_late_bad_bytes(write):
    """Text that stops being UTF-8 after its head is refused too."""
    content = b"% comment\n" * 10_000 + b"@relation \xe9\n"
    with pytest.raises(DataError, match="not UTF-8"):
        read_table(write("t.arff", content))


def test_paths_that_are_no_files(tmp_path):
    """A missing file and a folder are refused by path."""
    with pytest.raises(DataError, match=r"absent.csv: the file cannot be read .*Check the path"):
        read_table(tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match=r"folder.csv: the file cannot be read"):
        read_table(str(tmp_path / "folder.csv"))
    with pytest.raises(DataError, match="cannot be read"):
        read_table("nul\0byte.csv")


def test_gzip_is_told_by_content(write, assert_same):
    """A gzipped file is read with and without .gz in its name."""
    text = b"a,b\n1,x\n2,y\n"
    expected = read_table(write("plain.csv", text))
    for name in ("t.csv", "t.csv.gz", "T.CSV.GZ"):
        assert_same(read_table(write(name, gzip.compress(text))), expected)
    assert_same(read_table(Path(write("not.csv.gz", text))), expected)


def test_a_reader_is_a_function_and_a_line_in_the_registry(write, monkeypatch):
    """A format that is registered is read by its extension, gzipped too, and named in errors."""

    def source_of_pairs(file):
        pairs = [line.split("=") for line in file.text().splitlines()]
        names = tuple(name for name, _ in pairs)
        return Source(names, True, 1, lambda at, wanted: Raw(np.array([float(pairs[at][1])])))

    monkeypatch.setitem(READERS, ".pairs", source_of_pairs)
    for content in (b"a=1\nb=2.5", gzip.compress(b"a=1\nb=2.5")):
        table = read_table(write("t.pairs", content))
        assert [column.values.tolist() for column in table.columns] == [[1.0], [2.5]]
    with pytest.raises(DataError, match=r"Known are .*\.pairs"):
        read_table(write("t.other", b""))


@pytest.mark.parametrize("address", ["https://a.org/b.csv", "s3://a/b.parquet", "file:///a/b.csv"])
@pytest.mark.parametrize("as_path", [str, Path])
def test_addresses_are_no_paths(address, as_path):
    """Whatever has been done to its slashes, an address is told from a file that is absent."""
    told = r"://a.*: this is an address, and remote files are not read\. Download the file"
    for read, error in ((read_table, DataError), (load_model, ModelFileError)):
        with pytest.raises(error, match=told):
            read(as_path(address))


def test_words_read_as_missing_are_noted(write):
    """A label such as NA may be missing or not: many of them are reported."""
    rows = "".join(f"{word},{k}\n" for k, word in enumerate(["NA", "EU", "AS", "null"] * 10))
    region, number = read_table(write("t.csv", "region,n\n" + rows)).columns
    (note,) = region.decisions
    assert str(note).startswith(
        "region: 20 values 'NA', 'null' read as missing; if they are labels"
    )
    assert number.decisions == ()
    few = read_table(write("u.csv", "region\n" + "EU\nAS\n" * 20 + "NA\n"))
    assert few.columns[0].decisions == ()


def test_memory_that_runs_out_is_no_damage(write, monkeypatch):
    """The file is not to be corrected where memory is what is missing."""

    class Full:
        def execute(self, query):
            raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate")

    database = FileDatabase(open_file(Path(write("t.csv", "a\n1\n"))), "CSV")
    monkeypatch.setattr(database, "_connection", Full())
    with pytest.raises(DataError, match="not enough memory to read it"):
        database.rows("SELECT 1")
