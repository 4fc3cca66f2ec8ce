"""Ensembles of rule sets: what is sampled, how it votes, and that nothing else matters."""

import math
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budget import examples
from builders import SEEDS
from rulewright.data import read_table
from rulewright.encoding.canonical import FALSE, TRUE, rule_set_conjunctions
from rulewright.estimators.ruleset_ensemble.estimator import RuleSetEnsembleClassifier
from rulewright.estimators.sl2.estimator import NOISES, SearchNoise
from rulewright.model import load_model
from rulewright.trust.certificates.votes import posteriors
from rulewright.weighting import posterior_weights

pytestmark = pytest.mark.native


def drawn_rows(seed=0, n_rows=120, n_classes=3):
    """Draw rows of mixed columns with missing values, and noisy classes that depend on two."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    color = rng.choice(["red", "green", "blue"], n_rows)
    X = {
        "a": np.where(rng.random(n_rows) < 0.1, np.nan, a),
        "b": rng.integers(0, 5, n_rows).astype(float),
        "color": color,
    }
    y = ((a > 0).astype(int) + (color == "red")) % n_classes
    noisy = rng.random(n_rows) < 0.15
    return X, np.where(noisy, rng.integers(0, n_classes, n_rows), y)


def quick(**options):
    """Make an ensemble of few and short searches."""
    small = {"max_terms": 3, "n_samples": 3, "max_steps": 150, "max_bins": 4, "random_state": 0}
    return RuleSetEnsembleClassifier(**{**small, **options})


def posteriors_of(est):
    """Give the weighed rule sets of the classes that have any."""
    return list(posteriors(est.model_).values())


def some(X, rows):
    """Take rows of a dict of columns."""
    return {name: values[rows] for name, values in X.items()}


def covered(est, rule_set, X, y):
    """Tell which rows a canonical rule set of a fitted ensemble covers."""
    table, found = read_table(X, target=y), np.zeros(len(y), dtype=bool)
    for conjunction in rule_set_conjunctions(est.model_.evidence.encoding, rule_set):
        found |= conjunction.holds(table)
    return found


@examples(10)
@given(seed=SEEDS)
def test_errors_and_weights_are_those_of_the_rule_sets(seed):
    """Errors can be counted again, and weights follow from errors and counts alone (I1)."""
    X, y = drawn_rows(seed)
    est = quick().fit(X, y)
    for label, posterior in zip(est.classes_, posteriors_of(est), strict=True):
        for rule_set, errors in zip(posterior.rule_sets, posterior.errors, strict=True):
            assert (covered(est, rule_set, X, y) != (y == label)).sum() == errors
        expected = posterior_weights(posterior.errors, posterior.counts, 0.9)
        assert posterior.weights == pytest.approx(expected, abs=1e-12)
        assert sum(posterior.counts) == 9
        assert len(set(posterior.rule_sets)) == len(posterior)


@examples(10)
@given(seed=SEEDS)
def test_scores_are_the_weighted_votes(seed):
    """The score of a class is the weight of covering rule sets minus the rest, in [-1, 1] (I3)."""
    X, y = drawn_rows(seed)
    est = quick().fit(X, y)
    expected = np.zeros((len(y), len(est.classes_)))
    for k, posterior in enumerate(posteriors_of(est)):
        for rule_set, weight in zip(posterior.rule_sets, posterior.weights, strict=True):
            expected[:, k] += np.where(covered(est, rule_set, X, y), weight, -weight)
    scores, margins = est.model_.scores(X), est.model_.margins(X)
    assert scores == pytest.approx(expected, abs=1e-12)
    assert np.abs(scores).max() <= 1.0
    assert 0.0 <= margins.min() <= margins.max() <= 2.0


@examples(10)
@given(seed=SEEDS)
def test_decisions_of_two_classes_rank_like_probabilities(seed):
    """Their sign is the prediction, and more of them is more probable."""
    X, y = drawn_rows(seed, n_classes=2)
    est = quick(max_terms=2).fit(X, y)
    decision, chance = est.decision_function(X), est.predict_proba(X)[:, 1]
    assert np.array_equal(decision > 0, est.predict(X) == 1)
    assert (np.diff(chance[np.argsort(decision)]) >= -1e-12).all()


def test_nu_is_another_name_of_alpha():
    """Nu = -n ln(alpha) gives the same weights (I2); both at once are an error."""
    X, y = drawn_rows()
    one, other = quick(alpha=0.8).fit(X, y), quick(nu=-len(y) * math.log(0.8)).fit(X, y)
    for a, b in zip(posteriors_of(one), posteriors_of(other), strict=True):
        assert a.rule_sets == b.rule_sets
        assert a.weights == pytest.approx(b.weights, abs=1e-12)
    with pytest.raises(ValueError, match="give only one"):
        quick(alpha=0.8, nu=1.0).fit(X, y)


def test_endless_decay_keeps_the_best_rule_sets():
    """With a huge nu only rule sets with the fewest errors are left."""
    X, y = drawn_rows()
    for posterior in posteriors_of(quick(nu=1e9).fit(X, y)):
        assert len(set(posterior.errors)) == 1


@examples(10)
@given(seed=SEEDS, leads=st.lists(st.floats(0, 2.5), min_size=2, max_size=2))
def test_asking_for_more_abstains_more(seed, leads):
    """Rows predicted at a larger lead are among those at a smaller one (I4)."""
    X, y = drawn_rows(seed, n_rows=60)
    model = quick(n_samples=2).fit(X, y).model_
    small, large = (model.with_abstain(lead).abstains(X) for lead in sorted(leads))
    assert (large | ~small).all()


def test_extremes_of_abstaining():
    """A lead of 0 never abstains, 2 needs unanimity, more than 2 always does, less is refused."""
    X, y = drawn_rows()
    est = quick(abstain=2.0).fit(X, y)
    model = est.model_
    assert not model.with_abstain(0.0).abstains(X).any()
    unanimous = np.sort(model.scores(X), axis=1)[:, -2:] == [-1.0, 1.0]
    assert np.array_equal(~model.abstains(X), unanimous.all(axis=1))
    assert model.with_abstain(2.1).abstains(X).all()
    with pytest.raises(ValueError, match="abstain=-1"):
        quick(abstain=-1).fit(X, y)


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_threads_do_not_matter(n_jobs):
    """The model is the same for any number of threads (I10)."""
    X, y = drawn_rows()
    assert quick(n_jobs=n_jobs).fit(X, y).model_ == quick().fit(X, y).model_


def test_seeds_do_matter():
    """Another seed samples other rule sets."""
    X, y = drawn_rows()
    one, other = (posteriors_of(quick(random_state=seed).fit(X, y)) for seed in (0, 1))
    assert [p.rule_sets for p in one] != [p.rule_sets for p in other]


def test_samples_differ():
    """Searches for equally many terms are independent: there are more rule sets than sizes."""
    X, y = drawn_rows()
    est = quick(max_terms=2, n_samples=6).fit(X, y)
    assert all(len(posterior) > 2 for posterior in posteriors_of(est))


def test_the_order_of_rows_does_not_matter():
    """Rows in another order give the same ensemble."""
    X, y = drawn_rows()
    order = np.random.default_rng(5).permutation(len(y))
    again = quick().fit(some(X, order), y[order])
    assert again.model_ == quick().fit(X, y).model_


def test_weights_are_repetitions():
    """A weight of two is a row twice, a weight of zero is none."""
    X, y = drawn_rows()
    weights = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = quick().fit(X, y, sample_weight=weights)
    rows = np.repeat(np.arange(len(y)), weights)
    repeated = quick().fit(some(X, rows), y[rows])
    assert posteriors_of(weighted) == posteriors_of(repeated)
    assert weighted.model_.evidence.total_weight == repeated.model_.evidence.total_weight
    assert np.array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_class_weights_move_the_vote():
    """A class that weighs much is predicted more often; one next to nothing never is."""
    X, y = drawn_rows()
    plain = (quick().fit(X, y).predict(X) == 0).mean()
    heavy = (quick(class_weight={0: 20.0, 1: 1.0, 2: 1.0}).fit(X, y).predict(X) == 0).mean()
    assert heavy > plain
    light = quick(class_weight={0: 1e-9, 1: 1.0, 2: 1.0}).fit(X, y)
    assert posteriors_of(light)[0].rule_sets == (FALSE,)


def test_single_rule_sets_predict_by_themselves():
    """With one rule set per class, scores say whether it covers the row (I11)."""
    X, y = drawn_rows()
    est = quick(alpha=1.0, max_terms=1, n_samples=1).fit(X, y)
    covers = [covered(est, p.rule_sets[0], X, y) for p in posteriors_of(est)]
    assert [len(p) for p in posteriors_of(est)] == [1, 1, 1]
    assert np.array_equal(est.model_.scores(X), np.where(covers, 1.0, -1.0).T)
    alone = np.sum(covers, axis=0) == 1
    assert np.array_equal(est.predict(X)[alone], np.argmax(covers, axis=0)[alone])


def test_one_class_is_true():
    """A single class has the rule set TRUE, without errors, and never abstains."""
    X, _ = drawn_rows(n_rows=20)
    est = quick(abstain=2.0).fit(X, ["only"] * 20)
    assert posteriors_of(est)[0].rule_sets == (TRUE,)
    assert posteriors_of(est)[0].errors == (0.0,)
    assert set(est.predict(X)) == {"only"}
    assert not est.model_.abstains(X).any()
    assert est.certificate().divergences[0] > 0.0


def test_columns_that_never_change_leave_true_and_false():
    """Without any question the most frequent class is predicted."""
    X = {"a": np.ones(30), "b": np.full(30, np.nan)}
    est = quick().fit(X, [0] * 10 + [1] * 20)
    assert [p.rule_sets for p in posteriors_of(est)] == [(FALSE,), (TRUE,)]
    assert (est.predict(X) == 1).all()


def test_too_few_rows_are_told():
    """One row is an error, a class of one or two rows a warning."""
    X, y = drawn_rows(n_rows=20, n_classes=2)
    with pytest.raises(ValueError, match="two rows or more"):
        quick().fit(some(X, [0]), y[:1])
    y = np.where(np.arange(20) == 3, 7, y)
    with pytest.warns(UserWarning, match=r"one or two rows \(7\)"):
        quick().fit(X, y)


def test_unseen_labels_and_missing_values_are_not_any_value():
    """A label never seen satisfies the opposite of every value, and no value."""
    X = {"color": np.repeat(["red", "green", "blue"], 20)}
    y = (X["color"] == "red").astype(int)
    est = quick(max_terms=1).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = est.model_.scores({"color": np.array(["pink", None, "red"], dtype=object)})
    assert scores.tolist() == [[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]


def test_a_cut_off_fit_is_an_ensemble():
    """However little time there is, every class has a rule set; the searches done are noted."""
    X, y = drawn_rows()
    est = quick(time_limit=1e-9).fit(X, y)
    assert [len(p) for p in posteriors_of(est)] == [1, 1, 1]
    assert est.model_.summary["searches"] == [3, 27]
    whole = quick(time_limit=1e3).fit(X, y)
    assert whole.model_.summary["searches"] == [27, 27]
    assert [p.weights for p in posteriors_of(whole)] == [
        p.weights for p in posteriors_of(quick().fit(X, y))
    ]


def test_settings_of_the_thesis():
    """The published settings differ from ours in the noise of the search."""
    paper = RuleSetEnsembleClassifier.paper(n_samples=2)
    assert paper.noise == "swapped"
    assert NOISES["swapped"]() == SearchNoise(0.1, 0.2, 0.1)
    assert (paper.max_terms, paper.n_samples, paper.max_steps) == (8, 2, 5000)


def test_thresholds_are_questions_too():
    """With thresholds a single term can be a range of many intervals."""
    x = np.arange(100.0)
    y = ((x > 20) & (x < 80)).astype(int)
    est = quick(allow_thresholds=True, max_bins=10, max_terms=1, max_steps=2000).fit({"x": x}, y)
    assert min(posteriors_of(est)[1].errors) <= 2
    plain = quick(max_bins=10).fit({"x": x}, y)
    assert len(est.model_.evidence.encoding) > len(plain.model_.evidence.encoding)


def test_models_survive_files_and_pickles(tmp_path):
    """A saved model and a pickled estimator predict the same; SQL agrees."""
    X, y = drawn_rows()
    est = quick(abstain=0.3).fit(X, np.array(["x", "y", "z"])[y])
    est.model_.save(tmp_path / "votes.json")
    assert load_model(tmp_path / "votes.json") == est.model_
    again = pickle.loads(pickle.dumps(est))
    assert np.array_equal(again.predict_proba(X), est.predict_proba(X))
    assert again.certificate() == est.certificate()
    est.model_.verify_exports()


def test_a_progress_bar_changes_nothing():
    """The model is the same with and without a bar."""
    X, y = drawn_rows()
    assert quick(verbose=1).fit(X, y).model_ == quick().fit(X, y).model_
