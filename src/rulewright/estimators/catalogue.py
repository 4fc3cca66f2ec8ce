"""The learners by their names on the command line: where they are, and when to take which.

A learner is imported when it is first asked for, because each brings its solvers along.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

if TYPE_CHECKING:
    from rulewright.estimators.contract.base import RuleClassifier, RuleRegressor

Learner = TypeVar("Learner")


class Entry(NamedTuple):
    """What is known of a learner before it is imported.

    Parameters
    ----------
    place : str
        Its module in `rulewright.estimators`, a colon and its class.
    form : str
        The form of its models, as `RuleModel.form` names it.
    use : str
        What one wants who takes it.
    read : str
        What its models look like to a reader.
    basics : str
        The parameters to look at first.
    """

    place: str
    form: str
    use: str
    read: str
    basics: str


class Catalogue(Mapping[str, type[Learner]]):
    """Learners by name; `entries` tells about them without importing them."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries

    def __getitem__(self, name: str) -> type[Learner]:
        module, found = self.entries[name].place.split(":")
        learner = getattr(import_module(f"rulewright.estimators.{module}"), found)
        return cast("type[Learner]", learner)

    def __contains__(self, name: object) -> bool:
        return name in self.entries  # without importing it

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def with_parameter(self, parameter: str) -> list[str]:
        """Give the names of the learners that have a parameter."""
        return [name for name, learner in self.items() if parameter in cast("Any", learner).DOMAINS]


LEARNERS: Catalogue[RuleClassifier[Any]] = Catalogue(
    {
        "compact": Entry(
            "compact.classifier:CompactRulesClassifier",
            "additive",
            "a model to explain to somebody, with good probabilities",
            "5 to 15 rules that add points",
            "max_rules size max_conditions linear ordinal",
        ),
        "mlrules": Entry(
            "mlrules.estimator:MLRulesClassifier",
            "additive",
            "the lowest error and log-loss, and a reason for every row",
            "hundreds of rules that add points",
            "max_rules learning_rate max_conditions stopping calibration ordinal",
        ),
        "slipper": Entry(
            "slipper.estimator:SlipperClassifier",
            "additive",
            "few pruned rules with a bound on the training error",
            "a few to dozens of rules that add points",
            "max_rules size max_conditions multiclass calibration",
        ),
        "sl2": Entry(
            "sl2.estimator:SL2Classifier",
            "dnf",
            '"yes where any of these holds"',
            "one to three rules for a class",
            "max_rules size max_steps time_limit",
        ),
        "ruleset-ensemble": Entry(
            "ruleset_ensemble.estimator:RuleSetEnsembleClassifier",
            "votes",
            "a guarantee beside the model, and abstention",
            "rule sets that vote",
            "max_terms n_samples abstain target_error time_limit",
        ),
        "rulefit": Entry(
            "rulefit.classifier:RuleFitClassifier",
            "additive",
            "smooth effects, selection of columns",
            "rules and straight lines that add points",
            "max_rules max_candidates tree_size linear penalty",
        ),
        "rumble": Entry(
            "rumble.estimator:RumbleClassifier",
            "additive",
            "rules made without looking at the labels, with a certificate",
            "weighted rules in the order of a prior",
            "max_rules budget max_bins pairs time_limit",
        ),
        "ripper": Entry(
            "lists.ripper.estimator:RipperClassifier",
            "list",
            "one short list to go through from top to bottom",
            "3 to 10 rules; the first that holds decides",
            "n_optimizations max_conditions min_weight",
        ),
        "foil": Entry(
            "lists.foil.estimator:FOILClassifier",
            "list",
            "the classic that RIPPER improves on",
            "a list of rules for one class after the other",
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
            "a list where accuracy counts more than size",
            "dozens of rules; the first that holds decides",
            "confidence min_branch_weight",
        ),
        "stump": Entry(
            "lists.stump.estimator:StumpClassifier",
            "list",
            "a first look, or a baseline",
            "one test",
            "min_branch_weight",
        ),
        "cn2": Entry(
            "lists.cn2.estimator:CN2Classifier",
            "unordered",
            "all rules that speak for each class, each true by itself",
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
            "decisions like those for similar known cases",
            "many rules; the nearest decides",
            "q max_passes",
        ),
        "averaging": Entry(
            "averaging.estimator:AveragedRulesClassifier",
            "average",
            "one model out of several, or out of parts of a large table",
            "the members and their weights",
            "estimator part_size combine",
        ),
    }
)
"""The learners of classes; the first is the default."""

REGRESSORS: Catalogue[RuleRegressor] = Catalogue(
    {
        "compact": Entry(
            "compact.regressor:CompactRulesRegressor",
            "regression",
            "a model of numbers to explain to somebody",
            "a few rules that add to a number",
            "max_rules size max_conditions linear",
        ),
        "rulefit": Entry(
            "rulefit.regressor:RuleFitRegressor",
            "regression",
            "numbers with smooth effects, selection of columns",
            "rules and straight lines that add to a number",
            "max_rules max_candidates tree_size linear penalty",
        ),
    }
)
"""The learners of numbers; the first is the default."""
