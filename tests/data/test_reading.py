import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from rulewright.data import DataError, Source, read_like, read_table, recode
from rulewright.data.source import Raw

FRAME = pd.DataFrame(
    {"a": [1.0, 2.0], "s": ["x", "y"], "k": [1, 2], "w": [1.0, 3.0], "y": ["no", "yes"]}
)


def test_target_and_weights_by_name_are_no_features():
    """Named columns leave the features."""
    table = read_table(FRAME, target="y", weights="w")
    assert table.names == ("a", "s", "k")
    assert table.target.classes.tolist() == ["no", "yes"]
    assert table.weights.tolist() == [1, 3]
    assert len(table) == 2


def test_target_and_weights_as_arrays():
    """Arrays come beside the features and must fit them."""
    table = read_table(FRAME, target=[1, 0], weights=[1, 2])
    assert len(table.columns) == 5
    assert table.target.codes.tolist() == [1, 0]
    with pytest.raises(DataError, match="X has 2 rows, but y has 3"):
        read_table(FRAME, target=[1, 0, 1])
    with pytest.raises(DataError, match="X has 2 rows, but sample_weight has 1"):
        read_table(FRAME, weights=[1])


def test_kinds_by_name_and_position():
    """Columns are named nominal or numeric by name or position, counted in X as given."""
    for choice in (["k"], [2], "k", 2, [-3], np.array([2])):
        table = read_table(FRAME, target="y", nominal=choice)
        assert table.schema["k"].label_type == "number"
        assert table.schema["k"].labels == ("1", "2")
    assert read_table(np.ones((2, 2)), nominal=["x1"]).schema["x1"].kind == "nominal"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "q"}, "target='q': there is no such column. There are: a, s"),
        ({"weights": "q"}, "weights='q'"),
        ({"weights": "s"}, "column 's' must be numbers"),
        ({"target": "a", "weights": [-1, 1]}, "not negative: row 0"),
        ({"nominal": ["q"]}, "nominal='q'"),
        ({"numeric": [9]}, "numeric=9: there are only 5 columns"),
        ({"numeric": [True]}, "by name or position, got True"),
        ({"numeric": [1.0]}, "by name or position, got 1.0"),
        ({"nominal": 3.5}, "nominal: expected a list of columns, got 3.5"),
        ({"numeric": ["k"], "nominal": [2]}, "'k' is named both"),
        ({"numeric": ["s"]}, "'s' must be numeric, but row 0 .* 'x'"),
    ],
)
def test_refused_options(options, message):
    """Wrong options are named with the remedy."""
    with pytest.raises(DataError, match=message):
        read_table(FRAME, **options)


def test_only_a_target_is_no_table():
    """A table needs a feature beside its target."""
    with pytest.raises(DataError, match=r"0 feature\(s\) \(shape=\(2, 0\)\)"):
        read_table(FRAME[["y"]], target="y")


def test_one_row_and_constant_columns():
    """One row, a constant column and one class are data."""
    table = read_table(FRAME.iloc[:1], target="y")
    assert len(table) == 1
    assert table.target.classes.tolist() == ["no"]


def test_a_table_is_read_already():
    """A Table keeps its target and weights unless others are given."""
    table = read_table(FRAME, target="y", weights="w")
    same = read_table(table)
    assert same.columns == table.columns
    assert same.target is table.target
    assert same.weights.tolist() == [1, 3]
    other = read_table(table, target=[7, 7], weights=[2, 1])
    assert other.target.classes.tolist() == [7]
    assert other.weights.tolist() == [2, 1]
    assert read_table(read_table(FRAME)).target is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "s"}, "already have their roles and kinds"),
        ({"weights": "w"}, "already have their roles and kinds"),
        ({"nominal": ["k"]}, "nominal, numeric and dropped columns when you read it"),
        ({"numeric": ["k"]}, "nominal, numeric and dropped columns when you read it"),
        ({"drop": ["k"]}, "nominal, numeric and dropped columns when you read it"),
        ({"target": [1]}, "X has 2 rows, but y has 1"),
        ({"weights": [0, 0]}, "all zero"),
    ],
)
def test_a_table_refuses(options, message):
    """Roles and kinds are given when a table is read; arrays must fit it."""
    with pytest.raises(DataError, match=message):
        read_table(read_table(FRAME), **options)


def test_a_table_without_rows_or_weight():
    """What is left of a table after taking rows is checked again."""
    table = read_table(FRAME, weights=[0, 1])
    with pytest.raises(DataError, match="all zero"):
        read_table(table.take(np.array([0])))
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        read_table(table.take(np.array([], dtype=int)))


def test_like_matches_by_name():
    """Order does not matter, others are ignored, only needed columns must be there."""
    schema = read_table(FRAME).schema
    new = pd.DataFrame({"extra": [pd.Timestamp(0)], "s": ["z"], "a": [5]})
    table = read_like(new, schema, needed={"s", "a"})
    assert table.names == ("a", "s")
    assert table["a"].values.tolist() == [5]
    assert table["s"].values.tolist() == [-2]
    assert table.schema["s"] == schema["s"]
    with pytest.raises(DataError, match="X lacks columns 'k', 'w', 'y', which the model needs"):
        read_like(new, schema)
    with pytest.raises(DataError, match=r"X lacks column 'k', .*Its columns are: extra, s, a"):
        read_like(new, schema, needed=["k"])
    with pytest.raises(DataError, match="schema has no column 'q'"):
        read_like(new, schema, needed=["q"])


def test_like_needs_nothing():
    """A model without rules needs no column, only the number of rows."""
    schema = read_table(FRAME).schema
    table = read_like(FRAME[["a"]], schema, needed=[])
    assert table.columns == ()
    assert len(table) == 2


@pytest.mark.parametrize("named", [True, False])
def test_like_matches_by_position_without_names(named):
    """Where one side has no names, columns are counted."""
    array = np.array([[1.0, 2.0], [3.0, 4.0]])
    frame = pd.DataFrame(array, columns=["p", "q"])
    schema = read_table(frame if named else array).schema
    second = schema.names[1]
    table = read_like(array if named else frame, schema, needed=[second])
    assert table[second].values.tolist() == [2, 4]
    message = r"X has 1 features, but \w+ is expecting 2 features as input"
    with pytest.raises(DataError, match=message):
        read_like(array[:, :1], schema)


def test_like_checks_only_needed_columns():
    """An infinite value or text in a column that nobody needs does no harm."""
    schema = read_table(np.ones((2, 2))).schema
    X = np.array([[1.0, np.inf], [2.0, 0.0]])
    assert read_like(X, schema, needed=["x0"])["x0"].values.tolist() == [1, 2]
    with pytest.raises(DataError, match="infinity: column 'x1', row 0"):
        read_like(X, schema)
    with pytest.raises(DataError, match=r"'x1' must be numeric, but row 1 .* 'red'"):
        read_like([[1, 2], [1, "red"]], schema)


def test_like_refuses_shapes():
    """A single row must be 2-D, and there must be one."""
    schema = read_table(np.ones((2, 2))).schema
    with pytest.raises(DataError, match="Reshape your data"):
        read_like(np.ones(2), schema)
    with pytest.raises(DataError, match=r"0 sample\(s\)"):
        read_like(np.ones((0, 2)), schema)


def test_file_at_predict_time(write):
    """A file is read like any other data at predict time."""
    schema = read_table(write("t.csv", "a,s,y\n1,x,no\n2,y,yes\n"), target="y").schema
    table = read_like(write("new.csv", "s,a\ny,5\nq,\n"), schema)
    np.testing.assert_array_equal(table["a"].values, [5, np.nan])
    assert table["s"].values.tolist() == [1, -2]
    with pytest.raises(DataError, match=r"new\.csv lacks column 'a', which the model needs"):
        read_like(write("new.csv", "s\ny\n"), schema)
    unnamed = read_table(np.ones((1, 3))).schema
    with pytest.raises(DataError, match=r"new\.csv has 1 features, .* expecting 3 features"):
        read_like(write("new.csv", "s\ny\n"), unnamed)


def test_a_missing_label_in_a_file(write):
    """The row is counted from 1, as an editor does, and the remedy is told."""
    path = write("t.csv", "a,y\n1,no\n2,\n")
    message = r"t\.csv, column 'y', data row 2 .*is missing: drop the rows"
    with pytest.raises(DataError, match=message):
        read_table(path, target="y")


def test_input_is_not_changed():
    """Reading leaves the input as it was."""
    frame = FRAME.copy()
    read_table(frame, target="y", nominal=["k"])
    pd.testing.assert_frame_equal(frame, FRAME)


def test_import_is_light():
    """Importing the data room and reading an array imports no heavy library."""
    code = (
        "import sys, numpy, rulewright.data as data\n"
        "data.read_table(numpy.ones((3, 2)), target=[0, 1, 0])\n"
        "heavy = {'duckdb', 'narwhals', 'pandas', 'polars', 'pyarrow', 'sklearn'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


LABELS = {"s": ["a", "b", None, "c"], "n": [1.0, 2.0, None, 4.0]}


def test_a_table_is_recoded_by_label():
    """Equal labels get the codes of the schema, unknown ones -2, and missing stays missing."""
    schema = read_table({"s": ["b", "x", "a"], "n": [1.0, 2.0, 3.0]}).schema
    table = read_table(LABELS, target=[0, 1, 0, 1])
    recoded = recode(table, schema)
    assert recoded.schema == schema
    assert recoded["s"].values.tolist() == [0, 1, -1, -2]
    assert recoded["n"] is table["n"]
    assert recoded.target is table.target
    again = recode(recoded, table.schema)
    assert again["s"].values.tolist() == [0, 1, -1, -2]


def test_a_table_is_recoded_across_kinds():
    """Numbers become labels and labels numbers, as if the values were read with the schema."""
    schema = read_table(LABELS, nominal=["n"]).schema
    numeric = read_table({"s": ["c"], "n": [4.0]})
    nominal = read_table({"s": ["c"], "n": [4.0]}, nominal=["n"])
    assert recode(numeric, schema)["n"].values.tolist() == [2]
    assert recode(nominal, numeric.schema)["n"].values.tolist() == [4.0]
    unseen = read_like({"s": ["c"], "n": [7.0]}, schema)
    with pytest.raises(DataError, match=r"'n' must be numeric, but row 0 .*unseen label"):
        recode(unseen, numeric.schema)


def test_a_table_is_matched_by_position_without_names():
    """Columns match by position if only one side has names, and their number must agree."""
    schema = read_table({"a": [1.0, 2.0], "b": ["x", "y"]}).schema
    table = read_table(np.array([[5.0, "y"]], dtype=object))
    recoded = recode(table, schema)
    assert recoded.names == ("a", "b")
    assert recoded["b"].values.tolist() == [1]
    with pytest.raises(DataError, match="3 features, but RuleModel is expecting 2"):
        recode(read_table(np.zeros((1, 3))), schema)


def test_like_reads_target_and_weights_too():
    """Classes and weights come with the columns of the schema; other columns are not read."""
    rows = {"when": [np.datetime64("2020-01-01")] * 2, "a": [1, 2], "y": ["p", "q"], "w": [1, 2]}
    schema = read_table({"a": [0.5]}).schema
    table = read_like(rows, schema, target="y", weights="w")
    assert table.names == ("a",)
    assert table.target.classes.tolist() == ["p", "q"]
    assert table.weights.tolist() == [1, 2]
    other = read_like(table, schema, target=[3, 3])
    assert other.target.classes.tolist() == [3]
    assert other.weights.tolist() == [1, 2]


def test_dropped_columns_are_not_loaded():
    """A dropped column is never loaded, whatever it holds."""
    loaded = []

    def load(position, wanted):
        loaded.append(position)
        return Raw(np.array([1.0, 2.0]))

    source = Source(("a", "b", "y"), True, 2, load)
    table = read_table(source, target="y", drop=["a"])
    assert table.names == ("b",)
    assert sorted(loaded) == [1, 2]


@pytest.mark.parametrize(
    ("drop", "message"),
    [
        (["a", "b"], "drop: no column is left"),
        (["y"], "drop: 'y' is the column of the target"),
        (["z"], "drop='z': there is no such column"),
    ],
)
def test_refused_drops(drop, message):
    """The target cannot be dropped, and something must be left to learn from."""
    with pytest.raises(DataError, match=message):
        read_table({"a": [1, 2], "b": [1, 2], "y": [0, 1]}, target="y", drop=drop)
