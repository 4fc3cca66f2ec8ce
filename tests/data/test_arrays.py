import numpy as np
import pytest
from scipy import sparse

from rulewright.data import DataError, DataTypeError, read_like, read_table


def test_float64_columns_are_views():
    """Columns of a float64 array share its memory, in either order and structured."""
    for X in (np.zeros((4, 2)), np.zeros((4, 2), order="F")):
        table = read_table(X)
        assert table.names == ("x0", "x1")
        assert not table.named
        assert all(np.shares_memory(column.values, X) for column in table.columns)
    structured = np.zeros(3, dtype=np.dtype([("a", "f8"), ("b", "i4")], align=True))
    assert np.shares_memory(read_table(structured)["a"].values, structured)


def test_packed_fields_are_aligned():
    """Native code reads aligned numbers only, so the fields of packed records are copied."""
    packed = np.array([(1, 0.5), (2, 1.5)], dtype=[("a", "i1"), ("b", "f8")])
    column = read_table(packed)["b"]
    assert column.values.flags.aligned
    assert column.values.tolist() == [0.5, 1.5]


@pytest.mark.parametrize("dtype", ["i1", "u8", "f2", "f4", "g", ">f8"])
def test_numeric_dtypes(dtype):
    """Every real dtype becomes native float64."""
    table = read_table(np.array([[1, 2], [3, 4]], dtype=dtype))
    assert table["x1"].values.dtype == np.float64
    assert table["x1"].values.tolist() == [2, 4]


def test_boolean_array_is_nominal():
    """Booleans are nominal in any container."""
    assert read_table(np.array([[True], [False]])).schema["x0"].label_type == "boolean"


def test_object_columns_are_typed_one_by_one():
    """Each column of an object array or of nested lists has its own kind."""
    rows = [[1, "a", True, None], [2.5, None, False, None]]
    for X in (rows, tuple(rows), np.array(rows, dtype=object)):
        schema = read_table(X).schema
        assert [c.kind for c in schema] == ["numeric", "nominal", "nominal", "numeric"]
        assert [c.label_type for c in schema] == ["string", "string", "boolean", "string"]


def test_structured_and_dict_have_names():
    """Fields and keys are the column names."""
    structured = np.array([(1.0, "a"), (2.0, "b")], dtype=[("n", "f8"), ("s", "U1")])
    table = read_table(structured)
    assert table.named
    assert table.schema["s"].labels == ("a", "b")
    same = read_table({"n": [1, 2], "s": np.array(["a", "b"])})
    assert same.schema == table.schema


def test_masked_values_are_missing():
    """A mask marks missing values in floats, integers and text."""
    mask = [[False], [True]]
    assert np.isnan(read_table(np.ma.array([[1.0], [2.0]], mask=mask))["x0"].values[1])
    assert np.isnan(read_table(np.ma.array([[1], [2]], mask=mask))["x0"].values[1])
    assert read_table(np.ma.array([["a"], ["b"]], mask=mask))["x0"].values.tolist() == [0, -1]
    with pytest.raises(DataError, match="Masked structured"):
        read_table(np.ma.array([(1,)], dtype=[("a", "i4")]))


def test_array_protocol():
    """Any object that NumPy makes an array of is read."""

    class Wrapped:
        def __array__(self, dtype=None, copy=None):
            return np.ones((2, 3))

    assert len(read_table(Wrapped()).columns) == 3


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.ones(3), "Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2], "Expected 2D array, got 1D array instead"),
        (3.0, "Expected 2D array, got scalar array instead"),
        (np.ones((2, 2, 2)), "Found array with dim 3"),
        (np.ones((2, 1)) * 1j, "Complex data not supported"),
        (np.empty((0, 3)), r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required"),
        (np.empty((12, 0)), r"0 feature\(s\) \(shape=\(12, 0\)\) while a minimum of 1"),
        ({}, r"0 sample\(s\)|0 feature\(s\)"),
        ([[1, 2], [3]], "different lengths|2D array"),
        (np.array([[1.0, np.inf]]), "infinity: column 'x1', row 0"),
        (np.array([[1]], dtype="m8[D]"), "Dates and times .*'x0'.*Convert it"),
        (np.zeros((1, 1), dtype=[("a", "f8")]), "structured array must be 1-D"),
        (np.zeros(1, dtype=[("a", "f8", (2,))]), "Field 'a' must hold one value"),
        ({1: [1]}, "keys of a dict of columns must be strings"),
        ({"a": [1, 2], "b": [1]}, "'a' has 2, 'b' has 1"),
        ({"a": 3}, "Column 'a' must be a list"),
        ({"a": "text"}, "Column 'a' must be a list"),
        ({"a": np.ones((2, 2))}, "Column 'a' must be 1-D"),
    ],
)
def test_refused_arrays(X, message):
    """Wrong shapes and types are refused in scikit-learn's words or by column."""
    with pytest.raises(DataError, match=message):
        read_table(X)


@pytest.mark.parametrize("format_", ["csr", "csc", "coo", "dok", "lil", "dia", "bsr"])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool"])
def test_sparse_gives_the_table_of_its_dense_array(format_, make, dtype):
    """Sparse matrices and arrays of all formats are read as X, and refused as y."""
    dense = np.array([[0, 1], [2, 0], [0, 0]]).astype(dtype)
    X = make(dense).asformat(format_)
    found, expected = read_table(X), read_table(dense)
    assert found.schema == expected.schema
    for name in expected.names:
        np.testing.assert_array_equal(found[name].values, expected[name].values)
    new = read_like(X, expected.schema, ["x1"])
    np.testing.assert_array_equal(new["x1"].values, expected["x1"].values)
    with pytest.raises(DataTypeError, match=r"Sparse .* as y.*toarray"):
        read_table(np.eye(2), target=X)


def test_sparse_cells_that_occur_twice_are_summed_and_some_are_missing():
    """A cell has the value that SciPy gives it, NaN is missing and infinity is refused."""
    twice = sparse.coo_array(([1.0, 2.0, np.nan], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    table = read_table(twice)
    np.testing.assert_array_equal(np.asarray(table), [[3.0, 0.0], [0.0, np.nan]])
    with pytest.raises(DataError, match="infinity: column 'x1', row 0"):
        read_table(sparse.csr_array([[0.0, np.inf]]))
    with pytest.raises(DataError, match="Complex data not supported"):
        read_table(sparse.csr_array([[1j]]))


def test_sparse_matrices_too_large_to_be_dense_are_refused(monkeypatch):
    """The limit holds for the columns that are read: few columns of a wide matrix are fine."""
    huge = sparse.csr_array((1000, 300_000))
    with pytest.raises(DataError, match=r"1,000 rows and 300,000 columns.*200,000,000 cells"):
        read_table(huge)
    monkeypatch.setattr("rulewright.data.reading.MOST_SPARSE_CELLS", 100)
    wide, schema = sparse.csr_array((60, 9)), read_table(sparse.csr_array((1, 9))).schema
    assert read_like(wide, schema, ["x7"])["x7"].values.tolist() == [0.0] * 60
    with pytest.raises(DataError, match=r"60 rows and 2 columns.*100 cells"):
        read_like(wide, schema, ["x7", "x8"])


def test_dict_in_an_object_column():
    """An object that is no value raises a TypeError in NumPy's words."""
    X = np.ones((3, 2)).astype(object)
    X[0, 0] = {"foo": "bar"}
    with pytest.raises(TypeError, match=r"argument must be .* string.* number"):
        read_table(X)


def test_overflowing_sum_is_not_infinity():
    """Huge finite values are data."""
    assert read_table(np.full((3, 1), 1.7e308))["x0"].values[0] == 1.7e308
