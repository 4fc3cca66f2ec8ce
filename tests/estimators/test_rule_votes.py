"""Selection of columns by votes of rules: the contract, its laws, histograms and error control."""

import inspect
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from rulewright import (
    MLRulesClassifier,
    RuleFitRegressor,
    RuleVoteSelector,
    Stability,
    Voting,
    read_table,
)
from rulewright.weighting import FPC

pytestmark = pytest.mark.native

CHECKS = [
    (estimator, check)
    for estimator, check in estimator_checks_generator(
        RuleVoteSelector(
            max_candidates=20, method=Voting(n_repetitions=2, min_repetitions=1, n_penalties=3)
        )
    )
    if check.func.__name__ != "check_array_api_input"  # needs a switch, skips itself
]


def selector(**options):
    return RuleVoteSelector(**{"max_candidates": 60, "random_state": 0, **options})


def planted(n=400, n_columns=6, seed=0):
    """Make rows whose class is a rule of the columns 1 and 4."""
    X = np.random.default_rng(seed).normal(size=(n, n_columns))
    return X, (X[:, 1] > 0) & (X[:, 4] > 0)


def noisy(n=400, n_columns=6, seed=0):
    """Make such rows with a tenth of the classes wrong."""
    X, y = planted(n, n_columns, seed)
    return X, y ^ (np.random.default_rng(seed + 100).random(n) < 0.1)


def mixed(n=400, seed=0):
    """Make rows with nominal and missing values, and a class of one rule over two columns."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.normal(size=n) for name in "abcd"})
    X["color"] = pd.Categorical(rng.choice(["red", "green", "blue"], n))
    X["shape"] = rng.choice(["round", "square"], n)
    y = np.where((X.b > -0.5) & (X.color == "red"), "yes", "no")
    X.loc[rng.random(n) < 0.1, "b"] = np.nan
    return X, y


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=lambda value: getattr(value, "id", ""))
def test_scikit_learn(estimator, check):
    """All checks of scikit-learn pass, also that a weight of two is a row twice."""
    check(estimator)


@pytest.mark.parametrize("method", ["voting", Stability(n_pairs=6, n_first=2)])
def test_columns_of_a_planted_rule_are_kept(method):
    """Both methods keep the columns of the rule, and only those."""
    est = selector(method=method).fit(*planted())
    assert est.get_support(indices=True).tolist() == [1, 4]
    assert est.get_feature_names_out().tolist() == ["x1", "x4"]
    assert est.task_ == "classification"


def test_a_column_is_kept_if_enough_repetitions_vote_for_it():
    """Counts, kept columns and the histogram say the same, whatever the required number."""
    X, y = noisy(n_columns=12)
    for least in (1, 3, 5):
        est = selector(method=Voting(min_repetitions=least, n_top=4)).fit(X, y)
        np.testing.assert_array_equal(est.get_support(), est.column_counts_ >= least)
        for at, name in enumerate(est.schema_.names):
            lines = [line.votes.any(axis=1) for line in est.votes_ if name in line.columns]
            voted = np.any(lines, axis=0) if lines else np.zeros(5, dtype=bool)
            assert est.column_counts_[at] == voted.sum()
    assert (est.column_counts_ > 0).sum() > 0
    assert len(set(est.column_counts_.tolist())) > 1  # the law is not about equal counts only


def test_the_histogram_of_votes():
    """A penalty gives at most `n_top` votes in a repetition; lines are sorted by their votes."""
    est = selector(method=Voting(n_top=4, n_penalties=7)).fit(*noisy())
    assert all(line.votes.shape == (5, 7) for line in est.votes_)
    given = np.sum([line.votes for line in est.votes_], axis=0)
    assert given.max() <= 4
    assert given[:, -1].min() == 4
    totals = [line.total for line in est.votes_]
    assert totals == sorted(totals, reverse=True)
    assert str(est.votes_[0]).split() == [str(totals[0]), *est.votes_[0].term.split()]


@pytest.mark.parametrize("method", ["voting", Stability(n_pairs=5, n_first=3)])
def test_permuted_columns_give_the_permuted_answer(method):
    """The order of columns does not matter, also where columns tie: here they have few values."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (200, 8)).astype(float)
    y = (X[:, 2] + X[:, 5] + rng.integers(0, 2, 200)) > 1
    order = rng.permutation(8)
    first, second = (selector(method=method).fit(data, y) for data in (X, X[:, order]))
    np.testing.assert_array_equal(second.column_counts_, first.column_counts_[order])
    np.testing.assert_array_equal(second.get_support(), first.get_support()[order])
    assert sorted(line.total for line in second.votes_) == sorted(
        line.total for line in first.votes_
    )


@pytest.mark.parametrize("method", ["voting", Stability(n_pairs=4)])
def test_seeds_and_threads(method):
    """The same seed gives the same votes for any number of threads."""
    X, y = planted()
    found = [selector(method=method, n_jobs=jobs).fit(X, y).votes_ for jobs in (None, 1, 3)]
    for other in found[1:]:
        assert [(line.term, line.votes.tolist()) for line in other] == [
            (line.term, line.votes.tolist()) for line in found[0]
        ]


def test_the_paper_votes_with_fpc():
    """FPC and coordinate descent find the same weights, so the same terms get votes."""
    X, y = noisy(200)
    ours, papers = (
        selector(max_candidates=20, linear=False, method=Voting(n_penalties=4, solver=solver)).fit(
            X, y
        )
        for solver in (Voting().solver, FPC())
    )
    np.testing.assert_array_equal(ours.column_counts_, papers.column_counts_)
    assert isinstance(RuleVoteSelector.paper().method.solver, FPC)
    total = sum(line.total for line in papers.votes_)
    assert sum(line.total for line in ours.votes_) == pytest.approx(total, abs=0.02 * total)


def test_numbers_and_several_classes():
    """Numbers are recognised; each of several classes votes, and their votes are added."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    few = Voting(n_top=4)
    est = selector(method=few).fit(X, 1e-20 * (X[:, 0] + 2 * (X[:, 3] > 0.5)))
    assert est.task_ == "regression"
    assert est.get_support(indices=True).tolist() == [0, 3]
    labels = np.where(X[:, 2] > 0.5, "high", np.where(X[:, 5] > 0, "middle", "low"))
    est = selector(method=few).fit(X, labels)
    assert est.get_support(indices=True).tolist() == [2, 5]
    scale = np.digitize(X[:, 2] + rng.normal(size=400), [-0.5, 0.5])
    line = next(v for v in selector().fit(X, scale).votes_ if v.term == "linear(x2)")
    assert line.votes.max() > 1
    assert selector(task="regression").fit(X, (X[:, 0] > 0).astype(int)).task_ == "regression"


def test_nominal_and_missing_values_in_any_container():
    """Pandas, polars, dicts and Tables give the same columns."""
    X, y = mixed()
    expected = ["b", "color"]
    est = selector().fit(X, y)
    assert est.get_feature_names_out().tolist() == expected
    for given in (pl.from_pandas(X), read_table(X), {name: X[name].tolist() for name in X}):
        assert selector().fit(given, y).get_feature_names_out().tolist() == expected
    named = selector().fit(X.assign(y=y), "y")
    assert named.get_feature_names_out().tolist() == expected
    assert selector().fit(read_table(X, target=y)).get_support().sum() == 2


def test_dataframes_keep_type_and_columns():
    """The kept columns of a dataframe are its own, with their types; `set_output` may convert."""
    X, y = mixed()
    est = selector().fit(X, y)
    pd.testing.assert_frame_equal(est.transform(X), X[["b", "color"]])
    frame = pl.from_pandas(X)
    polars = selector().fit(frame, y).transform(frame)
    assert polars.equals(frame[["b", "color"]])
    assert polars.schema == frame[["b", "color"]].schema
    assert est.transform(read_table(X)).names == ("b", "color")
    values = selector(categorical_features=[4]).fit(X.to_numpy(), y).transform(X.to_numpy())
    assert values.shape == (len(X), 2)
    numbers = X[["a", "b"]]
    for kind, library in (("pandas", pd), ("polars", pl)):
        for given in (numbers, pl.from_pandas(numbers), numbers.to_numpy()):
            found = selector().set_output(transform=kind).fit(given, X.b > 0).transform(given)
            assert isinstance(found, library.DataFrame)
            assert list(found.columns) == (["x1"] if isinstance(given, np.ndarray) else ["b"])
    with pytest.raises(ValueError, match="feature names should match"):
        est.transform(X.rename(columns={"a": "z"}))


def test_weights():
    """Rows of weight 0 make no difference."""
    X, y = planted()
    weights = np.r_[np.ones(350), np.zeros(50)]
    spoiled = np.r_[y[:350], ~y[350:]]
    expected = selector().fit(X[:350], y[:350]).column_counts_
    np.testing.assert_array_equal(selector().fit(X, spoiled, weights).column_counts_, expected)


def test_in_a_pipeline():
    """A learner of rules sees the kept columns only."""
    X, y = mixed()
    pipeline = make_pipeline(selector(), MLRulesClassifier(20, random_state=0)).fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == ["b", "color"]
    assert pipeline.score(X, y) > 0.9


def test_useless_columns_get_no_vote():
    """Constant and empty columns are never kept."""
    X, y = mixed()
    X = X.assign(one=1.0, empty=np.nan, word="w")
    est = selector().fit(X, y)
    assert est.column_counts_[-3:].tolist() == [0, 0, 0]
    assert est.get_feature_names_out().tolist() == ["b", "color"]


@pytest.mark.parametrize("y", [np.zeros(120), np.arange(120.0) % 3])
def test_nothing_to_select(y):
    """Without a column that varies nothing is kept, and `transform` warns as scikit-learn does."""
    X = pd.DataFrame({"one": np.ones(120), "word": ["w"] * 120})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        est = selector().fit(X, y)
    assert not est.get_support().any()
    assert est.votes_ == []
    with pytest.warns(UserWarning, match="No features were selected"):
        assert est.transform(X).shape == (120, 0)


def test_one_class():
    """A target of one class tells nothing."""
    X, _ = planted()
    assert not selector().fit(X, ["same"] * len(X)).get_support().any()


def test_how_many_columns_a_half_may_choose():
    """Q is the largest number that keeps the bound, and the bound is stated."""
    method = Stability(threshold=0.75, max_false=2.0)
    assert method.first(100) == 10
    assert method.expected_false(100) == pytest.approx(2.0)
    assert method.first(99) == 9
    assert Stability(n_first=5).expected_false(50) == pytest.approx(25 / (0.5 * 50))
    X, y = planted(120)
    est = selector(method=Stability(n_pairs=2, max_false=0.1))
    with pytest.warns(UserWarning, match="max_false=0.1: each half selects one of 6 columns"):
        est.fit(X, y)
    assert est.expected_false_ == pytest.approx(1 / (0.5 * 6))
    assert selector().fit(X, y).expected_false_ is None


def test_the_bound_on_useless_columns_holds():
    """Over many sets, fewer useless columns are kept on average than the bound says."""
    kept_useless, kept_useful = [], []
    for seed in range(10):
        X, y = noisy(300, n_columns=20, seed=seed)
        method = Stability(n_pairs=6, max_false=1.0)
        est = selector(max_candidates=20, method=method, random_state=seed).fit(X, y)
        useful = est.get_support()[[1, 4]].sum()
        kept_useful.append(useful)
        kept_useless.append(est.get_support().sum() - useful)
        assert est.expected_false_ == pytest.approx(0.9)  # q = 3
    assert np.mean(kept_useless) <= 0.9
    assert np.mean(kept_useful) > 1.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Voting(n_repetitions=2), "min_repetitions=3 must not exceed n_repetitions=2"),
        (lambda: Voting(sample_share=0), "sample_share=0 must be above 0 and at most 1"),
        (lambda: Voting(rank_by="size"), "rank_by='size' must be 'coef' or 'importance'"),
        (lambda: Voting(solver="fpc"), "solver='fpc' must be a Solver"),
        (lambda: Voting(n_top=0), "n_top=0 must be a whole number of at least 1"),
        (lambda: Stability(threshold=0.5), "threshold=0.5 must be above 0.5 and at most 1"),
        (lambda: Stability(max_false=0), "max_false=0 must be a number above 0"),
    ],
)
def test_wrong_settings(make, message):
    """Settings of the methods are checked when they are made."""
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("cls", [RuleFitRegressor, RuleVoteSelector])
def test_parameters_are_documented_in_the_order_of_the_signature(cls):
    """Those that need no name come first in both."""
    section = inspect.getdoc(cls).partition("Parameters\n----------\n")[2]
    section = section.partition("\nAttributes\n----------\n")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith(" ")]
    assert [line.split(" : ")[0] for line in lines] == list(inspect.signature(cls).parameters)


def test_wrong_parameters():
    """Unknown methods and tasks are refused by name, a missing target too."""
    X, y = planted()
    with pytest.raises(ValueError, match="method='lasso' must be one of voting, stability"):
        selector(method="lasso").fit(X, y)
    with pytest.raises(ValueError, match="task='ranking' must be one of"):
        selector(task="ranking").fit(X, y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        selector().fit(X)
