import gzip

import numpy as np
import pytest

from rulewright.data import ColumnSchema, DataError, read_like, read_table
from rulewright.data.readers.delimited import sniff
from rulewright.data.readers.text_rows import TextDialect


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("a,b\n1,2\n", TextDialect(",", 2)),
        ("a;b\n1,5;2,5\n", TextDialect(";", 2)),
        ("1,5;2,5\n3,5;4,5\n", TextDialect(";", 2)),
        ("a\tb\n1,2\t3\n", TextDialect("\t", 2)),
        ("a|b|c\n1|2|3\n", TextDialect("|", 3)),
        ('a,b\n"x;y, z",1\n', TextDialect(",", 2)),
        ("a, b\n1, x\n", TextDialect(",", 2, spaced=True)),
        ("a\n1\n", TextDialect(",", 1)),
        ("a,b\n1;2,3\n", TextDialect(",", 2)),
        ("a,b\n1,2\n3,4,5\n", TextDialect(",", 2)),
    ],
)
def test_sniff(text, dialect):
    """The delimiter cuts all records alike; a comma is the last choice."""
    assert sniff(text) == dialect


def test_types_and_missing_fields(write):
    """A column is numeric iff all its known fields are numbers."""
    rows = ["1,x,true,1,,2", "NA,?,False,a,NA,2e1", ",null,,2,nan,-.5", "N/A,y,NULL,?,NaN,NaN"]
    table = read_table(write("t.csv", "n,s,b,m,e,f\n" + "\n".join(rows) + "\n"))
    assert table.named
    np.testing.assert_array_equal(table["n"].values, [1, np.nan, np.nan, np.nan])
    assert table.schema["s"] == ColumnSchema("s", "nominal", ("x", "y"))
    assert table["s"].values.tolist() == [0, -1, -1, 1]
    assert table.schema["b"] == ColumnSchema("b", "nominal", ("false", "true"), "boolean")
    assert table["b"].values.tolist() == [1, 0, -1, -1]
    assert table.schema["m"].labels == ("1", "2", "a")
    assert table.schema["e"].kind == "numeric"
    assert np.isnan(table["e"].values).all()
    np.testing.assert_array_equal(table["f"].values, [2, 20, -0.5, np.nan])


@pytest.mark.parametrize("text", ["1_000", "0x10", "1 2", "--1", "1e"])
def test_what_is_no_number(write, text):
    """One field that is no number makes the column nominal."""
    assert read_table(write("t.csv", f"a\n1\n{text}\n")).schema["a"].kind == "nominal"


def test_quotes(write):
    """Delimiters, quotes and line ends inside quotes belong to the field."""
    path = write("t.csv", '"a, b",c\n"x, ""y""",1\n"u\nv",2\n')
    table = read_table(path)
    assert table.names == ("a, b", "c")
    assert table.schema["a, b"].labels == ("u\nv", 'x, "y"')


def test_decimal_comma(write):
    """With another delimiter a comma is a decimal mark, but never beside points."""
    table = read_table(write("t.csv", "a;b;c;d\n1,5;1.5;1,5;x\n-2;2;2.5;y\n"))
    assert table["a"].values.tolist() == [1.5, -2]
    assert table["b"].values.tolist() == [1.5, 2]
    assert [column.kind for column in table.schema] == ["numeric", "numeric", "nominal", "nominal"]


@pytest.mark.parametrize(
    ("text", "names", "n_rows"),
    [
        ("a,b\n1,2\n", ("a", "b"), 1),
        ("1,x\n2,y\n", ("x0", "x1"), 2),
        ("x,y\nred,round\n", ("x", "y"), 1),
        ("name,2019\nbob,5\n", ("name", "2019"), 1),
        ("bob,19\namy,5\n", ("x0", "x1"), 2),
        ("age,2019\n3,5\n", ("age", "2019"), 1),
        (",color\n0,red\n1,blue\n", ("x0", "color"), 2),
        ("a,,c\n1,2,3\n", ("a", "x1", "c"), 1),
        ("red,?\nblue,round\n", ("x0", "x1"), 2),
        ("3\n", ("x0",), 1),
        ("NA,n\nx,1\n", ("NA", "n"), 1),
    ],
)
def test_header(write, text, names, n_rows):
    """The first line is a header unless it looks like the others."""
    table = read_table(write("t.csv", text))
    assert table.names == names
    assert len(table) == n_rows


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa,b\n1,x\n",
        b"a,b\r\n1,x\r\n",
        b"a,b\r1,x\r",
        b"a,b\n1,x",
        b"\n\na,b\n\n1,x\n\n",
        b"a, b\n1, x\n",
        b"a\tb\n1\tx\n",
        gzip.compress(b"a,b\n1,x\n", mtime=0),
    ],
)
def test_ways_to_write_the_same(write, content):
    """Byte order mark, line ends, blank lines, blanks and gzip change nothing."""
    table = read_table(write("t.csv", content))
    assert table.names == ("a", "b")
    assert table["a"].values.tolist() == [1]
    assert table.schema["b"].labels == ("x",)


def test_number_labels_and_classes_stay_exact(write):
    """Columns named nominal and targets keep whole numbers exact and typed."""
    big = 2**62 + 1
    path = write("t.csv", f"id,y,z\n{big},1,1.0\n{big + 1},2,2\n{big},1,1\n")
    table = read_table(path, nominal=["id"], target="y")
    assert table.schema["id"] == ColumnSchema("id", "nominal", (str(big), str(big + 1)), "number")
    assert table.target.classes.tolist() == [1, 2]
    assert table.target.classes.dtype.kind == "i"
    assert read_table(path, drop=["id"], nominal=["z"]).schema["z"].labels == ("1", "2")


def test_text_labels_that_look_like_numbers(write):
    """At predict time a nominal text column stays text even if all its fields are numbers."""
    schema = read_table(write("t.csv", "a\n01\n1\nx\n")).schema
    table = read_like(write("u.csv", "a\n1\n01\n"), schema)
    assert table["a"].values.tolist() == [1, 0]


def test_names_that_differ_in_case_or_look_like_sql(write):
    """Names are never part of a query, so any name works."""
    names = ["a", "A", "select", 'q"uote', "x'; drop table t; --", "rowid", "c0"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    table = read_table(write("it's.csv", header + "\n" + "1,2,3,4,5,6,7\n"))
    assert table.names == tuple(names)
    assert [column.values[0] for column in table.columns] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("name", ["a[1].csv", "a*.csv", "a?.csv"])
def test_wildcards_in_paths(write, name):
    """A path names one file, even with wildcards in it."""
    write("a1.csv", "b\n2\n")
    assert read_table(write(name, "a\n1\n")).names == ("a",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", "t.csv, line 3: .*1 fields, but 2 are expected"),
        ("a,b\n1,2\n3,4,5\n", "t.csv, line 3: .*3 fields, but 2 are expected"),
        ('a,b\n"x,2\n3,4\n', "t.csv.*: .*quote"),
        ("a,b\r\n1,2\n3,4\r\n", "t.csv: .*line ends .* are inconsistent"),
        ("a,b\n" + "x" * 3_000_000 + ",1\n", "t.csv, line 2: .*[Mm]aximum line size"),
        ("a,a\n1,2\n", "Duplicate column names: 'a'"),
        ("a,b\n", r"0 sample\(s\)"),
        ("a,b\n1,inf\n", "infinity: column 'b', row 0"),
        ("a,b\n1,1e999\n", "infinity: column 'b', row 0"),
        (b"a,b\n" + b"1,2\n" * 30_000 + b"\xe9,2\n", "t.csv.*not UTF-8"),
    ],
)
def test_refused_files(write, content, message):
    """Broken rows are refused with the path, the line and the reason."""
    with pytest.raises(DataError, match=message):
        read_table(write("t.csv", content))


def test_text_named_numeric(write):
    """A field that is no number is named by column, row and value."""
    path = write("t.csv", "a,b\n1,2\nx,3\n")
    with pytest.raises(DataError, match=r"'a' must be numeric, but row 1 .* 'x'"):
        read_table(path, numeric=["a"])


def test_many_rows_keep_their_order(write):
    """Rows come in the order of the file however many threads read it."""
    n_rows = 400_000  # several of the groups that threads share
    content = "a,b\n" + "".join(f"{row},label{row % 7}\n" for row in range(n_rows))
    table = read_table(write("t.csv", content))
    np.testing.assert_array_equal(table["a"].values, np.arange(n_rows))
    np.testing.assert_array_equal(table["b"].values, np.arange(n_rows) % 7)


def test_concatenated_gzip(write):
    """All members of a gzip file are read."""
    content = gzip.compress(b"a,b\n1,x\n") + gzip.compress(b"2,y\n")
    assert read_table(write("t.csv.gz", content))["a"].values.tolist() == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        "2024/1/31",
        "31.01.2024",
        "1/31/2024",
        "1/31/24",
        "31.1.2024 9:05",
    ],
)
def test_written_dates_are_refused(write, text):
    """Dates are recognised the way people write them, with missing fields between them."""
    path = write("t.csv", f"d,x\n{text},1\nNA,2\n{text},3\n")
    with pytest.raises(DataError, match=r"column 'd' are not written as .*d:dmy.* nominal"):
        read_table(path)
    assert read_table(path, nominal=["d"]).schema["d"].labels == (text,)


@pytest.mark.parametrize(
    "text", ["1.2.3", "10.0.0.1", "2024-1", "12-34-5678", "1/2.2024", "2024-01-31 extra", "1/2"]
)
def test_other_texts_are_labels(write, text):
    """Versions, addresses and numbers of things are no dates, nor is a column with other text."""
    table = read_table(write("t.csv", f"d,e\n{text},2024-01-31\n{text},soon\n"))
    assert table.schema["d"].labels == (text,)
    assert table.schema["e"].labels == ("2024-01-31", "soon")


def test_dates_at_predict_time(write):
    """A model that takes dates as labels reads them, and other dates are not looked at."""
    schema = read_table(write("t.csv", "d,x\n2024-01-31,1\n"), nominal=["d"]).schema
    new = write("new.csv", "x,d,e\n1,2024-01-31,2024-01-31\n2,2024-02-01,2024-01-31\n")
    assert read_like(new, schema)["d"].values.tolist() == [0, -2]


@pytest.mark.parametrize("mark", [";", "|", "\t"])
def test_a_delimiter_inside_a_quoted_name_is_not_the_delimiter(write, mark):
    """A wrong delimiter that ends in an open quote does not win."""
    table = read_table(write("t.csv", f'a,"b{mark}"\n1.0,-6\n2,3\n'))
    assert table.names == ("a", f"b{mark}")
    assert table["a"].values.tolist() == [1.0, 2.0]


def test_whole_numbers_of_a_file_that_floats_round_are_refused(write):
    """The text of the file is exact: as labels they are what they are."""
    path = write("t.csv", "id,x\n9007199254740993,1e300\n2,3\n,4\n")
    with pytest.raises(DataError, match=r"'id', row 0 .*holds 9007199254740993: .*lose digits"):
        read_table(path)
    assert read_table(path, nominal="id").schema["id"].labels == ("2", "9007199254740993")
    exact = write("u.csv", "id,x\n9007199254740992,1e300\n2,3\n,4\n")
    table = read_table(exact)
    np.testing.assert_array_equal(table["id"].values, [2.0**53, 2.0, np.nan])
    assert read_like(path, table.schema)["id"].values[0] == 2.0**53
