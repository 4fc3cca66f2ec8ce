"""Votes on rows that searches did not see, and leads chosen by them."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss

from rulewright.data import TrainingSet, read_table
from rulewright.encoding.booleans import encode_booleans
from rulewright.estimators.ruleset_ensemble.estimator import RuleSetEnsembleClassifier
from rulewright.estimators.ruleset_ensemble.search import EnsembleRows, RuleSetSearch, order_rows
from rulewright.estimators.ruleset_ensemble.votes import unseen_scores
from rulewright.trust import selective_score
from rulewright.trust.certificates.votes import posteriors

pytestmark = pytest.mark.native


def drawn_rows(seed=0, n_rows=150):
    """Draw two numeric columns and a nominal one; three classes by a slope that rules only near."""
    rng = np.random.default_rng(seed)
    color = rng.choice(["red", "green", "blue"], n_rows)
    X = {"a": rng.normal(size=n_rows), "b": rng.normal(size=n_rows), "color": color}
    return X, np.where(X["a"] + X["b"] < 0, 0, 1 + (color == "red"))


def quick(**options):
    """Make an ensemble of few and short searches on half of the rows each."""
    small = {"max_terms": 3, "n_samples": 4, "max_steps": 150, "max_bins": 4, "random_state": 0}
    return RuleSetEnsembleClassifier(**{**small, "bagging": True, **options})


def posteriors_of(est):
    """Give the weighed rule sets of the classes that have any."""
    return list(posteriors(est.model_).values())


def some(X, rows):
    """Take rows of a dict of columns."""
    return {name: values[rows] for name, values in X.items()}


def encoded(encoding=None, n_rows=30, seed=0):
    """Encode a few rows, by their own questions or by others; some rows occur several times."""
    X, y = drawn_rows(seed, n_rows=n_rows)
    copies = np.repeat(np.arange(n_rows), 1 + (np.arange(n_rows) % 5 == 0))
    merged = order_rows(TrainingSet.of(read_table(some(X, copies), target=y[copies])))
    if encoding is None:
        encoding, _ = encode_booleans(merged.rows.table, missing="value", n_bins=4)
    return EnsembleRows.of(encoding, merged)


def searched(bagging=True):
    """Search on a few rows; give the encoded rows and what was found for class 1."""
    rows = encoded()
    return rows, RuleSetSearch(rows, [1], 2, 3, {"max_steps": 60}, 7, bagging).run(1, False)[1]


@pytest.mark.parametrize("weight", ["multiplicity", "unique"])
@pytest.mark.parametrize("n_other", [0, 10])
def test_unseen_scores_by_definition(weight, n_other):
    """Each row has the votes of rule sets found without it, by their errors on the other rows."""
    rows, samples = searched()
    parts = [rows] if not n_other else [rows, encoded(rows.encoding, n_other, seed=1)]
    samples = [*samples, samples[0]]  # one that was found twice
    scores = unseen_scores(samples, parts, 1, 0.7, weight)
    labels = np.concatenate([part.merged.labels for part in parts])
    covers = {
        s.rule_set: np.concatenate([p.find_covered(s.rule_set)[p.merged.place] for p in parts])
        for s in samples
    }
    assert len(labels) == 36 + n_other + n_other // 5  # each copy on its own
    for x in range(len(labels)):
        own = [s.rule_set for s in samples if x >= rows.n_copies or not s.seen[x]]
        own = own if weight == "multiplicity" else list(dict.fromkeys(own))
        votes = total = 0.0
        for rule_set in own:
            wrong = covers[rule_set] != (labels == 1)
            part = 0.7 ** np.delete(wrong, x).sum()
            votes += part if covers[rule_set][x] else -part
            total += part
        assert scores[x] == pytest.approx(votes / total if own else np.nan, nan_ok=True)


def test_searches_see_halves():
    """Each search sees another half of the rows, and errors are counted on all of them."""
    rows, samples = searched()
    assert rows.n_copies == 36
    assert {int(s.seen.sum()) for s in samples} == {18}
    assert len({s.seen.tobytes() for s in samples}) == len(samples) == 6
    assert all(s.errors == rows.errors(s.rule_set, 1) for s in samples)
    assert all(s.seen is None for s in searched(bagging=False)[1])


def test_without_unseen_rows_there_is_no_vote():
    """Rule sets that were searched on all rows say nothing of them."""
    rows, samples = searched(bagging=False)
    assert np.isnan(unseen_scores(samples, [rows], 1, 0.9, "multiplicity")).all()


def test_classes_by_chance_are_not_learned():
    """Where there is nothing to learn, seen rows are right too often, unseen ones are not."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (100, 12)).astype(float), rng.integers(0, 2, 100)
    for options in ({}, {"split_prior": True}, {"single": True}):
        est = quick(max_steps=1000, **options).fit(X, y)
        assert est.score(X, y) > 0.65
        assert 0.42 < est.out_of_bag_.error[0] < 0.65


def test_estimates_are_near_the_truth():
    """The error on unseen rows is about that on new ones."""
    est = quick(n_samples=8).fit(*drawn_rows(n_rows=400))
    X, y = drawn_rows(1, n_rows=5000)
    noted = est.model_.summary["out_of_bag"]
    assert noted["error"] == est.out_of_bag_.error[0]
    assert noted["error"] == pytest.approx(1 - est.score(X, y), abs=0.05)
    assert (noted["coverage"], noted["error_among_predicted"]) == (1.0, noted["error"])


@pytest.mark.parametrize(
    "options", [{}, {"bagging": False}, {"split_prior": True, "bagging": False}]
)
def test_leads_for_a_target(options):
    """The lead is the smallest that reaches the target on unseen rows, and so it is noted."""
    X, y = drawn_rows(n_rows=300)
    est = quick(target_error=0.05, **options).fit(X, y)
    curve, lead = est.out_of_bag_, est.model_.abstain
    place = curve.theta.tolist().index(lead)
    assert place > 0
    assert curve.error[place] <= 0.05
    assert (curve.error[:place] > 0.05).all()
    noted = est.model_.summary["out_of_bag"]
    assert noted["coverage"] == curve.coverage[place]
    assert noted["error_among_predicted"] == curve.error[place]
    assert est.certificate().abstaining.raw < est.certificate().vote.raw
    found = selective_score(est.model_, *drawn_rows(1, n_rows=3000))
    assert found.error < 0.08
    assert found.coverage == pytest.approx(noted["coverage"], abs=0.1)


def test_a_given_lead_is_judged_too():
    """With bagging, coverage and error are noted for the lead that was asked for."""
    X, y = drawn_rows()
    est = quick(abstain=0.5).fit(X, y)
    assert est.model_.abstain == 0.5
    noted, curve = est.model_.summary["out_of_bag"], est.out_of_bag_
    assert noted["coverage"] == curve.coverage[curve.theta >= 0.5][0] < 1.0
    never = quick(abstain=3.0).fit(X, y).model_.summary["out_of_bag"]
    assert (never["coverage"], never["error_among_predicted"]) == (0.0, None)


def test_settings_that_do_not_go_together_are_told():
    """A lead and a target at once, a target out of reach, and rows that all searches saw."""
    X, y = drawn_rows()
    with pytest.raises(ValueError, match=r"target_error=0.1 chooses abstain.*give only one"):
        quick(target_error=0.1, abstain=0.2).fit(X, y)
    with pytest.raises(ValueError, match="target_error=2 must be"):
        quick(target_error=2).fit(X, y)
    rng = np.random.default_rng(0)
    with pytest.raises(ValueError, match="not reached at any lead"):
        quick(target_error=0.0).fit(X, rng.permutation(y))
    assert quick(bagging=False).fit(X, y).out_of_bag_ is None


def test_nothing_else_matters():
    """Threads, the order of rows and repeated rows instead of weights change no model."""
    X, y = drawn_rows()
    expected = quick(target_error=0.1).fit(X, y)
    assert quick(target_error=0.1, n_jobs=2).fit(X, y).model_ == expected.model_
    order = np.random.default_rng(5).permutation(len(y))
    assert quick(target_error=0.1).fit(some(X, order), y[order]).model_ == expected.model_
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weights)
    weighted = quick().fit(X, y, sample_weight=weights)
    repeated = quick().fit(some(X, rows), y[rows])
    assert posteriors_of(weighted) == posteriors_of(repeated)
    assert weighted.out_of_bag_.error.tolist() == repeated.out_of_bag_.error.tolist()
    assert posteriors_of(quick(bagging=False).fit(X, y)) != posteriors_of(expected)


def test_out_of_bag_votes_are_by_rows_not_values():
    """Of few different rows, repeated often, every search sees some copies: errors are as on new.

    Columns like those of titanic: twelve different rows, a class that two of them mostly decide.
    """

    def sample(seed, n_rows=400):
        rng = np.random.default_rng(seed)
        X = {"s": rng.choice(["m", "f"], n_rows), "p": rng.choice(list("abc"), n_rows)}
        y = ((X["s"] == "f") & (X["p"] != "c")) ^ (rng.random(n_rows) < 0.2)
        return X, y.astype(int)

    est = quick(n_samples=8).fit(*sample(0))
    assert est.out_of_bag_.error[0] == pytest.approx(1 - est.score(*sample(1)), abs=0.05)


def smoothed_fits():
    """Give a name, a table of training rows and one of new rows each."""
    sets = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    sets |= {"cancer": load_breast_cancer(return_X_y=True), "slope": drawn_rows(n_rows=300)}
    for name, (X, y) in sets.items():
        order = np.random.default_rng(1).permutation(len(y))
        rows = [order[: len(y) // 2], order[len(y) // 2 :]]
        parts = [some(X, r) if isinstance(X, dict) else X[r] for r in rows]
        yield pytest.param(parts[0], y[rows[0]], parts[1], y[rows[1]], id=name)


@pytest.mark.parametrize(("X", "y", "X_new", "y_new"), list(smoothed_fits()))
def test_probabilities_are_smoothed(X, y, X_new, y_new):
    """Log-loss is below that of the class shares, no probability is 0 or 1, labels stay."""
    est = quick(bagging=False).fit(X, y)
    p = est.predict_proba(X_new)
    assert 0.0 < p.min() <= p.max() < 1.0
    assert np.array_equal(est.predict(X_new), est.classes_[p.argmax(axis=1)])
    shares = np.tile(np.bincount(y) / len(y), (len(y_new), 1))
    assert log_loss(y_new, p) < log_loss(y_new, shares)
    raw = replace(est.model_, smoothing=0.0)
    assert np.array_equal(raw.predict(X_new), est.predict(X_new))
    est.model_.verify_exports()


def test_smoothing_is_chosen_by_unseen_rows():
    """Where classes are pure chance, the shares of the classes are nearly all that counts."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (200, 10)).astype(float)
    chance = quick(bagging=False, max_steps=1000).fit(X, rng.integers(0, 2, 200))
    clear = quick(bagging=False, max_steps=1000).fit(X, X[:, 0].astype(int))
    assert chance.model_.smoothing >= 4
    assert clear.model_.smoothing <= 1 / 64
    assert quick().fit(X, X[:, 0].astype(int)).model_.smoothing <= 1 / 64
