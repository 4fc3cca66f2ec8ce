"""Tables that are read some rows at a time are read as they are read at once."""

import datetime
import gzip
import json
import math
import zipfile

import numpy as np
import openpyxl
import polars as pl
import pytest

from rulewright.data import (
    DataError,
    FileOptions,
    RowError,
    join_findings,
    open_table,
    read_like,
    read_parts,
    read_table,
)

STREAMED = FileOptions(streamed=True)
N = 23


def numbers(row):
    """Mix plain numbers, those of people and codes of missing values."""
    return ["1.234", "$2,5", "-", "", "$1.000,5", "7"][row % 6]


COLUMNS = {
    "plain": lambda k: k / 4,
    "people": numbers,
    "coerced": lambda k: ["3,5", "see note", "1.000", "4"][k % 4],
    "truth": lambda k: "" if k == 3 else ["True", "false"][k % 2],
    "label": lambda k: ["a", "b, c", "NA", "é"][k % 4],
    "count": lambda k: "" if k % 5 == 0 else k % 3,
    "day": lambda k: "n/a" if k > 20 else f"2024-03-{k + 1:02}",
    "written": lambda k: f"{k + 1}.4.2024" if k % 3 else "",
    "late": lambda k: "first" if k < 12 else "second",
}
SAID = {
    "numeric": ["people", "coerced:coerce"],
    "nominal": ["count"],
    "date": ["written:dmy"],
    "missing": ["late:second"],
}


def csv_of(columns, n_rows=N, delimiter=","):
    def field(value):
        text = str(value)
        return f'"{text}"' if delimiter in text else text

    lines = [columns, *([of(k) for of in columns.values()] for k in range(n_rows))]
    return "\n".join(delimiter.join(map(field, line)) for line in lines) + "\n"


def same(whole, tables):
    """Compare the columns of a table with those of its parts, bit by bit."""
    for at, column in enumerate(whole.columns):
        found = np.concatenate([table.columns[at].values for table in tables])
        assert found.dtype == column.values.dtype
        assert found.tobytes() == np.ascontiguousarray(column.values).tobytes(), column.schema.name


def check(path, schema, needed=None, sizes=(5, 8)):
    whole = read_like(path, schema, needed)
    for n_rows in sizes:
        parts = [*read_parts(open_table(path, options=STREAMED), schema, needed, n_rows=n_rows)]
        assert [len(table) for table, _ in parts[:-1]] == [n_rows] * (len(parts) - 1)
        same(whole, [table for table, _ in parts])
        notes = [note for table, _ in parts for c in table.columns for note in c.decisions]
        expected = [note for c in whole.columns for note in c.decisions]
        assert {n.text for n in join_findings(notes)} == {n.text for n in expected}
    return whole


@pytest.mark.parametrize("delimiter", [",", ";"])
def test_delimited_files(write, delimiter):
    """Types, decimal marks and codes of columns are those of the whole file."""
    path = write("t.csv", csv_of(COLUMNS, delimiter=delimiter).encode())
    whole = check(path, read_table(path, **SAID).schema)
    assert whole["people"].values[:6].tolist() == pytest.approx(
        [1234, 2.5, math.nan, math.nan, 1000.5, 7], nan_ok=True
    )


@pytest.mark.parametrize("suffix", ["gz", "zip"])
def test_zipped_files(write, tmp_path, suffix):
    """Zipped files are split too."""
    text = csv_of(COLUMNS).encode()
    schema = read_table(write("t.csv", text), **SAID).schema
    path = tmp_path / f"t.csv.{suffix}"
    if suffix == "gz":
        path.write_bytes(gzip.compress(text))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("t.csv", text)
    check(path, schema, sizes=(4,))


def test_decimal_marks_of_other_columns(write):
    """One decimal comma explains all commas of a file, also those of earlier parts."""
    path = write("t.tsv", b"a\tb\n1,234\t1\n5,678\t2\n9,876\t0,5\n")
    schema = read_table({"a": [1.0, 2.0], "b": [1.0, 2.0]}).schema
    assert check(path, schema, sizes=(1, 2))["a"].values.tolist() == [1.234, 5.678, 9.876]


def test_parquet_files(tmp_path):
    """Integers with gaps, decimals, dates and labels; several files are one table."""
    days = [None if k == 4 else datetime.date(2024, 1, k + 1) for k in range(N)]
    frame = pl.DataFrame(
        {
            "n": [None if k % 7 == 0 else k for k in range(N)],
            "x": [k / 3 for k in range(N)],
            "d": pl.Series([k * 10 for k in range(N)]).cast(pl.Decimal(12, 0)),
            "day": days,
            "truth": [None if k == 9 else k % 2 == 0 for k in range(N)],
            "label": [None if k == 2 else "ab"[k % 2] for k in range(N)],
            "text": [f"{k},5" for k in range(N)],
        }
    )
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=6)
    frame[:9].write_parquet(tmp_path / "part0.parquet")
    frame[9:].write_parquet(tmp_path / "part1.parquet")
    schema = read_table(frame, nominal=["d"], numeric=["text:comma"]).schema
    whole = check(tmp_path / "t.parquet", schema)
    several = open_table(tmp_path / "part*.parquet", options=STREAMED)
    parts = [table for table, _ in read_parts(several, schema, n_rows=6)]
    assert [len(table) for table in parts] == [6, 3, 6, 6, 2]
    same(whole, parts)


MIXED = [1, 2.5, True, None, "7", 2**60 + 1, -3, "x", False, 0.1]


@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz", "json"])
def test_json_files(write, suffix):
    """A column of several types has the types of the whole file in each part."""
    records = [{"x": k, "m": MIXED[k % 10], "b": [True, None][k % 2]} for k in range(N)]
    records[11].pop("m")
    records[20]["late"] = "here"
    text = json.dumps(records) if suffix == "json" else "\n".join(map(json.dumps, records))
    data = text.encode()
    path = write(f"t.{suffix}", gzip.compress(data) if suffix.endswith("gz") else data)
    check(path, read_table(path).schema)
    mixed = read_table({"b": [1.0, 2.0], "m": [1.0, 0.5]}).schema
    with pytest.raises(RowError, match="row 2 ") as at_once:
        read_like(path, mixed)
    with pytest.raises(RowError) as in_parts:
        [*read_parts(open_table(path, options=STREAMED), mixed, n_rows=2)]
    assert str(in_parts.value) == str(at_once.value)


def test_other_containers(tmp_path):
    """Workbooks, dataframes and arrays are cut into parts."""
    book = openpyxl.Workbook()
    book.active.append([*COLUMNS])
    for k in range(N):
        book.active.append([of(k) for of in COLUMNS.values()])
    book.save(tmp_path / "t.xlsx")
    said = SAID | {"nominal": ["count", "truth"]}
    check(tmp_path / "t.xlsx", read_table(tmp_path / "t.xlsx", **said).schema, sizes=(5,))
    X = np.arange(12.0).reshape(4, 3)
    check(X, read_table(X).schema, sizes=(3,))
    frame = pl.DataFrame({"a": [1, None, 3], "b": ["u", "v", None]})
    check(frame, read_table(frame).schema, sizes=(2,))


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (lambda k: "lots" if k == 17 else k, {"numeric": ["x:thousands"]}),
        (lambda k: "inf" if k == 17 else k, {}),
        (lambda k: "1.13.2024" if k == 17 else f"{k + 1}.1.2024", {"date": ["x:dmy"]}),
        (lambda k: "soon" if k == 17 else "2024-01-01", {"date": ["x"]}),
    ],
)
def test_errors_name_the_row_of_the_file(write, column, said):
    """The row is counted from the start of the file, and the error is that of reading at once."""
    clean = write("clean.csv", csv_of({"x": lambda k: column(0)}).encode())
    path = write("t.csv", csv_of({"x": column}).encode())
    schema = read_table(clean, **said).schema
    with pytest.raises(RowError, match=r"row 17 \(counting from 0\)") as at_once:
        read_like(path, schema)
    with pytest.raises(RowError) as in_parts:
        [*read_parts(open_table(path, options=STREAMED), schema, n_rows=5)]
    assert str(in_parts.value) == str(at_once.value)


def test_units_of_the_whole_column(write):
    """Parts with one unit each are refused together, as they are at once."""
    path = write("t.csv", csv_of({"x": lambda k: f"{k} %" if k > 15 else f"${k}"}).encode())
    schema = read_table({"x": ["1"]}, numeric=["x:thousands"]).schema
    for n_rows in (5, 100):
        with pytest.raises(DataError, match=r"numbers of several units \('\$', '%'\)"):
            [*read_parts(path, schema, n_rows=n_rows)]


def test_parts_hold_the_text_of_the_file(write):
    """Other columns are loaded as they are written, whatever is read as missing."""
    path = write("t.csv", csv_of(COLUMNS).encode())
    schema = read_table(path, **SAID).schema
    parts = [part for _, part in read_parts(path, schema, ["plain"], n_rows=10)]
    found = np.concatenate([part.load(part.positions["late"], "text").values for part in parts])
    assert found.tolist() == [COLUMNS["late"](k) for k in range(N)]


def test_no_rows(write):
    """A table without rows has no parts."""
    schema = read_table({"a": [1.0]}).schema
    assert [*read_parts(write("t.csv", b"a,b\n"), schema, n_rows=3)] == []
