"""Statistics of a comparison: means of records, ranks, Holm's correction, a test on folds.

Figures of several learners are an array (n_sets, n_learners); folds count as sets, too. Differences
below 1e-12 of the largest figure count as 0: the last digits of a mean over folds depend on the
order of the sum.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import stats

from rulewright.evidence import BRIER

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from rulewright.comparison.trial import Record
    from rulewright.kernels import FloatArray

DIGITS = 12
"""Number of significant decimals, relative to the largest figure."""
PER_ROW = frozenset({"error", "log_loss", BRIER})
"""Figures that are means over test rows, so that folds are weighted by their rows."""


class FoldTest(NamedTuple):
    """Result of a test on the differences of two learners over the folds of one data set."""

    name: str
    statistic: float
    p_value: float
    degrees: tuple[int, ...]
    mean: float


def average_ranks(values: ArrayLike, *, lower_is_better: bool = True) -> FloatArray:
    """Return each learner's mean rank over the sets, 1 for the best; ties share their mean rank."""
    means: FloatArray = ranks_by_set(values, lower_is_better).mean(axis=0)
    return means


def holm(p_values: ArrayLike) -> FloatArray:
    """Adjust the p-values of several tests, so that each may be compared with alpha."""
    raw = np.asarray(p_values, dtype=float)
    if raw.ndim != 1 or not ((raw >= 0) & (raw <= 1)).all():
        raise ValueError("p-values must be a one-dimensional array with values from 0 to 1")
    order = np.argsort(raw, kind="stable")
    steps = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    adjusted = np.empty_like(raw)
    adjusted[order] = np.minimum(steps, 1.0)
    return adjusted


def corrected_resampled_t(differences: ArrayLike, n_train: float, n_test: float) -> FoldTest:
    """Test two learners on many splits of one data set, by Nadeau and Bengio (2003).

    The splits share rows, so the variance of the mean is larger than 1/n times the variance of the
    differences; the factor is 1/n + n_test/n_train. Pass rows or shares of rows: 9 and 1 for ten
    folds.
    """
    splits = finite(differences)
    if splits.ndim != 1 or len(splits) < 2:
        raise ValueError(f"differences must be a row of two or more, not of shape {splits.shape}")
    if not (n_train > 0 and n_test > 0):
        raise ValueError(f"n_train and n_test must be positive, not {n_train} and {n_test}")
    mean, n = float(splits.mean()), len(splits)
    error = float(np.sqrt((1 / n + n_test / n_train) * splits.var(ddof=1)))
    statistic = ratio(mean, error)
    p_value = 2 * float(stats.t.sf(abs(statistic), n - 1))
    return FoldTest("corrected resampled t test", statistic, p_value, (n - 1,), mean)


def p_text(p_value: float) -> str:
    """Format a p-value."""
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"


def without_noise(values: FloatArray, scale: float) -> FloatArray:
    """Return the values as multiples of `scale`, without differences due to rounding."""
    return np.round(values / scale, DIGITS) if scale else np.zeros_like(values)


def ranks_by_set(values: ArrayLike, lower_is_better: bool) -> FloatArray:
    """Return the rank of each learner on each set, 1 for the best."""
    array = figures_by_set(values)
    relative = without_noise(array, float(np.abs(array).max()))
    ranks: FloatArray = stats.rankdata(relative if lower_is_better else -relative, axis=1)
    return ranks


def figures_by_set(values: ArrayLike) -> FloatArray:
    """Return figures as an array (n_sets, n_learners), or raise an error."""
    array = np.asarray(values, dtype=float)
    if array.ndim != 2:
        raise ValueError(f"figures must have shape (n_sets, n_learners), not {array.shape}")
    check_counts(array.shape[1], len(array))
    if len(bad := np.argwhere(~np.isfinite(array))):
        row, column = bad[0].tolist()
        raise ValueError(
            f"row {row}, column {column} is {array[row, column]}: drop sets or learners "
            "without a figure"
        )
    return array


def finite(values: ArrayLike) -> FloatArray:
    """Return figures as an array; refuse NaN and infinity."""
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise ValueError("the figures hold NaN or infinity")
    return array


def ratio(numerator: float, denominator: float) -> float:
    """Divide; equal figures in all folds give 0, or infinity for a constant difference."""
    if denominator == 0:
        return float(np.copysign(np.inf, numerator)) if numerator else 0.0
    return numerator / denominator


def check_counts(n_learners: int, n_sets: int) -> None:
    """Reject a comparison of fewer than two learners or sets."""
    if n_learners < 2 or n_sets < 2:
        raise ValueError(
            f"a comparison needs two learners and two sets or more, not {n_learners} and {n_sets}"
        )


class Figure(NamedTuple):
    """Mean over the repetitions, and its standard deviation if there are several."""

    mean: float
    sd: float | None


def select_done(records: Iterable[Record]) -> list[Record]:
    """Return the records of trials that succeeded."""
    return [record for record in records if record["status"] == "ok"]


def select_failed(records: Iterable[Record]) -> list[Record]:
    """Return the records of trials that failed."""
    return [record for record in records if record["status"] != "ok"]


def figures(records: Iterable[Record], name: str) -> dict[tuple[str, str], Figure]:
    """Return a figure by learner and data set, from repetitions without a failed trial.

    The other folds of a repetition with a failure may be easier.
    """
    groups: dict[tuple[str, str], dict[int, list[Record]]] = defaultdict(lambda: defaultdict(list))
    records = list(records)
    broken = {_repetition(record) for record in select_failed(records)}
    for record in records:
        value = record.get(name)
        if _repetition(record) not in broken and value is not None and np.isfinite(value):
            groups[record["learner"], record["set"]][record["repeat"]].append(record)
    return {pair: _figure(name, list(runs.values())) for pair, runs in groups.items()}


def _repetition(record: Record) -> tuple[str, str, int]:
    return record["learner"], record["set"], record["repeat"]


def _figure(name: str, runs: Sequence[Sequence[Record]]) -> Figure:
    means = [
        np.average(
            [record[name] for record in run],
            weights=[record["n_test"] if name in PER_ROW else 1 for record in run],
        )
        for run in runs
    ]
    spread = float(np.std(means, ddof=1)) if len(means) > 1 else None
    return Figure(float(np.mean(means)), spread)
