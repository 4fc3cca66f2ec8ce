"""Losses as boosting with trees sees them: the best constant, and the negative gradient at rows."""

from rulewright.weighting.losses.pointwise import (
    HuberLoss,
    LogisticLoss,
    RampLoss,
    SoftmaxLoss,
    SquaredLoss,
)

__all__ = ["HuberLoss", "LogisticLoss", "RampLoss", "SoftmaxLoss", "SquaredLoss"]
