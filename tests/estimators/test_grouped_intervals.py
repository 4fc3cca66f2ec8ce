"""Printed intervals hold on new groups: rows five times, weights of 5, rows with a shared effect.

A small version of `benchmarks/rule_honesty.py --kinds repeated,weighted,grouped`.
"""

import numpy as np
import pytest

from builders import intervals_held, noisy_rows
from rulewright import (
    CN2Classifier,
    CompactRulesClassifier,
    MLRulesClassifier,
    PARTClassifier,
    RipperClassifier,
)

pytestmark = pytest.mark.native

SEEDED = {"n_jobs": 1, "random_state": 0}
LEARNERS = (
    RipperClassifier(**SEEDED),
    PARTClassifier(**SEEDED),
    CN2Classifier(rules_per_class=10, **SEEDED),
    MLRulesClassifier(40, **SEEDED),
)
N_ROWS, N_FRESH, COPIES = 200, 6_000, 5


def repeated(X, y, rng):
    """Give every row five times, with its group."""
    groups = np.repeat(np.arange(len(y)), COPIES)
    return (X[groups], y[groups]), {"groups": groups}


def weighted(X, y, rng):
    """Give every row a weight of 5."""
    return (X, y), {"sample_weight": np.full(len(y), float(COPIES))}


def share_effects(X, y, rng):
    """Draw groups of 2 to 20 rows with common values and a tendency to a class."""
    groups = np.repeat(np.arange(len(y)), rng.integers(2, 21, len(y)))[: len(y)]
    first = np.searchsorted(groups, groups)
    X = np.where(np.arange(X.shape[1]) % 2, X[first], X)
    own = rng.integers(2, size=len(y))[groups]
    return X, np.where(rng.random(len(y)) < 0.4, own, y), groups


def held_by(learner, change, seed):
    """Tell of each rule whether its interval holds its precision on new rows."""
    X, y = noisy_rows(seed, N_ROWS + N_FRESH, noise=0.5)
    (rows, labels), options = change(X[:N_ROWS], y[:N_ROWS], np.random.default_rng(seed))
    return intervals_held(learner.fit(rows, labels, **options).model_, X[N_ROWS:], y[N_ROWS:])


@pytest.mark.parametrize("change", [repeated, weighted])
def test_intervals_do_not_count_copies(change):
    """Copies in groups and weights leave intervals as honest as those of the distinct rows."""
    found = [held_by(learner, change, seed) for learner in LEARNERS for seed in range(2)]
    assert np.mean(np.concatenate(found)) >= 0.93


def test_intervals_hold_on_new_groups():
    """Rows of a group share values and an effect; intervals hold for rows of other groups."""
    found, naive = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X, y, groups = share_effects(*noisy_rows(seed, 400 + N_FRESH, noise=0.5), rng)
        own = groups < groups[400]
        for learner in LEARNERS[:2] + LEARNERS[3:]:
            model = learner.fit(X[own], y[own], groups=groups[own]).model_
            found += intervals_held(model, X[~own], y[~own])
            naive += intervals_held(learner.fit(X[own], y[own]).model_, X[~own], y[~own])
    assert np.mean(found) >= 0.93
    assert np.mean(naive) < np.mean(found)


def test_cross_validated_figures_of_copies_are_those_of_new_rows():
    """The out-of-fold accuracy of compact rules is near the one on new rows, and holds it."""
    X, y = noisy_rows(3, 150 + N_FRESH)
    groups = np.repeat(np.arange(150), COPIES)
    est = CompactRulesClassifier(8, size="max", random_state=0)
    figures = []
    for options in ({"groups": groups}, {}):
        model = est.fit(X[groups], y[groups], **options).model_
        figures.append(model.summary["validation"]["figures"]["accuracy"])
        if options:
            new = np.mean(model.predict(X[150:]) == y[150:])
    honest, naive = figures
    assert honest["low"] <= new <= honest["high"]
    assert naive["low"] > new
