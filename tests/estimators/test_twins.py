"""The whole learner on the NumPy twins: no kernel may change a model."""

import numpy as np
import pytest
from sklearn.base import clone

import reference
from builders import (
    compact,
    learners_except,
    mixed_table,
    mlrules,
    rule_texts,
    rulefit,
    sl2,
    slipper,
)
from rulewright import kernels

pytestmark = pytest.mark.native

NO_KERNELS = {*vars(kernels.structs), "CodeColumns", "Workspace", "usable_cpus", "ThreadPool"}
NO_KERNELS |= {"GrownSplit", "GrownTree", "Routes", "TreeShape", "side_of_codes"}
NO_KERNELS |= {"BranchLimits", "Branching", "Entries", "GroupSummary", "Lanes", "ValueFacts"}
NO_KERNELS |= {"CoverGroups", "Code", "SmallGraph", "canonical_code"}
TWINS = {n for n, one in vars(kernels).items() if callable(one) and n[0] != "_"} - NO_KERNELS


def test_every_kernel_has_a_twin():
    """All functions of the native door exist in NumPy too."""
    assert {"DnfSearch", "Exponential", "Likelihood", "grow_rule", "rule_scores"} <= TWINS
    assert not [name for name in TWINS if not hasattr(reference, name)]


@pytest.mark.parametrize("n_classes", [2, 3])
@learners_except(rulefit="responses of rules that are sums of others are not unique; see below")
def test_the_twins_teach_every_learner_the_same(make, n_classes, monkeypatch):
    """Same rules, responses and predictions to 1e-9 when every kernel is NumPy."""
    X, y = mixed_table(np.random.default_rng(n_classes), 60, n_classes=n_classes)
    few = {"max_rules": 2} if make is compact else {}  # its twin tries many rules in Python
    check_twins(make(**few), X, y, monkeypatch)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_twins_choose_the_same_rules_of_trees(n_classes, monkeypatch):
    """Rule ensembles have the same candidates and the same least objective."""
    X, y = mixed_table(np.random.default_rng(n_classes), 60, n_classes=n_classes)
    native = rulefit().fit(X, y)
    for name in TWINS:
        monkeypatch.setattr(kernels, name, getattr(reference, name))
    twin = rulefit().fit(X, y)
    assert twin.n_candidates_ == native.n_candidates_
    for one, two in zip(twin.choices_, native.choices_, strict=True):
        np.testing.assert_allclose(one.solution.objective, two.solution.objective, rtol=1e-9)
    np.testing.assert_allclose(twin.predict_proba(X), native.predict_proba(X), rtol=1e-4)


GROUPS = {"groups": [["a", "b"], ["b", "color", "c"]], "digits": 2}


@pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        (2, {"subsample": 0.5}),
        (4, {"ordinal": True, "constraints": {"monotone": {"a": "increasing"}}}),
        (3, {"ordinal": True, "column_subsample": 0.6, "constraints": GROUPS}),
        (3, {"calibration": "platt"}),
        (2, {"criterion": "gradient", "class_choice": "prefixed", "missing_conditions": True}),
        (3, {"subsample": 0.5, "min_weight": 5.0, "max_bins": 7, "formulation": "published"}),
        (4, {"class_choice": "prefixed", "max_conditions": 2, "stopping": "validation"}),
        (3, {"learning_rate": 1.0, "l2": 0.0, "stopping": "window", "subsample": 0.6}),
        (2, {"subsample": 0.5, "prune": True}),
        (3, {"subsample": 0.5, "prune": True, "constraints": {"required": ["a"]}}),
        (4, {"subsample": 0.7, "prune": True, "ordinal": True, "criterion": "gradient"}),
        (2, {"subsample": 0.5, "prune": "prefix"}),
        (3, {"subsample": 0.5, "prune": "prefix", "constraints": {"required": ["a"]}}),
    ],
)
def test_the_twins_learn_the_same_model(n_classes, options, monkeypatch):
    """The same holds for MLRules with its options."""
    X, y = mixed_table(np.random.default_rng(n_classes), 70, n_classes=n_classes)
    check_twins(mlrules(max_rules=10, **options), X, y, monkeypatch)


@pytest.mark.parametrize(
    ("n_classes", "options"),
    [
        (2, {"max_rules": 12}),
        (2, {"max_rules": 4, "size": "cv", "calibration": "auto", "min_weight": 6.0}),
        (3, {"max_rules": 6, "multiclass": "mh", "missing_conditions": True}),
        (3, {"max_rules": 4, "multiclass": "ovr", "allow_not_equal": True}),
        (3, {"max_rules": 4, "cost_matrix": [[0, 1, 4], [2, 0, 1], [5, 1, 0]]}),
    ],
)
def test_the_twins_boost_the_same_model(n_classes, options, monkeypatch):
    """The same holds for SLIPPER, in all its forms."""
    X, y = mixed_table(np.random.default_rng(n_classes), 70, n_classes=n_classes)
    check_twins(slipper(**options), X, y, monkeypatch)


@pytest.mark.parametrize(
    ("n_classes", "options"), [(2, {"max_bins": 4, "allow_thresholds": True}), (3, {"size": "cv"})]
)
def test_the_twins_find_the_same_rule_sets(n_classes, options, monkeypatch):
    """The same holds for SL2, step by step."""
    X, y = mixed_table(np.random.default_rng(n_classes), 70, n_classes=n_classes)
    check_twins(sl2(max_steps=60, **options), X, y, monkeypatch)


def check_twins(est, X, y, monkeypatch):
    native = clone(est).fit(X, y)
    expected = native.predict_proba(X)
    for name in TWINS:
        monkeypatch.setattr(kernels, name, getattr(reference, name))
    twin = clone(est).fit(X, y)
    assert len(twin.model_) > 0
    assert rule_texts(twin.model_) == rule_texts(native.model_)
    np.testing.assert_allclose(
        [rule.outcome.value for rule in twin.model_.rules],
        [rule.outcome.value for rule in native.model_.rules],
        rtol=1e-9,
    )
    np.testing.assert_allclose(twin.predict_proba(X), expected, rtol=1e-9)
