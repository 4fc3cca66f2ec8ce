"""Calibration: scores of rows that the rules were not learned from become probabilities.

A calibration is a frozen object. Its `fit` takes class codes, scores of shape (rows, classes) and
weights (rows without weight are ignored), and returns a fitted calibration. To add a calibration,
add a class here and an entry in `CALIBRATIONS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from rulewright.model import AdditiveRules, IsotonicSteps, by_steps, margins, softmax

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray, IntArray

LEAST_SLOPE = 1e-3
"""Minimum slope times mean spread of the scores: uninformative scores still break ties."""

LARGEST_LOGIT = 1e150
"""Largest change of a logit in a step: larger ones overflow."""

MOST_STEPS = 100
"""Maximum number of Newton steps; a few are usual."""


class FittedCalibration(Protocol):
    """A fitted calibration."""

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the calibrated probabilities of scores."""

    def apply(self, model: AdditiveRules) -> AdditiveRules:
        """Return the model with these probabilities."""


@dataclass(frozen=True)
class Calibration:
    """Base class of calibrations.

    Parameters
    ----------
    cv : int or splitter
        Folds whose held-out rows provide scores that did not influence the rules.
    n_rows : float, optional
        Number of rows that the weights represent, for smoothing; by default the number of rows.
    """

    cv: Any = 5
    n_rows: float | None = field(default=None, repr=False, kw_only=True)

    name: ClassVar[str]

    def __post_init__(self) -> None:
        whole = isinstance(self.cv, Integral) and int(self.cv) >= 2
        splits = not isinstance(self.cv, str) and (
            hasattr(self.cv, "split") or hasattr(self.cv, "__iter__")
        )
        if not whole and not splits:
            raise ValueError(f"cv={self.cv!r} must be an integer >= 2 or a splitter")

    def fit(self, scores: FloatArray, labels: IntArray, weights: FloatArray) -> FittedCalibration:
        """Fit to scores of rows that the rules were not learned from."""
        raise NotImplementedError

    def cross_fit(
        self,
        scores: FloatArray,
        labels: IntArray,
        weights: FloatArray,
        folds: NDArray[np.integer],
    ) -> FloatArray:
        """Return probabilities of the rows, each fold calibrated on the others.

        No row calibrates itself, so figures computed from the probabilities are not optimistic.
        """
        probabilities = np.empty_like(scores)
        for fold in np.unique(folds):
            inside = folds == fold
            fitted = self.fit(scores[~inside], labels[~inside], weights[~inside])
            probabilities[inside] = fitted.probabilities(scores[inside])
        return probabilities


@dataclass(frozen=True)
class Temperature(Calibration):
    """Fit softmax(slope * s); the slope, one over the temperature, is above 0.

    The label of a row counts as ``(N e_y + 2/K) / (N + 2)``, where N is the number of rows of its
    class: Platt's targets, which keep the slope finite when the scores separate the classes. The
    most probable class of a row stays the same.

    Parameters
    ----------
    origin : tuple of float, optional
        Scores that stay fixed, one per class; by default all 0.
    """

    origin: tuple[float, ...] | None = None

    name: ClassVar[str] = "temperature"

    def fit(self, scores: FloatArray, labels: IntArray, weights: FloatArray) -> LinearCalibration:
        """Fit the slope."""
        fit = partial(_fit_linear, free=False, n_rows=self.n_rows)
        if self.origin is None:
            return fit(scores, labels, weights, np.zeros(scores.shape[1]))
        origin = np.array(self.origin)
        slope = fit(scores - origin, labels, weights, origin).slope
        return LinearCalibration(slope, tuple(((1 - slope) * origin).tolist()))


@dataclass(frozen=True)
class Platt(Calibration):
    """Fit softmax(slope * s_k + offset_k) to the targets of `Temperature`; the first offset is 0.

    With two classes this is Platt's scaling of s_1 - s_0.
    """

    name: ClassVar[str] = "platt"

    def fit(self, scores: FloatArray, labels: IntArray, weights: FloatArray) -> LinearCalibration:
        """Fit the slope and the offsets."""
        start = np.zeros(scores.shape[1])
        return _fit_linear(scores, labels, weights, start, free=True, n_rows=self.n_rows)


@dataclass(frozen=True)
class Isotonic(Calibration):
    """Fit for each class the monotone steps of [y = k] on its margin over the best other class.

    Values are at least 1 / (n + 2) from 0 and 1; thresholds lie halfway between blocks.
    """

    name: ClassVar[str] = "isotonic"

    def fit(self, scores: FloatArray, labels: IntArray, weights: FloatArray) -> StepsByClass:
        """Fit the steps of each class."""
        seen = weights > 0
        least = 1 / ((np.count_nonzero(seen) if self.n_rows is None else self.n_rows) + 2)
        labels, weights = labels[seen], weights[seen] / weights.max(initial=0.0)
        steps = [
            _fit_steps(margin, labels == k, weights, least)
            for k, margin in enumerate(margins(scores[seen]).T)
        ]
        return StepsByClass(tuple(steps))


CALIBRATIONS: dict[str, type[Calibration]] = {
    "temperature": Temperature,
    "platt": Platt,
    "isotonic": Isotonic,
}
"""The calibrations by name."""


@dataclass(frozen=True)
class LinearCalibration:
    """Probabilities softmax(slope * s_k + offset_k), which a model absorbs into its responses."""

    slope: float
    offsets: tuple[float, ...]

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the calibrated probabilities of scores."""
        return softmax(self.slope * scores + np.array(self.offsets))

    def apply(self, model: AdditiveRules) -> AdditiveRules:
        """Return the model with these probabilities."""
        return model.with_steps(None).scale_scores(self.slope, self.offsets)


@dataclass(frozen=True)
class StepsByClass:
    """Probabilities by steps of the margins, normalised; a model keeps the steps."""

    steps: tuple[IsotonicSteps, ...]

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return the calibrated probabilities of scores."""
        return by_steps(scores, self.steps)

    def apply(self, model: AdditiveRules) -> AdditiveRules:
        """Return the model with these probabilities."""
        return model.with_steps(self.steps)


def targets(
    labels: IntArray, weights: FloatArray, n_classes: int, n_rows: float | None = None
) -> FloatArray:
    """Return the smoothed labels for temperature and Platt scaling."""
    shares = np.bincount(labels, weights, n_classes) / weights.sum()
    counts = (len(labels) if n_rows is None else n_rows) * shares[labels, None]
    hit = labels[:, None] == np.arange(n_classes)
    smooth: FloatArray = (counts * hit + 2 / n_classes) / (counts + 2)
    return smooth


# -- slope and offsets -------------------------------------------------------------------------


def _fit_linear(
    scores: FloatArray,
    labels: IntArray,
    weights: FloatArray,
    offsets: FloatArray,
    free: bool,
    n_rows: float | None = None,
) -> LinearCalibration:
    """Fit the slope, and the offsets if they are free.

    Scores are scaled by their mean spread within rows, so that their magnitude does not matter.
    """
    seen, n_classes = weights > 0, scores.shape[1]
    unchanged = LinearCalibration(1.0, tuple(offsets.tolist()))
    if n_classes == 1 or not seen.any():
        return unchanged
    gaps, labels = scores[seen] - scores[seen].max(axis=1, keepdims=True), labels[seen]
    shares = weights[seen] / weights.max()
    shares /= shares.sum()
    largest = -float(gaps.min())
    spread = 0.0
    if largest > 0:
        spread = float((shares * (gaps.T.min(axis=0) / -largest)).sum()) * largest
    if spread == 0 and not free:
        return unchanged
    smooth = targets(labels, shares, n_classes, n_rows)
    objective = _Objective(gaps / (spread or 1.0), smooth, shares)
    point = offsets - offsets[0]  # the slope, then the offsets of all classes but the first
    point[0] = 1.0
    moves = np.full(n_classes, free)
    moves[0] = spread > 0
    point = objective.minimise(point, moves)
    if point[0] < LEAST_SLOPE:  # convex function: the constrained minimum is on the bound
        moves[0], point[0] = False, LEAST_SLOPE
        point = objective.minimise(point, moves)
    return LinearCalibration(float(point[0]) / (spread or 1.0), (0.0, *point[1:].tolist()))


class _Objective:
    """Mean cross-entropy between targets and softmax(slope * s + offsets), convex in both.

    Arrays have one line per class, so that sums over the classes of a row are vectorised.
    """

    def __init__(self, scores: FloatArray, targets: FloatArray, shares: FloatArray) -> None:
        self.scores, self.targets = (np.ascontiguousarray(part.T) for part in (scores, targets))
        self.shares, self.largest = shares, max(float(np.abs(scores).max(initial=0.0)), 1.0)

    def evaluate(self, point: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the probabilities (classes, rows)."""
        logits = point[0] * self.scores
        logits[1:] += point[1:, None]
        logits -= logits.max(axis=0)
        p = np.exp(logits)
        totals = p.sum(axis=0)
        p /= totals
        logits *= self.targets
        # A vector product would wake the threads of BLAS for a few additions.
        return float((self.shares * (np.log(totals) - logits.sum(axis=0))).sum()), p

    def derivatives(self, p: FloatArray, free: BoolArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient and the Hessian of the free coordinates of (slope, offsets).

        They are means and covariances of (s, e_1, ..) under the probabilities p.
        """
        gradient, hessian = np.zeros(len(free)), np.zeros((len(free), len(free)))
        errors, weighted = (p - self.targets) * self.shares, p * self.shares
        off = self.scores - (p * self.scores).sum(axis=0)
        gradient[0], hessian[0, 0] = (errors * self.scores).sum(), (weighted * off**2).sum()
        if free[1:].any():
            gradient[1:] = errors[1:].sum(axis=1)
            hessian[1:, 1:] = np.diag(weighted[1:].sum(axis=1)) - weighted[1:] @ p[1:].T
            hessian[0, 1:] = hessian[1:, 0] = (weighted[1:] * off[1:]).sum(axis=1)
        return gradient[free], hessian[free][:, free]

    def minimise(self, point: FloatArray, free: BoolArray) -> FloatArray:
        """Take Newton steps over the free coordinates, halved until the value decreases enough."""
        value, p = self.evaluate(point)
        for _ in range(MOST_STEPS):
            gradient, hessian = self.derivatives(p, free)
            # The shift avoids directions without curvature.
            shift = 1e-10 * np.trace(hessian) + 1e-300
            step = np.zeros_like(point)
            step[free] = np.linalg.solve(hessian + shift * np.eye(len(gradient)), -gradient)
            step *= min(1.0, LARGEST_LOGIT / max(self.largest * float(np.abs(step).max()), 1.0))
            promised = float(gradient @ step[free])
            if -promised <= 1e-15 * (1 + value):
                break
            size, (moved, p) = 1.0, self.evaluate(point + step)
            while moved > value + 1e-4 * size * promised:
                size /= 2
                if size < 1e-10:  # the predicted decrease is below rounding
                    return point
                moved, p = self.evaluate(point + size * step)
            point, value = point + size * step, moved
        return point


# -- steps -------------------------------------------------------------------------------------


def _fit_steps(
    margin: FloatArray, hit: BoolArray, weights: FloatArray, least: float
) -> IsotonicSteps:
    """Pool adjacent violators; equal margins form one block from the start."""
    places, block = np.unique(margin, return_inverse=True)
    if len(places) == 0:
        return IsotonicSteps((), (0.5,))
    totals, hits = np.bincount(block, weights), np.bincount(block, weights * hit)
    ends: list[int] = []
    values: list[float] = []
    for end, value in _pool_blocks(totals.tolist(), hits.tolist()):
        value = min(max(value, least), 1 - least)
        if values and value == values[-1]:
            ends[-1] = end
        else:
            ends.append(end)
            values.append(value)
    inner = np.array(ends[:-1], dtype=np.intp)
    low, high = places[inner], places[inner + 1]
    halfway = low / 2 + high / 2
    # No float lies between adjacent floats: the lower one stays below its threshold.
    cuts = np.where((halfway >= low) & (halfway < high), halfway, low)
    return IsotonicSteps(tuple(cuts.tolist()), tuple(values))


def _pool_blocks(totals: list[float], hits: list[float]) -> list[tuple[int, float]]:
    """Return the last index and the mean of each block, with means that ascend."""
    # `scipy.optimize.isotonic_regression` would change weighted models. It multiplies means by the
    # weights again, where sums of hits are rounded only once; it also pools later blocks before
    # earlier ones, so sums are added in another order. With fractional weights nine of ten fits
    # differ in the last bits, even if sums are recomputed from SciPy's blocks, and blocks differ
    # where two means are equal.
    blocks: list[tuple[int, float, float]] = []
    for end, (total, hit) in enumerate(zip(totals, hits, strict=True)):
        while blocks and blocks[-1][2] * total >= hit * blocks[-1][1]:
            _, more, more_hits = blocks.pop()
            total, hit = total + more, hit + more_hits
        blocks.append((end, total, hit))
    return [(end, hit / total) for end, total, hit in blocks]
