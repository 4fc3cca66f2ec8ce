"""Weights of rules in {-1, 0, 1} by their margins: one criterion a file, one protocol for all."""

from rulewright.weighting.margins.criterion import Criterion, CriterionState, MarginWeights
from rulewright.weighting.margins.empirical import EmpiricalMargin
from rulewright.weighting.margins.mmv import MMV
from rulewright.weighting.margins.priors import prior_weights
from rulewright.weighting.margins.rounding import keep_few
from rulewright.weighting.margins.svm import OneNormSVM

__all__ = [
    "MMV",
    "Criterion",
    "CriterionState",
    "EmpiricalMargin",
    "MarginWeights",
    "OneNormSVM",
    "keep_few",
    "prior_weights",
]
