from dataclasses import replace

import numpy as np
import pytest

from rulewright import MLRulesClassifier, read_table
from rulewright.cli.training import (
    ColumnRoles,
    loading_once,
    open_training_file,
    read_training,
)
from rulewright.data import detect_task, open_table


def read_file(path, roles):
    """Open and read a table of classes."""
    return read_training(open_training_file(path, roles), roles)[0]


@pytest.fixture(scope="module")
def table(loans):
    return read_file(loans, ColumnRoles("repaid"))


@pytest.fixture
def estimator():
    return MLRulesClassifier(max_rules=10, random_state=0)


def test_learning_from_a_table_is_learning_from_the_file(table, estimator, loans):
    """The table that was read, and rows of it, go into `fit` and `predict` as they are."""
    from_file = estimator.fit(loans, "repaid").model_
    assert estimator.fit(table).model_ == from_file
    rows = np.array([5, 3])
    expected = from_file.predict_proba(loans)[rows]
    assert np.array_equal(estimator.predict_proba(table.take(rows)), expected)


def test_rows_of_weight_zero_teach_nothing(table, estimator):
    """Learning with weights of zero is learning without those rows: folds do not leak."""
    training = np.arange(table.n_rows) % 4 > 0
    masked = estimator.fit(table, sample_weight=training.astype(float)).model_
    alone = estimator.fit(table.take(np.flatnonzero(training))).model_
    assert masked.rules == alone.rules
    assert masked.intercepts == alone.intercepts


def test_given_labels_win_over_those_of_the_table(table, estimator, loans):
    """Labels passed with a table replace its own; without any there is nothing to learn."""
    assert estimator.fit(table, np.arange(800) % 3).classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="requires y to be passed"):
        estimator.fit(read_table(loans))


def test_weights_of_a_table(write):
    """Rows weigh 1 unless the file says otherwise."""
    path = write("t.csv", "x,w,y\n1,2,a\n2,3,b\n")
    table = read_file(path, ColumnRoles("y"))
    assert table.row_weights.tolist() == [1, 1]
    table = read_file(path, ColumnRoles("y", weights="w"))
    assert table.row_weights.tolist() == [2, 3]


def test_the_target_is_loaded_once(loans):
    """To tell what it holds, and to read the table; other columns are loaded when they are read."""
    source, loaded = open_table(loans), []

    def load(at, wanted):
        loaded.append(source.names[at])
        return source.load(at, wanted)

    once = loading_once(replace(source, load=load), "repaid")
    assert detect_task(once, "repaid") == "classification"
    table, _ = read_training(once, ColumnRoles("repaid"))
    assert sorted(loaded) == sorted(source.names)
    np.testing.assert_array_equal(
        table.known_target.codes, read_file(loans, ColumnRoles("repaid")).known_target.codes
    )
