"""Rules of other packages' trees cover the rows that the models themselves send to their nodes.

The files in `models/` hold small LightGBM and XGBoost models, rows around their thresholds, and the
leaves that those packages gave to the rows.
"""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from rulewright.data import DataError, read_table
from rulewright.search import node_rules, rules_from
from rulewright.search.extraction.trees import LARGEST_SINGLE, single_precision_cut

MODELS = Path(__file__).parent / "models"


def numbers(seed, n_rows=150, missing=0.0):
    """Make numbers with few digits, so that many lie on thresholds, and three classes."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)), 1)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] * X[:, 2] > 0.3)
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def probes(model_trees, X):
    """Add rows whose values lie around the thresholds, in double and in single precision."""
    thresholds = np.concatenate([tree.threshold[tree.feature >= 0] for tree in model_trees])
    thresholds = thresholds[np.isfinite(thresholds)]
    single = thresholds.astype(np.float32)
    above, below = np.nextafter(single, np.float32(9)), np.nextafter(single, np.float32(-9))
    middles = [(single.astype(float) + other) / 2 for other in (above, below)]
    values = np.concatenate([thresholds, single, above, below, *middles])
    values = np.concatenate([values, np.nextafter(values, 9), np.nextafter(values, -9)])
    rows = np.random.default_rng(0).choice(values, (len(values), X.shape[1]))
    return np.vstack([X, rows])


EXACT = {
    "tree": DecisionTreeClassifier(random_state=0),
    "regression tree": DecisionTreeRegressor(max_leaf_nodes=6, random_state=0),
    "forest": RandomForestClassifier(n_estimators=5, max_depth=4, random_state=0),
    "extra trees": ExtraTreesRegressor(n_estimators=5, max_depth=4, random_state=0),
}


def check_paths(rules, paths, table):
    """Compare the covers of all nodes of a tree with a decision path of shape (rows, nodes)."""
    assert set(rules) | {0} == set(range(paths.shape[1]))
    for node, rule in rules.items():
        np.testing.assert_array_equal(rule.holds(table), paths[:, node])


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("model", EXACT.values(), ids=EXACT)
def test_rules_follow_decision_paths(model, missing):
    """Every node of every tree covers the rows whose path leads through it."""
    X, y = numbers(1, missing=missing)
    model.fit(X, y)
    members = getattr(model, "estimators_", [model])
    X = probes([tree.tree_ for tree in members], X)
    X[::7, 0] = np.nan  # also where training met none
    table = read_table(X)
    found = [*node_rules(model, table.schema)]
    assert len(found) == len(members)
    for tree, rules in zip(members, found, strict=True):
        check_paths(rules, tree.decision_path(X).toarray().astype(bool), table)


def test_rules_follow_gradient_boosting():
    """Trees of all stages and classes are read."""
    X, y = numbers(2)
    model = GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0).fit(X, y)
    members = model.estimators_.ravel()
    X = probes([tree.tree_ for tree in members], X)
    table = read_table(X)
    found = [*node_rules(model, table.schema)]
    assert len(found) == 9
    for tree, rules in zip(members, found, strict=True):
        check_paths(rules, tree.decision_path(X).toarray().astype(bool), table)


def histogram_frame(seed, n_rows):
    """Make a frame whose nominal column is in the middle."""
    rng = np.random.default_rng(seed)
    X, _ = numbers(seed, n_rows, missing=0.2)
    colors = rng.choice(["red", "green", "blue", "grey"], n_rows).astype(object)
    colors[rng.random(n_rows) < 0.1] = None
    dtype = pd.CategoricalDtype(["red", "green", "blue", "grey"])
    return pd.DataFrame({"a": X[:, 0], "color": pd.Series(colors, dtype=dtype), "b": X[:, 1]})


def test_rules_follow_histogram_boosting():
    """Sums of leaf values over the rules that hold are the model's own raw predictions."""
    X = histogram_frame(3, 300)
    y = X["a"].isna() | ((X["a"] > 0.2) & X["color"].isin(["red", "blue"])) | X["color"].isna()
    model = HistGradientBoostingClassifier(
        max_iter=4, categorical_features="from_dtype", min_samples_leaf=5
    ).fit(X, y)
    table = read_table(X)
    scores = np.full(len(X), float(model._baseline_prediction[0, 0]))
    kinds = set()
    for predictors, rules in zip(model._predictors, node_rules(model, table.schema), strict=True):
        leaves = [node for node in rules if predictors[0].nodes[node]["is_leaf"]]
        covers = np.array([rules[node].holds(table) for node in leaves])
        assert (covers.sum(axis=0) == 1).all()
        scores += predictors[0].nodes["value"][leaves] @ covers
        kinds |= {type(condition).__name__ for rule in rules.values() for condition in rule}
    np.testing.assert_allclose(scores, model.decision_function(X))
    assert {"AnyOf", "Range", "Labels"} <= kinds


def test_numbers_as_categories_of_histogram_boosting():
    """Categories that are numbers are labels of a nominal column."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=200), "k": rng.choice([3, 5, 9, 11], 200)})
    model = HistGradientBoostingClassifier(
        max_iter=1, categorical_features=[1], min_samples_leaf=5, max_leaf_nodes=2
    ).fit(frame, frame["k"].isin([3, 9]))
    schema = read_table(frame.astype({"k": "category"})).schema
    texts = [str(rule) for rule in rules_from(model, schema, missing=False)]
    assert texts in (
        ['k in {"3", "9"}', 'k not in {"3", "9"}'],
        ['k in {"11", "5"}', 'k not in {"11", "5"}'],
    )


def saved(name):
    """Read a model, its rows as a table, and the leaves of the rows."""
    case = json.loads((MODELS / f"{name}.json").read_text())
    rows = case["rows"] | {"c": pd.Categorical(case["rows"]["c"], categories=list("pqrs"))}
    return case, read_table(pd.DataFrame(rows)), np.array(case["leaves"])


def check_leaves(trees, table, leaves, node_of):
    """Compare the rules of leaves with the leaves that a package gave to the rows."""
    trees = [*trees]
    assert len(trees) == leaves.shape[1]
    for rules, reached in zip(trees, node_of(leaves).T, strict=True):
        assert set(np.unique(reached)) <= set(rules)
        for node in np.unique(reached).tolist():
            np.testing.assert_array_equal(rules[node].holds(table), reached == node)


@pytest.mark.parametrize("name", ["nan", "zero", "none"])
@pytest.mark.parametrize("form", ["dump", "json", "text", "booster", "estimator"])
def test_rules_follow_lightgbm(name, form):
    """Missing values, zeros and categories go where LightGBM sends them."""
    case, table, leaves = saved(f"lightgbm_{name}")
    booster = SimpleNamespace(model_to_string=None, dump_model=lambda: case["model"])
    model = {
        "dump": case["model"],
        "json": json.dumps(case["model"]),
        "text": case["text"],
        "booster": booster,
        "estimator": SimpleNamespace(booster_=booster),
    }[form]
    check_leaves(node_rules(model, table.schema), table, leaves, lambda leaf: -1 - leaf)


@pytest.mark.parametrize("form", ["saved", "json", "dump", "booster", "estimator"])
def test_rules_follow_xgboost(form):
    """Strict comparison in single precision, default sides and categories are those of XGBoost."""
    case, table, leaves = saved("xgboost")
    booster = SimpleNamespace(save_raw=lambda _: json.dumps(case["model"]).encode())
    model = {
        "saved": case["model"],
        "json": json.dumps(case["model"]),
        "dump": case["dump"],
        "booster": booster,
        "estimator": SimpleNamespace(get_booster=lambda: booster),
    }[form]
    check_leaves(node_rules(model, table.schema), table, leaves, lambda leaf: leaf)


def test_names_by_place_and_dumps_without_names():
    """Features of unknown names are matched by their places; f1 is the second column."""
    case, table, leaves = saved("xgboost")
    renamed = read_table(
        pd.DataFrame({"x": case["rows"]["a"], "y": case["rows"]["b"]}).assign(
            z=pd.Categorical(case["rows"]["c"], categories=list("pqrs"))
        )
    )
    check_leaves(node_rules(case["model"], renamed.schema), renamed, leaves, lambda leaf: leaf)
    text = json.dumps([json.loads(tree) for tree in case["dump"]])
    for place, name in enumerate("abc"):
        text = text.replace(f'"split": "{name}"', f'"split": "f{place}"')
    check_leaves(node_rules(text, table.schema), table, leaves, lambda leaf: leaf)
    with pytest.raises(DataError, match="'a'"):
        rules_from(case["dump"], renamed.schema)


def test_rules_without_missing_values():
    """With `missing=False` a missing value fails every condition; known values fare the same."""
    X, y = numbers(4, missing=0.2)
    model = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    table = read_table(X)
    plain = {
        node: rule for rules in node_rules(model, table.schema) for node, rule in rules.items()
    }
    (strict,) = node_rules(model, table.schema, missing=False)
    for node, rule in strict.items():
        gone = np.isnan(X[:, [table.schema.index(name) for name in rule.columns]]).any(axis=1)
        np.testing.assert_array_equal(rule.holds(table), plain[node].holds(table) & ~gone)
        assert "(or" not in str(rule)


def test_rules_are_distinct():
    """A node of several trees is one rule."""
    X, y = numbers(5)
    model = RandomForestClassifier(n_estimators=20, max_depth=1, bootstrap=False, random_state=0)
    model.fit(X, y)
    rules = rules_from(model, read_table(X).schema)
    assert len({rule.key for rule in rules}) == len(rules) <= 8


@given(st.floats(width=32, allow_nan=False, allow_infinity=False), st.floats(-1, 1))
def test_cuts_of_single_precision(single, shift):
    """A number is at most the cut just if it is at most the threshold when rounded."""
    threshold = single * (1 + shift * 1e-7)
    if abs(threshold) > LARGEST_SINGLE:
        return
    cut = single_precision_cut(threshold)
    with np.errstate(over="ignore"):
        assert float(np.float32(cut)) <= threshold
        assert float(np.float32(math.nextafter(cut, math.inf))) > threshold


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression().fit([[0.0], [1.0]], [0, 1]),
        DecisionTreeClassifier(),
        BaggingClassifier(max_features=1).fit(*numbers(0, 30)),
        {"no": "model"},
        [],
        "text",
        None,
    ],
    ids=["linear", "unfitted", "bagging", "dict", "list", "text", "none"],
)
def test_other_models_are_refused(model):
    """The error names what can be given."""
    with pytest.raises(TypeError, match="scikit-learn"):
        rules_from(model, read_table({"x": [1.0]}).schema)


def test_schemas_that_do_not_fit_are_refused():
    """Errors name the columns, kinds and labels in question."""
    X, y = numbers(0, 50)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(DataError, match="4 features"):
        rules_from(model, read_table({"x": [1.0]}).schema)
    labels = {f"x{j}": ["u", "v"] for j in range(4)}
    with pytest.raises(DataError, match="is nominal in the schema"):
        rules_from(model, read_table(labels).schema)
    case, _, _ = saved("lightgbm_nan")
    with pytest.raises(DataError, match="as categories"):
        rules_from(
            case["model"] | {"pandas_categorical": []},
            read_table({"a": [1.0], "b": [1.0], "c": [1.0]}).schema,
        )
    few = read_table({"a": [1.0], "b": [1.0], "c": ["p"]}).schema
    with pytest.raises(DataError, match="the schema does not"):
        rules_from(case["model"], few)
    with pytest.raises(DataError, match="only 1 labels"):
        rules_from(case["model"] | {"pandas_categorical": []}, few)


def test_linear_boosters_have_no_trees():
    """The error says so."""
    model = {"learner": {"gradient_booster": {"model": {"weights": [1.0]}}}}
    with pytest.raises(DataError, match="gblinear"):
        rules_from(model, read_table({"x": [1.0]}).schema)
