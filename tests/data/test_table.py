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


TABLE = read_table(
    {"a": [1.0, None, 3.0], "s": ["x", None, "z"], "y": ["p", "q", "q"], "w": [1, 2, 3]},
    target="y",
    weights="w",
)


@pytest.mark.parametrize(
    ("key", "places"),
    [
        (slice(1, None), [1, 2]),
        ([2, 0], [2, 0]),
        (np.array([2, 2]), [2, 2]),
        ([True, False, True], [0, 2]),
        (np.array([False, True, False]), [1]),
        (-1, [2]),
        ([], []),
        ((np.array([1]), ...), [1]),
    ],
)
def test_rows_are_taken_by_any_index(key, places):
    """Slices, places, masks and a single place give a table of these rows, target and weights."""
    taken = TABLE[key]
    np.testing.assert_array_equal(taken["a"].values, TABLE["a"].values[places])
    assert taken.y.tolist() == [["p", "q", "q"][i] for i in places]
    assert taken.weights.tolist() == [[1, 2, 3][i] for i in places]
    assert taken.shape == (len(places), 2)


def test_rows_that_are_not_there():
    """A place beyond the end and a mask of another length are errors."""
    for key in (3, [0, 3], [True, False]):
        with pytest.raises(IndexError):
            TABLE[key]


def test_columns_are_chosen_by_names():
    """A list of names gives a table of these columns, with the target."""
    chosen = TABLE[["s"]]
    assert chosen.names == ("s",)
    assert chosen.y.tolist() == ["p", "q", "q"]
    assert "s" in chosen
    assert "a" not in chosen
    with pytest.raises(DataError, match="no column 'b'"):
        TABLE[["a", "b"]]


def test_features_and_target():
    """X is the table without target and weights, y the labels or numbers."""
    assert TABLE.X.target is TABLE.X.weights is None
    assert TABLE.X.names == ("a", "s")
    numbers = read_table({"a": [1, 2], "y": [0.5, 1.5]}, target="y", task="regression")
    assert numbers.y.tolist() == [0.5, 1.5]
    with pytest.raises(DataError, match=r"no target: read it with target="):
        _ = TABLE.X.y


def test_roles_keep_their_names():
    """A column that holds the target or the weights is known by its name, arrays have none."""
    assert (TABLE.target_name, TABLE.weights_name) == ("y", "w")
    assert TABLE[:2].target_name == "y"
    again = read_table(TABLE, target=["u", "v", "v"], weights=[1, 1, 1])
    assert (again.target_name, again.weights_name) == (None, None)
    assert read_table(TABLE).target_name == "y"


def test_array_of_numbers_and_of_objects():
    """Numbers become floats, other values objects with None for missing."""
    numbers = read_table({"a": [1, None], "b": [3, 4]})
    array = np.asarray(numbers)
    assert array.dtype == np.float64
    np.testing.assert_array_equal(array, [[1, 3], [np.nan, 4]])
    objects = np.asarray(TABLE)
    assert objects[0].tolist() == [1.0, "x"]
    assert objects[1, 1] is None
    assert np.asarray(TABLE[["s"]], dtype=str).tolist() == [["x"], ["None"], ["z"]]
    with pytest.raises(ValueError, match="copied"):
        np.asarray(numbers, copy=False)


def test_summary_in_one_line():
    """The repr tells size, kinds, missing values, classes by size, and weights."""
    assert repr(TABLE) == (
        "<Table: 3 rows x 2 columns (1 numeric, 1 nominal), 2 missing values, "
        "target y: q 2, p 1, weighted>"
    )
    numbers = read_table({"a": [1, 2], "y": [0.5, 12]}, target="y", task="regression")
    assert repr(numbers) == (
        "<Table: 2 rows x 1 column (1 numeric), nothing missing, target y: 0.5 to 12>"
    )
    many = read_table({"a": np.arange(9)}, target=np.arange(9))
    assert repr(many).endswith("target: 0 1, 1 1, 2 1, 3 1, 4 1 and 4 more classes>")
    assert "target y: q 2, weighted" in repr(TABLE[1:])


def test_html_shows_names_kinds_and_first_rows():
    """The view has a line of names, one of kinds, one of missing values, and five rows at most."""
    html = TABLE._repr_html_()
    assert ">numeric<" in html
    assert html.count(">1 missing<") == 2
    assert '<td>p</td><td class="n">1</td><td>x</td>' in html
    assert html.count("<tr>") == 3 + 3
    wide = read_table({f"c{i}": np.arange(8) for i in range(30)})
    html = wide._repr_html_()
    assert html.count("<tr>") == 3 + 5
    assert ">c19<" in html
    assert ">c20<" not in html
    assert "3 more rows and 10 more columns not shown" in html


def test_html_is_escaped_and_has_no_script():
    """Names, labels and classes cannot end the elements that hold them."""
    evil = '<script>alert(1)</script>\n&"'
    html = read_table({evil: [evil, None], "y": [evil, "b"]}, target="y")._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_html_tells_what_was_decided_on_reading(tmp_path):
    """Codes of missing values and written numbers are listed below the rows."""
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,p\n-999,q\n3,p\n")
    html = read_table(str(path), target="y", missing=-999)._repr_html_()
    assert "read as missing, as requested" in html


def test_head():
    """The first rows, five unless another number is asked for."""
    table = read_table({"a": np.arange(9)})
    assert table.head()["a"].values.tolist() == [0, 1, 2, 3, 4]
    assert len(table.head(20)) == 9
