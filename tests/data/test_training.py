"""TrainingSet: rows to learn from, with nothing optional."""

import numpy as np
import pytest

from rulewright.data import DataError, TrainingSet, read_table


def rows(weights=None):
    X = {"x": [1.0, 2.0, 3.0, 4.0], "color": ["red", None, "blue", "red"]}
    return TrainingSet.of(read_table(X, target=["no", "yes", "yes", "no"], weights=weights))


def test_rows_without_weights_weigh_one():
    """Counts by class are then numbers of rows."""
    assert rows().weights.tolist() == [1.0] * 4
    assert rows().class_weights.tolist() == [2.0, 2.0]


def test_rows_of_weight_zero_are_dropped():
    """Features, classes and weights stay together."""
    kept = rows([2.0, 0.0, 3.0, 0.5])
    assert len(kept) == kept.n_rows == 3
    assert kept.table["x"].values.tolist() == [1.0, 3.0, 4.0]
    assert kept.classes[kept.labels].tolist() == ["no", "yes", "no"]
    assert kept.class_weights.tolist() == [2.5, 3.0]
    assert kept.total_weight == 5.5
    assert kept.places.tolist() == [0, 2, 3]


def test_rows_are_taken_together():
    """Taking rows takes their classes and weights."""
    taken = rows([1.0, 2.0, 3.0, 4.0]).take(np.array([3, 1]))
    assert taken.table["x"].values.tolist() == [4.0, 2.0]
    assert taken.labels.tolist() == [0, 1]
    assert taken.weights_by_class(np.array([True, False])).tolist() == [4.0, 0.0]


def test_other_weights_drop_rows_too():
    """A weight of 0 means that the row is not there."""
    kept = rows([1.0, 0.0, 1.0, 1.0]).with_weights(np.array([0.0, 1.0, 1.0]))
    assert kept.n_rows == 2
    assert kept.places.tolist() == [2, 3]


def test_what_cannot_be_learned_from_is_refused():
    """A table without target, and weights whose sum is infinite."""
    with pytest.raises(DataError, match="with a target"):
        TrainingSet.of(read_table([[1.0], [2.0]]))
    with pytest.raises(DataError, match="sample_weight"):
        rows([1e308] * 4)
