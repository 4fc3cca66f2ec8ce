from collections import Counter

import numpy as np
import pytest

from rulewright_lab.experiments.generators import (
    balance_scale,
    iris,
    monks,
    tic_tac_toe,
)


def class_counts(table):
    return dict(Counter(table.target.classes[table.target.codes].tolist()))


def labels_of(column):
    return np.array(column.schema.labels)[column.values]


def matrix(table):
    return np.column_stack([column.values for column in table.columns])


def test_tic_tac_toe_has_the_958_final_boards():
    table = tic_tac_toe()
    boards = np.column_stack([labels_of(column) for column in table.columns])
    assert table.names[0] == "top-left-square"
    assert table.names[-1] == "bottom-right-square"
    assert class_counts(table) == {"positive": 626, "negative": 332}
    assert len(np.unique(boards, axis=0)) == 958
    assert all(column.schema.labels == ("b", "o", "x") for column in table.columns)
    # x moves first; when o has won it was o's turn last
    lead = (boards == "x").sum(axis=1) - (boards == "o").sum(axis=1)
    assert set(lead[table.target.codes == 1]) == {1}
    assert set(lead) == {0, 1}


def test_tic_tac_toe_stands_in_the_order_of_uci():
    table = tic_tac_toe()
    boards = ["".join(row) for row in zip(*map(labels_of, table.columns), strict=True)]
    assert boards[0] == "xxxxooxoo"
    assert (table.target.codes[:626] == 1).all()
    assert [at for at, board in enumerate(boards) if "b" not in board and at >= 626] == [
        *range(942, 958)
    ]


def test_balance_scale_is_decided_by_torque():
    table = balance_scale()
    left = table["left-weight"].values * table["left-distance"].values
    right = table["right-weight"].values * table["right-distance"].values
    classes = table.target.classes[table.target.codes]
    assert class_counts(table) == {"L": 288, "R": 288, "B": 49}
    assert (classes == np.select([left > right, left < right], ["L", "R"], "B")).all()
    assert len(np.unique(matrix(table), axis=0)) == 625


def test_iris_has_the_two_rows_of_uci():
    table = iris()
    rows = matrix(table)
    assert class_counts(table) == dict.fromkeys(
        ["Iris-setosa", "Iris-versicolor", "Iris-virginica"], 50
    )
    # UCI's file has this row three times, Fisher's paper once
    assert (rows == (4.9, 3.1, 1.5, 0.1)).all(axis=1).sum() == 3
    assert rows[0].tolist() == [5.1, 3.5, 1.4, 0.2]


@pytest.mark.parametrize(("problem", "members"), [(1, 216), (2, 142), (3, 228)])
def test_monks_concepts_have_their_known_shares(problem, members):
    table = monks(problem)
    assert class_counts(table) == {"1": members, "0": 432 - members}
    assert [len(column.schema.labels) for column in table.columns] == [3, 3, 2, 3, 4, 2]
    assert len(np.unique(matrix(table), axis=0)) == 432


def test_monks_refuses_what_is_none():
    with pytest.raises(ValueError, match="there is no 4"):
        monks(4)


@pytest.mark.parametrize("make", [tic_tac_toe, balance_scale, iris])
def test_every_call_gives_the_same_rows(make):
    first, second = make(), make()
    np.testing.assert_array_equal(matrix(first), matrix(second))
    assert first.schema == second.schema
    assert (first.target.codes == second.target.codes).all()
