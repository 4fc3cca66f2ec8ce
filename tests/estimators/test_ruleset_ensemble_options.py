"""Ensembles of rule sets: weights without multiplicity, one ensemble for two classes, consensus."""

import numpy as np
import pytest

from rulewright.bounds import pac_bayes_kl, pac_bayes_mcallester, single_vote_bound
from rulewright.data import read_table
from rulewright.estimators.ruleset_ensemble.estimator import RuleSetEnsembleClassifier
from rulewright.model import DnfModel, load_model
from rulewright.model.forms.dnf import laplace
from rulewright.trust import (
    column_importance,
    frequent,
    literal_importance,
    risk_coverage,
    term_table,
)
from rulewright.trust.certificates.votes import posteriors
from rulewright.weighting import posterior_weights

pytestmark = pytest.mark.native


def drawn_rows(seed=0, n_rows=150, n_classes=2):
    """Draw mixed columns with missing values, and string classes that depend on two of them."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n_rows)
    X = {
        "a": np.where(rng.random(n_rows) < 0.1, np.nan, a),
        "color": rng.choice(["red", "green", "blue"], n_rows),
    }
    y = (a > 0.3).astype(int) + (X["color"] == "red") * (n_classes - 2)
    y = np.where(rng.random(n_rows) < 0.1, rng.integers(0, n_classes, n_rows), y)
    return X, np.array(["no", "yes", "perhaps"])[y]


def posteriors_of(est):
    """Give the weighed rule sets of the classes that have any."""
    return list(posteriors(est.model_).values())


def quick(**options):
    """Make an ensemble of few and short searches."""
    small = {"max_terms": 3, "n_samples": 4, "max_steps": 150, "max_bins": 4, "random_state": 0}
    return RuleSetEnsembleClassifier(**{**small, **options})


@pytest.fixture(scope="module")
def single():
    """Fit one ensemble for two classes; tests only read."""
    return quick(single=True, abstain=0.4).fit(*drawn_rows())


def test_unique_weights_ignore_how_often_sets_were_found():
    """The same rule sets weigh alpha^errors, once each."""
    X, y = drawn_rows(n_classes=3)
    plain, unique = quick().fit(X, y), quick(vote_weight="unique").fit(X, y)
    assert max(max(p.counts) for p in posteriors_of(unique)) > 1
    for one, other in zip(posteriors_of(plain), posteriors_of(unique), strict=True):
        assert (one.rule_sets, one.counts, one.errors) == (
            other.rule_sets,
            other.counts,
            other.errors,
        )
        expected = posterior_weights(other.errors, [1] * len(other), 0.9)
        assert other.weights == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="vote_weight='twice' must be one of"):
        quick(vote_weight="twice").fit(X, y)


def test_one_ensemble_is_that_of_its_class(single):
    """The class of the smaller weight has the rule sets it would have, the other is opposite."""
    X, y = drawn_rows()
    assert (y == "yes").sum() < (y == "no").sum()
    both = quick().fit(X, y)
    assert list(posteriors(single.model_)) == [1]
    assert posteriors_of(single) == posteriors_of(both)[1:]
    scores = single.model_.scores(X)
    assert np.array_equal(scores[:, 1], both.model_.scores(X)[:, 1])
    assert np.array_equal(scores[:, 0], -scores[:, 1])
    clear = scores[:, 1] != 0
    assert np.array_equal((single.predict(X) == "yes")[clear], scores[clear, 1] > 0)
    assert np.array_equal(single.model_.abstains(X), np.abs(scores[:, 1]) < 0.2)
    assert single.model_.summary["searches"] == [12, 12]


def test_one_ensemble_is_bounded_once(single):
    """The error is at most 2 B9 with all of delta, and 2 B9 / (1 + t) for votes of t."""
    stated = single.certificate()
    figures = (stated.losses[0], stated.divergences[0], 150, 0.05)
    assert stated.labels == ("yes",)
    for form, vote, abstaining in (
        (pac_bayes_kl(*figures), stated.vote, stated.abstaining),
        (pac_bayes_mcallester(*figures), stated.vote_mcallester, stated.abstaining_mcallester),
    ):
        assert vote.raw == single_vote_bound(form).raw == 2 * form.value
        assert abstaining.raw == pytest.approx(2 * form.value / 1.2)
    assert "class yes: loss" in str(stated)


@pytest.mark.parametrize("seed", range(4))
def test_one_loss_bounds_the_vote_on_its_rows(seed):
    """Twice the loss / (1 + theta / 2) is at least the share of rows predicted and wrong (I14)."""
    X, y = drawn_rows(seed)
    est = quick(single=True).fit(X, y)
    curve, loss = risk_coverage(est.model_, X, y), est.certificate().losses[0]
    assert (curve.joint_error <= 2 * loss / (1 + curve.theta / 2) + 1e-12).all()


def test_one_ensemble_reads_saves_and_exports(single, tmp_path):
    """Files, SQL, decisions and tables are right for a class without rule sets."""
    X, _ = drawn_rows()
    single.model_.save(tmp_path / "votes.json")
    assert load_model(tmp_path / "votes.json") == single.model_
    single.model_.verify_exports()
    assert np.array_equal(single.decision_function(X) > 0, single.predict(X) == "yes")
    for table in (f(single.model_) for f in (term_table, column_importance, literal_importance)):
        assert set(table["class"]) == {"yes"}


def test_one_ensemble_is_for_two_classes():
    """More classes are an error; a single class is what it always was."""
    X, y = drawn_rows(n_classes=3)
    with pytest.raises(ValueError, match="single=True needs two classes, not 3"):
        quick(single=True).fit(X, y)
    with pytest.raises(ValueError, match="single='yes' must be true or false"):
        quick(single="yes").fit(X, y)
    alone = [quick(single=flag).fit(X, ["only"] * len(y)) for flag in (False, True)]
    assert alone[0].model_.members == alone[1].model_.members
    assert alone[0].certificate() == alone[1].certificate()


@pytest.mark.parametrize(("n_classes", "options"), [(2, {}), (2, {"single": True}), (3, {})])
def test_frequent_terms_agree_with_the_vote(n_classes, options):
    """The fidelity told is that of the model; terms are the ensemble's, each of some use."""
    X, y = drawn_rows(n_classes=n_classes)
    X_new, _ = drawn_rows(1)
    est = quick(**options).fit(X, y)
    found = frequent(est.model_, X, X_new, max_terms=4)
    assert isinstance(found.model, DnfModel)
    assert found.fidelity == (found.model.predict(X) == est.predict(X)).mean()
    assert found.held_out_fidelity == (found.model.predict(X_new) == est.predict(X_new)).mean()
    assert found.fidelity > max((est.predict(X) == label).mean() for label in est.classes_)
    own = {(rule.head.first, rule.body) for rule in est.model_}
    assert {(rule.head.first, rule.body) for rule in found.model} <= own
    assert 1 <= len(found.model) <= 4
    fewer = frequent(est.model_, X, max_terms=1)
    assert len(fewer.model) == 1
    assert fewer.fidelity <= found.fidelity
    assert fewer.held_out_fidelity is None
    assert found.model.summary["fidelity"] == found.fidelity
    assert f"fidelity {found.fidelity:.4g}" in str(found)
    assert "held-out" in str(found)


def test_frequent_terms_are_taken_in_the_order_of_their_promise():
    """By brute force: each is the first, by weight times precision, that makes more rows agree."""
    X, y = drawn_rows(n_classes=3, n_rows=80)
    est = quick(max_terms=2, n_samples=2).fit(X, y)
    votes, labels = est.model_, est.predict(X)
    table = read_table(X, target=labels)
    order = sorted(
        votes,
        key=lambda rule: (
            -rule.outcome.value * laplace(rule.coverage.class_weights, rule.head.first)
        ),
    )

    def agreement(rules):
        best = 0.0
        for default in range(3):
            formulas = {}
            for rule in rules:
                formulas.setdefault(rule.head.first, []).append(rule.body)
            model = DnfModel.from_training(table, formulas, default)
            best = max(best, (model.predict(X) == labels).mean())
        return best

    chosen, best = [], agreement([])
    while better := next((r for r in order if agreement([*chosen, r]) > best), None):
        chosen.append(better)
        best = agreement(chosen)
    found = frequent(est.model_, X, max_terms=100)
    assert found.fidelity == best
    assert {str(rule.body) for rule in found.model} == {str(r.body) for r in chosen}


def test_a_vote_without_choice_needs_no_terms():
    """Where the vote always gives one class, the consensus is that class."""
    X, y = drawn_rows()
    found = frequent(quick().fit(X, ["same"] * len(y)).model_, X)
    assert (len(found.model), found.fidelity) == (0, 1.0)
    with pytest.raises(ValueError, match="max_terms=0"):
        frequent(quick().fit(X, y).model_, X, max_terms=0)
