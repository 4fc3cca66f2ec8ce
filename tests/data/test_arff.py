import gzip
import subprocess
import sys

import numpy as np
import pytest

from rulewright.data import ColumnSchema, DataError, read_table

WEATHER = r"""% a comment
@RELATION 'the weather'

@attribute outlook {sunny, overcast, 'very rainy'}
@Attribute 'temp \'C' numeric   % in degrees
@attribute windy{true,false}
@attribute note string
@attribute play {yes, no, perhaps}
@DATA
sunny, 30.5, false, 'it\'s % hot', no
% another comment
'very rainy', ?, true, "say \"no\"", yes  % the end

?, -1e1, ?, '?', yes
"""


def test_dense(write):
    """Declarations, quotes, comments, missing values and unused labels are kept."""
    table = read_table(write("t.arff", WEATHER), target="play")
    assert table.names == ("outlook", "temp 'C", "windy", "note")
    assert table.schema["outlook"].labels == ("sunny", "overcast", "very rainy")
    assert table["outlook"].values.tolist() == [0, 2, -1]
    np.testing.assert_array_equal(table["temp 'C"].values, [30.5, np.nan, -10])
    assert table.schema["windy"] == ColumnSchema("windy", "nominal", ("true", "false"))
    assert table["windy"].values.tolist() == [1, 0, -1]
    assert table.schema["note"].labels == ("?", "it's % hot", 'say "no"')
    assert table["note"].values.tolist() == [1, 2, 0]
    assert table.target.classes.tolist() == ["no", "perhaps", "yes"]
    assert table.target.codes.tolist() == [0, 2, 2]


def test_gzip_and_line_ends(write, assert_same):
    """A gzipped file with other line ends gives the same table."""
    same = gzip.compress(WEATHER.replace("\n", "\r\n").encode())
    assert_same(read_table(write("t.arff.gz", same)), read_table(write("t.arff", WEATHER)))


def test_sparse(write):
    """Omitted values are 0 or the first label, and ? is missing."""
    header = "@relation r\n@attribute a real\n@attribute b {x, y}\n@attribute c integer\n@data\n"
    table = read_table(write("t.arff", header + "{0 2.5, 1 y}\n{ }\n{2 ?,1 'x'} % end\n"))
    assert table["a"].values.tolist() == [2.5, 0, 0]
    assert table["b"].values.tolist() == [1, 0, 0]
    np.testing.assert_array_equal(table["c"].values, [0, 0, np.nan])


def test_values_separated_by_blanks(write):
    """Rows without commas are cut at blanks."""
    header = "@relation r\n@attribute a real\n@attribute b {x, y}\n@data\n"
    table = read_table(write("t.arff", header + "1 x\n2\ty\n"))
    assert table["a"].values.tolist() == [1, 2]


def test_escapes(write):
    """Backslash escapes in quotes are undone."""
    header = "@relation r\n@attribute 'a\\tb' string\n@data\n"
    table = read_table(write("t.arff", header + "'\\u0041\\n\\\\'\n"))
    assert table.names == ("a\tb",)
    assert table.schema["a\tb"].labels == ("A\n\\",)


HEADER = "@relation r\n@attribute a real\n@attribute b {x, y}\n@attribute s string\n@data\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER + "1,x\n", "t.arff, line 6: the row has 2 values for 3 attributes"),
        (HEADER + "1,x,s,t\n", "line 6: the row has 4 values"),
        (HEADER + "1,x,s\nq,x,s\n", "line 7: attribute 'a' is real, but its value is 'q'"),
        (HEADER + "1,z,s\n", "line 6: 'z' is not among the declared labels of attribute 'b'"),
        (HEADER + "1,,s\n", "line 6: a value is empty"),
        (HEADER + "1,'x,s\n", "line 6: cannot read the values"),
        (HEADER + "1,x,s,{5}\n", "instance weights in braces are not supported"),
        (HEADER + "{0 1, 2 s}, {5}\n", "line 6: .*sparse row"),
        (HEADER + "{0 1}\n", "line 6: attribute 's' .string. is omitted"),
        (HEADER + "{7 1}\n", "line 6: cannot read the sparse row"),
        (HEADER + "{0 1, 0 2, 2 s}\n", "line 6: cannot read the sparse row"),
        (HEADER + "{99999999999999999999999 1}\n", "cannot read the sparse row"),
        (HEADER + "{0 \t}\n", "a value is empty"),
        (HEADER + "{x 1}\n", "cannot read the sparse row"),
        (HEADER + "1e999,x,s\n", "infinity: column 'a', row 0"),
        (HEADER, r"0 sample\(s\)"),
        ("@relation r\n@data\n1\n", "the row has 1 values for 0 attributes"),
        ("@relation r\n@attribute a real\n", "there is no @data line"),
        ("a,b\n1,2\n", "line 1: expected @relation, @attribute or @data"),
        ("@attribute d date 'yyyy'\n@data\n1999\n", "attribute 'd' holds dates. Convert it to"),
        ("@attribute d relational\n@data\n", "'d' has the type 'relational'"),
        ("@attribute d\n@data\n", "'d' has the type ''"),
        ("@attribute 'd real\n@data\n", "cannot read the name"),
        ("@attribute d {a, b, a}\n@data\n", "'d' declares a label twice"),
        ("@attribute a real\n@attribute a real\n@data\n1,2\n", "Duplicate column names: 'a'"),
    ],
)
def test_refused_files(write, text, message):
    """Broken files are refused with the line, the attribute and the reason."""
    with pytest.raises(DataError, match=message):
        read_table(write("t.arff", text))


MANY = 1_000_000


HOSTILE_ROWS = [
    "1" + " " * MANY + "x'",
    "1," + " " * MANY + "{",
    "'" + "a" * MANY,
    "'" + "\\\\" * MANY,
    "x" + ", {" * MANY,
    "x" + ", { }" * MANY + "y",
    "x" + "," + "{ " * MANY + "}",
    "x%" + "," * MANY + "'",
    "{0" + " " * MANY + "'",
    "{0 " + "1" * MANY + " " * MANY + "x'}",
    "{" + "9" * MANY + " }",
    "{" + "} " * MANY + "x",
    "1" * MANY + "x, x, s",
    "1." + "1" * MANY + "x, x, s",
    "1e" + "1" * MANY + "x, x, s",
    "1" + " " * MANY + "x, x, s",
]
HOSTILE_DECLARATIONS = [
    "'" + "a" * MANY,
    "a {" + " " * MANY + "'",
    "a {" + "} " * MANY + "x",
    " " * MANY + "{",
]
READ_ALL = """
import sys
from rulewright.data import DataError, read_table
for path in sys.argv[1:]:
    try:
        read_table(path)
    except DataError as error:
        print(str(error)[:500].replace("\\n", " "))
"""


def refusals(write, texts):
    """Read files in one process, which is ended if it takes long; give the errors."""
    paths = [write(f"{i}.arff", text) for i, text in enumerate(texts)]
    command = [sys.executable, "-c", READ_ALL, *paths]
    run = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return run.stdout.splitlines()


def test_hostile_rows_take_linear_time(write):
    """Rows of millions of characters that match almost everything are refused at once."""
    told = refusals(write, [HEADER + line + "\n" for line in HOSTILE_ROWS])
    assert len(told) == len(HOSTILE_ROWS)
    for i, text in enumerate(told):
        assert f"{i}.arff, line 6" in text


def test_hostile_declarations_take_linear_time(write):
    """Declarations of a million characters are refused at once."""
    texts = [f"@attribute x{d}\n@attribute {d}\n@data\n" for d in HOSTILE_DECLARATIONS]
    assert len(refusals(write, texts)) == len(texts)
