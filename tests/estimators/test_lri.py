"""LRI: the invariants of its card, by hand and as laws."""

import itertools

import numpy as np
import pytest
from hypothesis import given

from budget import examples
from builders import SEEDS, lri, mixed_table
from rulewright import LRIClassifier
from rulewright.data import TrainingSet, read_table
from rulewright.encoding.binned import bin_table
from rulewright.estimators.lists.lri.estimator import LightRules, case_weights
from rulewright.search import RuleGrower, SearchLimits

pytestmark = pytest.mark.native


def light_rules(X, y, **changed):
    """Give the learner of rules beside the estimator, with its rows."""
    rows = TrainingSet.of(read_table(X, target=y))
    binned = bin_table(rows.table)
    limits = SearchLimits(max_conditions=5, tolerance=0.0).compile(rows.schema, 1.0)
    settings = {"n_rules": 6, "max_disjuncts": 2, "freeze": 50} | changed
    grower = RuleGrower(binned, "short")
    return LightRules(binned.codes, rows.labels, rows.weights, grower, limits, **settings)


def learned(light, head):
    return list(light.of_class(head, lambda: None))


def test_every_class_has_as_many_rules():
    """R rules of each class before equal ones are joined; joined ones keep their votes."""
    X, y = mixed_table(np.random.default_rng(0), 200, n_classes=3)
    est = lri(rules_per_class=12).fit(X, y)
    assert est.n_rules_ == [12, 12, 12]
    for head in range(3):
        votes = sum(rule.outcome.value for rule in est.model_.rules if rule.head.first == head)
        assert votes == pytest.approx(4.0)


def test_case_weights():
    """A row weighs 1 plus the cube of its errors: never less than 1."""
    np.testing.assert_array_equal(case_weights(np.arange(4.0)), [1, 2, 9, 28])


def test_rules_have_few_short_terms():
    """At most two terms of at most five conditions; every term covers rows of its class."""
    X, y = mixed_table(np.random.default_rng(1), 200)
    light = light_rules(X, y, n_rules=20)
    for terms in learned(light, 1):
        assert 1 <= len(terms) <= 2
        assert all(1 <= len(term.tests) <= 5 for term in terms)
        assert all((y[term.cover(light.codes)] == 1).any() for term in terms)


def test_a_term_ends_where_it_covers_no_other_class():
    """A single condition that separates the classes is the whole rule, again and again."""
    X = {"x": np.arange(20.0), "z": np.tile([0.0, 1.0], 10)}
    y = (X["x"] >= 10).astype(int)
    model = lri(rules_per_class=5, freeze=5).fit(X, y).model_
    assert {str(rule.body) for rule in model.rules} == {"x >= 10", "x <= 9"}


def test_a_rare_class_is_covered():
    """Covering nothing would err least; every term still covers rows of its class."""
    rng = np.random.default_rng(2)
    X = {"s": rng.choice(list("abcd"), 400).astype(object)}
    y = ((X["s"] == "a") & (rng.random(400) < 0.2)).astype(int)
    ((term,),) = learned(light_rules(X, y, n_rules=1, max_disjuncts=1), 1)
    assert [str(condition) for condition in term.conditions] == ["s = a"]


def errors_of(covered, own):
    return int((covered & ~own).sum() + (own & ~covered).sum())


@examples(25)
@given(SEEDS)
def test_terms_end_where_no_condition_lowers_the_errors(seed):
    """Every condition but the first lowers FP + FN; no further one would, by brute force."""
    rng = np.random.default_rng(seed)
    X = {name: rng.integers(0, 5, 60).astype(float) for name in "abc"}
    y = (rng.random(60) < 0.15 + 0.5 * (X["a"] > 2) * (X["b"] < 3)).astype(int)
    light, own = light_rules(X, y, n_rules=1, max_disjuncts=1), y == 1
    for terms in learned(light, 1):
        prefixes = [terms[0].prefix(k + 1).cover(light.codes) for k in range(len(terms[0].tests))]
        covers = [np.isin(np.arange(60), rows) for rows in prefixes]
        errors = [errors_of(covered, own) for covered in covers]
        assert all(one > two for one, two in itertools.pairwise(errors))
        if len(covers) == 5 or not (covers[-1] & ~own).any():
            continue
        for values in X.values():
            for cut in range(5):
                for test in (values <= cut, values >= cut):
                    longer = covers[-1] & test
                    assert errors_of(longer, own) >= errors[-1] or not (longer & own).any()


def test_nominal_data_is_learned_as_published():
    """A conjunction of several labels per column is learned by terms that stop early.

    With conditions forced on, or a higher price for missed rows, half of the errors were avoidable.
    """
    rng = np.random.default_rng(0)
    X = {name: rng.choice(list("abcd"), 1200).astype(object) for name in "pqrst"}
    good = np.isin(X["p"], ["a", "b"]) & np.isin(X["q"], ["a", "b", "c"]) & (X["r"] != "d")
    y = np.where(good, np.where(X["s"] == "a", "top", "good"), "bad")
    train, test = slice(0, 800), slice(800, 1200)
    est = lri(rules_per_class=100, calibration=None, freeze=50, max_conditions=5, max_disjuncts=2)
    est.fit({name: values[train] for name, values in X.items()}, y[train])
    assert est.score({name: values[test] for name, values in X.items()}, y[test]) > 0.9


def test_a_class_that_no_condition_reaches_has_no_rules():
    """Rows with nothing but missing values satisfy no condition; other classes have all rules."""
    X = {"x": np.concatenate([np.arange(20.0), np.full(8, np.nan)])}
    y = np.array(["low"] * 10 + ["high"] * 10 + ["none"] * 8)
    est = lri(rules_per_class=7, calibration=None).fit(X, y)
    assert dict(zip(est.classes_, est.n_rules_, strict=True)) == {"high": 7, "low": 7, "none": 0}


def test_frozen_columns():
    """After the freeze only columns are used that were used before."""
    rng = np.random.default_rng(3)
    X = {f"x{j}": rng.normal(size=150) for j in range(12)}
    y = (X["x0"] + X["x1"] + rng.normal(size=150) > 0).astype(int)
    rules = learned(light_rules(X, y, n_rules=20, freeze=2), 1)
    columns = [{grown.column for term in terms for grown in term.grown} for terms in rules]
    known = columns[0] | columns[1]
    assert all(used <= known for used in columns[2:])
    free = learned(light_rules(X, y, n_rules=20, freeze=20), 1)
    assert not all({g.column for t in terms for g in t.grown} <= known for terms in free[2:])


def test_ties_and_silence_go_to_the_heavier_class():
    """Where no rule fires, and where as many fire for each class, the more frequent class wins."""
    X = {"s": ["a"] * 30 + ["b"] * 20}
    y = np.array(["often"] * 30 + ["rare"] * 20)
    est = lri().fit(X, y)
    assert est.predict({"s": ["c"]}).tolist() == ["often"]
    assert est.predict({"s": ["a", "b"]}).tolist() == ["often", "rare"]


def test_the_prediction_is_the_class_with_most_rules():
    """A temperature changes probabilities, not the vote."""
    X, y = mixed_table(np.random.default_rng(4), 200, n_classes=3)
    est = lri(calibration="temperature").fit(X, y)
    votes = np.zeros((len(y), 3))
    for rule, held in zip(est.model_.rules, est.model_.covers(X).T, strict=True):
        votes[held, rule.head.first] += rule.outcome.value
    most = votes.max(axis=1)
    clear = np.isclose(votes, most[:, None], rtol=1e-6).sum(axis=1) == 1
    assert clear.mean() > 0.5
    np.testing.assert_array_equal(est.predict(X)[clear], votes[clear].argmax(axis=1))
    plain = lri(calibration=None).fit(X, y)
    np.testing.assert_array_equal(est.predict(X), plain.predict(X))


def test_the_papers_settings():
    """200 rules of two terms of five conditions, frozen after 50, of plain votes."""
    est = LRIClassifier.paper()
    assert (est.rules_per_class, est.max_disjuncts, est.max_conditions, est.freeze) == (
        200,
        2,
        5,
        50,
    )
    assert est.calibration is None
