"""The partial likelihood of proportional hazards, with Efron's ties and Breslow's baseline.

Rows are at risk from after their entry until their time. At a time with events of the weight W the
rows at risk have the sum S of w exp(F), the events themselves the sum D. Efron's term is the sum of
log(S - l/W D) over l = 0, ..., W - 1, and a weight is a number of rows: rows of weight 2 are two
tied rows. For weights that are no whole numbers the sum is the same function of W, a difference of
log-gammas: with a = W S / D it is W log(D / W) + lgamma(a + 1) - lgamma(a - W + 1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln, polygamma, psi

from rulewright.weighting.likelihoods.score_loss import ScoreLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray

MOST_TIED = 1000.0
"""Larger sums of Efron's are computed by log-gammas, too."""


class _Risk(NamedTuple):
    """Sums over the rows at risk, for each time with events; exponentials are relative to `top`."""

    top: float
    hazards: FloatArray  # w exp(F - top) of each row
    at_risk: FloatArray
    tied: FloatArray  # of the rows with an event


class _TieSums(NamedTuple):
    """Sums over l of log phi, 1/phi, c/phi, 1/phi^2, c/phi^2, c^2/phi^2; c = l/W, phi = S - c D."""

    logs: FloatArray
    first: FloatArray
    tied_first: FloatArray
    second: FloatArray
    tied_second: FloatArray
    twice_second: FloatArray


class CoxLoss(ScoreLoss):
    """The negative log partial likelihood; the score of a row is the logarithm of its hazard ratio.

    g_i = w_i exp(F_i) (sum of 1/phi over the times at which the row is at risk, tied events less
    their part) - w_i e_i, and h_i is the first term: the second derivative but for the part that
    rows at risk share, which `curvature` subtracts. Sums of h equal the weighted events E, and sums
    of |g| are at most 2 E, at any scores: that is the bound.

    Parameters
    ----------
    times : float64 array
        When the event or the end of observation came.
    events : bool array
        Whether it was an event.
    weights : float64 array
        Weight of each row.
    entries : float64 array, optional
        After which time a row is under observation; from the start by default.
    """

    has_intercept: ClassVar[bool] = False

    def __init__(
        self,
        times: FloatArray,
        events: BoolArray,
        weights: FloatArray,
        entries: FloatArray | None = None,
    ) -> None:
        super().__init__(weights)
        self.events, own = events, events & (weights > 0)
        self._times, self._entries = times, entries
        self.event_times, places = np.unique(times[own], return_inverse=True)
        self._event_rows, self._event_places = np.flatnonzero(own), places
        self.sums = np.bincount(places, weights[own], len(self.event_times)).astype(np.float64)
        self._last = np.searchsorted(self.event_times, times, side="right")
        self._first = np.zeros(len(times), dtype=np.intp)
        if entries is not None:
            self._first = np.searchsorted(self.event_times, entries, side="right")

    @property
    def start(self) -> float:
        """0: the baseline hazard holds what is common to all rows."""
        return 0.0

    @property
    def bound(self) -> float:
        """Twice the weighted events, or the weight of the rows."""
        return max(2 * float(self.sums.sum()), self.total)

    def value(self, scores: FloatArray) -> float:
        """Return the negative log partial likelihood."""
        risk = self._risk(scores)
        own = self._event_rows
        logs = float(_sum_ties(self.sums, risk).logs.sum()) + risk.top * float(self.sums.sum())
        return logs - float(self.weights[own] @ scores[own])

    def derivatives(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g, and h without the part that rows at risk share."""
        risk = self._risk(scores)
        ties = _sum_ties(self.sums, risk)
        h = self._row_terms(risk, ties)
        g = h.copy()
        g[self._event_rows] -= self.weights[self._event_rows]
        return g, h

    def curvature(
        self, scores: FloatArray, left: FloatArray, right: FloatArray, h: FloatArray
    ) -> FloatArray:
        """Return the second derivatives between columns."""
        risk = self._risk(scores)
        ties = _sum_ties(self.sums, risk)
        found = super().curvature(scores, left, right, h)
        ones, tied_ones = self._column_sums(risk, left)
        twos, tied_twos = (ones, tied_ones) if right is left else self._column_sums(risk, right)
        found -= np.einsum("at,bt->ab", ones * ties.second, twos)
        found += np.einsum("at,bt->ab", ones * ties.tied_second, tied_twos)
        found += np.einsum("at,bt->ab", tied_ones * ties.tied_second, twos)
        found -= np.einsum("at,bt->ab", tied_ones * ties.twice_second, tied_twos)
        return found

    def own_curvature(self, scores: FloatArray, columns: FloatArray, h: FloatArray) -> FloatArray:
        """Return the second derivative of each column along itself."""
        risk = self._risk(scores)
        ties = _sum_ties(self.sums, risk)
        sums, tied = self._column_sums(risk, columns)
        shared = sums * (sums * ties.second - 2 * tied * ties.tied_second)
        shared += tied * tied * ties.twice_second
        return np.asarray(super().own_curvature(scores, columns, h) - shared.sum(axis=1))

    def losses(self, scores: FloatArray) -> FloatArray:
        """Return how well the event of each row is ranked: its term of the partial likelihood.

        Rows that are not learned from are compared with each other, without weights: the hazards of
        rows that are learned from are too low at late times, because the scores were fitted to who
        is left. Rows without an event have no loss of their own.
        """
        found = np.zeros(len(scores))
        for side in (self.weights > 0, self.weights == 0):
            rows = np.flatnonzero(side)
            own = np.flatnonzero(side & self.events)
            if len(own):
                top = float(scores[rows].max())
                weights = np.where(self.weights[rows] > 0, self.weights[rows], 1.0)
                hazards = weights * np.exp(scores[rows] - top)
                at_risk = _sum_from(self._times[rows], hazards, self._times[own])
                if self._entries is not None:
                    at_risk -= _sum_from(self._entries[rows], hazards, self._times[own])
                found[own] = np.log(np.maximum(at_risk, 1e-300)) + top - scores[own]
        return found

    def schoenfeld(
        self, column: FloatArray, scores: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return of each event its value less the mean at risk, its time, and its weight."""
        risk = self._risk(scores)
        mean = self._at_risk(risk.hazards * column) / risk.at_risk
        own, places = self._event_rows, self._event_places
        return column[own] - mean[places], self.event_times[places], self.weights[own]

    def baseline(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the event times, and Breslow's cumulative hazard of a row of score 0."""
        risk = self._risk(scores)
        return self.event_times, np.cumsum(self.sums / risk.at_risk) * np.exp(-risk.top)

    def _risk(self, scores: FloatArray) -> _Risk:
        seen = self.weights > 0
        top = float(scores[seen].max(initial=-np.inf))
        hazards = np.where(seen, self.weights * np.exp(np.minimum(scores - top, 0.0)), 0.0)
        at_risk = self._at_risk(hazards)
        tied = self._tied(hazards[self._event_rows])
        return _Risk(top, hazards, at_risk, np.minimum(tied, at_risk))

    def _at_risk(self, values: FloatArray) -> FloatArray:
        """Sum values over the rows at risk at each time with events."""
        n = len(self.sums)
        left = np.bincount(self._last, values, n + 1)
        if self._first.any():
            left = left - np.bincount(self._first, values, n + 1)
        found: FloatArray = left[::-1].cumsum()[::-1][1:]
        return found

    def _tied(self, values: FloatArray) -> FloatArray:
        """Sum values of the rows with an event, at each time with events."""
        return np.bincount(self._event_places, values, len(self.sums)).astype(np.float64)

    def _column_sums(self, risk: _Risk, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Sum hazards times columns over rows at risk, and over those with an event."""
        n, shape = self._event_rows, (len(columns), len(self.sums))
        every = [self._at_risk(risk.hazards * column) for column in columns]
        tied = [self._tied((risk.hazards * column)[n]) for column in columns]
        return np.reshape(every, shape), np.reshape(tied, shape)

    def _row_terms(self, risk: _Risk, ties: _TieSums) -> FloatArray:
        sums = np.concatenate([[0.0], np.cumsum(ties.first)])
        found = risk.hazards * (sums[self._last] - sums[self._first])
        own: NDArray[np.intp] = self._event_rows
        found[own] -= risk.hazards[own] * ties.tied_first[self._event_places]
        return np.asarray(np.maximum(found, 0.0))


def _sum_from(places: FloatArray, values: FloatArray, starts: FloatArray) -> FloatArray:
    """Sum the values whose places are at each start or later."""
    order = np.argsort(places, kind="stable")
    left = np.concatenate([np.cumsum(values[order][::-1])[::-1], [0.0]])
    return np.asarray(left[np.searchsorted(places[order], starts, side="left")])


def _sum_ties(events: FloatArray, risk: _Risk) -> _TieSums:
    """Sum Efron's terms for each time with events."""
    found = _TieSums(*np.zeros((6, len(events))))
    whole = (events == np.rint(events)) & (events <= MOST_TIED)
    counts = events[whole].astype(np.intp)
    places = np.repeat(np.flatnonzero(whole), counts)
    number = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    c = number / events[places]
    phi = risk.at_risk[places] - c * risk.tied[places]
    terms = (np.log(phi), 1 / phi, c / phi, 1 / phi**2, c / phi**2, (c / phi) ** 2)
    for sums, term in zip(found, terms, strict=True):
        sums += np.bincount(places, term, len(events))
    if not whole.all():
        rest = ~whole
        for sums, own in zip(found, _sum_by_gammas(events[rest], risk, rest), strict=True):
            sums[rest] = own
    return found


def _sum_by_gammas(w: FloatArray, risk: _Risk, kept: BoolArray) -> _TieSums:
    """Compute the same sums as functions of weights that are not whole, or large."""
    s, d = risk.at_risk[kept], risk.tied[kept]
    top = w * s / d
    low = np.maximum(top - w, 0.0) + 1
    logs = w * np.log(d / w) + gammaln(top + 1) - gammaln(low)
    first = w / d * (psi(top + 1) - psi(low))
    second = (w / d) ** 2 * (polygamma(1, low) - polygamma(1, top + 1))
    tied_second = (s * second - first) / d
    tied_first = (s * first - w) / d
    return _TieSums(
        logs, first, tied_first, second, tied_second, (s * tied_second - tied_first) / d
    )
