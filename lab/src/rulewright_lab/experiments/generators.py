"""Data sets that are generated exactly: no file is needed."""

from collections.abc import Sequence
from itertools import product

import numpy as np

from rulewright.data import Table, optional, read_table

_SQUARES = tuple(
    f"{row}-{column}-square"
    for row in ("top", "middle", "bottom")
    for column in ("left", "middle", "right")
)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_MONKS_SIZES = (3, 3, 2, 3, 4, 2)

_N_FACTORS = 13
"""Factors behind the 39 columns of the supernova surrogate; column i belongs to factor i % 13."""

_SUPERNOVA_ALONE = (0, 14, 28, 3, 17, 31, 6, 1, 15)
"""Relevant columns that make a rule of one condition..."""

_SUPERNOVA_PAIRS = ((2, 13), (16, 27), (30, 4), (5, 26), (18, 29), (32, 19))
"""...and those that make rules of two, of different factors."""

SUPERNOVA_RELEVANT = tuple(
    f"x{i + 1}"
    for i in sorted([*_SUPERNOVA_ALONE, *(i for pair in _SUPERNOVA_PAIRS for i in pair)])
)
"""The 21 columns of the supernova surrogate on which its classes depend."""


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


def supernova_surrogate(n_rows: int = 5000, random_state: int = 0) -> Table:
    """Return made-up measurements of 39 columns, of which 21 tell supernovae from other objects.

    It stands for a private set of the same shape. Columns of a factor correlate by 0.5 and have
    different scales and distributions; the factors of relevant columns and those of noise are
    independent. Nine rules of one condition and six of two add to the score of a row between 2 and
    4, in turn for and against; with logistic noise on top, the upper half are supernovae.
    """
    random = np.random.RandomState(random_state)
    n_columns = 3 * _N_FACTORS
    factors = random.normal(size=(n_rows, _N_FACTORS))
    own = random.normal(size=(n_rows, n_columns))
    z = np.sqrt(0.5) * (np.tile(factors, 3) + own)
    score = random.logistic(size=n_rows)
    bodies = [(i,) for i in _SUPERNOVA_ALONE] + [*_SUPERNOVA_PAIRS]
    for place, (body, size) in enumerate(zip(bodies, np.linspace(4, 2, len(bodies)), strict=True)):
        # A condition of a pair holds more often, so that rules of both lengths are as frequent.
        least = (0.3 if place % 3 else -0.3) - 0.6 * (len(body) - 1)
        score += (-1) ** place * size * (z[:, body] > least).all(axis=1)
    upper = np.argsort(np.argsort(score)) >= n_rows // 2
    scales = (lambda v: v, np.exp, lambda v: 1e4 + 300 * v, lambda v: np.round(20 * v), np.tanh)
    columns = {f"x{i + 1}": scales[i % 5](z[:, i]) for i in range(n_columns)}
    return read_table(columns, target=np.where(upper, "supernova", "other"))


def _table(names: Sequence[str], rows: Sequence[tuple[str, ...]], classes: Sequence[str]) -> Table:
    columns = {
        name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    return read_table(columns, target=classes)
