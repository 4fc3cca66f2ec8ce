"""Kernels of rule cards: logistic fits on groups of rows, and integer points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.kernels import _core
from rulewright.kernels.structs import ByteArray, FittedScores, FloatArray, FoundPoints

if TYPE_CHECKING:
    from rulewright.kernels.structs import PointLimits


def fit_scores(
    covers: ByteArray, positives: FloatArray, negatives: FloatArray, l2: float, start: FloatArray
) -> FittedScores:
    """Fit a real response to each item, and the intercept: start and result end with it.

    `covers` has a line of 0 and 1 for each group of rows that the same items cover, with the
    weights of its positives and negatives.
    """
    return FittedScores(*_core.fit_scores(covers, positives, negatives, l2, start))


def solve_points(
    covers: ByteArray, positives: FloatArray, negatives: FloatArray, limits: PointLimits
) -> FoundPoints:
    """Find integer points by branch and bound (see `native/weighting/points.hpp`)."""
    return FoundPoints(*_core.solve_points(covers, positives, negatives, limits.native))
