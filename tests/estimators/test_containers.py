"""The same rows in any container give the same model, and predict needs only what rules use."""

import functools
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from budget import crossed
from builders import LEARNERS, mixed_table, mlrules
from rulewright.data import DataError

pytestmark = pytest.mark.native

NAMES = ["a", "b", "color", "c", "flag"]


@pytest.fixture(params=LEARNERS.values(), ids=LEARNERS)
def make(request):
    return request.param


@functools.cache
def table():
    """Make a table with all kinds of columns and three classes."""
    rng = np.random.default_rng(0)
    X, y = mixed_table(rng, 80, n_classes=3)
    X["b"] = np.round(4 * X["b"])
    X["flag"] = rng.random(80) < 0.5
    y = np.where(X["flag"] & (rng.random(80) < 0.5), 0, y)
    return X, np.array(["low", "middle", "top"])[y]


@pytest.fixture
def data():
    return table()


@functools.cache
def known(make):
    """Fit the table as a dict of arrays, once."""
    return make().fit(*table())


def as_objects(X):
    """Make one object array of floats, text and booleans."""
    rows = np.empty((80, len(NAMES)), dtype=object)
    for j, name in enumerate(NAMES):
        rows[:, j] = X[name].tolist()
    return rows


def as_csv(X, tmp_path, suffix=".csv"):
    """Write the table with all digits and empty fields for missing values."""
    path = tmp_path / f"table{suffix}"
    pd.DataFrame(X).to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    return str(path)


CONTAINERS = {
    "pandas": lambda X, _: pd.DataFrame(X),
    "pandas categories": lambda X, _: pd.DataFrame(X).astype({"color": "category"}),
    "pandas nullable": lambda X, _: pd.DataFrame(X).convert_dtypes(),
    "polars": lambda X, _: pl.DataFrame({**X, "color": X["color"].tolist()}),
    "polars lazy": lambda X, _: pl.DataFrame({**X, "color": X["color"].tolist()}).lazy(),
    "polars categories": lambda X, _: pl.DataFrame(
        {**X, "color": pl.Series(X["color"].tolist(), dtype=pl.Categorical)}
    ),
    "pyarrow": lambda X, _: pa.table({**X, "color": pa.array(X["color"].tolist())}),
    "lists": lambda X, _: {name: values.tolist() for name, values in X.items()},
    "csv": as_csv,
    "tsv": lambda X, path: as_csv(X, path, ".tsv"),
    "gzip": lambda X, path: as_csv(X, path, ".csv.gz"),
}


@crossed("tables are read alike for all learners", ("make", "container"), LEARNERS, CONTAINERS)
def test_containers_give_the_same_model(data, make, container, tmp_path):
    """A dict of arrays and any other container give equal JSON, and predict alike."""
    X, y = data
    expected, other = known(make), container(X, tmp_path)
    est = make().fit(other, y)
    assert json.dumps(est.model_.content()) == json.dumps(expected.model_.content())
    np.testing.assert_array_equal(est.predict_proba(other), expected.predict_proba(X))
    np.testing.assert_array_equal(expected.predict(other), expected.predict(X))
    assert est.feature_names_in_.tolist() == NAMES


def test_nameless_objects_give_the_same_rules(data, make):
    """An object array has the same rules up to the names of its columns."""
    X, y = data
    rows = as_objects(X)
    est, named = make().fit(rows, y), known(make)
    np.testing.assert_array_equal(est.predict_proba(rows), named.predict_proba(X))
    assert est.model_.columns == tuple(f"x{NAMES.index(n)}" for n in named.model_.columns)
    assert not hasattr(est, "feature_names_in_")
    np.testing.assert_array_equal(est.predict(pd.DataFrame(X)), est.predict(rows))


def test_the_target_and_the_weights_may_be_columns(data, make, tmp_path):
    """Named columns of the table serve as target and weights and are no features."""
    X, y = data
    weights = np.random.default_rng(1).integers(1, 4, 80)
    frame = pd.DataFrame({**X, "y": y, "w": weights})
    expected = make().fit(X, y, sample_weight=weights).model_
    assert make().fit(frame, "y", sample_weight="w").model_ == expected
    path = tmp_path / "all.csv"
    frame.to_csv(path, index=False)
    assert make().fit(path, "y", sample_weight="w").model_ == expected


def test_the_order_of_columns_is_free_at_predict(data, make):
    """Columns are matched by name, others are ignored."""
    X, est = data[0], known(make)
    turned = {"other": ["?"] * 80, **dict(reversed(X.items())), "more": np.arange(80)}
    np.testing.assert_array_equal(est.predict_proba(turned), est.predict_proba(X))


def test_only_used_columns_are_needed(data, make):
    """A column that no rule uses may be absent; a used one is named in the error."""
    X, y = data
    X = {**X, "unused": np.zeros(80)}
    est = make().fit(X, y)
    used = {name: X[name] for name in est.model_.columns}
    assert 0 < len(used) < len(X)
    np.testing.assert_array_equal(est.predict_proba(used), est.predict_proba(X))
    for name in used:
        with pytest.raises(DataError, match=rf"lacks column '{name}'"):
            est.predict({n: v for n, v in X.items() if n != name})


def test_text_in_a_numeric_column_is_named(data, make):
    """The error at predict names column, row and value."""
    X, est = data[0], known(make)
    assert "a" in est.model_.columns
    wrong = {**X, "a": ["1.5", "much", *["0"] * 78]}
    with pytest.raises(DataError, match=r"'a'.*row 1.*'much'"):
        est.predict(wrong)


def test_an_unseen_category_fails_equal_and_satisfies_unequal():
    """It is not missing: `color != red` covers it, `color = red` does not."""
    X = {"color": ["red", "green", "blue"] * 30}
    y = np.array([1, 0, 0] * 30)
    est = mlrules(max_rules=4).fit(X, y)
    texts = {str(rule.body) for rule in est.model_.rules}
    assert texts == {"color = red", "color != red"}
    new = {"color": ["green", "violet", None, "red"]}
    scores = est.decision_function(new)
    assert scores[0] == scores[1] < scores[2] < scores[3]
    assert scores[2] == est.model_.intercepts[1] - est.model_.intercepts[0]


LABELS = {
    f"{name}-{'list' if as_list else 'array'}": (labels, kind, as_list)
    for as_list in (False, True)
    for name, labels, kind in (
        ("text", ["no", "yes", "zero"], "U"),
        ("counts", [3, 7, 10], "i"),
        ("flags", [False, True], "b"),
        ("numbers", [1.0, 2.0, 30.0], "f"),
        ("signed", [-5, 0, 5], "i"),
    )
}


@crossed("labels are coded alike for all learners", ("make", "case"), LEARNERS, LABELS)
def test_labels_of_any_type_come_back(data, make, case):
    """Classes keep their type and their sorted order, from arrays and from lists."""
    X, text = data
    labels, kind, as_list = case
    place = np.minimum(np.unique(text, return_inverse=True)[1], len(labels) - 1)
    y = np.array(labels)[place]
    est = make().fit(X, y.tolist() if as_list else y)
    assert est.classes_.tolist() == sorted(labels)
    assert est.predict(X).dtype.kind == est.classes_.dtype.kind == kind
    assert set(est.predict(X)) <= set(labels)
    same = make().fit(X, place)
    np.testing.assert_array_equal(est.predict_proba(X), same.predict_proba(X))


def test_numbers_named_categorical_are_labels(make):
    """They are labels, and their text and number mean the same at predict."""
    codes = np.arange(80) % 5
    est = make(categorical_features=["code"]).fit({"code": codes}, (codes == 3).astype(int))
    texts = [str(rule.body) for rule in est.model_.rules]
    assert {'code = "3"', 'code != "3"'}.intersection(texts)
    assert not any("<" in text or ">" in text for text in texts)
    for same in (codes, codes.astype(float), [str(code) for code in codes]):
        np.testing.assert_array_equal(est.predict({"code": same}), codes == 3)
    positional = make(categorical_features=[0]).fit(codes[:, None], (codes == 3).astype(int))
    np.testing.assert_array_equal(positional.predict(codes[:, None]), codes == 3)


def test_memory_layout_does_not_matter(make):
    """Rows, columns, views, integers and single floats of one table give one model."""
    rng = np.random.default_rng(2)
    X = np.round(rng.normal(size=(60, 5)), 1).astype(np.float32).astype(float)
    y = (X[:, 1] + X[:, 2] > 0).astype(int)
    wide = np.zeros((60, 10))
    wide[:, ::2] = X
    expected = make().fit(X, y).model_
    for same in (
        np.asfortranarray(X),
        wide[:, ::2],
        X[::-1][::-1],
        X.astype(np.float32),
        X.astype(">f8"),
        X.tolist(),
    ):
        assert make().fit(same, y).model_ == expected
    tenths = np.round(10 * X)
    assert make().fit(tenths.astype(np.int16), y).model_ == make().fit(tenths, y).model_
