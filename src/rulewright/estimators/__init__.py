"""Scikit-learn estimators: thin compositions of the rooms below.

Each name brings its module when it is first used, because few programs need all learners.
"""

from typing import TYPE_CHECKING

from rulewright.estimators.catalogue import LEARNERS, REGRESSORS
from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.estimators.assessment.interaction_null import interaction_null
    from rulewright.estimators.assessment.stability import rule_stability
    from rulewright.estimators.averaging.average import average_rule_sets
    from rulewright.estimators.averaging.combiner import RuleCombiner
    from rulewright.estimators.averaging.estimator import AveragedRulesClassifier
    from rulewright.estimators.averaging.parts import learn_on_parts
    from rulewright.estimators.compact.classifier import CompactRulesClassifier
    from rulewright.estimators.compact.regressor import CompactRulesRegressor
    from rulewright.estimators.finishing.after_fit import calibrate, with_costs
    from rulewright.estimators.finishing.compression import compress, size_curve
    from rulewright.estimators.folds.cross_fitting import cross_fit
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
    "cross_fit",
    "interaction_null",
    "learn_on_parts",
    "rule_stability",
    "size_curve",
    "with_costs",
]

_PLACES = {
    **{
        entry.place.partition(":")[2]: f".{entry.place.partition(':')[0]}"
        for catalogue in (LEARNERS, REGRESSORS)
        for entry in catalogue.entries.values()
    },
    "RuleCombiner": ".averaging.combiner",
    "average_rule_sets": ".averaging.average",
    "calibrate": ".finishing.after_fit",
    "compress": ".finishing.compression",
    "cross_fit": ".folds.cross_fitting",
    "interaction_null": ".assessment.interaction_null",
    "learn_on_parts": ".averaging.parts",
    "rule_stability": ".assessment.stability",
    "size_curve": ".finishing.compression",
    "with_costs": ".finishing.after_fit",
}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
