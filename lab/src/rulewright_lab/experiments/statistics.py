"""Significance of the differences between several learners on several data sets.

Figures are an array (n_sets, n_learners). The tests are those that Demsar (2006) recommends; tests
of two learners are in `paired_tests`.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import stats

from rulewright.comparison import (
    average_ranks,
    check_counts,
    figures_by_set,
    holm,
    p_text,
    ranks_by_set,
)
from rulewright_lab.experiments.paired_tests import WinTieLoss, wilcoxon_signed_rank, win_tie_loss

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray


class FriedmanTest(NamedTuple):
    """Result of `friedman`: chi-square, and the less conservative F of Iman and Davenport."""

    statistic: float
    p_value: float
    degrees: int
    f_statistic: float
    f_p_value: float
    f_degrees: tuple[int, int]
    ties: Literal["corrected", "plain"]

    def __str__(self) -> str:
        return (
            f"Friedman test: chi-square({self.degrees}) = {self.statistic:.2f}, "
            f"{p_text(self.p_value)}; Iman-Davenport F({self.f_degrees[0]}, {self.f_degrees[1]}) "
            f"= {self.f_statistic:.2f}, {p_text(self.f_p_value)}"
        )


class NemenyiTest(NamedTuple):
    """Result of `nemenyi`.

    `ranks` are best first; `groups` are the largest groups of learners that do not differ, and
    learners that share no group do.
    """

    ranks: dict[str, float]
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    alpha: float

    def __str__(self) -> str:
        ranks = ", ".join(f"{name} {rank:.2f}" for name, rank in self.ranks.items())
        groups = " | ".join(", ".join(group) for group in self.groups) or "none"
        return (
            f"Nemenyi test: average ranks {ranks}; critical difference "
            f"{self.critical_difference:.3f} at alpha {self.alpha:g}; not different: {groups}"
        )


class Comparison(NamedTuple):
    """Two learners on all sets: record, Wilcoxon's p-value, and Holm's for all pairs compared."""

    first: str
    second: str
    record: WinTieLoss
    p_value: float
    adjusted: float


def friedman(
    values: ArrayLike, *, ties: Literal["corrected", "plain"] = "corrected"
) -> FriedmanTest:
    """Test whether all learners are equally good.

    With "corrected", `ties` are allowed for, as SciPy does; "plain" is the formula without, which
    papers use (MLRules: 33.28 and 3.53). They agree where no set has equal figures.
    """
    if ties not in ("corrected", "plain"):
        raise ValueError(f"ties must be 'corrected' or 'plain', not {ties!r}")
    ranks = ranks_by_set(values, True)
    n, k = ranks.shape
    spread = float(np.square(ranks.mean(axis=0) - (k + 1) / 2).sum())
    # n times the variance of the ranks within a set, which ties lower.
    within = float(np.square(ranks - (k + 1) / 2).sum()) / (k - 1)
    scale = within if ties == "corrected" else n * k * (k + 1) / 12
    statistic = n * n * spread / scale if scale else 0.0
    rest = n * (k - 1) - statistic
    degrees = (k - 1, (k - 1) * (n - 1))
    # With the same ranks on every set there is no residual variance.
    f_statistic = (n - 1) * statistic / rest if rest > 1e-9 else np.inf
    return FriedmanTest(
        statistic,
        float(stats.chi2.sf(statistic, k - 1)),
        k - 1,
        float(f_statistic),
        float(stats.f.sf(f_statistic, *degrees)),
        degrees,
        ties,
    )


def critical_difference(n_learners: int, n_sets: int, *, alpha: float = 0.05) -> float:
    """Return the difference of average ranks beyond which two learners differ, by Nemenyi."""
    check_counts(n_learners, n_sets)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must lie between 0 and 1, not {alpha}")
    quantile = float(stats.studentized_range.ppf(1 - alpha, n_learners, np.inf))
    return quantile * float(np.sqrt(n_learners * (n_learners + 1) / (12 * n_sets)))


def rank_groups(ranks: Mapping[str, float], cd: float) -> tuple[tuple[str, ...], ...]:
    """Return the largest groups of learners, best first, whose ranks lie within `cd`."""
    names = sorted(ranks, key=lambda name: ranks[name])
    groups, reached = [], 0
    for start, first in enumerate(names):
        near = [name for name in names[start:] if ranks[name] - ranks[first] <= cd + 1e-12]
        end = start + len(near)
        if len(near) > 1 and end > reached:
            groups.append(tuple(near))
            reached = end
    return tuple(groups)


def nemenyi(
    values: ArrayLike,
    learners: Sequence[str],
    *,
    lower_is_better: bool = True,
    alpha: float = 0.05,
) -> NemenyiTest:
    """Compare all learners by their average ranks, where a Friedman test found a difference."""
    array = _name_learners(values, learners)
    means = average_ranks(array, lower_is_better=lower_is_better)
    ordered = sorted(zip(learners, means.tolist(), strict=True), key=lambda pair: pair[1])
    ranks = dict(ordered)
    cd = critical_difference(len(learners), len(array), alpha=alpha)
    return NemenyiTest(ranks, cd, rank_groups(ranks, cd), alpha)


def compare_all_pairs(
    values: ArrayLike,
    learners: Sequence[str],
    *,
    control: str | None = None,
    lower_is_better: bool = True,
) -> tuple[Comparison, ...]:
    """Compare learners in pairs: wins, Wilcoxon's test, and Holm's correction over all pairs.

    With `control`, only this learner is compared with each of the others.
    """
    array = _name_learners(values, learners)
    if control is not None and control not in learners:
        raise ValueError(f"no learner {control!r}, only {', '.join(learners)}")
    pairs = list(combinations(learners, 2))
    if control is not None:
        pairs = [(control, name) for name in learners if name != control]
    columns = dict(zip(learners, array.T, strict=True))
    figures = [(columns[one], columns[two]) for one, two in pairs]
    records = [win_tie_loss(*two, lower_is_better=lower_is_better) for two in figures]
    raw = [wilcoxon_signed_rank(*two).p_value for two in figures]
    adjusted = holm(raw).tolist()
    return tuple(
        Comparison(*pair, *results)
        for pair, *results in zip(pairs, records, raw, adjusted, strict=True)
    )


def _name_learners(values: ArrayLike, learners: Sequence[str]) -> FloatArray:
    array = figures_by_set(values)
    if len(learners) != array.shape[1] or len(set(learners)) < len(learners):
        raise ValueError(f"{array.shape[1]} columns need as many different names, not {learners}")
    return array
