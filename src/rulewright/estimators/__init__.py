"""Scikit-learn estimators: thin compositions of the rooms below."""

from rulewright.estimators.compression import compress, size_curve
from rulewright.estimators.mlrules import MLRulesClassifier
from rulewright.estimators.ruleset_ensemble import RuleSetEnsembleClassifier
from rulewright.estimators.sl2 import SL2Classifier
from rulewright.estimators.slipper import SlipperClassifier

__all__ = [
    "MLRulesClassifier",
    "RuleSetEnsembleClassifier",
    "SL2Classifier",
    "SlipperClassifier",
    "compress",
    "size_curve",
]
