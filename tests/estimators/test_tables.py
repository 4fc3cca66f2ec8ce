"""The table that a tour starts with goes through scikit-learn's functions, for every learner."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score, r2_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from builders import every_learner, mixed_table, mlrules, ripper, sl2
from rulewright import CompactRulesRegressor, RuleFitRegressor, load_model, read_table

pytestmark = pytest.mark.native

several = pytest.mark.parametrize("make", [mlrules, ripper, sl2])
regressors = pytest.mark.parametrize(
    "est",
    [
        CompactRulesRegressor(4, size="max", random_state=0),
        RuleFitRegressor(max_candidates=30, random_state=0),
    ],
)


def make_table(n_rows=120):
    rng = np.random.default_rng(0)
    X, y = mixed_table(rng, n_rows)
    X["day"] = np.datetime64("2024-01-01") + rng.integers(0, 99, n_rows).astype("m8[D]")
    return read_table(
        {**X, "y": np.array(["bad", "good"])[y], "w": rng.integers(1, 4, n_rows)},
        target="y",
        weights="w",
    )


TABLE = make_table()
FRAME = TABLE.to_frame("pandas").drop(columns="w")
PLAIN = read_table(FRAME, target="y")


@every_learner
def test_all_ways_to_give_rows_learn_the_same(make):
    """A table, its X and y, a dataframe with labels or with the name of their column are one."""
    models = [
        make().fit(PLAIN).model_,
        make().fit(PLAIN.X, PLAIN.y).model_,
        make().fit(FRAME.drop(columns="y"), FRAME["y"]).model_,
        make().fit(FRAME, "y").model_,
    ]
    assert all(model == models[0] for model in models)
    weighted = make().fit(TABLE).model_
    assert make().fit(TABLE.X, TABLE.y, sample_weight=TABLE.weights).model_ == weighted


@every_learner
def test_score_takes_what_fit_takes(make):
    """The accuracy on a table is that on its X and y, and that on a dataframe."""
    est = make().fit(PLAIN)
    expected = accuracy_score(PLAIN.y, est.predict(PLAIN))
    assert est.score(PLAIN) == expected
    assert est.score(PLAIN.X, PLAIN.y) == expected
    assert est.score(FRAME, "y") == expected
    assert est.score(FRAME.drop(columns="y"), FRAME["y"]) == expected
    weighted = accuracy_score(TABLE.y, est.predict(TABLE), sample_weight=TABLE.weights)
    assert est.score(TABLE) == pytest.approx(weighted)
    assert est.score(TABLE.X, TABLE.y, TABLE.weights) == pytest.approx(weighted)


def test_score_needs_a_target():
    """Rows without a target are an error that names the remedy."""
    with pytest.raises(ValueError, match="score needs y: the target, or the name of its column"):
        ripper().fit(PLAIN).score(PLAIN.X)


@regressors
def test_score_of_numbers(est):
    """Regressors take tables as classifiers do, and weights count."""
    numbers = {**dict(FRAME.drop(columns="y")), "y": FRAME["a"].fillna(0.0) * 2 + FRAME["c"]}
    table = read_table(numbers, target="y", weights=TABLE.weights, task="regression")
    est.fit(table)
    expected = r2_score(table.y, est.predict(table), sample_weight=table.weights)
    assert est.score(table) == pytest.approx(expected)
    assert est.score(table.X, table.y, table.weights) == pytest.approx(expected)
    assert len(cross_val_score(est, table.X, table.y, cv=2)) == 2


@several
def test_the_model_knows_what_its_target_is_called(make, tmp_path):
    """The name of a column or of a Series is noted and saved; models are equal without it."""
    frame = TABLE.to_frame("pandas")
    X, y = frame.drop(columns=["y", "w"]), frame["y"]
    named, nameless = make().fit(X, y).model_, make().fit(X, y.to_numpy()).model_
    assert make().fit(frame.drop(columns="w"), "y").model_.summary["target"] == "y"
    named.save(tmp_path / "model.json")
    assert load_model(tmp_path / "model.json").summary["target"] == "y"
    assert "target" not in nameless.summary
    assert named == nameless


@several
def test_a_default_one_hot_encoder_may_be_in_front(make):
    """Its sparse matrix gives the model and the answers of its dense array."""
    X, y = FRAME[["color", "day"]].astype(str), FRAME["y"]
    sparse = make_pipeline(OneHotEncoder(handle_unknown="ignore"), make()).fit(X, y)
    dense = make_pipeline(OneHotEncoder(handle_unknown="ignore", sparse_output=False), make())
    assert sparse[-1].model_ == dense.fit(X, y)[-1].model_
    np.testing.assert_array_equal(sparse.predict_proba(X), dense.predict_proba(X))


@several
def test_splits(make):
    """A whole table, or its X and y, is split in two, and learned from."""
    first, second = train_test_split(TABLE, test_size=0.25, stratify=TABLE.y, random_state=0)
    assert (len(first), len(second)) == (90, 30)
    est = make().fit(first)
    parts = train_test_split(
        TABLE.X, TABLE.y, TABLE.weights, test_size=0.25, stratify=TABLE.y, random_state=0
    )
    assert make().fit(parts[0], parts[2], parts[4]).model_ == est.model_
    assert est.score(parts[1], parts[3], parts[5]) == est.score(second)


@several
def test_cross_validation(make):
    """Folds of a table are those of a dataframe; a whole table needs no y."""
    of_table = cross_val_score(make(), PLAIN.X, PLAIN.y, cv=3)
    of_frame = cross_val_score(make(), FRAME.drop(columns="y"), FRAME["y"], cv=3)
    np.testing.assert_array_equal(of_table, of_frame)
    folds = list(StratifiedKFold(3).split(PLAIN, PLAIN.y))
    np.testing.assert_array_equal(cross_val_score(make(), PLAIN, cv=folds), of_table)
    assert len(cross_val_predict(make(), PLAIN.X, PLAIN.y, cv=KFold(2))) == len(PLAIN)


@several
def test_folds_are_learned_by_themselves(make):
    """The places of a splitter index the table."""
    for train, test in KFold(2).split(TABLE.X):
        est = make().fit(TABLE[train])
        assert est.score(TABLE[test]) == est.score(
            TABLE.X[test], TABLE.y[test], TABLE.weights[test]
        )


def test_grid_search():
    """Parameters are searched over a table, and the best learner scores it."""
    found = GridSearchCV(mlrules(), {"max_rules": [2, 4]}, cv=2).fit(PLAIN.X, PLAIN.y)
    of_frame = GridSearchCV(mlrules(), {"max_rules": [2, 4]}, cv=2).fit(
        FRAME.drop(columns="y"), PLAIN.y
    )
    assert found.best_params_ == of_frame.best_params_
    assert found.score(PLAIN.X, PLAIN.y) == found.best_estimator_.score(PLAIN)


def test_functions_that_need_arrays():
    """Scalers, bagging and permutation take a table of numbers as an array."""
    numbers = PLAIN[["b", "c"]]
    numbers = numbers[~numbers["b"].is_missing]
    piped = make_pipeline(StandardScaler(), mlrules()).fit(numbers.X, numbers.y)
    assert piped.score(numbers.X, numbers.y) > 0.5
    bagged = BaggingClassifier(mlrules(), n_estimators=2, random_state=0).fit(numbers.X, numbers.y)
    assert len(bagged.predict(numbers.X)) == len(numbers)
    found = permutation_importance(mlrules().fit(PLAIN), PLAIN.X, PLAIN.y, random_state=0)
    assert found.importances_mean.shape == (5,)


def test_tables_are_pickled():
    """A table that is sent to another process is the same there."""
    again = pickle.loads(pickle.dumps(TABLE))
    pd.testing.assert_frame_equal(again.to_frame("pandas"), TABLE.to_frame("pandas"))
