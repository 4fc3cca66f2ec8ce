"""Data sets that are made by rule: no file is needed, and every call gives the same rows."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from rulewright.data import Table, read_table
from rulewright.data.optional import optional

_SQUARES = tuple(
    f"{row}-{column}-square"
    for row in ("top", "middle", "bottom")
    for column in ("left", "middle", "right")
)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
_MONKS_SIZES = (3, 3, 2, 3, 4, 2)
# the segments of the digits 0 to 9: top, upper left and right, middle, lower left and right, bottom
_DIGITS = (
    "1110111", "0010010", "1011101", "1011011", "0111010",
    "1101011", "1101111", "1010010", "1111111", "1111011",
)  # fmt: skip


def tic_tac_toe() -> Table:
    """
    Make all final boards of tic-tac-toe in which x moved first: UCI's set, in UCI's order.

    Returns
    -------
    Table
        958 rows, 9 nominal columns with the labels x, o and b (blank); positive: x has won.
    """
    boards = [board for board in product("xob", repeat=len(_SQUARES)) if _is_final(board)]
    # the wins of x stand first, then those of o, then the draws
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
    """
    Make all settings of a balance scale: UCI's set, in UCI's order.

    Returns
    -------
    Table
        625 rows, 4 numeric columns; the class tells whether the scale tips to the left (L), to
        the right (R) or is balanced (B).
    """
    names = ("left-weight", "left-distance", "right-weight", "right-distance")
    rows = np.array(list(product(range(1, 6), repeat=len(names))))
    sides = np.sign(rows[:, 0] * rows[:, 1] - rows[:, 2] * rows[:, 3])
    columns = {name: values.astype(np.float64) for name, values in zip(names, rows.T, strict=True)}
    return read_table(columns, target=np.array(["B", "L", "R"])[sides])


def iris() -> Table:
    """
    Return Fisher's irises as UCI has them.

    scikit-learn's copy follows Fisher's paper, from which UCI's deviates in two rows.

    Returns
    -------
    Table
        150 rows, 4 numeric columns, 3 classes.
    """
    bundled = optional("sklearn.datasets").load_iris()
    rows = bundled.data.copy()
    rows[[34, 37]] = (4.9, 3.1, 1.5, 0.1)
    names = ("sepallength", "sepalwidth", "petallength", "petalwidth")
    classes = np.array([f"Iris-{name}" for name in bundled.target_names])[bundled.target]
    return read_table(dict(zip(names, rows.T, strict=True)), target=classes)


def monks(problem: int, *, noise: float = 0.0, seed: int = 0) -> Table:
    """
    Make all robots of one of the three monks problems: UCI's test file when there is no noise.

    Parameters
    ----------
    problem : {1, 2, 3}
        Which concept: 1 the first two attributes agree or the fifth is 1, 2 exactly two
        attributes are 1, 3 the fifth is 3 and the fourth 1, or the fifth is not 4 and the second
        not 3.
    noise : float
        Share of the rows whose class is inverted; the paper used 0.05 for problem 3.
    seed : int
        Seed that chooses these rows.

    Returns
    -------
    Table
        432 rows, 6 nominal columns; the class is 1 if the robot belongs to the concept, else 0.
    """
    if problem not in (1, 2, 3):
        raise ValueError(f"The monks problems are 1, 2 and 3; there is no {problem!r}.")
    if not 0 <= noise <= 1:
        raise ValueError(f"noise is a share from 0 to 1, got {noise!r}.")
    robots = list(product(*(range(1, size + 1) for size in _MONKS_SIZES)))
    member = np.array([_is_member(problem, robot) for robot in robots])
    n_wrong = round(noise * len(robots))
    member[np.random.default_rng(seed).permutation(len(robots))[:n_wrong]] ^= True
    names = [f"attr{at}" for at in range(1, len(_MONKS_SIZES) + 1)]
    rows = [tuple(map(str, robot)) for robot in robots]
    return _table(names, rows, np.where(member, "1", "0"))


def _is_member(problem: int, robot: Sequence[int]) -> bool:
    a1, a2, _, a4, a5, _ = robot
    if problem == 1:
        return a1 == a2 or a5 == 1
    if problem == 2:
        return robot.count(1) == 2
    return (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3)


def waveform(n_rows: int = 5000, *, irrelevant: int = 0, seed: int = 0) -> Table:
    """
    Draw rows of Breiman's waveform problem: random mixtures of two of three triangular waves.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    irrelevant : int
        Number of columns of pure noise after the 21 of the wave; UCI's second version has 19.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Table
        Numeric columns x1, x2, ... with two decimals, classes 0, 1 and 2.
    """
    random = np.random.default_rng(seed)
    at = np.arange(1, 22)
    waves = np.maximum(6 - np.abs(at - np.array([[11], [15], [7]])), 0)
    classes = random.integers(3, size=n_rows)
    first, second = waves[[0, 0, 1]][classes], waves[[1, 2, 2]][classes]
    share = random.random((n_rows, 1))
    values = random.normal(size=(n_rows, len(at) + irrelevant))
    values[:, : len(at)] += share * first + (1 - share) * second
    columns = {f"x{j}": column for j, column in enumerate(np.round(values, 2).T, start=1)}
    return read_table(columns, target=classes.astype(str))


def led(n_rows: int = 1000, *, noise: float = 0.1, irrelevant: int = 0, seed: int = 0) -> Table:
    """
    Draw rows of the LED problem: read a digit from seven segments that may be wrong.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    noise : float
        Probability that a segment is inverted.
    irrelevant : int
        Number of columns of random bits after the segments; UCI's second version has 17.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Table
        Nominal columns att1, att2, ... with the labels 0 and 1; the classes are the digits.
    """
    random = np.random.default_rng(seed)
    segments = np.array([list(map(int, digit)) for digit in _DIGITS])
    digits = random.integers(10, size=n_rows)
    bits = segments[digits] ^ (random.random((n_rows, segments.shape[1])) < noise)
    bits = np.hstack([bits, random.integers(2, size=(n_rows, irrelevant))])
    names = [f"att{j}" for j in range(1, bits.shape[1] + 1)]
    return _table(names, [tuple(row) for row in bits.astype(str)], digits.astype(str))


def _table(
    names: Sequence[str], rows: Sequence[tuple[str, ...]], classes: Sequence[str] | NDArray[np.str_]
) -> Table:
    columns = {
        name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)
    }
    return read_table(columns, target=classes)
