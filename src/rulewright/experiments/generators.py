"""Data sets that are generated exactly: no file is needed."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from rulewright.data import Table, read_table
from rulewright.data.optional import optional

_SQUARES = tuple(
    f"{row}-{column}-square"
    for row in ("top", "middle", "bottom")
    for column in ("left", "middle", "right")
)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_MONKS_SIZES = (3, 3, 2, 3, 4, 2)


def tic_tac_toe() -> Table:
    """Return all final boards of tic-tac-toe in which x moved first: UCI's set, in UCI's order.

    The labels are x, o and b (blank); the class is positive if x has won.
    """
    boards = [board for board in product("xob", repeat=len(_SQUARES)) if _is_final(board)]
    # first the wins of x, then those of o, then the draws
    boards.sort(key=lambda board: (not _has_won(board, "x"), not _has_won(board, "o")))
    classes = ["positive" if _has_won(board, "x") else "negative" for board in boards]
    return _table(_SQUARES, boards, classes)


def _is_final(board: Sequence[str]) -> bool:
    lead = board.count("x") - board.count("o")
    if _has_won(board, "x"):
        return lead == 1 and not _has_won(board, "o")
    return lead == 0 if _has_won(board, "o") else lead == 1 and "b" not in board


def _has_won(board: Sequence[str], player: str) -> bool:
    return any(all(board[at] == player for at in line) for line in _LINES)


def balance_scale() -> Table:
    """Return all settings of a balance scale: UCI's set, in UCI's order.

    The class says whether the scale tips to the left (L), to the right (R) or is balanced (B).
    """
    names = ("left-weight", "left-distance", "right-weight", "right-distance")
    rows = np.array(list(product(range(1, 6), repeat=len(names))))
    sides = np.sign(rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3])
    columns = {name: values.astype(np.float64) for name, values in zip(names, rows.T, strict=True)}
    return read_table(columns, target=np.array(["B", "L", "R"])[sides])


def iris() -> Table:
    """Return Fisher's irises as UCI has them.

    scikit-learn's copy follows Fisher's paper, from which UCI's deviates in two rows.
    """
    bundled = optional("sklearn.datasets").load_iris()
    rows = bundled.data.copy()
    rows[[34, 37]] = (4.9, 3.1, 1.5, 0.1)
    names = ("sepallength", "sepalwidth", "petallength", "petalwidth")
    classes = np.array([f"Iris-{name}" for name in bundled.target_names])[bundled.target]
    return read_table(dict(zip(names, rows.T, strict=True)), target=classes)


def monks(problem: int) -> Table:
    """Return all robots of one of the three monks problems, which is UCI's test file.

    The class is 1 if: in problem 1, the first two attributes agree or the fifth is 1; in 2, exactly
    two attributes are 1; in 3, the fifth is 3 and the fourth 1, or the fifth not 4 and the second
    not 3.
    """
    if problem not in (1, 2, 3):
        raise ValueError(f"The monks problems are 1, 2 and 3; there is no {problem!r}.")
    robots = list(product(*(range(1, size + 1) for size in _MONKS_SIZES)))
    names = [f"attr{at}" for at in range(1, len(_MONKS_SIZES) + 1)]
    rows = [tuple(map(str, robot)) for robot in robots]
    return _table(names, rows, [str(int(_is_member(problem, robot))) for robot in robots])


def _is_member(problem: int, robot: Sequence[int]) -> bool:
    a1, a2, _, a4, a5, _ = robot
    if problem == 1:
        return a1 == a2 or a5 == 1
    if problem == 2:
        return robot.count(1) == 2
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


def _table(names: Sequence[str], rows: Sequence[tuple[str, ...]], classes: Sequence[str]) -> Table:
    columns = {
        name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    return read_table(columns, target=classes)
