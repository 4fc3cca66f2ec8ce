"""Targets of numbers: what is read, what is refused, and rows to learn from."""

import numpy as np
import pytest

from rulewright.data import DataError, Numbers, RegressionSet, TrainingSet, read_numbers, read_table

X = {"a": [1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    "y", [[1, 2, 3], [1.0, 2.0, 3.0], ["1", " 2.0", "3e0"], np.array([1, 2, 3], np.uint8)]
)
def test_numbers_of_any_type_are_floats(y):
    """Integers, floats and text of numbers give the same target."""
    table = read_table(X, target=y, task="regression")
    assert table.known_numbers.values.tolist() == [1.0, 2.0, 3.0]
    assert table.known_numbers.values.dtype == np.float64


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "A regressor requires y"),
        ([1.0, None, 2.0], r"NaN.*y, row 1 .*is missing: drop the rows"),
        ([1.0, 2.0, np.inf], r"infinity.*y, row 2 .*correct the number or drop the row"),
        ([1.0, 2.0, "see note"], r"needs numbers, but y, row 2 .* holds 'see note'"),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "1d array"),
        ([1.0, 2.0], "inconsistent numbers"),
    ],
)
def test_what_is_no_number_is_refused(y, message):
    """The error names the row and the remedy."""
    with pytest.raises(DataError, match=message):
        read_numbers(y, 3)


def test_a_column_of_a_file_is_named(tmp_path):
    """Errors of files count rows as editors do."""
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,2.5\n2,x\n")
    with pytest.raises(DataError, match=r"t\.csv, column 'y', data row 2 .* holds 'x'"):
        read_table(path, target="y", task="regression")


def test_a_table_has_the_target_of_its_task():
    """Classes are not taken for numbers, nor numbers for classes."""
    numbers, classes = (
        read_table(X, target=[1, 2, 3], task=t) for t in ("regression", "classification")
    )
    with pytest.raises(DataError, match="task='classification'"):
        TrainingSet.of(numbers)
    with pytest.raises(DataError, match="task='regression'"):
        RegressionSet.of(classes)
    with pytest.raises(DataError, match="numbers of the rows are required"):
        RegressionSet.of(read_table(X))


def test_rows_of_weight_zero_are_dropped():
    """As for classes, a weight of 0 takes a row out, and places tell which are left."""
    table = read_table(X, target=[1, 2, 3], weights=[1.0, 0.0, 2.0], task="regression")
    rows = RegressionSet.of(table)
    assert rows.numbers.tolist() == [1.0, 3.0]
    assert rows.places.tolist() == [0, 2]
    assert rows.total_weight == 3.0
    assert isinstance(rows.take(np.array([1])).target, Numbers)
    assert rows.with_weights(np.array([0.0, 1.0])).numbers.tolist() == [3.0]
