"""Damaged, hostile and misleading files are read rightly or refused, never silently changed."""

import datetime
import gzip
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from rulewright.data import DataError, open_table, read_like, read_table
from rulewright.data.readers.database import FileDatabase

FRAME = pl.DataFrame({"x": [1.0, 2.0, 3.0], "y": ["a", "b", "a"]})
ZIPPED = gzip.compress("\n".join(["x,y", *(f"{k},{k % 7}" for k in range(500))]).encode())


@pytest.mark.parametrize("extension", ["csv", "parquet"])
@pytest.mark.parametrize("folder", ["x=5", "x=[5]", "x=5/y=z", "~", "{a,b}", "it's *"])
def test_folders_say_nothing_of_columns(tmp_path, monkeypatch, assert_same, folder, extension):
    """A folder named key=value, or with wildcards, leaves the columns of a file as they are."""
    path = tmp_path / folder / f"a.{extension}"
    path.parent.mkdir(parents=True)
    FRAME.write_csv(path) if extension == "csv" else FRAME.write_parquet(path)
    assert_same(read_table(path), read_table(FRAME))
    monkeypatch.chdir(tmp_path)
    assert_same(read_table(f"{folder}/a.{extension}"), read_table(FRAME))


def test_flipped_bits_of_gzip(write):
    """A flipped bit of a gzipped table is refused, or changes nothing but the gzip header."""
    expected = read_table(write("t.csv.gz", ZIPPED))["x"].values
    for bit in np.random.default_rng(3).choice(8 * len(ZIPPED), 120, replace=False):
        data = bytearray(ZIPPED)
        data[bit // 8] ^= 1 << (bit % 8)
        try:
            table = read_table(write("t.csv.gz", bytes(data)))
        except DataError:
            continue
        assert bit < 80
        np.testing.assert_array_equal(table["x"].values, expected)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (ZIPPED[:-1], "they end too early"),
        (ZIPPED[:-8], "they end too early"),
        (ZIPPED[: len(ZIPPED) // 2], "they end too early"),
        (ZIPPED + b"junk", "incorrect header"),
        (ZIPPED[:-8] + b"\1" * 8, "incorrect data check"),
        (ZIPPED[:-4] + b"\1" * 4, "incorrect length check"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.arff.gz"])
def test_damaged_gzip(write, name, content, reason):
    """Cut files, wrong checksums and lengths, and bytes after the end are refused."""
    with pytest.raises(DataError, match=rf"{name}: .*the gzip data are damaged.*{reason}"):
        read_table(write(name, content))


def test_padded_gzip(write, assert_same):
    """Zeros after the end of a gzip file are padding."""
    padded = read_table(write("t.csv.gz", ZIPPED + bytes(1000)))
    assert_same(padded, read_table(write("u.csv.gz", ZIPPED)))


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.arff.gz"])
def test_gzip_beyond_the_limit(write, name):
    """A small file that expands beyond the limit is refused with the limit and the remedy."""
    line = b'{"a": 1}\n' if "jsonl" in name else b"%,1\n"
    path = write(name, gzip.compress(line * 500_000))
    message = r"more than the limit of 999,999 bytes\. Unzip it, or raise .*max_unzipped_bytes"
    with pytest.raises(DataError, match=message):
        read_table(path, max_unzipped_bytes=999_999)
    with pytest.raises(DataError, match="more than the limit"):
        open_table(path, max_unzipped_bytes=1_999_999)
    if name.startswith("t.csv"):
        assert open_table(path, max_unzipped_bytes=2_000_000).n_rows == 500_000


def test_no_temporary_files_stay(write, tmp_path, monkeypatch):
    """The unzipped copy is removed, after success and after an error."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    read_table(write("t.csv.gz", ZIPPED))
    with pytest.raises(DataError):
        read_table(write("t.csv.gz", gzip.compress(b"a,b\n1,2\n3\n")))
    assert not os.listdir(tmp_path / "temporary")


LARGE = 2**53


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [LARGE, LARGE + 1, None]}),
        pl.DataFrame({"a": [LARGE, LARGE + 1, None]}, schema={"a": pl.Decimal(38, 0)}),
        pd.DataFrame({"a": pd.array([LARGE, LARGE + 1, None], dtype="Int64")}),
        pl.DataFrame({"a": [LARGE, LARGE + 1, None]}).to_arrow(),
        {"a": [LARGE, LARGE + 1, None]},
        {"a": pl.Series([LARGE, LARGE + 1, None])},
        {"a": np.ma.array([LARGE, LARGE + 1, 0], mask=[False, False, True])},
        "t.parquet",
        "decimal.parquet",
        "t.csv",
        "t.jsonl",
        "t.arff",
    ],
)
def test_large_labels_stay_apart(tmp_path, frame):
    """Nominal integers beyond 2^53 with missing ones keep a label each, now and at predict time."""
    if isinstance(frame, str):
        name, frame = frame, tmp_path / frame
        table = pl.DataFrame({"a": [LARGE, LARGE + 1, None]})
        if name.endswith(".parquet"):
            type_ = pl.Decimal(38, 0) if name.startswith("decimal") else pl.Int64
            table.cast(type_).write_parquet(frame)
        elif name == "t.csv":
            frame.write_text(f"a\n{LARGE}\n{LARGE + 1}\n?\n")
        elif name == "t.jsonl":
            table.write_ndjson(frame)
        else:
            frame.write_text(f"@attribute a integer\n@data\n{LARGE}\n{LARGE + 1}\n?\n")
    table = read_table(frame, nominal=["a"])
    assert table.schema["a"].labels == (str(LARGE), str(LARGE + 1))
    assert table.schema["a"].label_type == "number"
    assert table["a"].values.tolist() == [0, 1, -1]
    assert read_like(frame, table.schema)["a"].values.tolist() == [0, 1, -1]
    if str(frame).endswith(("decimal.parquet", "t.arff")):  # these files are read as floats
        assert read_table(frame)["a"].values[0] == float(LARGE)
    else:
        with pytest.raises(DataError, match=rf"row 1 .*holds {LARGE + 1}.*lose digits"):
            read_table(frame)


def test_an_unseen_large_label_is_unseen():
    """A label that differs from a known one in its last digit only is unseen, even as text."""
    schema = read_table({"a": [LARGE, None]}, nominal=["a"]).schema
    assert read_like({"a": [LARGE + 1, LARGE]}, schema)["a"].values.tolist() == [-2, 0]
    assert read_like({"a": [str(LARGE + 1), f"0{LARGE}"]}, schema)["a"].values.tolist() == [-2, 0]


def test_numbers_of_more_than_64_bits():
    """Labels keep all digits, features must be floats, and classes must be text."""
    values = [2**64, 2**64 + 1, None]
    assert read_table({"a": values}, nominal=["a"]).schema["a"].labels == tuple(
        map(str, values[:2])
    )
    assert read_table({"a": [2**64, None]})["a"].values[0] == 2.0**64
    with pytest.raises(DataError, match="lose digits"):
        read_table({"a": values})
    with pytest.raises(DataError, match=r"more than 64 bits.*Convert all labels to text"):
        read_table([[1], [2]], target=values[:2])


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        (datetime.timedelta(1), "DURATION"),
        (datetime.time(12), "TIME"),
    ],
)
def test_times_in_parquet_are_refused(tmp_path, value, type_):
    """Durations and times of day are refused; other columns are read."""
    path = tmp_path / "t.parquet"
    frame = pl.DataFrame({"n": [1, 2], "a": [value, None]})
    for write in (frame.write_parquet, frame.to_pandas().to_parquet):
        write(path)
        for nominal in ([], ["a"]):
            with pytest.raises(DataError, match=rf"times are not supported: column 'a' .*{type_}"):
                read_table(path, nominal=nominal)
        assert read_table(path, drop=["a"])["n"].values.tolist() == [1, 2]


@pytest.mark.parametrize("end", ["\n", ""])
@pytest.mark.parametrize("n_rows", [2, 2_000_000])
def test_a_long_last_line_is_not_dropped(write, end, n_rows):
    """A line beyond the limit is refused with its number, at the end of a file too."""
    path = write("t.csv", "a,b\n" + "1,2\n" * n_rows + "x" * 3_000_000 + ",1" + end)
    with pytest.raises(DataError, match=rf"line {n_rows + 2}: .*maximum line size of 2,000,000"):
        read_table(path)


@pytest.mark.parametrize("line_end", ["\n", "\r", "\r\n"])
def test_long_lines_within_the_limit(write, line_end):
    """Long lines are read as long as they are within the limit."""
    long = [letter * 1_900_000 for letter in "abcd"]
    rows = ["n,t", *(f"{k},{text}" for k, text in enumerate(long))]
    table = read_table(write("t.csv", line_end.join(rows)))
    assert table.schema["t"].labels == tuple(long)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("id,2019,2020\na,1,2\nb,3,4\n", ("id", "2019", "2020")),
        ("id,2019,2020\na,1900,2050\nb,3,4\nc,5,6\n", ("id", "2019", "2020")),
        ("id;2020;2019\na;1,5;2\nb;3;4\n", ("id", "2020", "2019")),
        ("id,2019\na,high\nb,low\n", ("id", "2019")),
        ("id,7\na,high\nb,low\n", ("id", "7")),
        ("0,1,2,y\n0.5,1,7,a\n2,2,2,b\n", ("0", "1", "2", "y")),
        (",0,1,2,y\n0,0.5,1,7,a\n1,2,2,2,b\n", ("x0", "0", "1", "2", "y")),
        ("a,2019,2020\na,1,2\nb,3,4\n", None),
        ("bob,1950,2010\namy,1960,2015\n", None),
        ("bob,2000\namy,1500\njoe,3000\n", None),
        ("bob,2019,2019\namy,1,2\n", None),
        ("bob,2019,2018,2020\namy,1,2,3\n", None),
        ("bob,1,2\namy,3,4\n", None),
        ("bob,7\namy,A7\njoe,8\n", None),
        ("bob,2019.5\namy,high\n", None),
        ("2019,2020\n1,2\n", None),
        ("id,2019\n", None),
    ],
)
def test_numeric_names(write, text, names):
    """Years and counts beside names are a header, unless the first line may be a row."""
    table = read_table(write("t.csv", text))
    n_rows = text.count("\n")
    if names is None:
        assert table.names[0] == "x0"
        assert len(table) == n_rows
    else:
        assert table.names == names
        assert len(table) == n_rows - 1


@pytest.mark.parametrize("values", [["1,234", "5,678"], ["1,234", "5"], ["-1,234", "NA"]])
def test_commas_that_may_separate_thousands(write, values):
    """A column whose commas are ambiguous is refused as numbers and read as labels."""
    path = write("t.tsv", "a\tb\n" + "".join(f"{value}\t{k}\n" for k, value in enumerate(values)))
    with pytest.raises(DataError, match=r"t.tsv: the commas in column 'a' may separate thousands"):
        read_table(path)
    with pytest.raises(DataError, match="the commas in column 'a'"):
        read_like(path, read_table({"a": [1.5], "b": [1]}).schema)
    assert values[0] in read_table(path, nominal=["a"]).schema["a"].labels
    assert read_table(path, drop=["a"]).names == ("b",)


@pytest.mark.parametrize("value", ["0,234", "1234,567", "1,5", "1,2345", "1,234e2"])
def test_one_decimal_comma_explains_the_others(write, value):
    """A comma that cannot separate thousands makes all commas of a file decimal marks."""
    number = float(value.replace(",", "."))
    table = read_table(write("t.tsv", f"a\tb\n1,234\t5\n{value}\t6\n"))
    assert table["a"].values.tolist() == [1.234, number]
    table = read_table(write("t.tsv", f"a\tb\n1,234\t{value}\n5,678\t6\n"))
    assert table["a"].values.tolist() == [1.234, 5.678]


def test_several_commas_separate_thousands(write):
    """A number with several commas explains the others of its column."""
    table = read_table(write("t.tsv", "a\tb\n1,234,567\t1\n1,234\t2\n"))
    assert table["a"].values.tolist() == [1234567, 1234]


WIDTH = 6_000


@pytest.mark.parametrize("extension", ["csv", "parquet", "jsonl", "arff", "frame"])
def test_wide_tables(tmp_path, extension):
    """Thousands of columns of all kinds are read, with a header far beyond 64 KiB."""
    columns = {
        f"feature number {k}": [["x", "y", None], [k + 0.5, None, -1.0], [True, None, False]][k % 3]
        for k in range(WIDTH)
    }
    frame, path = pl.DataFrame(columns), tmp_path / f"t.{extension}"
    if extension.endswith("csv"):
        records = [list(columns), *zip(*columns.values(), strict=True)]
        lines = [",".join("" if v is None else str(v) for v in row) for row in records]
        path.write_text("\n".join(lines))
    elif extension == "parquet":
        frame.write_parquet(path)
    elif extension == "jsonl":
        frame.write_ndjson(path)
    elif extension == "arff":
        types = ["{x, y}", "real", "{true, false}"]
        lines = [f"@attribute '{name}' {types[k % 3]}" for k, name in enumerate(columns)]
        rows = zip(*columns.values(), strict=True)
        lines += [
            "@data",
            *(",".join("?" if v is None else str(v).lower() for v in r) for r in rows),
        ]
        path.write_text("\n".join(lines))
    X = frame if extension == "frame" else path
    table = read_table(X)
    assert table.names == tuple(columns)
    for k in (0, 6, 5_997):
        assert table.columns[k].values.tolist() == [0, 1, -1]
    for k in (1, 1024, 5_998):
        np.testing.assert_array_equal(table.columns[k].values, [k + 0.5, np.nan, -1])
    assert read_like(X, table.schema, ["feature number 3"])["feature number 3"].values[1] == 1


def test_blanks_in_wide_tables(write):
    """Blanks after the delimiter are no part of names, labels and numbers."""
    names = [f"name {k}" for k in range(100)]
    text = "\n".join(", ".join(row) for row in (names, ["1", "x"] * 50, ["", "NA"] * 50))
    table = read_table(write("t.csv", text))
    assert table.names == tuple(names)
    np.testing.assert_array_equal(table.columns[98].values, [1, np.nan])
    assert table.columns[99].schema.labels == ("x",)
    assert table.columns[99].values.tolist() == [0, -1]


def test_many_columns_take_few_queries(tmp_path, monkeypatch):
    """A wide file is read in blocks: five thousand columns take few queries, in both formats."""
    counted = []
    run = FileDatabase._run
    monkeypatch.setattr(
        FileDatabase, "_run", lambda self, *args: (counted.append(1), run(self, *args))[1]
    )
    frame = pl.DataFrame({f"c{k}": [k, k + 1] for k in range(5_000)})
    frame.write_csv(tmp_path / "t.csv")
    frame.write_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        counted.clear()
        read_table(tmp_path / name, nominal=range(0, 5_000, 2))
        assert len(counted) < 40


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl", "t.arff"])
def test_special_files(tmp_path, name):
    """A FIFO is refused without waiting for a writer, as are folders and devices."""
    os.mkfifo(tmp_path / name)
    code = "import sys; from rulewright.data import read_table; read_table(sys.argv[1])"
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / name], capture_output=True, text=True, timeout=60
    )
    assert re.search(rf"{name}: the file cannot be read \(it is a FIFO, not a reg", run.stderr)
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    with pytest.raises(DataError, match="it is a device, not a regular file"):
        read_table(tmp_path / "device.csv")


def test_lone_surrogates(write):
    """Halves of characters are refused in names and labels, with the text that holds them."""
    for text in ('{"a\\ud800": 1}', '{"a": "x\\ud800"}'):
        with pytest.raises(DataError, match=r"(name|label).*\\ud800' contains a lone surrogate"):
            read_table(write("t.jsonl", text))
    with pytest.raises(DataError, match="lone surrogate"):
        read_table(write("t.arff", "@attribute a string\n@data\n'\\udfff'\n"))
    with pytest.raises(DataError, match="lone surrogate"):
        read_table([[1], [2]], target=["a", "\ud800"])
    assert read_table(write("t.jsonl", '{"a": "\\ud83d\\ude00"}')).schema["a"].labels == ("😀",)


def test_paths_that_are_no_text(tmp_path):
    """A file whose path is not UTF-8 is refused by the readers that cannot open it."""
    path = os.fsencode(tmp_path) + b"/caf\xe9.csv"
    with open(path, "w") as stream:
        stream.write("a,b\n1,2\n")
    with pytest.raises(DataError, match=r"path .* contains a lone surrogate"):
        read_table(os.fsdecode(path))
