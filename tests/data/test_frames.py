import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rulewright.data import ColumnSchema, DataError, read_like, read_parts, read_table


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([1.0, None], "float64"),
        ([1, None], "Int64"),
        ([1.0, None], "Float32"),
        ([1, None], "int64[pyarrow]"),
        ([1, None], object),
        ([Decimal(1), None], object),
        ([1.0, None], "Sparse[float]"),
    ],
)
def test_pandas_numbers(values, dtype):
    """All numeric dtypes of pandas give the same numeric column."""
    table = read_table(pd.DataFrame({"a": pd.Series(values, dtype=dtype)}))
    assert table.schema["a"] == ColumnSchema("a", "numeric")
    np.testing.assert_array_equal(table["a"].values, [1, np.nan])


@pytest.mark.parametrize("dtype", ["object", "string", "str", "category", "string[pyarrow]"])
def test_pandas_text(dtype):
    """All text dtypes of pandas give the same nominal column."""
    table = read_table(pd.DataFrame({"a": pd.Series(["y", None, "x"], dtype=dtype)}))
    assert table.schema["a"] == ColumnSchema("a", "nominal", ("x", "y"))
    assert table["a"].values.tolist() == [1, -1, 0]


@pytest.mark.parametrize("dtype", ["object", "boolean", "bool[pyarrow]", "category"])
def test_pandas_booleans(dtype):
    """All boolean dtypes of pandas give the same nominal column."""
    table = read_table(pd.DataFrame({"a": pd.Series([True, None, False], dtype=dtype)}))
    assert table.schema["a"] == ColumnSchema("a", "nominal", ("false", "true"), "boolean")
    assert table["a"].values.tolist() == [1, -1, 0]


@pytest.mark.parametrize("ordered", [True, False])
def test_declared_labels(ordered):
    """Categories of pandas and an Enum of polars keep their order and unused labels."""
    categories = ["z", "x", "y"]
    pandas = pd.DataFrame({"a": pd.Categorical(["x", None], categories, ordered=ordered)})
    polars = pl.DataFrame({"a": pl.Series(["x", None], dtype=pl.Enum(categories))})
    for frame in (pandas, polars):
        table = read_table(frame)
        assert table.schema["a"].labels == ("z", "x", "y")
        assert table["a"].values.tolist() == [1, -1]


def test_number_categories():
    """Categories that are numbers become number labels in declared order."""
    table = read_table(pd.DataFrame({"a": pd.Categorical([1, 2, None], [2, 1])}))
    assert table.schema["a"] == ColumnSchema("a", "nominal", ("2", "1"), "number")
    assert table["a"].values.tolist() == [1, 0, -1]


def test_encodings_are_no_declarations():
    """A polars Categorical and a pyarrow dictionary are sorted like plain text, nulls kept."""
    polars = pl.DataFrame({"a": pl.Series(["y", None, "x"], dtype=pl.Categorical)})
    arrow = pa.table({"a": pa.array(["y", None, "x"]).dictionary_encode()})
    for frame in (polars, arrow, polars.lazy()):
        table = read_table(frame)
        assert table.schema["a"] == ColumnSchema("a", "nominal", ("x", "y"))
        assert table["a"].values.tolist() == [1, -1, 0]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [1, None]}),
        pl.DataFrame({"a": pl.Series(["1.0", None]).cast(pl.Decimal(4, 1))}),
        pa.table({"a": [1.0, None]}),
        pa.table({"a": pa.array([1, None], pa.int8())}),
    ],
)
def test_polars_and_arrow_numbers(frame):
    """Nulls are NaN in numeric columns of polars and pyarrow."""
    np.testing.assert_array_equal(read_table(frame)["a"].values, [1, np.nan])


@pytest.mark.parametrize("frame", [pl.DataFrame({"a": [None]}), pa.table({"a": pa.nulls(1)})])
def test_null_columns(frame):
    """A column without any value is numeric and all NaN."""
    table = read_table(frame)
    assert table.schema["a"].kind == "numeric"
    assert np.isnan(table["a"].values).all()


MOMENT = datetime.datetime(2020, 1, 1)


def test_intervals_are_labels_with_an_order():
    """What `pandas.cut` gives is read as text: as a category, as intervals and as a target."""
    cut = pd.cut(pd.Series([1, 5, 9, np.nan]), [0, 2, 6, 10])
    bare = pd.Series(pd.arrays.IntervalArray(cut))
    whole, floats = ("(0, 2]", "(2, 6]", "(6, 10]"), ("(0.0, 2.0]", "(2.0, 6.0]", "(6.0, 10.0]")
    for column, labels in ((cut, whole), (bare, floats), (bare.astype("category"), floats)):
        table = read_table(pd.DataFrame({"a": column}))
        assert table.schema["a"].labels == labels
        assert table["a"].values.tolist() == [0, 1, 2, -1]
    new = read_like(pd.DataFrame({"a": cut.iloc[[2]]}), read_table(pd.DataFrame({"a": cut})).schema)
    assert new["a"].values.tolist() == [2]
    target = read_table({"x": [1, 2, 3]}, target=pd.Categorical(cut.iloc[:3])).known_target
    assert target.declared_order == ("(0, 2]", "(2, 6]", "(6, 10]")


BIG = 2**53 + 1


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1, BIG]}),
        pd.DataFrame({"a": pd.array([None, -BIG], dtype="Int64")}),
        pl.DataFrame({"a": [None, BIG]}),
        pa.table({"a": [None, BIG]}),
        {"a": [None, BIG]},
        {"a": np.array([0, 2**64 - 1], dtype=np.uint64)},
        {"a": [None, 10**30 + 1]},
    ],
)
def test_whole_numbers_that_floats_round_are_refused(frame):
    """They are when they are learned from, and exact as labels; later ones are read as floats."""
    with pytest.raises(DataError, match=r"'a', row 1 .*holds -?\d+: .* beyond 2\^53 lose digits"):
        read_table(frame)
    labels = read_table(frame, nominal="a").schema["a"].labels
    assert any(label.lstrip("-") in map(str, (BIG, 2**64 - 1, 10**30 + 1)) for label in labels)
    schema = read_table({"a": [1.0, 2.0]}).schema
    assert abs(read_like(frame, schema)["a"].values[1]) >= 2**53


def test_large_whole_numbers_that_are_exact_are_read():
    """A power of two is a float, and floats are what they are."""
    table = read_table({"a": [2**60, 2**53], "b": [1e300, float(2**53)]})
    assert table["a"].values.tolist() == [2.0**60, 2.0**53]
    assert table.schema["b"].kind == "numeric"


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"when": pd.to_timedelta([1])}),
        pd.DataFrame({"when": pd.period_range("2020", periods=1, freq="D")}),
        pd.DataFrame({"when": pd.Categorical([pd.Timestamp(MOMENT)])}),
        pl.DataFrame({"when": [MOMENT.time()]}),
        pa.table({"when": [MOMENT.time()]}),
    ],
)
def test_times_are_refused_with_a_remedy(frame):
    """Times of day, durations, periods and categories of dates are refused by name."""
    with pytest.raises(DataError, match=r"Dates and times are not supported: column 'when'.*drop"):
        read_table(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"a": [[1]]}),
        pl.DataFrame({"a": [{"b": 1}]}),
        pl.DataFrame({"a": [b"x"]}),
        pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}),
        pd.DataFrame({"a": [[1]]}),
    ],
)
def test_other_types_are_refused(frame):
    """Columns that hold neither numbers nor text are refused by name."""
    with pytest.raises(DataError, match="Column 'a'"):
        read_table(frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ],
)
def test_duplicate_names_are_refused(frame):
    """A column name that occurs twice is named."""
    with pytest.raises(DataError, match="Duplicate column names: 'a'"):
        read_table(frame)


def test_names_that_are_no_strings():
    """They become text, but for the places that pandas counts; a mixture is refused."""
    table = read_table(pd.DataFrame([[1, 2]]))
    assert table.names == ("x0", "x1")
    assert not table.named
    years = read_table(pd.DataFrame([[1, 2]], columns=[2019, 2020]))
    assert years.names == ("2019", "2020")
    assert years.named
    levels = pd.MultiIndex.from_tuples([("income", "mean"), ("age", "")])
    assert read_table(pd.DataFrame([[1, 2]], columns=levels)).names == ("income_mean", "age")
    alike = pd.MultiIndex.from_tuples([("a", "b_c"), ("a_b", "c")])
    assert read_table(pd.DataFrame([[1, 2]], columns=alike)).names == ("x0", "x1")
    with pytest.raises(DataError, match="all strings or all not: 3"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", 3]))


def test_float_columns_of_pandas_are_not_copied():
    """A float64 dataframe is read without copying its block."""
    frame = pd.DataFrame(np.ones((5, 2)), columns=["a", "b"])
    assert np.shares_memory(read_table(frame)["a"].values, frame["a"].to_numpy())


@pytest.mark.parametrize(
    ("index", "names"),
    [
        (range(5, 9), [5, 6, 7, 8]),
        ([10, 20, 20, 30], [10, 20, 20, 30]),
        (["a", "b", "c\n", "d"], ["a", "b", "c\n", "d"]),
        (["a", 1, "b", "c"], ["a", "1", "b", "c"]),
        (pd.MultiIndex.from_product([["x", "y"], [1, 2]]), ["x, 1", "x, 2", "y, 1", "y, 2"]),
        (
            pd.date_range("2024-01-01", periods=4),
            [f"2024-01-0{day} 00:00:00" for day in (1, 2, 3, 4)],
        ),
    ],
)
def test_the_index_names_the_rows(index, names):
    """Names of rows follow them through all ways to take some; the same of a part of a frame."""
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "y": [0, 1, 0, None]}, index=index)
    table = read_table(frame)
    assert table.row_names == names
    assert read_like(frame.iloc[[2, 1]], table.schema).row_names == [names[2], names[1]]
    assert table[[3, 0]].row_names == [names[3], names[0]]
    assert table.part(slice(1, 3)).row_names == names[1:3]
    assert read_table(frame, target="y", drop_unlabelled=True).row_names == names[:3]
    assert [row.row_names for row, _ in read_parts(frame, table.schema, n_rows=3)] == [
        names[:3],
        names[3:],
    ]


def test_rows_of_a_table_keep_their_numbers():
    """Rows without names are called by their place in the table that they are taken from."""
    table = read_table(pl.DataFrame({"a": [1.0, 2.0, 3.0]}))
    assert table.index is None
    assert table[1:][[1]].row_names == [2]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        (pd.Series([0, 1], name="repaid"), "repaid"),
        (pl.Series("repaid", [0, 1]), "repaid"),
        (pd.Series([0, 1], name=7), None),
        (pl.Series([0, 1]), None),
        ([0, 1], None),
    ],
)
def test_a_series_gives_the_target_its_name(target, name):
    """The name of a Series is the name of the target, as that of a column is."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "repaid": [0, 1]})
    assert read_table(frame, target=target).target_name == name
    assert read_table(read_table(frame), target=target).target_name == name
    assert read_table(frame, target="repaid").target_name == "repaid"
    assert list(read_table(frame, target=target).to_frame("pandas")) == ["a", "repaid", "target"]


def test_empty_frames():
    """No rows and no columns are refused like empty arrays."""
    with pytest.raises(DataError, match=r"0 sample\(s\) \(shape=\(0, 1\)\)"):
        read_table(pd.DataFrame({"a": []}))
    with pytest.raises(DataError, match=r"0 feature\(s\) \(shape=\(2, 0\)\)"):
        read_table(pd.DataFrame(index=[0, 1]))


def test_a_series_is_no_table():
    """One column alone is refused as 1-D."""
    for series in (pd.Series([1.0]), pl.Series([1.0])):
        with pytest.raises(DataError, match="Expected 2D array, got 1D"):
            read_table(series)
