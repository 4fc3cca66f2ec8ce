import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.exceptions import DataConversionWarning

from rulewright.data import DataError, read_target, read_weights


def words(**options):
    """Give two labels as a dictionary of pyarrow."""
    return pa.DictionaryArray.from_arrays([1, 0], ["z", "x"], **options)


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
        (np.array(["b", "a"], dtype=object), ["a", "b"], [1, 0]),
        (np.array([3, -1, 3], dtype=np.int16), [-1, 3], [1, 0, 1]),
        ([10, 9], [9, 10], [1, 0]),
        ([True, False], [False, True], [1, 0]),
        ([1.0, 0.0], [0.0, 1.0], [1, 0]),
        ([5, 5], [5], [0, 0]),
        (pd.Series(["x", "y"], dtype="string"), ["x", "y"], [0, 1]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2], [0, 1]),
        (pl.Series([2, 1]), [1, 2], [1, 0]),
        (pa.chunked_array([["q", "p"]]), ["p", "q"], [1, 0]),
        (pa.array(["q", "p"]), ["p", "q"], [1, 0]),
    ],
)
def test_labels_of_any_type(y, classes, codes):
    """Classes are sorted and keep their kind."""
    target = read_target(y)
    assert target.classes.tolist() == classes
    assert target.classes.dtype.kind == np.array(classes).dtype.kind
    assert target.codes.tolist() == codes
    assert target.codes.dtype == np.int32
    assert len(target) == len(codes)


@pytest.mark.parametrize(
    ("y", "classes", "codes"),
    [
        (pd.Series(pd.Categorical(["x"], categories=["z", "x", "a"])), ["a", "x", "z"], [1]),
        (pd.Categorical([2, 1], categories=[3, 2, 1]), [1, 2, 3], [1, 0]),
        (pd.Series([True, True], dtype=pd.CategoricalDtype([True, False])), [False, True], [1, 1]),
        (pl.Series(["x"], dtype=pl.Enum(["z", "x"])), ["x", "z"], [0]),
    ],
)
def test_declared_classes_are_kept_sorted(y, classes, codes):
    """Absent categories are classes too, in sorted order."""
    target = read_target(y)
    assert target.classes.tolist() == classes
    assert target.codes.tolist() == codes


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None"),
        (["a", None], r"Input y contains NaN.*row 1"),
        ([1.0, np.nan], r"Input y contains NaN.*row 1"),
        ([True, None], r"Input y contains NaN.*row 1"),
        (pd.Categorical(["a", None]), r"Input y contains NaN.*row 1"),
        ([1.0, np.inf], "Input y contains infinity .*row 1"),
        ([0.5, 1.0], "Unknown label type: continuous. Maybe you are trying to fit a classifier"),
        ([1, "a"], "Unknown label type"),
        (pd.Categorical([1, 1], categories=[1, "a"]), "Unknown label type"),
        (np.array([1j]), "Complex data not supported"),
        ([datetime.date(2020, 1, 1)], "Dates and times"),
        (np.zeros((2, 2)), r"y should be a 1d array, got an array of shape \(2, 2\)"),
        ([[1], [1, 2]], "argument must be a string"),
        ("abc", "1d array"),
    ],
)
def test_refused_targets(y, message):
    """What cannot be classes is refused in scikit-learn's words."""
    with pytest.raises(ValueError, match=message):
        read_target(y)


def test_lengths_are_compared():
    """A length that differs from the table's is told with both numbers."""
    with pytest.raises(DataError, match="X has 3 rows, but y has 2"):
        read_target([1, 2], n_rows=3)
    with pytest.raises(DataError, match="X has 3 rows, but sample_weight has 2"):
        read_weights([1, 2], 3)


@pytest.mark.parametrize("y", [np.array([[1], [0]]), pd.DataFrame({"y": [1, 0]})])
def test_column_vector_warns(y):
    """A column vector is taken with scikit-learn's warning."""
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        assert read_target(y).codes.tolist() == [1, 0]


@pytest.mark.parametrize("weights", [[1, 2], (1.0, 2.0), pd.Series([1, 2]), pl.Series([1, 2])])
def test_weights(weights):
    """Weights of any container become float64."""
    read = read_weights(weights, 2)
    assert read.dtype == np.float64
    assert read.tolist() == [1, 2]


def test_scalar_weights():
    """A number stands for equal weights."""
    assert read_weights(2, 3).tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -1], "row 1 .* is -1.0"),
        ([1, np.nan], "row 1 .* is nan"),
        ([np.inf, 1], "row 0 .* is inf"),
        ([1, None], "row 1 .* is nan"),
        ([0, 0], "all zero"),
        (["a", "b"], "must be numbers"),
        ([[1], [1]], "Sample weights must be 1D array or scalar"),
    ],
)
def test_refused_weights(weights, message):
    """Weights must be finite, not negative and not all zero."""
    with pytest.raises(DataError, match=message):
        read_weights(weights, 2)


@pytest.mark.parametrize(
    ("y", "order"),
    [
        (pd.Categorical(["b", "c"], categories=["c", "a", "b"], ordered=True), ("c", "a", "b")),
        (pd.Series(pd.Categorical([2, 1], categories=[3, 2, 1], ordered=True)), (3, 2, 1)),
        (pl.Series(["x"], dtype=pl.Enum(["z", "x"])), ("z", "x")),
        (pa.chunked_array([words(ordered=True)]), ("z", "x")),
        (pa.chunked_array([words()]), None),
        (pd.Categorical(["b", "c"], categories=["c", "a", "b"]), None),
        (pd.Categorical([2, 1], categories=[3, 2, 1]), None),
        (["b", "a"], None),
    ],
)
def test_the_order_of_ordered_categories_is_kept(y, order):
    """Ordered categories of pandas and pyarrow and enums of polars declare an order."""
    assert read_target(y).declared_order == order


def test_classes_can_be_ordered():
    """The classes stand in the given order and every row keeps its class."""
    target = read_target(["low", "high", "medium", "low"]).with_order(["low", "medium", "high"])
    assert target.classes.tolist() == ["low", "medium", "high"]
    assert target.codes.tolist() == [0, 2, 1, 0]
    assert target.codes.dtype == np.int32
    numbers = read_target([1, 3, 2]).with_order(["3", 1.0, 2])
    assert numbers.classes.tolist() == [3, 1, 2]
    assert numbers.codes.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["low"], r"lacks 'high'. List all of: 'high', 'low'"),
        (["low", "hihg", "high"], r"has 'hihg', which is not a class .* are: 'high', 'low'"),
        (["low", "high", "low"], "names a class twice"),
        ("low", "must be a list, not 'low'"),
        (3, "must be a list, not 3"),
        ([["low"]], "A label must be"),
    ],
)
def test_refused_orders(order, message):
    """An order lists every class once."""
    with pytest.raises(DataError, match=message):
        read_target(["low", "high"]).with_order(order)
