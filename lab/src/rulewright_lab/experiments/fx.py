"""Moving-average rules for exchange rates, averaged by Bayes' theorem (Domingos, 1997, section 4).

Rule (s, t) with s < t buys a currency where its mean rate over the last s days, today included, is
above that over the last t days; else it sells, that is, holds dollars. The class of a day is
whether the next day's rate is higher. The first t_max - 1 days have no mean and are dropped for
every rule, so that all are judged by the same days. The decision of a day earns the change to the
next one; there are no interest and no costs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from rulewright.weighting import PosteriorReport, log_posterior, log_shares, weights_from_logs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from rulewright.kernels import BoolArray, FloatArray

T_MAX = 100
Decision = Literal["raw", "calibrated"]


def enumerate_rules(t_max: int) -> NDArray[np.intp]:
    """Return all t_max (t_max - 1) / 2 pairs (s, t) with 1 <= s < t <= t_max, by t and then s.

    The first of several equally good rules has the smallest t, then the smallest s.
    """
    if t_max < 2:
        raise ValueError(f"t_max={t_max}: a rule compares means of 1 and of at least 2 days")
    return np.array([(s, t) for t in range(2, t_max + 1) for s in range(1, t)], dtype=np.intp)


def checked_rates(rates: ArrayLike, t_max: int) -> FloatArray:
    """Return exchange rates, or raise if there are too few or some are no rates."""
    found = np.asarray(rates, dtype=np.float64)
    if found.ndim != 1 or len(found) <= t_max:
        raise ValueError(f"t_max={t_max} needs more than {t_max} rates in a row, not {found.shape}")
    wrong = np.flatnonzero(~((found > 0.0) & (found < np.inf)))
    if len(wrong):
        raise ValueError(
            f"the rate of day {wrong[0]} is {found[wrong[0]]}: rates must be above 0 and known; "
            "leave out days without one"
        )
    return found


def signals(rates: ArrayLike, t_max: int) -> BoolArray:
    """Return which rule buys on which day: (days, rules), for days with the means of all rules.

    The last day is left out: its change is not known. Means come from sums over all days before,
    so one costs the same whatever its length.
    """
    known = checked_rates(rates, t_max)
    sums = np.concatenate([[0.0], np.cumsum(known)])
    days = np.arange(t_max - 1, len(known) - 1)
    means = [np.zeros(len(days))]
    means += [(sums[days + 1] - sums[days + 1 - s]) / s for s in range(1, t_max + 1)]
    rules = enumerate_rules(t_max)
    bought = np.empty((len(days), len(rules)), dtype=np.bool_)
    for k, (s, t) in enumerate(rules.tolist()):
        bought[:, k] = means[s] > means[t]
    return bought


@dataclass(frozen=True, eq=False)
class RuleCounts:
    """How often each rule bought and sold, and the rate then rose: arrays by rule."""

    bought_rose: FloatArray
    bought: FloatArray
    sold_rose: FloatArray
    sold: FloatArray

    @classmethod
    def of(cls, bought: BoolArray, rose: BoolArray) -> RuleCounts:
        """Count days."""
        n_bought = bought.sum(axis=0).astype(np.float64)
        both = (bought & rose[:, None]).sum(axis=0).astype(np.float64)
        return cls(both, n_bought, rose.sum() - both, len(bought) - n_bought)

    @property
    def accuracies(self) -> FloatArray:
        """Share of the days on which the rate rose after buying, or did not after selling."""
        right = self.bought_rose + self.sold - self.sold_rose
        found: FloatArray = right / (self.bought + self.sold)
        return found

    @property
    def log_likelihoods(self) -> FloatArray:
        """The log of eq. 7 of each rule."""
        bought = np.column_stack([self.bought_rose, self.bought - self.bought_rose])
        sold = np.column_stack([self.sold_rose, self.sold - self.sold_rose])
        return log_shares(bought) + log_shares(sold)

    def chances(self, bought: BoolArray) -> FloatArray:
        """Return P(+ | what each rule says), where it says so; 0 for what it never said."""
        with np.errstate(invalid="ignore"):
            up = np.nan_to_num(self.bought_rose / self.bought)
            down = np.nan_to_num(self.sold_rose / self.sold)
        return np.where(bought, up, down)


@dataclass(frozen=True)
class Study:
    """What the rules of one currency came to.

    `best` is the most accurate rule on the training days, `likeliest` that of the highest
    likelihood; returns are those of the test days, of buying wherever the best rule says so, of the
    average of all rules, and of holding the currency throughout.
    """

    best: tuple[int, int]
    best_accuracy: float
    likeliest: tuple[int, int]
    posterior: PosteriorReport
    return_best: float
    return_bma: float
    return_hold: float
    bma_days: int


def study(rates: ArrayLike, n_train: int, t_max: int = T_MAX, decision: Decision = "raw") -> Study:
    """Learn the posterior of all rules from the first days, and trade on the others.

    Parameters
    ----------
    rates : array-like
        Daily rates, in dollars for a unit of the currency.
    n_train : int
        Number of training days, after the days without means.
    t_max : int
        Longest mean.
    decision : {"raw", "calibrated"}
        Whether the single best rule does what it says, or what was right more often when it did.
    """
    known = checked_rates(rates, t_max)
    bought = signals(known, t_max)
    change = known[t_max:] / known[t_max - 1 : -1]
    if not 0 < n_train < len(bought):
        raise ValueError(f"n_train={n_train}: there are {len(bought)} days with all means")
    counts, rules = RuleCounts.of(bought[:n_train], change[:n_train] > 1.0), enumerate_rules(t_max)
    logs = log_posterior(counts.log_likelihoods)
    new, gains = bought[n_train:], change[n_train:]
    chances = counts.chances(new)
    average = chances @ weights_from_logs(logs) > 0.5
    best, likeliest = int(np.argmax(counts.accuracies)), int(np.argmax(logs))
    alone = new[:, best] if decision == "raw" else chances[:, best] > 0.5
    agreement = float(np.mean(average == (chances[:, likeliest] > 0.5)))
    return Study(
        best=(int(rules[best, 0]), int(rules[best, 1])),
        best_accuracy=float(counts.accuracies[best]),
        likeliest=(int(rules[likeliest, 0]), int(rules[likeliest, 1])),
        posterior=PosteriorReport.of(logs, agreement),
        return_best=total_return(gains, alone),
        return_bma=total_return(gains, average),
        return_hold=total_return(gains, np.ones(len(gains), dtype=np.bool_)),
        bma_days=int(average.sum()),
    )


def total_return(gains: FloatArray, held: BoolArray) -> float:
    """Return the product of the gross rates of the days on which the currency is held, minus 1."""
    return float(np.prod(gains[held])) - 1.0
