"""CN2: what its papers promise, by hand and as laws."""

import numpy as np
import pytest
from scipy.stats import chi2

import reference
from builders import cn2, mixed_table
from rulewright import CN2Classifier
from rulewright.model import DecisionList, UnorderedRules

pytestmark = pytest.mark.native

FREE = {"rules_per_class": None, "max_conditions": None, "beam_width": 5}


@pytest.fixture(scope="module")
def data():
    """Give rows without noise: a conjunction of two labels, and two cuts."""
    rng = np.random.default_rng(5)
    X = {"s": rng.choice(["a", "b", "c"], 200).astype(object), "x": rng.normal(size=200)}
    return X, ((X["s"] == "a") & (X["x"] > 0)).astype(int)


def test_an_ordered_list_by_hand():
    """The largest pure cover comes first, all its rows leave, and the rest is the default."""
    X = {"a": list("xxxxyyyy"), "b": list("ppqqppqq")}
    y = np.array([1, 1, 1, 1, 2, 2, 3, 3])
    model = cn2(ordered=True, **FREE).fit(X, y).model_
    assert isinstance(model, DecisionList)
    assert [str(rule.body) for rule in model.rules] == ["a = x", "b = p"]
    assert [rule.coverage.class_weights for rule in model.rules] == [(4, 0, 0), (0, 2, 0)]
    assert model.default_weights == (0, 0, 2)


def test_unordered_rules_by_hand():
    """Only rows of its own class leave when a rule is found, so rules count what others cover."""
    X = {"a": list("xxxxyyyy"), "b": list("ppqqppqq")}
    y = np.array([1, 1, 1, 1, 2, 2, 1, 1])
    model = cn2(**FREE).fit(X, y).model_
    assert isinstance(model, UnorderedRules)
    assert {str(rule.body) for rule in model.rules} == {"a = x", "b = q", "a = y and b = p"}
    assert sum(sum(rule.coverage.class_weights) for rule in model.rules) == 4 + 4 + 2


def test_rules_without_noise_are_found(data):
    """No row is wrong, and all rules of the planted class need both columns."""
    X, y = data
    assert cn2(ordered=True, **FREE).fit(X, y).score(X, y) == 1
    est = cn2(**FREE).fit(X, y)
    assert est.score(X, y) == 1
    planted = [set(rule.body.columns) for rule in est.model_.rules if rule.head.first == 1]
    assert planted
    assert all(columns == {"s", "x"} for columns in planted)


def test_every_unordered_rule_beats_the_empty_one():
    """Laplace's estimate of a rule, on the rows left to its class, is above the empty rule's."""
    X, y = mixed_table(np.random.default_rng(0), 150)
    est = cn2(**FREE).fit(X, y)
    held, heads = est.model_.covers(X), [rule.head.first for rule in est.model_.rules]
    for head in (0, 1):
        left = np.ones(len(y), dtype=bool)
        empty = ((y == head).sum() + 1) / (len(y) + 2)
        for rule in np.flatnonzero(np.array(heads) == head):
            p, n = (held[left & (y == k), rule].sum() for k in (head, 1 - head))
            assert p > 0
            assert (p + 1) / (p + n + 2) > empty
            left &= ~(held[:, rule] & (y == head))


def test_every_rule_of_a_list_covers_rows_that_reach_it():
    """Rules are learned from the rows left by those before them."""
    X, y = mixed_table(np.random.default_rng(1), 150, n_classes=3)
    model = cn2(ordered=True, **FREE).fit(X, y).model_
    deciders = model.deciders(X)
    assert all((deciders == i).any() for i in range(len(model.rules)))
    assert all(np.argmax(rule.coverage.class_weights) == rule.head.first for rule in model.rules)


@pytest.mark.parametrize("level", [0.9, 0.99, 0.9999])
def test_significant_rules_pass_the_test(level):
    """The likelihood ratio of every rule, on the rows it was found on, is at least the quantile."""
    X, y = mixed_table(np.random.default_rng(2), 200, n_classes=3)
    est = cn2(ordered=True, significance=level, precision_cv=None, **FREE).fit(X, y)
    total = np.bincount(y)
    for rule in est.model_.rules:
        cover = np.array(rule.coverage.class_weights)
        assert reference.likelihood_ratio(cover, total, 1.0) >= chi2.ppf(level, 2)
    assert len(est.model_) < len(cn2(ordered=True, **FREE).fit(X, y).model_)


def test_nothing_is_significant_at_level_one():
    """A rule would have to be infinitely unlikely; the shares of the classes remain."""
    X, y = mixed_table(np.random.default_rng(2), 60)
    assert len(cn2(significance=1.0).fit(X, y).model_) == 0


def test_relative_accuracy_finds_fewer_and_larger_rules():
    """Rules judged by WRAcc are few and general."""
    X, y = mixed_table(np.random.default_rng(3), 300)
    laplace, wracc = (
        cn2(criterion=name, **FREE).fit(X, y).model_.rules for name in ("laplace", "wracc")
    )
    assert len(wracc) < len(laplace) / 2
    means = [np.mean([sum(r.coverage.class_weights) for r in rules]) for rules in (wracc, laplace)]
    assert means[0] > 2 * means[1]


def test_a_list_by_relative_accuracy_beats_the_base_rates_of_all_rows():
    """Rows of all classes are removed, so that rules for what remains would be small and many."""
    X, y = mixed_table(np.random.default_rng(3), 300)
    model = cn2(criterion="wracc", ordered=True, **FREE).fit(X, y).model_
    rates = dict(zip(*np.unique(y, return_counts=True), strict=True))
    assert 0 < len(model) < 8
    for rule in model.rules:
        counts, head = rule.coverage.class_weights, rule.head.first
        assert counts[head] / sum(counts) > rates[model.classes[head]] / len(y)


@pytest.mark.parametrize("gamma", [0.5, "1/(k+1)"])
def test_weighted_covering_finds_rules_that_overlap(gamma):
    """Rows that were covered count less and are covered again, never by the same rule."""
    X, y = mixed_table(np.random.default_rng(4), 300)
    settings = {"criterion": "wracc", **FREE}
    model = cn2(weighted_covering=gamma, **settings).fit(X, y).model_
    assert len({rule.body.key for rule in model.rules}) == len(model.rules)
    times = model.covers(X).sum(axis=1)
    assert times.mean() > cn2(**settings).fit(X, y).model_.covers(X).sum(axis=1).mean()


def test_a_wider_beam_is_no_worse_on_the_first_rule():
    """The first rule of a list is at least as pure with more conjunctions to choose from."""
    X, y = mixed_table(np.random.default_rng(6), 200)
    settings = {"ordered": True, "rules_per_class": 1, "max_conditions": 3, "precision_cv": None}
    first = [cn2(beam_width=width, **settings).fit(X, y).model_.rules[0] for width in (1, 20)]
    accuracies = [max(r.coverage.class_weights) / sum(r.coverage.class_weights) for r in first]
    assert accuracies[1] >= accuracies[0]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"criterion": "entropy"}, "criterion='entropy' evaluates all classes at once"),
        ({"ordered": True, "weighted_covering": 0.5}, "weighted_covering=0.5 needs unordered"),
    ],
)
def test_settings_that_contradict_each_other(data, settings, told):
    """The error names the option and the remedy."""
    with pytest.raises(ValueError, match=told):
        cn2(**settings).fit(*data)


def test_the_papers_settings_learn():
    """The published settings follow five conjunctions and test nothing."""
    est = CN2Classifier.paper()
    assert (est.beam_width, est.significance, est.ordered) == (5, 0.0, False)
