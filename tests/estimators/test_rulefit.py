"""RuleFit for numbers: the contract, laws of rows and columns, its parts and its exports."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import make_friedman1
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.estimator_checks import estimator_checks_generator

from rulewright import DataWarning, ModelWarning, RuleFitRegressor, load_model, read_table
from rulewright.estimators.rulefit.penalty import _fill
from rulewright.explain import importance, partial_dependence
from rulewright.kernels import ROW
from rulewright.rules import parse_conjunction
from rulewright.search import rules_from
from rulewright.weighting import FPC, SPGL1, PathBuild

pytestmark = pytest.mark.native

CHECKS = [
    (estimator, check)
    for estimator, check in estimator_checks_generator(RuleFitRegressor(max_candidates=60))
    if check.func.__name__ != "check_array_api_input"  # needs a switch, skips itself
]


def small(**options):
    return RuleFitRegressor(**{"max_candidates": 150, "random_state": 0, **options})


def mixed(n=300, seed=0):
    """Make rows with nominal and missing values, and numbers of one rule and one line."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {"a": rng.normal(size=n), "b": rng.normal(size=n), "c": rng.choice(["x", "y", "z"], n)}
    )
    y = 3.0 * ((X.a > 0.3) & (X.c == "x")) + 0.5 * X.b + 0.05 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.05, "a"] = np.nan
    return X, y.to_numpy()


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=lambda value: getattr(value, "id", ""))
def test_scikit_learn(estimator, check):
    """All checks of scikit-learn pass, also that a weight of two is a row twice."""
    check(estimator)


def test_a_planted_rule_and_line_are_found():
    """The rule that made the numbers is among the strongest, the line has its slope."""
    X, y = mixed()
    model = small().fit(X, y).model_
    strongest = max(model.rules, key=lambda rule: abs(rule.outcome.value))
    assert set(strongest.body.columns) == {"a", "c"}
    line = next(term for term in model.linear if term.column == "b")
    assert 0.25 < line.slopes[0] < 0.55  # the penalty shrinks it
    dependence = partial_dependence(model, X, "b").values[:, 0]
    assert dependence[-1] - dependence[0] > 1.0
    assert set(importance(model).by_column()) == {"a", "b", "c"}


def test_better_than_the_mean_on_new_rows():
    """On Friedman's first problem most of the variance of new rows is explained."""
    X, y = make_friedman1(500, noise=1.0, random_state=0)
    assert small(max_candidates=500).fit(X[:300], y[:300]).score(X[300:], y[300:]) > 0.7


def test_containers_and_threads_give_one_model(tmp_path):
    """Pandas, polars, dicts, files and any number of threads give the same rules."""
    X, y = mixed()
    expected = small().fit(X, y).model_
    table = X.assign(y=y)
    table.to_csv(tmp_path / "t.csv", index=False)
    assert small(n_jobs=2).fit(X, y).model_ == expected
    for given in (pl.from_pandas(X), {name: X[name].to_list() for name in X}):
        assert small().fit(given, y).model_ == expected
    assert small().fit(tmp_path / "t.csv", "y").model_ == expected
    read = read_table(tmp_path / "t.csv", target="y", task="regression")
    assert small().fit(read).model_ == expected


def test_saved_and_exported(tmp_path):
    """A loaded model and every export give the same numbers."""
    X, y = mixed()
    model = small().fit(X, y).model_
    model.save(tmp_path / "m.json")
    loaded = load_model(tmp_path / "m.json")
    assert loaded == model
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert len(model.verify_exports().targets) == 4


def test_the_solution_has_a_certificate():
    """Weights are optimal: the duality gap is small, coefficients add up to the predictions."""
    X, y = mixed()
    est = small(penalty=0.01).fit(X, y)
    assert 0 <= est.choice_.solution.gap < 1e-3
    assert est.model_.summary["penalty"] == pytest.approx(0.01)
    assert len(est.choice_.penalties) == 1


def test_fewer_terms_and_stronger_penalties():
    """The number of terms is limited; one standard error more gives no more terms than the best."""
    X, y = mixed()
    few = small(max_rules=3).fit(X, y).model_
    assert len(few) + len(few.linear) <= 3
    sizes = [len(small(penalty=p).fit(X, y).model_) for p in ("min", "1se", 1e9)]
    assert sizes[0] > sizes[1] > sizes[2] == 0


def test_rules_do_not_depend_on_increasing_transforms():
    """Without lines only the order of values counts."""
    X, y = mixed()
    bent = X.assign(a=np.exp(X.a), b=X.b**3)
    first, second = (small(linear=False).fit(data, y).model_ for data in (X, bent))
    np.testing.assert_allclose(first.predict(X), second.predict(bent), rtol=0, atol=1e-9)


def test_numbers_of_any_scale():
    """Predictions scale with the target, also for huge and tiny numbers."""
    X, y = mixed()
    expected = small().fit(X, y).predict(X)
    for factor in (2.0**60, 2.0**-60):
        found = small().fit(X, y * factor).predict(X) / factor
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_outliers_and_the_huber_loss():
    """A few wild numbers hardly move the Huber fit on the other rows."""
    X, y = mixed()
    wild = y.copy()
    wild[::50] += 1e4
    errors = [
        np.sqrt(np.mean((small(loss=loss).fit(X, wild).predict(X) - y)[wild == y] ** 2))
        for loss in ("squared", "huber")
    ]
    assert errors[1] < 0.05 * errors[0]


def test_counts_as_targets():
    """Counts of a Poisson law, most of them 0, are learned far better than by their mean."""
    rng = np.random.default_rng(0)
    X, n = rng.normal(size=(800, 4)), 500
    means = np.exp(-1.5 + 1.5 * (X[:, 0] > 0) + X[:, 1])
    y = rng.poisson(means)
    assert np.mean(y == 0) > 0.5
    found = small().fit(X[:n], y[:n]).predict(X[n:])
    assert np.isfinite(found).all()
    errors = [np.mean((guess - means[n:]) ** 2) for guess in (found, np.full(300, y[:n].mean()))]
    assert errors[0] < 0.6 * errors[1]


@pytest.mark.parametrize(("loss", "most"), [("squared", np.inf), ("huber", 0.1)])
def test_noise_without_variance(loss, most):
    """Cauchy noise breaks nothing; with the Huber loss the signal is found all the same."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    signal = 2.0 * (X[:, 0] > 0) + X[:, 1]
    y = signal + 0.3 * rng.standard_cauchy(400)
    assert abs(y).max() > 50
    est = small(max_candidates=60, loss=loss, penalty="min").fit(X, y)
    found = est.predict(X)
    assert np.isfinite(found).all()
    assert np.isfinite(est.model_.summary["penalty"])
    assert np.mean((found - signal) ** 2) < most * np.var(signal)


def test_given_rules_are_weighted():
    """Rules of another package, or one's own, take the place of our trees."""
    X, y = mixed()
    numbers = X[["a", "b"]].fillna(0.0)
    tree = DecisionTreeRegressor(max_leaf_nodes=4, random_state=0).fit(numbers, y)
    rules = rules_from(tree, read_table(numbers).schema)
    est = small(rules=rules, linear=False).fit(numbers, y)
    assert {rule.body for rule in est.model_.rules} <= set(rules)
    own = small(rules=[parse_conjunction("a > 0.3 and c = x")], linear=False).fit(X, y)
    assert [str(rule.body) for rule in own.model_.rules] == ["a > 0.3 and c = x"]
    with pytest.raises(ValueError, match="rules: expected conjunctions, got str"):
        small(rules=["a > 1"]).fit(X, y)


def test_solvers_and_losses():
    """Other solvers fit too; a loss that a solver does not know is refused."""
    X, y = mixed(120)
    few = {"max_candidates": 8, "penalty": "min", "cv": 2}
    expected = small(**few).fit(X, y).score(X, y)
    for solver in (FPC(max_iter=50), SPGL1(tolerance=1e-4), PathBuild(step=0.05)):
        found = small(**few, solver=solver).fit(X, y).score(X, y)
        assert found == pytest.approx(expected, abs=0.05)
    with pytest.raises(ValueError, match="solver='fpc' has no loss='huber'"):
        small(solver="fpc", loss="huber").fit(X, y)


def test_a_path_that_has_ended_stays_there():
    """Penalties beyond the end of a path of a fold have its last scores, in later blocks too."""
    scores, rows = np.full((4, 3), np.nan), np.array([0, 2], dtype=ROW)
    found = iter([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    for block in (range(2), range(2, 4)):
        _fill(scores, block, rows, found, lambda: None)
    np.testing.assert_array_equal(scores[:, rows], [[1, 2], [3, 4], [3, 4], [3, 4]])
    assert np.isnan(scores[:, 1]).all()


def test_few_rows_get_lines_only():
    """Below 40 rows trees are not grown, and a warning says so."""
    X, y = mixed(30)
    with pytest.warns(ModelWarning, match="effective rows.*too few to grow trees"):
        model = small().fit(X, y).model_
    assert len(model) == 0
    assert model.linear


@pytest.mark.parametrize("y", [np.full(80, 7.0), np.arange(80.0)])
def test_degenerate_tables(y):
    """A constant target, constant and empty columns, one column."""
    X = {"empty": [None] * 80, "one": [1.0] * 80, "n": ["a"] * 80}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        warnings.simplefilter("ignore", ModelWarning)
        est = small().fit(X, y)
    assert len(est.model_) == 0
    np.testing.assert_allclose(est.predict(X), y.mean())


def test_what_is_missing_adds_nothing():
    """A row without any value gets the intercept and rules that accept missing values only."""
    X, y = mixed()
    model = small().fit(X, y).model_
    nothing = {"a": [None], "b": [None], "c": [None]}
    assert model.predict(nothing)[0] == pytest.approx(model.intercept)


def test_weights_of_zero_drop_rows():
    """A row of weight 0 makes no difference."""
    X, y = mixed()
    weights = np.r_[np.ones(250), np.zeros(50)]
    spoiled = np.r_[y[:250], np.full(50, 1e9)]
    expected = small().fit(X[:250], y[:250]).predict(X)
    np.testing.assert_array_equal(small().fit(X, spoiled, weights).predict(X), expected)
