"""Small random tables to learn from, and small learners of every kind."""

from __future__ import annotations

import contextlib
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import rulewright as rw
from attack import randoms
from attack.randoms import chance, pick
from rulewright import (
    MLRulesClassifier,
    RuleSetEnsembleClassifier,
    SL2Classifier,
    SlipperClassifier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from attack.randoms import Rng

LEARNERS = ("mlrules", "slipper", "sl2", "ruleset-ensemble")

SMALL: dict[str, Callable[..., Any]] = {
    "compact": partial(rw.CompactRulesClassifier, 3, size="max"),
    "mlrules": partial(rw.MLRulesClassifier, 12),
    "slipper": partial(rw.SlipperClassifier, 6, size="max"),
    "rulefit": partial(rw.RuleFitClassifier, max_candidates=40, cv=3),
    "sl2": partial(rw.SL2Classifier, 2, size="max", max_steps=200),
    "ruleset-ensemble": partial(
        rw.RuleSetEnsembleClassifier, max_terms=2, n_samples=2, max_steps=100
    ),
    "rumble": partial(rw.RumbleClassifier, max_candidates=60),
    "averaging": rw.AveragedRulesClassifier,
    "ripper": rw.RipperClassifier,
    "foil": rw.FOILClassifier,
    "c45rules": rw.C45RulesClassifier,
    "part": rw.PARTClassifier,
    "stump": rw.StumpClassifier,
    "cn2": partial(rw.CN2Classifier, rules_per_class=4),
    "lri": partial(rw.LRIClassifier, rules_per_class=5),
    "rise": rw.RISEClassifier,
    "compact-regressor": partial(rw.CompactRulesRegressor, 3, size="max"),
    "rulefit-regressor": partial(rw.RuleFitRegressor, max_candidates=40, cv=3),
}
"""Every learner with little work, whatever the table."""


def rows(rng: Rng, n_rows: int, n_classes: int = 2) -> tuple[dict[str, Any], Any]:
    """Draw numbers, labels and Booleans with missing values and hostile names, and classes."""
    drawn = randoms.distinct(rng, randoms.word, 4, least=4)
    a, b = rng.normal(size=n_rows), np.round(rng.normal(size=n_rows), 1)
    labels = np.array(randoms.distinct(rng, randoms.word, 3, least=3), dtype=object)
    color = labels[rng.integers(0, len(labels), n_rows)]
    drive = a + (color == labels[0]) + 0.5 * rng.normal(size=n_rows)
    y = np.searchsorted(np.quantile(drive, np.arange(1, n_classes) / n_classes), drive)
    a[rng.random(n_rows) < 0.1] = np.nan
    color[rng.random(n_rows) < 0.1] = None
    return dict(zip(drawn, (a, b, color, rng.random(n_rows) < 0.5), strict=False)), y


def learner(rng: Rng, name: str, n_jobs: int = 1) -> Any:
    """Create a small learner with random options."""
    seed = int(rng.integers(1000))
    if name == "mlrules":
        return MLRulesClassifier(
            int(rng.integers(1, 12)),
            subsample=pick(rng, (0.5, 1.0)),
            missing_conditions=chance(rng, 0.5),
            ordinal=chance(rng, 0.3),
            calibration=pick(rng, (None, None, "platt", "isotonic")),
            random_state=seed,
            n_jobs=n_jobs,
        )
    if name == "slipper":
        multiclass = pick(rng, ("auto", "mh", "ovr"))
        return SlipperClassifier(
            int(rng.integers(1, 6)),
            size="max",
            multiclass=multiclass,
            random_state=seed,
            n_jobs=n_jobs,
        )
    if name == "sl2":
        return SL2Classifier(2, size="max", max_steps=200, random_state=seed, n_jobs=n_jobs)
    return RuleSetEnsembleClassifier(
        max_terms=2, n_samples=2, max_steps=100, random_state=seed, n_jobs=n_jobs
    )


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Let learners warn of what they are given, but treat bad arithmetic as an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        yield
