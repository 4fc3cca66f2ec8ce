"""Learners of other packages on tables as they are: labels, gaps and classes not seen."""

import numpy as np
import pytest

from rulewright.comparison.rivals import RIVALS_OF_TABLES, TableRival, is_installed
from rulewright.data import read_like, read_table

INSTALLED = [name for name in RIVALS_OF_TABLES if is_installed(name)]


def table():
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    kind = np.array(["a", "b", "c"])[rng.integers(3, size=120)].astype(object)
    y = np.where((x > 0) ^ (kind == "b"), "yes", "no")
    x[::11], kind[::13] = np.nan, None
    return read_table({"x": x, "kind": kind}, target=y)


@pytest.mark.parametrize("name", INSTALLED)
def test_rivals_learn(name):
    """Numbers, labels and gaps are learned from; labels never seen are no error."""
    train = table()
    rival = TableRival(name, 0, {})
    rival.fit(rival.prepare(train))
    new = read_like(
        {"x": [1.0, None, 2.0], "kind": ["b", "new", None]}, train.schema, target=["no"] * 3
    )
    codes, shares = rival.predict(rival.prepare(train), train)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert np.mean(codes == train.target.codes) > (0.5 if name == "logistic" else 0.75)
    assert rival.predict(rival.prepare(new), train.take([0, 1, 2]))[1].shape == (3, 2)
    assert rival.describe() == {}
    assert list(rival.versions()) == [RIVALS_OF_TABLES[name].package]


def test_classes_that_a_fold_lacks():
    """A class without training rows has probability 0."""
    whole = read_table({"x": np.arange(30.0)}, target=["a", "b", "c"] * 10)
    train = whole.take(np.flatnonzero(whole.target.codes != 1))
    rival = TableRival("hgb", 0, {"max_iter": 3})
    rival.fit(rival.prepare(train))
    assert rival.predict(rival.prepare(whole), whole)[1][:, 1].tolist() == [0] * 30


def test_scikit_learn_is_always_there():
    """Three rivals work out of the box."""
    assert INSTALLED[:3] == ["hgb", "forest", "logistic"]
