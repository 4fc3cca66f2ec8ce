"""Scikit-learn estimators: thin compositions of the rooms below."""

from collections.abc import Mapping
from typing import Any

from rulewright.estimators.averaging.average import average_rule_sets
from rulewright.estimators.averaging.combiner import RuleCombiner
from rulewright.estimators.averaging.estimator import AveragedRulesClassifier
from rulewright.estimators.averaging.parts import learn_on_parts
from rulewright.estimators.common.after_fit import calibrate, with_costs
from rulewright.estimators.common.base import RuleClassifier, RuleRegressor
from rulewright.estimators.common.compression import compress, size_curve
from rulewright.estimators.common.cross_fitted import cross_fitted
from rulewright.estimators.common.interaction_null import interaction_null
from rulewright.estimators.common.stability import rule_stability
from rulewright.estimators.compact.classifier import CompactRulesClassifier
from rulewright.estimators.compact.regressor import CompactRulesRegressor
from rulewright.estimators.lists.c45rules.estimator import C45RulesClassifier
from rulewright.estimators.lists.cn2.estimator import CN2Classifier
from rulewright.estimators.lists.foil.estimator import FOILClassifier
from rulewright.estimators.lists.lri.estimator import LRIClassifier
from rulewright.estimators.lists.part.estimator import PARTClassifier
from rulewright.estimators.lists.ripper.estimator import RipperClassifier
from rulewright.estimators.lists.stump.estimator import StumpClassifier
from rulewright.estimators.mlrules.estimator import MLRulesClassifier
from rulewright.estimators.nearest.estimator import RISEClassifier
from rulewright.estimators.rulefit.classifier import RuleFitClassifier
from rulewright.estimators.rulefit.regressor import RuleFitRegressor
from rulewright.estimators.ruleset_ensemble.estimator import RuleSetEnsembleClassifier
from rulewright.estimators.rumble.estimator import RumbleClassifier
from rulewright.estimators.sl2.estimator import SL2Classifier
from rulewright.estimators.slipper.estimator import SlipperClassifier

LEARNERS: Mapping[str, type[RuleClassifier[Any]]] = {
    "compact": CompactRulesClassifier,
    "mlrules": MLRulesClassifier,
    "slipper": SlipperClassifier,
    "sl2": SL2Classifier,
    "ruleset-ensemble": RuleSetEnsembleClassifier,
    "rulefit": RuleFitClassifier,
    "rumble": RumbleClassifier,
    "ripper": RipperClassifier,
    "foil": FOILClassifier,
    "c45rules": C45RulesClassifier,
    "part": PARTClassifier,
    "stump": StumpClassifier,
    "cn2": CN2Classifier,
    "lri": LRIClassifier,
    "rise": RISEClassifier,
    "averaging": AveragedRulesClassifier,
}
"""The learners of classes by their names on the command line; the first is the default."""

REGRESSORS: Mapping[str, type[RuleRegressor]] = {
    "compact": CompactRulesRegressor,
    "rulefit": RuleFitRegressor,
}
"""The learners of numbers by their names on the command line; the first is the default."""

__all__ = [
    "LEARNERS",
    "REGRESSORS",
    "AveragedRulesClassifier",
    "C45RulesClassifier",
    "CN2Classifier",
    "CompactRulesClassifier",
    "CompactRulesRegressor",
    "FOILClassifier",
    "LRIClassifier",
    "MLRulesClassifier",
    "PARTClassifier",
    "RISEClassifier",
    "RipperClassifier",
    "RuleCombiner",
    "RuleFitClassifier",
    "RuleFitRegressor",
    "RuleSetEnsembleClassifier",
    "RumbleClassifier",
    "SL2Classifier",
    "SlipperClassifier",
    "StumpClassifier",
    "average_rule_sets",
    "calibrate",
    "compress",
    "cross_fitted",
    "interaction_null",
    "learn_on_parts",
    "rule_stability",
    "size_curve",
    "with_costs",
]
