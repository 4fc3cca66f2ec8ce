"""The same data through every container gives the same table."""

import csv
import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from budget import examples
from rulewright.data import read_like, read_table
from rulewright.data.frame import BACKENDS
from rulewright.data.readers.text_rows import MISSING_FIELDS

FEW = examples(15, suppress_health_check=list(HealthCheck))

text = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=4)
# words that a CSV file would take for missing, numbers or booleans start with another letter
labels = text.map(lambda word: "w" + word)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9).map(float)
cells = {
    "number": st.none() | numbers,
    "label": st.none() | labels,
    "boolean": st.none() | st.booleans(),
}


@st.composite
def tables(draw):
    """Draw a dict of columns: names, and rows of one kind per column with missing values."""
    n_rows = draw(st.integers(1, 6))
    names = draw(st.lists(labels, min_size=1, max_size=4, unique_by=str.strip))
    kinds = [draw(st.sampled_from(sorted(cells))) for _ in names]
    column = [st.lists(cells[kind], min_size=n_rows, max_size=n_rows) for kind in kinds]
    return {name: draw(values) for name, values in zip(names, column, strict=True)}


def object_array(columns):
    array = np.empty((len(next(iter(columns.values()))), len(columns)), dtype=object)
    for position, values in enumerate(columns.values()):
        array[:, position] = values
    return array


def write_csv(path, columns, delimiter):
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
        writer.writerow(columns)
        for row in zip(*columns.values(), strict=True):
            writer.writerow("" if value is None else value for value in row)


def quoted(word):
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"


def write_arff(path, columns):
    lines = ["@relation r"]
    for name, values in columns.items():
        numeric = all(value is None or isinstance(value, float) for value in values)
        lines.append(f"@attribute {quoted(name)} {'real' if numeric else 'string'}")
    lines.append("@data")
    for row in zip(*columns.values(), strict=True):
        lines.append(",".join("?" if v is None else quoted(str(v)) for v in row))
    path.write_text("\n".join(lines), encoding="utf-8")


@FEW
@given(tables())
def test_containers_agree(assert_same, columns):
    """Dataframes, object arrays and a dict of columns give equal tables."""
    expected = read_table(columns)
    frame = pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()})
    assert_same(read_table(frame), expected)
    assert_same(read_table(frame.convert_dtypes()), expected)
    assert_same(read_table(pl.DataFrame(columns, strict=False)), expected)
    assert_same(read_table(pa.table(columns)), expected)
    array = read_table(object_array(columns))
    for ours, theirs in zip(array.columns, expected.columns, strict=True):
        np.testing.assert_array_equal(ours.values, theirs.values)
    assert_same(read_like(object_array(columns), expected.schema), expected)


@FEW
@given(tables(), st.sampled_from(",;\t|"))
def test_files_agree(folder, assert_same, columns, delimiter):
    """CSV, Parquet and JSON lines give the table of the dict of columns."""
    expected = read_table(columns)
    write_csv(folder / "t.csv", columns, delimiter)
    assert_same(read_table(folder / "t.csv"), expected)
    pl.DataFrame(columns, strict=False).write_parquet(folder / "t.parquet")
    assert_same(read_table(folder / "t.parquet"), expected)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (folder / "t.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert_same(read_table(folder / "t.jsonl"), expected)


@FEW
@given(tables())
def test_arff_agrees(folder, assert_same, columns):
    """ARFF has no booleans; numbers and text give the table of the dict of columns."""
    kept = {
        name: values
        for name, values in columns.items()
        if not any(isinstance(value, bool) for value in values)
    }
    if kept:
        write_arff(folder / "t.arff", kept)
        assert_same(read_table(folder / "t.arff"), read_table(kept))


@FEW
@given(st.lists(st.none() | labels, min_size=1, max_size=6), st.permutations(["p", "q", "r"]))
def test_declared_labels_agree(folder, assert_same, values, extra):
    """Categories of pandas, an Enum of polars and an ARFF declaration are one thing."""
    declared = [*extra, *dict.fromkeys(value for value in values if value is not None)]
    pandas = read_table(pd.DataFrame({"a": pd.Categorical(values, declared)}))
    assert_same(read_table(pl.DataFrame({"a": pl.Series(values, dtype=pl.Enum(declared))})), pandas)
    listed = ", ".join(map(quoted, declared))
    rows = "\n".join("?" if value is None else quoted(value) for value in values)
    (folder / "d.arff").write_text(
        f"@relation r\n@attribute a {{{listed}}}\n@data\n{rows}\n", encoding="utf-8"
    )
    assert_same(read_table(folder / "d.arff"), pandas)
    assert pandas.schema["a"].labels == tuple(declared)


@FEW
@given(tables())
def test_reading_like_itself_changes_nothing(assert_same, columns):
    """A table read against its own schema is the same table, needed columns included."""
    table = read_table(columns)
    assert_same(read_like(columns, table.schema), table)
    some = table.names[::2]
    assert read_like(columns, table.schema, needed=some).names == some


@FEW
@given(st.lists(st.none() | numbers, min_size=1, max_size=8))
def test_decimal_comma_agrees(folder, values):
    """Numbers written with a decimal comma are the numbers written with a point."""
    lines = ["a;b", *("" if v is None else repr(v).replace(".", ",") for v in values)]
    (folder / "c.csv").write_text("\n".join([lines[0], *(f"{v};1" for v in lines[1:])]))
    expected = [math.nan if v is None else v for v in values]
    np.testing.assert_array_equal(read_table(folder / "c.csv")["a"].values, expected)


def test_missing_words_are_distinct():
    """The words for missing are listed once each."""
    assert len(set(MISSING_FIELDS)) == len(MISSING_FIELDS)


@given(tables())
@FEW
def test_dataframes_of_a_table(columns):
    """Whatever a table holds is read again from its dataframe of any library."""
    table = read_table(columns)
    for backend in BACKENDS:
        again = read_like(table.to_frame(backend), table.schema)
        for first, second in zip(table.columns, again.columns, strict=True):
            np.testing.assert_array_equal(first.values, second.values)
