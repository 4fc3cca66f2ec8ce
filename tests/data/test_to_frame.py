"""A table becomes a dataframe, and reading that gives the same table."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from rulewright.data import DataError, read_like, read_table
from rulewright.data.frame import BACKENDS

DAY = datetime.date(2024, 3, 1)
COLUMNS = {
    "number": [1.5, None, 3.0],
    "label": pd.Categorical(["x", None, "z"], ["z", "y", "x"]),
    "flag": [True, False, True],
    "maybe": [True, None, False],
    "day": np.array(["2024-03-01", "NaT", "2024-03-02T12:30"], "M8[ms]"),
    "code": pd.Categorical([7, 1, 7], [7, 1]),
    "y": ["p", "q", "q"],
    "w": [1.0, 2.0, 0.5],
}
TABLE = read_table(COLUMNS, target="y", weights="w")


def same(first, second):
    """Tell whether two tables have equal kinds, values, targets and weights."""
    assert first.names == second.names
    for a, b in zip(first.columns, second.columns, strict=True):
        assert a.schema.kind == b.schema.kind
        kind = a.schema.type
        np.testing.assert_array_equal(kind.raw(a).values, kind.raw(b).values)
        np.testing.assert_array_equal(a.is_missing, b.is_missing)
    return True


@pytest.mark.parametrize("backend", BACKENDS)
def test_round_trip(backend):
    """Kinds, values, classes and weights survive every library."""
    frame = TABLE.to_frame(backend)
    again = read_table(frame, target="y", weights="w")
    assert same(TABLE, again)
    assert again.y.tolist() == TABLE.y.tolist()
    assert again.weights.tolist() == TABLE.weights.tolist()


def test_declared_labels_survive():
    """Labels that no row has are kept where a library can declare them without an order."""
    again = read_table(TABLE.to_frame("pandas"), target="y", weights="w")
    assert again.schema["label"].labels == ("z", "y", "x")
    assert again.schema["flag"] == TABLE.schema["flag"]


def test_types_of_columns():
    """Columns have the types that people expect of each library."""
    pandas, polars, arrow = (TABLE.to_frame(backend) for backend in BACKENDS)
    assert isinstance(pandas, pd.DataFrame)
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert pandas["label"].cat.categories.tolist() == ["z", "y", "x"]
    assert pandas["code"].cat.categories.tolist() == [7, 1]
    assert pandas.dtypes.astype(str)[["flag", "maybe"]].tolist() == ["bool", "boolean"]
    assert pandas["day"][0] == pd.Timestamp(DAY)
    assert polars["number"].to_list() == [1.5, None, 3.0]
    assert polars["day"].dt.date().to_list()[:2] == [DAY, None]
    assert polars["label"].dtype == pl.Categorical
    assert pa.types.is_dictionary(arrow.schema.field("label").type)
    assert arrow["maybe"].to_pylist() == [True, None, False]


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_the_order_of_classes_survives(backend):
    """A target of ordered categories is written as such."""
    grades = pd.Categorical(["low", "top", "low"], ["low", "top", "never"], ordered=True)
    table = read_table({"a": [1, 2, 3], "grade": grades}, target="grade")
    again = read_table(table.to_frame(backend), target="grade")
    assert again.target.declared_order == ("low", "top", "never")
    assert again.y.tolist() == ["low", "top", "low"]


def test_names_of_arrays():
    """A target and weights without names get some, which no column may have."""
    table = read_table({"a": [1, 2]}, target=[0.5, 1], weights=[1, 2], task="regression")
    assert list(table.to_frame("pandas")) == ["a", "target", "weight"]
    with pytest.raises(DataError, match="Duplicate column names: 'target'"):
        read_table({"target": [1, 2]}, target=[0, 1]).to_frame()
    assert list(table.X.to_frame("pandas")) == ["a"]


@pytest.mark.parametrize("backend", BACKENDS)
def test_unseen_labels_are_not_missing(backend):
    """A label that the schema does not know stays a label."""
    table = read_like({**COLUMNS, "label": ["x", None, "new"]}, TABLE.schema, ["label"])
    column = read_table(table.to_frame(backend))["label"]
    assert column.is_missing.tolist() == [False, True, False]


def test_other_libraries_are_refused():
    """A library that is not known is named with those that are."""
    with pytest.raises(ValueError, match="backend must be one of pandas, polars, pyarrow"):
        TABLE.to_frame("spark")
