import dataclasses

import numpy as np
import pytest

from rulewright.data import Column, ColumnSchema, DataError, Table


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


def test_frozen():
    """A table cannot be changed after reading."""
    table = Table((), named=True, n_rows=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.n_rows = 3
