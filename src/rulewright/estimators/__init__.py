"""Scikit-learn estimators: thin compositions of the rooms below."""

from collections.abc import Mapping

from rulewright.estimators.base import RuleClassifier
from rulewright.estimators.compression import compress, size_curve
from rulewright.estimators.mlrules import MLRulesClassifier
from rulewright.estimators.ruleset_ensemble import RuleSetEnsembleClassifier
from rulewright.estimators.sl2 import SL2Classifier
from rulewright.estimators.slipper import SlipperClassifier

LEARNERS: Mapping[str, type[RuleClassifier]] = {
    "mlrules": MLRulesClassifier,
    "slipper": SlipperClassifier,
    "sl2": SL2Classifier,
    "ruleset-ensemble": RuleSetEnsembleClassifier,
}
"""The learners by their names on the command line."""

__all__ = [
    "LEARNERS",
    "MLRulesClassifier",
    "RuleSetEnsembleClassifier",
    "SL2Classifier",
    "SlipperClassifier",
    "compress",
    "size_curve",
]
