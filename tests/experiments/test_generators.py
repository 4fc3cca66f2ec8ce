from collections import Counter

import numpy as np
import pytest

from rulewright.experiments.generators import (
    balance_scale,
    iris,
    led,
    monks,
    tic_tac_toe,
    waveform,
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


def test_monks_noise_inverts_a_share_of_the_classes():
    clean, noisy = monks(3), monks(3, noise=0.05)
    assert (clean.target.codes != noisy.target.codes).sum() == round(0.05 * 432)
    assert (noisy.target.codes == monks(3, noise=0.05).target.codes).all()
    assert (noisy.target.codes != monks(3, noise=0.05, seed=1).target.codes).any()


@pytest.mark.parametrize(
    ("arguments", "words"), [((4, 0.0), "there is no 4"), ((3, 1.5), "noise is a share")]
)
def test_monks_refuses_what_is_none(arguments, words):
    with pytest.raises(ValueError, match=words):
        monks(arguments[0], noise=arguments[1])


def test_waveform_mixes_two_of_three_triangles():
    table = waveform(30_000)
    rows, classes = matrix(table), table.target.codes
    at = np.arange(1, 22)
    waves = [np.maximum(6 - abs(at - peak), 0) for peak in (11, 15, 7)]
    for code, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
        mean = rows[classes == code].mean(axis=0)
        np.testing.assert_allclose(mean, (waves[a] + waves[b]) / 2, atol=0.08)
        # a uniform share has the variance 1/12
        variance = rows[classes == code].var(axis=0)
        np.testing.assert_allclose(variance, 1 + (waves[a] - waves[b]) ** 2 / 12, rtol=0.08)
    assert set(class_counts(table)) == {"0", "1", "2"}
    np.testing.assert_array_equal(rows, np.round(rows, 2))


def test_irrelevant_columns_of_waveform_are_noise():
    table = waveform(5000, irrelevant=19)
    rows = matrix(table)
    assert table.names == tuple(f"x{at}" for at in range(1, 41))
    np.testing.assert_allclose(rows[:, 21:].mean(axis=0), 0, atol=0.07)
    np.testing.assert_allclose(rows[:, 21:].std(axis=0), 1, atol=0.05)


def test_led_without_noise_shows_the_digits():
    table = led(500, noise=0.0)
    shown = np.column_stack([labels_of(column) for column in table.columns])
    digits = table.target.classes[table.target.codes]
    assert "".join(shown[digits == "8"][0]) == "1111111"
    assert "".join(shown[digits == "1"][0]) == "0010010"
    patterns = {("".join(row), digit) for row, digit in zip(shown, digits, strict=True)}
    assert len(patterns) == len({pattern for pattern, _ in patterns}) == 10


def test_led_noise_inverts_each_segment_one_time_in_ten():
    clean, noisy = led(20_000, noise=0.0), led(20_000)
    assert (clean.target.codes == noisy.target.codes).all()
    wrong = (matrix(clean) != matrix(noisy)).mean(axis=0)
    np.testing.assert_allclose(wrong, 0.1, atol=0.01)


def test_led_may_have_irrelevant_columns():
    table = led(5000, irrelevant=17)
    assert len(table.columns) == 24
    np.testing.assert_allclose(matrix(table)[:, 7:].mean(axis=0), 0.5, atol=0.04)


@pytest.mark.parametrize("make", [tic_tac_toe, balance_scale, iris, waveform, led])
def test_every_call_gives_the_same_rows(make):
    first, second = make(), make()
    np.testing.assert_array_equal(matrix(first), matrix(second))
    assert first.schema == second.schema
    assert (first.target.codes == second.target.codes).all()


@pytest.mark.parametrize("make", [waveform, led])
def test_another_seed_gives_other_rows(make):
    assert (matrix(make(100)) != matrix(make(100, seed=1))).any()
