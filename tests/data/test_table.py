import dataclasses

import numpy as np
import pytest

from rulewright.data import Column, ColumnSchema, DataError, Table, read_table


def test_lookup():
    """Columns are found by name and the schema follows from them."""
    column = Column(ColumnSchema("a", "numeric"), np.array([1.0, 2.0]))
    table = Table((column,), named=True, n_rows=2)
    assert table["a"] is column
    assert table.names == ("a",)
    assert table.schema.named
    assert len(table) == len(column) == 2
    assert table.target is None
    assert table.weights is None
    with pytest.raises(DataError, match="no column 'b'"):
        table["b"]


def test_take():
    """Rows are taken by position, in any order, with their classes and weights."""
    columns = {"a": [1.0, 2.0, 3.0], "s": ["x", None, "z"]}
    table = read_table(columns, target=["p", "q", "r"], weights=[1, 2, 3])
    taken = table.take(np.array([2, 0, 2]))
    assert len(taken) == 3
    assert taken.schema == table.schema
    assert taken["a"].values.tolist() == [3, 1, 3]
    assert taken["s"].values.tolist() == [1, 0, 1]
    assert taken.target.classes.tolist() == ["p", "q", "r"]
    assert taken.target.codes.tolist() == [2, 0, 2]
    assert taken.weights.tolist() == [3, 1, 3]
    bare = read_table(columns).take(np.array([1]))
    assert bare.target is None
    assert bare.weights is None


def test_frozen():
    """A table cannot be changed after reading."""
    table = Table((), named=True, n_rows=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.n_rows = 3
