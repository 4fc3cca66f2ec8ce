"""From rules to weights: likelihoods, boosting confidence, sparse fits, calibration."""

from rulewright.weighting.calibration import (
    CALIBRATIONS,
    Calibration,
    Isotonic,
    Platt,
    Temperature,
)
from rulewright.weighting.class_likelihood import ClassLogLikelihood
from rulewright.weighting.default_rule import DEFAULT_RULES, default_scores
from rulewright.weighting.exponential import ExponentialLoss
from rulewright.weighting.likelihood import LogLikelihood

__all__ = [
    "CALIBRATIONS",
    "DEFAULT_RULES",
    "Calibration",
    "ClassLogLikelihood",
    "ExponentialLoss",
    "Isotonic",
    "LogLikelihood",
    "Platt",
    "Temperature",
    "default_scores",
]
