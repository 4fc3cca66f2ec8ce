"""Ensembles with a prior from half of the rows: what depends on what, and that the bound holds."""

import math
from itertools import product

import numpy as np
import pytest
from sklearn.utils import check_random_state

from rulewright.bounds import kl_divergence, pac_bayes_kl, vote_bound
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.canonical import rule_set_conjunctions
from rulewright.estimators.ruleset_ensemble.estimator import RuleSetEnsembleClassifier
from rulewright.estimators.ruleset_ensemble.search import split_in_halves
from rulewright.trust.certificates.votes import SAME_ROWS, WEIGHTED, posteriors
from rulewright.weighting import posterior_weights

pytestmark = pytest.mark.native


def drawn_rows(seed=0, n_rows=120, noise=0.15):
    """Draw rows of mixed columns with missing values, and three noisy classes."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    color = rng.choice(["red", "green", "blue"], n_rows)
    X = {"a": np.where(rng.random(n_rows) < 0.1, np.nan, a), "color": color}
    y = (a > 0).astype(int) + (color == "red")
    return X, np.where(rng.random(n_rows) < noise, rng.integers(0, 3, n_rows), y)


def quick(**options):
    """Make an ensemble of few and short searches, with a prior from half of the rows."""
    small = {"max_terms": 2, "n_samples": 3, "max_steps": 150, "max_bins": 4, "random_state": 0}
    return RuleSetEnsembleClassifier(**{**small, "split_prior": True, **options})


def places(n_rows, seed=0):
    """Give the places of the first and of the second half."""
    random = check_random_state(seed)
    random.randint(2**31)  # the seed of the searches is drawn before
    order = random.permutation(n_rows)
    return np.sort(order[: (n_rows + 1) // 2]), np.sort(order[(n_rows + 1) // 2 :])


def posteriors_of(est):
    """Give the weighed rule sets of the classes that have any."""
    return list(posteriors(est.model_).values())


def some(X, rows):
    """Take rows of a dict of columns."""
    return {name: values[rows] for name, values in X.items()}


def losses(est, posterior, head, X, y):
    """Count the errors of each rule set of a class."""
    table, found = read_table(X, target=y), []
    for rule_set in posterior.rule_sets:
        covered = np.zeros(len(y), dtype=bool)
        for conjunction in rule_set_conjunctions(est.model_.evidence.encoding, rule_set):
            covered |= conjunction.holds(table)
        found.append(int((covered != (y == est.classes_[head])).sum()))
    return found


@pytest.mark.parametrize("n_rows", [2, 3, 10])
def test_halves_go_by_places_alone(n_rows):
    """All rows are in one half, and which one has nothing to do with their values."""
    X, y = {"a": np.arange(float(n_rows))}, np.arange(n_rows) % 2
    first, second = split_in_halves(
        TrainingSet.of(read_table(X, target=y)), np.random.RandomState(3)
    )
    assert len(first) - len(second) == n_rows % 2
    together = [*first.table["a"].values, *second.table["a"].values]
    assert sorted(together) == X["a"].tolist()
    turned = TrainingSet.of(read_table({"a": X["a"][::-1] ** 2}, target=1 - y))
    other, _ = split_in_halves(turned, np.random.RandomState(3))
    places = first.table["a"].values.astype(int)
    assert np.array_equal(other.table["a"].values, X["a"][::-1][places] ** 2)


def test_prior_and_weights_by_definition():
    """P ~ count * alpha^(errors on the first half), Q ~ P * alpha^(errors on the second)."""
    X, y = drawn_rows()
    est = quick().fit(X, y)
    first, second = places(len(y))
    stated = est.certificate(delta=0.1)
    assert stated.vote.n == len(second) == est.model_.evidence.total_weight
    for head, posterior in enumerate(posteriors_of(est)):
        before = losses(est, posterior, head, some(X, first), y[first])
        after = losses(est, posterior, head, some(X, second), y[second])
        prior = posterior_weights(before, posterior.counts, 0.9)
        assert posterior.prior == pytest.approx(prior, abs=1e-12)
        assert list(posterior.errors) == after
        both = np.add(before, after)
        weights = posterior_weights(both, posterior.counts, 0.9)
        assert posterior.weights == pytest.approx(weights, abs=1e-12)
        assert stated.divergences[head] == pytest.approx(kl_divergence(weights, prior))
        assert stated.losses[head] == pytest.approx(weights @ after / len(second))
    expected = vote_bound(stated.losses, stated.divergences, len(second), 0.1)
    assert stated.vote.raw == pytest.approx(expected.raw)


def test_the_second_half_touches_nothing_but_weights():
    """With anything else in the second half there are the same cuts, rule sets and prior."""
    X, y = drawn_rows()
    _, second = places(len(y))
    other = some(X, np.arange(len(y)))
    other["a"][second] = 1e3
    changed = y.copy()
    changed[second] = 0
    one, two = quick().fit(X, y), quick().fit(other, changed)
    assert one.model_.evidence.encoding.variables == two.model_.evidence.encoding.variables
    for a, b in zip(posteriors_of(one), posteriors_of(two), strict=True):
        assert a.rule_sets == b.rule_sets
        assert a.prior == b.prior
        assert a.counts == b.counts
    assert [p.weights for p in posteriors_of(one)] != [p.weights for p in posteriors_of(two)]


def test_a_single_class_is_chosen_without_the_second_half():
    """Which of two classes gets the rule sets is a matter of the first half too."""
    X, y = drawn_rows()
    first, second = places(len(y))
    y = np.zeros(len(y), dtype=int)
    y[first[:20]] = 1
    for rest in (0, 1):
        y[second] = rest
        assert list(posteriors(quick(single=True).fit(X, y).model_)) == [1]


def test_bounds_of_a_split_are_certified():
    """No doubt is left, but that weights are no sample; the bound says something."""
    X, y = drawn_rows(n_rows=800, noise=0.05)
    est = quick(max_steps=500).fit(X, y)
    stated = est.certificate()
    for bound in (*stated.gibbs, stated.vote, stated.abstaining, stated.vote_mcallester):
        assert bound.certified
        assert bound.reasons == ()
    assert not stated.vote.vacuous
    X_new, y_new = drawn_rows(1, n_rows=20_000, noise=0.05)
    assert (est.predict(X_new) != y_new).mean() < stated.vote.value
    assert "not a certificate" not in str(stated)
    length = quick(split_prior=False).fit(X, y).certificate()
    assert length.vote.reasons == (SAME_ROWS,)
    weighted = quick().fit(X, y, sample_weight=np.full(len(y), 2)).certificate()
    assert weighted.vote.reasons == (WEIGHTED,)


CELLS = np.array(list(product([0.0, 1.0], repeat=5)))
CONCEPT = (CELLS[:, 0] * CELLS[:, 1]).astype(int)


def sampled_fit(seed, noise, **options):
    """Draw 60 of the cells with noisy classes and learn from them."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(CELLS), 60)
    X, y = CELLS[drawn], CONCEPT[drawn] ^ (rng.random(60) < noise)
    return quick(random_state=seed, **options).fit(X, y), X, y


def true_losses(est, noise):
    """Give the true loss of a rule set of each class, drawn by weight: all cells are known."""
    shares = [
        np.dot(posterior.weights, losses(est, posterior, head, CELLS, CONCEPT)) / len(CELLS)
        for head, posterior in posteriors(est.model_).items()
    ]
    return [noise + (1 - 2 * noise) * share for share in shares]


@pytest.mark.parametrize("noise", [0.15, 0.5])
@pytest.mark.parametrize("single", [False, True])
def test_the_bound_holds_over_samples(noise, single):
    """In a share delta of samples at most, a true loss is above its bound; else the vote's is not.

    With classes by chance, losses on the rows that were searched on often are: the test can tell.
    """
    delta, runs, failures, naive = 0.2, 40, 0, 0
    for seed in range(runs):
        est, X, y = sampled_fit(seed, noise, single=single)
        stated, true = est.certificate(delta=delta), true_losses(est, noise)
        failed = any(b.value < loss for b, loss in zip(stated.gibbs, true, strict=True))
        error = noise + (1 - 2 * noise) * (est.predict(CELLS) != CONCEPT).mean()
        assert failed or stated.vote.raw >= error
        failures += failed
        first, _ = places(60, seed)
        head, posterior = next(iter(posteriors(est.model_).items()))
        seen = losses(est, posterior, head, X[first], y[first])
        loss = np.dot(posterior.weights, seen) / len(first)
        naive += pac_bayes_kl(loss, 0.0, len(first), delta).value < true[0]
    assert failures <= delta * runs
    if noise == 0.5:
        assert naive > delta * runs


def test_what_the_first_half_lacks():
    """Labels, missing values and classes that only the second half has do no harm."""
    X, y = drawn_rows(n_rows=40)
    _, second = places(40)
    X["color"][second[:2]] = "plum"
    X["b"] = np.arange(40.0)
    X["b"][second[2]] = math.nan
    y[second[3:6]] = 3
    est = quick(max_terms=1).fit(X, y)
    assert est.certificate().vote.n == 20
    assert posteriors_of(est)[3].rule_sets == ((),)
    est.model_.verify_exports()
    for head, posterior in enumerate(posteriors_of(est)):
        assert list(posterior.errors) == losses(est, posterior, head, some(X, second), y[second])


def test_few_rows_and_threads():
    """Two rows are enough to fit, and threads do not matter."""
    X, y = drawn_rows()
    assert quick(n_jobs=2).fit(X, y).model_ == quick().fit(X, y).model_
    with pytest.warns(UserWarning, match="one or two rows"):
        tiny = quick().fit(some(X, [0, 1]), np.array(["a", "b"]))
    assert tiny.certificate().vote.vacuous
