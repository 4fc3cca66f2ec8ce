"""RuleFit for classes: scores of two and of several classes, settings, solvers, probabilities."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import log_loss

from rulewright import ModelWarning, RuleFitClassifier, load_model, read_table
from rulewright.search import rules_from

pytestmark = pytest.mark.native


def small(**options):
    return RuleFitClassifier(**{"max_candidates": 80, "random_state": 0, "cv": 3, **options})


def mixed(n=300, seed=0):
    """Make rows with nominal and missing values; the class is a rule and a line with noise."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(["x", "y", "z"], n)}
    )
    score = 4.0 * ((X.a > 0.0) & (X.c != "x")) - 2.0 + X.b
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-score)), "yes", "no")
    X.loc[rng.random(n) < 0.05, "a"] = np.nan
    return X, y


def flowers():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def forest_rules(X, y):
    """Return the rules of a forest of scikit-learn."""
    forest = RandomForestClassifier(10, max_leaf_nodes=5, random_state=0).fit(X, y)
    return rules_from(forest, read_table(X).schema)


@pytest.fixture(scope="module")
def rows():
    return mixed()


@pytest.fixture(scope="module")
def fitted(rows):
    return small().fit(*rows)


def test_two_scores_one_against_the_rest_decide_as_the_sign_of_one():
    """T11: the score of either class is the other's negative, so the larger one is the sign."""
    X, y = mixed()
    numbers = X[["a", "b"]].fillna(0.0)
    fixed = {"rules": forest_rules(numbers, y), "penalty": 0.01}
    scores = []
    for label in ("no", "yes"):
        est = small(**fixed).fit(numbers, y == label)
        scores.append(est.decision_function(numbers))
        assert np.count_nonzero(est.choices_[0].solution.coef) > 2
    np.testing.assert_allclose(scores[0], -scores[1], rtol=0, atol=1e-4)
    sure = abs(scores[1]) > 1e-4
    best = np.array(["no", "yes"])[np.argmax(scores, axis=0)]
    np.testing.assert_array_equal(small(**fixed).fit(numbers, y).predict(numbers)[sure], best[sure])
    np.testing.assert_array_equal(best[sure] == "yes", scores[1][sure] > 0)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_shared_rules_give_the_weights_of_separate_fits(loss):
    """T11: on given rules each class has the weights of its fit against the rest, to the bit."""
    X, y = flowers()
    fixed = {"rules": forest_rules(X, y), "penalty": 0.005, "calibration": None, "loss": loss}
    shared = small(multiclass="shared", **fixed).fit(X, y)
    ovr = small(multiclass="ovr", **fixed).fit(X, y)
    for label, one, other in zip(shared.classes_, shared.choices_, ovr.choices_, strict=True):
        alone = small(**fixed).fit(X, y == label).choices_[0].solution
        for choice in (one, other):
            np.testing.assert_array_equal(choice.solution.coef, alone.coef)
            assert choice.solution.intercept == alone.intercept
        assert np.count_nonzero(alone.coef)


def test_a_seed_gives_one_model_that_loads_as_it_was(rows, fitted, tmp_path):
    """T14: the same seed gives the same model, another one another; a loaded model is the same."""
    X, y = rows
    assert small().fit(X, y).model_ == fitted.model_
    assert small(random_state=1).fit(X, y).model_ != fitted.model_
    fitted.model_.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == fitted.model_
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert len(fitted.model_.verify_exports().targets) == 4


def test_probabilities_are_better_than_the_shares_of_the_classes(fitted):
    """On new rows the log-loss is well below that of the classes' shares; labels are strings."""
    X, y = mixed(1000, seed=1)
    assert list(fitted.classes_) == ["no", "yes"]
    assert set(fitted.predict(X)) == {"no", "yes"}
    shares = np.tile([np.mean(y == label) for label in fitted.classes_], (len(y), 1))
    found = fitted.predict_proba(X)
    assert log_loss(y, found) < 0.8 * log_loss(y, shares)
    assert abs(found[:, 1].mean() - np.mean(y == "yes")) < 0.06


@pytest.mark.parametrize("multiclass", ["shared", "ovr"])
def test_probabilities_of_several_classes(multiclass):
    """Three classes have probabilities that add up to 1, far better than equal ones."""
    X, y = flowers()
    odd = np.arange(len(y)) % 2 == 1
    est = small(multiclass=multiclass).fit(X[odd], y[odd])
    shares = est.predict_proba(X[~odd])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    assert log_loss(y[~odd], shares) < 0.4 * np.log(3)
    assert est.score(X[~odd], y[~odd]) > 0.9
    assert len(est.choices_) == 3


@pytest.mark.parametrize(
    ("solver", "loss"),
    [
        ("coordinate", "logistic"),
        ("coordinate", "squared"),
        ("pathbuild", "squared"),
        ("pathbuild", "ramp"),
        ("spgl1", "squared"),
        ("fpc", "squared"),
    ],
)
def test_solvers_and_losses(rows, solver, loss):
    """Every solver with each of its losses beats guessing, with calibrated probabilities."""
    X, y = rows
    est = small(max_candidates=30, solver=solver, loss=loss, penalty=0.02).fit(X, y)
    new, truth = mixed(500, seed=1)
    share = np.mean(y == "yes")
    guessed = log_loss(truth, np.tile([1 - share, share], (len(truth), 1)))
    assert log_loss(truth, est.predict_proba(new)) < 0.85 * guessed
    assert est.score(new, truth) > 0.72
    assert est.choices_[0].solution.gap >= 0 or solver == "pathbuild"


def test_a_loss_that_the_solver_does_not_know(rows):
    """The error names loss, solver and what the solver knows."""
    with pytest.raises(ValueError, match=r"solver='fpc' has no loss='ramp'. Use one of squar"):
        small(solver="fpc", loss="ramp").fit(*rows)


def test_penalties(rows):
    """The best penalty has no fewer terms than "1se"; a huge one leaves the classes' shares."""
    X, y = rows
    by_word = {p: small(penalty=p).fit(X, y) for p in ("min", "1se")}
    best, rougher = (np.count_nonzero(e.choices_[0].solution.coef) for e in by_word.values())
    assert best >= rougher > 0
    choice = by_word["min"].choices_[0]
    assert choice.solution.penalty == choice.penalties[np.argmin(choice.losses)]
    given = small(penalty=0.01).fit(X, y)
    assert given.choices_[0].solution.penalty == given.model_.summary["penalties"][0] == 0.01
    none = small(penalty=1e3).fit(X, y)
    assert len(none.model_.rules) == len(none.model_.linear) == 0
    np.testing.assert_allclose(none.predict_proba(X)[:, 1], np.mean(y == "yes"), atol=1e-6)


@pytest.mark.parametrize("penalty", ["min", 1e-4])
def test_at_most_so_many_terms(rows, penalty):
    """`max_terms` limits rules and lines together, also below a given penalty."""
    model = small(max_rules=4, penalty=penalty).fit(*rows).model_
    assert 0 < len(model.rules) + len(model.linear) <= 4


def test_rare_classes():
    """Of one row in twenty, probabilities keep the share and rank the rare class first."""
    X, y = mixed(1500, seed=2)
    rare = np.flatnonzero(y == "yes")[:40]
    kept = np.concatenate([np.flatnonzero(y == "no"), rare])
    X, y = X.iloc[kept], y[kept]
    est = small().fit(X, y)
    shares = est.predict_proba(X)[:, 1]
    assert shares.mean() == pytest.approx(np.mean(y == "yes"), abs=0.01)
    assert shares[y == "yes"].mean() > 2 * shares[y == "no"].mean()
    weights = np.where(y == "yes", 10.0, 1.0)
    heavy = small().fit(X, y, sample_weight=weights)
    assert heavy.predict_proba(X)[:, 1].mean() > 2 * shares.mean()


def test_rules_of_a_forest_are_weighted(rows):
    """Rules of a forest take the place of our own trees, and no others are in the model."""
    X, y = rows
    numbers = X[["a", "b"]].fillna(0.0)
    rules = forest_rules(numbers, y)
    est = small(rules=rules, linear=False).fit(numbers, y)
    assert est.n_candidates_[0] <= len(rules)
    assert est.model_.rules
    assert {rule.body for rule in est.model_.rules} <= set(rules)
    assert est.score(numbers, y) > 0.65


@pytest.mark.parametrize(("n_positives", "grows"), [(3, False), (60, True)])
def test_rare_classes_count_as_few_rows(n_positives, grows):
    """With a share q of positives, 4 q (1 - q) of the rows count: three of 300 grow no trees."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 3)), np.arange(300) < n_positives
    X[y] += 1.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        est = RuleFitClassifier(max_candidates=30, random_state=0).fit(X, y)
    assert any("too few to grow trees" in str(one.message) for one in caught) != grows
    assert grows or not est.model_.rules


def test_only_tables_with_something_to_grow_on_are_called_small():
    """Constant columns and targets have their own messages; linear=False grows on few rows."""
    X, y = {"u": [1.0] * 30, "v": ["x"] * 30}, np.arange(30) % 4 == 0
    with warnings.catch_warnings():
        warnings.filterwarnings("error", ".*too few to grow trees")
        RuleFitClassifier().fit(X, y)
        varied = {"w": np.arange(30.0)}
        halves = np.arange(100) % 2  # one class of 50 rows has weight
        RuleFitClassifier().fit({"w": np.arange(100.0)}, halves, sample_weight=halves)
        RuleFitClassifier(linear=False).fit(varied, np.arange(30) % 2)
    with pytest.warns(ModelWarning, match="30 effective rows .* linear=False grows trees"):
        RuleFitClassifier().fit(varied, np.arange(30) % 2)
