"""Signs that a fit warns of: leaks, copies of the target, ids, a constant target."""

import numpy as np
import pytest
from sklearn import datasets

from rulewright.data import find_signs, read_table

N = 200
RNG = np.random.default_rng(0)
NOISE = {f"noise{k}": RNG.normal(size=N) for k in range(3)}
Y = np.array(["no", "yes"])[(RNG.random(N) < 0.3).astype(int)]
NUMBER = RNG.normal(size=N).round(3)


def signs(y=Y, task="classification", **columns):
    """Give kind and column of what is found about columns beside noise."""
    found = find_signs(read_table({**NOISE, **columns}, target=y, task=task))
    return [(one.kind, one.column) for one in found]


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("copy", np.where(Y == "yes", "bad", "good")),
        ("copy", (Y == "yes").astype(float)),
        ("leak", np.where(Y == "yes", 5.0, 0.0) + RNG.random(N)),
        ("leak", np.where(Y == "yes", RNG.integers(0, 4, N), RNG.integers(4, 9, N))),
        ("leak", np.where(RNG.random(N) < 0.003, "z", np.where(Y == "yes", "u", "v"))),
        ("row number", np.arange(N)),
        ("row number", RNG.permutation(int(1.4 * N))[:N] + 1000.0),
        ("id", [f"c{k}" for k in range(N)]),
        ("free text", [f"{k} words in a row" for k in range(N)]),
    ],
)
def test_what_is_suspicious(kind, column):
    """Each sign is found in its column and nowhere else."""
    assert signs(x=column) == [(kind, "x")]


def test_signs_of_numbers():
    """A copy of the number, or the number in another unit; a noisy one is none."""
    assert signs(NUMBER, "regression", x=NUMBER) == [("copy", "x")]
    assert signs(NUMBER, "regression", x=3 * NUMBER + 1) == [("leak", "x")]
    assert signs(NUMBER, "regression", x=NUMBER + 0.2 * RNG.normal(size=N)) == []


def test_a_constant_target_is_the_only_sign():
    """Where there is nothing to learn, columns do not matter."""
    assert signs(np.full(N, "yes"), x=np.arange(N)) == [("constant target", None)]
    assert signs(np.full(N, 2.5), "regression") == [("constant target", None)]


def test_what_is_not_suspicious():
    """Strong columns, scattered whole numbers, few rows, easy classes, a single column."""
    strong = np.where(RNG.random(N) < 0.97, Y == "yes", Y == "no").astype(float)
    years = RNG.integers(0, 120, N).astype(float)
    income = RNG.permutation(20_000)[:N].astype(float)
    assert signs(strong=strong, years=years, income=income) == []
    easy = {f"x{k}": np.where(Y == "yes", 5.0, 0.0) + RNG.random(N) for k in range(4)}
    assert signs(**easy) == []
    assert find_signs(read_table({"x": np.arange(N)}, target=Y)) == []
    few = read_table({name: x[:49] for name, x in NOISE.items()} | {"x": Y[:49]}, target=Y[:49])
    assert find_signs(few) == []


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_known_tables_are_not_suspicious(name):
    """Tables without a leak give no warning, however easy they are."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    task = "regression" if name == "diabetes" else "classification"
    assert find_signs(read_table(X, target=y, task=task)) == []


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
def test_leaks_are_found_by_some_of_many_rows(share):
    """Of 20,000 rows a few hundred lead to the leak, in tables with rare classes as well."""
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < share
    columns = {f"x{k}": rng.normal(size=20_000) for k in range(5)}
    columns["late"] = np.where(y, 3.0, 0.0) + rng.random(20_000)
    found = find_signs(read_table(columns, target=y))
    assert [(one.kind, one.column) for one in found] == [("leak", "late")]
