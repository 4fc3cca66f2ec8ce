"""The learners by their command-line names: where each one is, and what it is good for.

A learner is imported when it is first used, because each imports its own solvers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from rulewright.estimators.contract.base import RuleClassifier, RuleRegressor

Learner = TypeVar("Learner")


class Entry(NamedTuple):
    """Facts about a learner that do not need its import.

    Parameters
    ----------
    place : str
        Module in `rulewright.estimators`, a colon, and the class.
    form : str
        Form of its models: the value of `RuleModel.form`.
    use : str
        The purpose it is good for.
    read : str
        What its models look like.
    basics : str
        Parameters to set first.
    """

    place: str
    form: str
    use: str
    read: str
    basics: str


class Catalogue(Mapping[str, type[Learner]]):
    """Learners by name; `entries` describes them without importing them."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries

    def __getitem__(self, name: str) -> type[Learner]:
        module, found = self.entries[name].place.split(":")
        learner = getattr(import_module(f"rulewright.estimators.{module}"), found)
        return cast("type[Learner]", learner)

    def __contains__(self, name: object) -> bool:
        return name in self.entries  # without importing the learner

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def with_parameter(self, parameter: str) -> list[str]:
        """Return the names of the learners that have a parameter."""
        return [name for name, learner in self.items() if parameter in cast("Any", learner).DOMAINS]


LEARNERS: Catalogue[RuleClassifier[Any]] = Catalogue(
    {
        "compact": Entry(
            "compact.classifier:CompactRulesClassifier",
            "additive",
            "a small model to explain, with good probabilities",
            "5 to 15 rules that add points",
            "max_rules size max_conditions linear ordinal",
        ),
        "cards": Entry(
            "cards.estimator:RuleCardClassifier",
            "card",
            "a score to add up by hand, with whole points and their optimality gap",
            "5 to 10 items with small integer points",
            "max_rules max_points max_conditions scale signs",
        ),
        "mlrules": Entry(
            "mlrules.estimator:MLRulesClassifier",
            "additive",
            "the lowest error and log-loss, with reasons for each row",
            "hundreds of rules that add points",
            "max_rules learning_rate max_conditions stopping calibration ordinal",
        ),
        "slipper": Entry(
            "slipper.estimator:SlipperClassifier",
            "additive",
            "a few pruned rules with a bound on the training error",
            "a few to dozens of rules that add points",
            "max_rules size max_conditions multiclass calibration",
        ),
        "sl2": Entry(
            "sl2.estimator:SL2Classifier",
            "dnf",
            'conditions of the form "yes if any of these applies"',
            "one to three rules for a class",
            "max_rules size max_steps time_limit",
        ),
        "ruleset-ensemble": Entry(
            "ruleset_ensemble.estimator:RuleSetEnsembleClassifier",
            "votes",
            "a certified error bound, and abstention",
            "rule sets that vote",
            "max_terms n_samples abstain target_error time_limit",
        ),
        "rulefit": Entry(
            "rulefit.classifier:RuleFitClassifier",
            "additive",
            "smooth effects, column selection",
            "rules and straight lines that add points",
            "max_rules max_candidates tree_size linear penalty",
        ),
        "rumble": Entry(
            "rumble.estimator:RumbleClassifier",
            "additive",
            "rules generated without looking at the labels, with a certificate",
            "weighted rules in prior order",
            "max_rules budget max_bins pairs time_limit",
        ),
        "ripper": Entry(
            "lists.ripper.estimator:RipperClassifier",
            "list",
            "a short list to read from top to bottom",
            "3 to 10 rules; the first that applies decides",
            "n_optimizations max_conditions min_weight",
        ),
        "foil": Entry(
            "lists.foil.estimator:FOILClassifier",
            "list",
            "teaching and comparison: the predecessor of RIPPER",
            "a list of rules, class by class",
            "min_accuracy max_conditions min_weight",
        ),
        "c45rules": Entry(
            "lists.c45rules.estimator:C45RulesClassifier",
            "list",
            "comparisons with C4.5",
            "simplified paths of a tree, grouped by class",
            "confidence min_branch_weight max_rules",
        ),
        "part": Entry(
            "lists.part.estimator:PARTClassifier",
            "list",
            "a list with high accuracy rather than few rules",
            "dozens of rules; the first that applies decides",
            "confidence min_branch_weight",
        ),
        "stump": Entry(
            "lists.stump.estimator:StumpClassifier",
            "list",
            "a first look, a baseline",
            "one test",
            "min_branch_weight",
        ),
        "cn2": Entry(
            "lists.cn2.estimator:CN2Classifier",
            "unordered",
            "independent rules for each class",
            "dozens of rules with the rows that they cover",
            "ordered beam_width significance rules_per_class max_conditions",
        ),
        "lri": Entry(
            "lists.lri.estimator:LRIClassifier",
            "additive",
            "comparisons with LRI",
            "hundreds of short rules that vote",
            "rules_per_class max_conditions max_disjuncts calibration",
        ),
        "rise": Entry(
            "nearest.estimator:RISEClassifier",
            "nearest",
            "decisions by analogy with known cases",
            "many rules; the nearest one decides",
            "q max_passes",
        ),
        "averaging": Entry(
            "averaging.estimator:AveragedRulesClassifier",
            "average",
            "averaging several models, or models of parts of a large table",
            "the members and their weights",
            "estimator part_size combine",
        ),
    }
)
"""The classifiers; the first is the default."""

REGRESSORS: Catalogue[RuleRegressor] = Catalogue(
    {
        "compact": Entry(
            "compact.regressor:CompactRulesRegressor",
            "regression",
            "a small regression model to explain",
            "a few rules that add to the prediction",
            "max_rules size max_conditions linear",
        ),
        "rulefit": Entry(
            "rulefit.regressor:RuleFitRegressor",
            "regression",
            "regression with smooth effects, column selection",
            "rules and straight lines that add to the prediction",
            "max_rules max_candidates tree_size linear penalty",
        ),
    }
)
"""The regressors; the first is the default."""

COUNT_LEARNERS: Catalogue[Any] = Catalogue(
    {
        "compact": Entry(
            "compact.counts:CompactRulesCounts",
            "rates",
            "a small model of counts with exposure",
            "a few rules with rate ratios",
            "max_rules size loss max_conditions",
        ),
    }
)
"""The learners of counts; the first is the default."""

SURVIVAL_LEARNERS: Catalogue[Any] = Catalogue(
    {
        "compact": Entry(
            "compact.survival:CompactRulesSurvival",
            "hazards",
            "a small model of times until an event",
            "a few rules with hazard ratios",
            "max_rules size max_conditions",
        ),
    }
)
"""The learners of times until an event; the first is the default."""

BY_TASK: dict[str, Catalogue[Any]] = {
    "classification": LEARNERS,
    "regression": REGRESSORS,
    "counts": COUNT_LEARNERS,
    "survival": SURVIVAL_LEARNERS,
}
"""The learners of each task."""

_HALVED = "rows are divided at random, so a weight of 2 is not always the same as a row twice"
_EQUIVALENCE = dict.fromkeys(
    (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")), _HALVED
)
EXPECTED_FAILED_CHECKS: Mapping[str, Mapping[str, str]] = {
    "CompactRulesClassifier": _EQUIVALENCE,
    "LRIClassifier": {
        **_EQUIVALENCE,
        "check_class_weight_classifiers": "every class has as many rules, whatever its weight",
    },
    "RuleFitClassifier": _EQUIVALENCE,
    "SlipperClassifier": _EQUIVALENCE,
}
"""Checks of scikit-learn's `check_estimator` that learners fail by design, with the reasons."""
