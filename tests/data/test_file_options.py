"""Encodings, headers, bad rows, zip files, standard input, many Parquet files and Excel."""

import datetime
import io
import sys
import zipfile
from types import SimpleNamespace

import numpy as np
import openpyxl
import polars as pl
import pytest

from rulewright.data import DataError, examine, open_table, read_table

TEXT = "größe,y\n5,ä\n7,ö\n"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.arff"])
def test_encodings(write, name, encoding):
    """A file is read in the encoding that is given."""
    text = {
        "t.csv": TEXT,
        "t.jsonl": '{"größe": 5, "y": "ä"}\n{"größe": 7, "y": "ö"}\n',
        "t.arff": "@relation t\n@attribute größe real\n@attribute y string\n@data\n5,ä\n7,ö\n",
    }[name]
    table = read_table(write(name, text.encode(encoding)), encoding=encoding)
    assert table.names == ("größe", "y")
    assert table["größe"].values.tolist() == [5, 7]
    assert table.schema["y"].labels == ("ä", "ö")


@pytest.mark.parametrize("order", ["utf-16-le", "utf-16-be"])
def test_utf16_is_known_by_its_mark(write, order):
    """The mark at the beginning of a file tells that it is UTF-16, zipped or not."""
    path = write("t.csv", ("\ufeff" + TEXT).encode(order))
    assert read_table(path).schema["y"].labels == ("ä", "ö")


def test_large_files_in_another_encoding(write):
    """Characters that are cut by the blocks of reading come out whole."""
    n_rows = 60_000
    text = "a,b\n" + "".join(f"{k},ü€\n" for k in range(n_rows))
    path = write("t.csv", text.encode("utf-16"))
    table = read_table(path)
    assert len(table) == n_rows
    assert table.schema["b"].labels == ("ü€",)


def test_wrong_encodings(write):
    """Errors name the option."""
    path = write("t.csv", TEXT.encode("latin-1"))
    with pytest.raises(DataError, match=r"not UTF-8 text .*such as --encoding latin-1"):
        read_table(path)
    with pytest.raises(DataError, match=r"not ascii text .* Give another encoding"):
        read_table(path, encoding="ascii")
    for name in ("klingon", "rot13", "base64", "zlib", "undefined", "", "a\0b"):
        with pytest.raises(DataError, match=r"encoding='.*': unknown"):
            read_table(path, encoding=name)
    with pytest.raises(DataError, match="not punycode text"):
        read_table(write("t.csv", "a,b\n1,2\n"), encoding="punycode")


def test_headers_may_be_denied_or_claimed(write):
    """A person decides whether the first row names the columns."""
    path = write("t.csv", "a,b\nc,d\n")
    assert read_table(path).names == ("a", "b")
    table = read_table(path, header=False)
    assert table.names == ("x0", "x1")
    assert table.schema["x0"].labels == ("a", "c")
    numbers = write("n.csv", "1,2\n3,4\n")
    assert read_table(numbers).names == ("x0", "x1")
    assert read_table(numbers, header=True).names == ("1", "2")


def test_bad_rows_are_skipped_and_listed(write):
    """Rows with too few or too many fields, or of another encoding, are counted and listed."""
    path = write("t.csv", b"a,b\n1,2\n3\n4,5,6\n\xff,7\n8,9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_table(path)
    table = read_table(path, skip_bad_rows=True)
    assert table["a"].values.tolist() == [1, 8]
    assert [str(finding) for finding in examine(table)] == [
        "3 rows skipped as requested (too few fields, too many fields, wrong encoding): lines 3, "
        "4, 5"
    ]
    assert read_table(write("u.csv", "a,b\n1,2\n"), skip_bad_rows=True).decisions == ()


def test_bad_json_lines_are_skipped(write):
    """Lines that are no objects are counted and listed too."""
    path = write("t.jsonl", '{"a": 1}\n{"a": \n[1]\n{"a": 2}\n')
    table = read_table(path, skip_bad_rows=True)
    assert table["a"].values.tolist() == [1, 2]
    assert str(table.decisions[0]) == ("2 rows skipped as requested (no JSON object): lines 2, 3")


def test_many_bad_rows_are_cut(write):
    """The first twenty lines are listed."""
    path = write("t.csv", "a,b\n" + "1,2\n3\n" * 50)
    (note,) = read_table(path, skip_bad_rows=True).decisions
    assert note.text.startswith("50 rows skipped as requested (too few fields): lines 3, 5, 7")
    assert note.text.endswith("41, ...")


def zipped(**members):
    """Write a zip file in memory."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["t.zip", "t.csv.zip", "t.csv"])
def test_zip_files(write, name):
    """A zip file with one file is read, by its content and the name of the file in it."""
    table = read_table(write(name, zipped(t__csv="a,b\n1,x\n2,y\n")))
    assert table["a"].values.tolist() == [1, 2]


def test_wrong_zip_files(write):
    """Several files, none, damage and a bomb are errors."""
    with pytest.raises(DataError, match=r"must hold one file, but holds a.csv, b.csv"):
        read_table(write("t.zip", zipped(a__csv="a\n1\n", b__csv="a\n1\n")))
    with pytest.raises(DataError, match="must hold one file, but holds nothing"):
        read_table(write("t.csv.zip", zipped(**{"folder/": ""})))
    content = zipped(a__csv="a,b\n" + "1,2\n" * 1000)
    with pytest.raises(DataError, match="the zip data are damaged"):
        read_table(write("t.zip", content[:60] + b"\0\0\0" + content[63:]))
    with pytest.raises(DataError, match="more than the limit of 1,000 bytes"):
        read_table(write("t.zip", content), max_unzipped_bytes=1000)
    with pytest.raises(DataError, match=r"the extension '.exe' is unknown"):
        read_table(write("t.zip", zipped(a__exe="a")))


@pytest.mark.parametrize(
    "content", [b"a,b\n1,x\n2,y\n", b'{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n', "parquet", "zip"]
)
def test_standard_input(monkeypatch, content):
    """Standard input is read as CSV, JSON lines or Parquet, zipped or not."""
    if content == "parquet":
        stream = io.BytesIO()
        pl.DataFrame({"a": [1, 2], "b": ["x", "y"]}).write_parquet(stream)
        content = stream.getvalue()
    elif content == "zip":
        content = zipped(t__csv="a,b\n1,x\n2,y\n")
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    source = open_table("-")
    assert source.path == "standard input"
    table = read_table(source)
    assert table["a"].values.tolist() == [1, 2]
    assert table.schema["b"].labels == ("x", "y")


def test_several_parquet_files(tmp_path):
    """Wildcards name Parquet files with the same columns; their rows follow each other."""
    for k in range(3):
        pl.DataFrame({"a": [float(k), k + 0.5], "b": ["x", None]}).write_parquet(
            tmp_path / f"part{k}.parquet"
        )
    table = read_table(f"{tmp_path}/part*.parquet")
    assert table["a"].values.tolist() == [0, 0.5, 1, 1.5, 2, 2.5]
    assert table["b"].is_missing.tolist() == [False, True] * 3


def test_wrong_sets_of_files(tmp_path):
    """Other columns, other formats and no files at all are errors that name the file."""
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "p0.parquet")
    pl.DataFrame({"b": [1]}).write_parquet(tmp_path / "p1.parquet")
    with pytest.raises(DataError, match=r"p1.parquet: its columns differ from the columns of .*p0"):
        read_table(f"{tmp_path}/p*.parquet")
    with pytest.raises(DataError, match="no file has such a name"):
        read_table(f"{tmp_path}/q*.parquet")
    (tmp_path / "p.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"several files must be Parquet, but .*p.csv is not"):
        read_table(f"{tmp_path}/p*")


def workbook(tmp_path, rows):
    """Write a workbook and give its path."""
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    return tmp_path / "t.xlsx"


def test_excel(tmp_path):
    """Numbers, text, truth values, dates and codes of the first sheet are read."""
    day = datetime.datetime(2024, 3, 1)
    rows = [["a", "b", "c", "d", None, None], [1, "x", True, day, 5, None]]
    rows += [["n/a", "y", False, None, 6, None], [2.5, " ", None, day, None, None], [None] * 6]
    table = read_table(workbook(tmp_path, rows))
    assert table.names == ("a", "b", "c", "d", "x4")
    assert [column.kind for column in table.schema] == [
        "numeric",
        "nominal",
        "nominal",
        "date",
        "numeric",
    ]
    np.testing.assert_array_equal(table["a"].values, [1, np.nan, 2.5])
    assert table["b"].values.tolist() == [0, 1, -1]
    assert len(table) == 3
    labels = read_table(tmp_path / "t.xlsx", nominal=["a"]).schema["a"].labels
    assert labels == ("1", "2.5", "n/a")


def test_excel_without_a_header(tmp_path):
    """The first row is data if it is said so."""
    table = read_table(workbook(tmp_path, [[1, 2], [3, 4]]), header=False)
    assert table.names == ("x0", "x1")
    assert len(table) == 2


def test_wrong_excel_files(tmp_path, write, monkeypatch):
    """An empty sheet, another file and an absent library are errors with a remedy."""
    with pytest.raises(DataError, match="first sheet has no rows"):
        read_table(workbook(tmp_path, []))
    with pytest.raises(DataError, match="not a readable Excel file"):
        read_table(write("u.xlsx", "a,b\n1,2\n"))
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(DataError, match=r"needs openpyxl.*rulewright\[excel\]"):
        read_table(write("u.xlsx", "a,b\n1,2\n"))


def test_damaged_zip_files(write):
    """Whatever is changed or cut off, a zip file is read as it was or refused."""
    content = zipped(t__csv="a,b\n" + "".join(f"{k},{k % 7}\n" for k in range(200)))
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(content[: rng.integers(4, len(content) + 1)])
        damaged[rng.integers(4, len(damaged))] ^= 1 << int(rng.integers(8))
        try:
            assert len(read_table(write("t.csv", bytes(damaged)))) == 200
        except DataError:
            continue
