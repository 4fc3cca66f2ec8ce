"""Reading ensembles of rule sets: bounds, abstention, statistics, distillation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from budget import examples
from builders import SEEDS
from rulewright.bounds import held_out_bound, selective_held_out_bound, vote_bound
from rulewright.encoding.canonical import domain_sizes
from rulewright.estimators.ruleset_ensemble.estimator import RuleSetEnsembleClassifier
from rulewright.estimators.sl2.estimator import SL2Classifier
from rulewright.trust import (
    certificate,
    choose_abstain,
    column_importance,
    held_out_certificate,
    literal_importance,
    pair_table,
    risk_coverage,
    selective_score,
    term_table,
)
from rulewright.trust.certificates.votes import OTHER_DECISION, SAME_ROWS, WEIGHTED, posteriors
from rulewright.trust.consensus import (
    attribute_shares,
    attribute_weights,
    literal_weights,
    pair_shares,
)
from rulewright.weighting import Posterior

pytestmark = pytest.mark.native


def drawn_rows(seed=0, n_rows=150):
    """Draw a numeric and two nominal columns, and three noisy classes."""
    rng = np.random.default_rng(seed)
    X = {
        "a": rng.normal(size=n_rows),
        "color": rng.choice(["red", "green", "blue"], n_rows),
        "shape": rng.choice(["round", "square"], n_rows),
    }
    y = (X["a"] > 0).astype(int) + ((X["color"] == "red") & (X["shape"] == "round"))
    return X, np.where(rng.random(n_rows) < 0.1, rng.integers(0, 3, n_rows), y)


def posteriors_of(est):
    """Give the weighed rule sets of the classes that have any."""
    return list(posteriors(est.model_).values())


def quick(**options):
    """Make an ensemble of few and short searches."""
    small = {"max_terms": 3, "n_samples": 3, "max_steps": 150, "max_bins": 3, "random_state": 0}
    return RuleSetEnsembleClassifier(**{**small, **options})


@pytest.fixture(scope="module")
def fitted():
    """Fit once; tests only read."""
    return quick().fit(*drawn_rows())


@examples(10)
@given(seed=SEEDS, abstain=st.floats(0, 2), prior=st.sampled_from(["length", "flat"]))
def test_certificates_are_the_bounds_of_their_figures(seed, abstain, prior):
    """The vote bound is that of losses and divergences, and B9 is never above B8 (I7)."""
    X, y = drawn_rows(seed)
    est = quick(abstain=abstain).fit(X, y)
    stated = est.certificate(prior, delta=0.1)
    expected = vote_bound(stated.losses, stated.divergences, len(y), 0.1)
    assert stated.vote.raw == expected.raw
    assert stated.vote.raw == pytest.approx(sum(bound.value for bound in stated.gibbs))
    assert stated.vote.raw <= stated.vote_mcallester.raw
    assert stated.abstaining.raw <= stated.abstaining_mcallester.raw
    sizes = domain_sizes(est.model_.evidence.encoding)
    for kl, posterior in zip(stated.divergences, posteriors_of(est), strict=True):
        assert kl == posterior.divergence(sizes, 3, prior)


def test_larger_leads_have_smaller_bounds(fitted):
    """The bound times 1 + theta / 2 does not depend on theta (I8)."""
    est, found = quick().fit(*drawn_rows()), []
    for theta in (0.0, 0.5, 1.0, 2.0):
        est.model_ = fitted.model_.with_abstain(theta)
        found.append(est.certificate().abstaining.raw * (1 + theta / 2))
    assert found == pytest.approx([fitted.certificate().vote.raw] * 4)


def test_domains_of_the_same_rows_are_a_doubt(fitted):
    """No bound with a prior from the training rows is called certified, weights add a reason."""
    X, y = drawn_rows()
    stated = fitted.certificate()
    for bound in (*stated.gibbs, stated.vote, stated.abstaining, stated.vote_mcallester):
        assert not bound.certified
        assert bound.reasons == (SAME_ROWS,)
    assert SAME_ROWS in str(stated)
    assert "KL" in str(stated)
    weighted = quick().fit(X, y, sample_weight=np.full(len(y), 2)).certificate()
    assert weighted.vote.reasons == (SAME_ROWS, WEIGHTED)
    decided = certificate(fitted.model_.with_decision("balanced"))
    assert decided.vote.reasons == (SAME_ROWS, OTHER_DECISION)


def test_order_of_classes_does_not_matter(fitted):
    """Classes named in another order have the same rule sets, bounds and predictions (I9)."""
    X, y = drawn_rows()
    turned = quick().fit(X, 2 - y)
    assert posteriors_of(turned) == posteriors_of(fitted)[::-1]
    assert turned.certificate().vote.raw == pytest.approx(fitted.certificate().vote.raw)
    clear = fitted.model_.margins(X) > 0
    assert clear.mean() > 0.9
    assert np.array_equal(2 - turned.predict(X)[clear], fitted.predict(X)[clear])


@examples(10)
@given(seed=SEEDS)
def test_losses_bound_the_vote_on_the_rows_they_are_of(seed):
    """Sum of losses / (1 + theta / 2) is at least the share of rows predicted and wrong (I14)."""
    X, y = drawn_rows(seed)
    est = quick().fit(X, y)
    curve, total = risk_coverage(est.model_, X, y), sum(est.certificate().losses)
    assert (curve.joint_error <= total / (1 + curve.theta / 2) + 1e-12).all()


@examples(10)
@given(seed=SEEDS)
def test_risk_and_coverage_can_be_counted_again(seed):
    """Every point of the curve is what abstaining below that lead gives; both fall (I4)."""
    est = quick().fit(*drawn_rows(0))
    X, y = drawn_rows(seed)
    curve = risk_coverage(est.model_, X, y)
    wrong = est.predict(X) != y
    for theta, coverage, error, joint in zip(*curve, strict=True):
        predicted = ~est.model_.with_abstain(theta).abstains(X)
        assert coverage == predicted.mean()
        assert error == wrong[predicted].mean()
        assert joint == (wrong & predicted).mean()
    assert curve.theta[0] == 0.0
    assert (np.diff(curve.coverage) <= 0).all()
    assert (np.diff(curve.joint_error) <= 0).all()


def test_leads_for_a_target_error(fitted):
    """The lead chosen reaches the target and no smaller one does; asking too much is told."""
    X, y = drawn_rows(1)
    curve = risk_coverage(fitted.model_, X, y)
    target = float(np.median(curve.error))
    lead = choose_abstain(fitted.model_, X, y, target)
    place = curve.theta.tolist().index(lead)
    assert curve.error[place] <= target
    assert (curve.error[:place] > target).all()
    assert choose_abstain(fitted.model_, X, y, 1.0) == 0.0
    with pytest.raises(ValueError, match="is not reached at any lead"):
        choose_abstain(fitted.model_, X, y, -0.1)


def test_leads_that_hold_for_new_rows(fitted):
    """With delta the bound of the error must reach the target, for all leads at once."""
    X, y = drawn_rows(1)
    curve, wrong = risk_coverage(fitted.model_, X, y), fitted.predict(X) != y
    bounds = []
    for theta in curve.theta:
        predicted = fitted.model_.margins(X) >= theta
        k, m = int(wrong[predicted].sum()), int(predicted.sum())
        bounds.append(selective_held_out_bound(k, m, len(y), 0.05 / len(curve.theta)).value)
    lowest = min(bounds)
    lead = choose_abstain(fitted.model_, X, y, lowest, delta=0.05)
    assert lead == curve.theta[bounds.index(lowest)]
    with pytest.raises(ValueError, match="is not reached at any lead"):
        choose_abstain(fitted.model_, X, y, lowest - 1e-9, delta=0.05)


def test_held_out_certificates_count_errors():
    """Held-out bounds are the exact ones, of all rows and of those predicted."""
    est = quick(abstain=0.5).fit(*drawn_rows())
    X, y = drawn_rows(1)
    wrong, predicted = est.predict(X) != y, ~est.model_.abstains(X)
    k, m = int((wrong & predicted).sum()), int(predicted.sum())
    assert 0 < m < len(y)
    stated = held_out_certificate(est.model_, X, y, delta=0.1)
    assert stated.error == held_out_bound(int(wrong.sum()), len(y), 0.1)
    assert stated.among_predicted == selective_held_out_bound(k, m, len(y), 0.1)
    assert stated.joint.value == held_out_bound(k, len(y), 0.1).value
    assert "a wrong prediction" in str(stated)
    with pytest.raises(ValueError, match="one label per row"):
        held_out_certificate(est.model_, X, y[:-1])


def test_predicting_or_abstaining():
    """Rows without a prediction have the label asked for, and the score counts the others."""
    est = quick(abstain=0.5).fit(*drawn_rows())
    X, y = drawn_rows(1)
    abstained = est.model_.abstains(X)
    labels = est.predict_or_abstain(X, "?")
    assert np.array_equal(labels == "?", abstained)
    assert np.array_equal(labels[~abstained], est.predict(X)[~abstained])
    wrong = (est.predict(X) != y)[~abstained]
    assert selective_score(est.model_, X, y) == (
        (~abstained).mean(),
        wrong.mean(),
        wrong.sum() / len(y),
    )
    est.model_ = est.model_.with_abstain(3.0)
    assert np.isnan(selective_score(est.model_, X, y).error)
    assert selective_score(est.model_, X, y).coverage == 0.0


def test_saved_models_carry_the_figures_of_the_bound(fitted):
    """Losses, divergences and effective sizes are noted down with the model."""
    stated, noted = fitted.certificate(), fitted.model_.summary
    assert noted["losses"] == list(stated.losses)
    assert noted["divergences"] == list(stated.divergences)
    assert noted["effective_sizes"] == list(stated.effective_sizes)


def test_statistics_by_hand(fitted):
    """Shares of terms, by weight of rule sets, for two rule sets on three attributes."""
    encoding = fitted.model_.evidence.encoding
    sizes = domain_sizes(encoding)
    assert sizes == (3, 3, 2)
    one = (((0, 1), (2, 1)), ((1, 1),))
    other = (((0, 1), (1, 2), (2, 1)),)
    posterior = Posterior((one, other), (0.0, 0.0), (1, 3), (0.25, 0.75))
    assert attribute_shares(posterior) == {2: 0.875, 0: 0.875, 1: 0.875}
    assert pair_shares(posterior) == {(0, 2): 0.875, (0, 1): 0.75, (1, 2): 0.75}
    literals = literal_weights(posterior, encoding)
    assert literals[0, True] == 0.875
    assert sorted(literals.values()) == [0.125, 0.75, 0.875, 0.875]
    assert attribute_weights(posterior, encoding) == {0: 0.875, 1: 0.875, 2: 0.875}


def test_tables_agree_with_each_other(fitted):
    """Columns add up their literals, terms the rule sets that are not FALSE."""
    literals, columns = literal_importance(fitted.model_), column_importance(fitted.model_)
    for label, column, weight in zip(*columns.values(), strict=True):
        parts = zip(*literals.values(), strict=True)
        assert weight == pytest.approx(sum(w for c, _, n, w in parts if (c, n) == (label, column)))
    pairs, terms = pair_table(fitted.model_), term_table(fitted.model_)
    assert all(0 < share <= 1 for share in pairs["share"])
    assert all(
        first != second for first, second in zip(pairs["first"], pairs["second"], strict=True)
    )
    for label, posterior in zip(fitted.classes_, posteriors_of(fitted), strict=True):
        rule_sets = zip(posterior.rule_sets, posterior.weights, strict=True)
        total = sum(weight for rule_set, weight in rule_sets if rule_set)
        lines = zip(terms["class"], terms["weight"], strict=True)
        assert sum(weight for c, weight in lines if c == label) == pytest.approx(total)
    laplace = (np.array(terms["positives"]) + 1) / (np.array(terms["support"]) + 2)
    assert terms["laplace"] == pytest.approx(laplace)


def test_terms_know_the_size_of_their_rule_sets(fitted):
    """The mean number of terms of the rule sets with a term, by weight, can be counted again."""
    terms, names = term_table(fitted.model_), fitted.classes_.tolist()
    expected = []
    for label, text in zip(terms["class"], terms["if"], strict=True):
        k = names.index(label)
        rules = [i for i, rule in enumerate(fitted.model_) if rule.head.first == k]
        place = next(i for i in rules if str(fitted.model_[i].body) == text)
        own = [s for s in fitted.model_.members[k] if place in s.terms]
        sizes, weights = [len(s.terms) for s in own], [s.weight for s in own]
        expected.append(np.average(sizes, weights=weights))
    assert terms["mean_terms"] == pytest.approx(expected)
    assert max(expected) > 1


def test_distilling_weighs_rows_by_their_lead(fitted):
    """The rule set learned is that of the predictions with the leads as weights."""
    X, _ = drawn_rows()
    labels, lead = fitted.predict(X), fitted.model_.margins(X)
    expected = SL2Classifier(max_rules=2, size="max", max_steps=200, random_state=0)
    expected.fit(X, labels, sample_weight=lead)
    found = fitted.distil(X, max_rules=2, size="max", max_steps=200)
    assert found.estimator.model_ == expected.model_


def test_one_rule_set_in_the_place_of_many(fitted):
    """Distilling tells on how many rows the small model agrees with the vote."""
    X, _ = drawn_rows()
    X_new, _ = drawn_rows(1)
    found = fitted.distil(X, X_new, max_rules=2, size="max", max_steps=500)
    student = found.estimator
    assert found.fidelity == (student.predict(X) == fitted.predict(X)).mean()
    assert found.held_out_fidelity == (student.predict(X_new) == fitted.predict(X_new)).mean()
    assert found.fidelity > 0.8
    assert "fidelity" in str(found)
    assert "held-out" in str(found)
    assert fitted.distil(X, max_rules=1, size="max", max_steps=50).held_out_fidelity is None


@pytest.mark.parametrize("method", ["certificate", "predict_or_abstain", "distil"])
def test_reading_needs_a_fit(method):
    """Before fit there is nothing to read."""
    with pytest.raises(NotFittedError):
        getattr(quick(), method)(*([] if method == "certificate" else [drawn_rows()[0]]))
