"""Which rules and columns recur when a learner is fitted to samples of the rows."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from rulewright.bounds import checked_delta
from rulewright.data import Table, Target, Units
from rulewright.encoding import PackedCovers
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.cross_fitting import fit_copy, read_as, refit
from rulewright.estimators.folds.folds import run_parallel, stratified_folds
from rulewright.evidence import (
    check_max_false,
    check_threshold,
    first_for_bound,
    pair_bound,
    path_bound,
    path_scores,
)
from rulewright.search import check_whole, count_threads
from rulewright.trust import (
    ColumnRecurrence,
    PatternRecurrence,
    Recurrence,
    claim_key,
    column_order,
    pattern_text,
    rule_key,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.contract.base import RuleEstimator
    from rulewright.kernels import BoolArray
    from rulewright.model import RuleModel


class _Sample(NamedTuple):
    """The parts of a sample's model that are kept."""

    size: int
    keys: frozenset[Hashable]
    patterns: frozenset[str]
    overlapping: BoolArray
    order: list[str]


def rule_stability(
    estimator: RuleEstimator[Any],
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    sampling: Literal["halves", "bootstrap"] = "halves",
    n_samples: int = 50,
    least_jaccard: float = 0.7,
    threshold: float = 0.75,
    max_false: float = 1.0,
    n_first: int | None = None,
    alpha: float = 0.05,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Recurrence:
    r"""Measure which rules and columns recur when a learner is refitted to resampled rows.

    Thresholds vary between samples even if a rule recurs, so rules are compared in three ways:
    the same rule, the same columns and directions, and nearly the same covered rows.

    Parameters
    ----------
    estimator : estimator
        The learner. If it is fitted, its model is the one to assess; it must have been fitted to
        the same data.
    X, y, sample_weight
        The training data, as in ``fit``.
    groups : array-like or str, optional
        Group of each row, as in ``fit``: samples are drawn from groups.
    sampling : {"halves", "bootstrap"}
        "halves" splits the rows at random, stratified by class, and uses both halves;
        "bootstrap" draws with replacement. Only halves bound the number of useless columns.
    n_samples : int
        Number of samples; even for halves.
    least_jaccard : float
        Minimum Jaccard index of the covers, on all rows, of rules that count as covering nearly
        the same rows.
    threshold : float
        Minimum share of the samples that must have a column among their first ones, above 0.5.
    max_false : float
        Bound on the expected number of useless columns; determines how many columns are first.
    n_first : int, optional
        Number of first columns, instead of `max_false`.
    alpha : float
        Error probability of the intervals.
    random_state : int
        Seed of the samples and the fits.
    n_jobs : int, optional
        Number of parallel fits; does not change the result.
    verbose : int
        1 shows a progress bar.

    Returns
    -------
    Recurrence
        Shares of rules, of patterns and of columns; prints as a table.

    Notes
    -----
    The first columns of a sample are the q most important columns of its model (or fewer). A
    column is called useless if a half has it among its first ones with probability q / p at most,
    p being the number of columns. At most :math:`q^2 / ((2 \pi - 1) p)` useless columns are
    expected to reach the threshold :math:`\pi` (Meinshausen and Buehlmann, 2010; Shah and Samworth,
    2013). At most ``expected_false`` are expected to have a given ``score`` or more, which
    integrates over q (Melikechi and Miller, 2024). `evidence/selection.py` has the proofs. They
    assume nothing about the learner, but independent rows, and halves drawn regardless of class;
    stratified halves meet this only approximately.

    References
    ----------
    Shah and Samworth (2013). Variable selection with error control: another look at stability
    selection. Journal of the Royal Statistical Society B 75, 55-80.

    Melikechi and Miller (2024). Integrated path stability selection. arXiv:2403.15877.
    """
    check_whole("n_samples", n_samples, 2)
    if n_first is not None:
        check_whole("n_first", n_first, 1)
    check_threshold(threshold)
    check_max_false(max_false)
    checked_delta(alpha, "alpha")
    if not 0 < least_jaccard <= 1:
        raise ValueError(f"least_jaccard={least_jaccard!r} must be above 0 and at most 1")
    if sampling not in ("halves", "bootstrap"):
        raise ValueError(f"sampling={sampling!r} must be 'halves' or 'bootstrap'")
    n_threads, seeds = count_threads(n_jobs), np.random.SeedSequence(random_state)
    table = read_as(estimator, X, y, sample_weight, "rule_stability", groups)
    first = int(seeds.generate_state(1)[0])
    with progress_bar("refitting", n_samples + 1, bool(verbose)) as advance:
        fitted = estimator if hasattr(estimator, "model_") else fit_copy(estimator, table, first)
        compare = _Comparison(fitted.model_, table, least_jaccard)
        advance()

        def learn(
            rows: NDArray[np.intp], seed: np.random.SeedSequence, check: Callable[[], None]
        ) -> _Sample:
            check()
            part = table.take(rows)
            model = refit(estimator, part, int(seed.generate_state(1)[0])).model_
            advance()
            return compare(model, part)

        rows = _draw_samples(table, sampling, n_samples, np.random.RandomState(first % 2**32))
        pairs = zip(rows, seeds.spawn(len(rows)), strict=True)
        samples = run_parallel([partial(learn, *pair) for pair in pairs], n_threads)
    p = len(table.names)
    q = first_for_bound(max_false, p, threshold) if n_first is None else min(n_first, p)
    bounded = sampling == "halves"
    return Recurrence(
        model=compare.model,
        sampling=sampling,
        sizes=tuple(sample.size for sample in samples),
        same=np.mean([[key in s.keys for key in compare.keys] for s in samples], axis=0),
        alike=np.mean([[text in s.patterns for text in compare.texts] for s in samples], axis=0),
        overlapping=np.mean([sample.overlapping for sample in samples], axis=0),
        least_jaccard=least_jaccard,
        patterns=_patterns(samples, compare.texts),
        columns=_columns(samples, table.names, q, threshold, bounded=bounded),
        n_first=q,
        threshold=threshold,
        bound=pair_bound(q, p, threshold) if bounded else np.nan,
        alpha=alpha,
    )


class _Comparison:
    """The rules of the full model, to be found again in the models of samples."""

    def __init__(self, model: RuleModel, table: Table, least_jaccard: float) -> None:
        self.model, self.table, self.least = model, table, least_jaccard
        self.keys = [rule_key(rule) for rule in model.rules]
        self.texts = [pattern_text(model, rule) for rule in model.rules]
        self.covers = PackedCovers(model.cover_bits(table), len(table))

    def __call__(self, other: RuleModel, rows: Table) -> _Sample:
        """Record what the model of a sample has in common with the full model."""
        return _Sample(
            len(other),
            frozenset(rule_key(rule) for rule in other.rules),
            frozenset(pattern_text(other, rule) for rule in other.rules),
            self._overlapping(other),
            column_order(other, rows),
        )

    def _overlapping(self, other: RuleModel) -> BoolArray:
        """Return which rules have a counterpart with the same outcome on nearly the same rows."""
        covers = PackedCovers(other.cover_bits(self.table), len(self.table))
        shared = self.covers.pair_counts(covers)
        either = self.covers.count()[:, np.newaxis] + covers.count() - shared
        claims = [[claim_key(a) == claim_key(b) for b in other.rules] for a in self.model.rules]
        near = (shared >= self.least * either) & (either > 0)
        same = np.array(claims, dtype=np.bool_).reshape(near.shape)
        return np.asarray((near & same).any(axis=1))


def _draw_samples(
    table: Table, sampling: str, n_samples: int, random: np.random.RandomState
) -> list[NDArray[np.intp]]:
    """Draw the rows of each sample."""
    n = len(table)
    target = table.target
    codes = target.codes if isinstance(target, Target) else np.zeros(n, dtype=np.int32)
    units = Units(n, table.groups)
    if sampling == "bootstrap":
        draws = (random.choice(units.n, units.n) for _ in range(n_samples))
        return [
            np.repeat(np.arange(n), units.spread(np.bincount(drawn, minlength=units.n)))
            for drawn in draws
        ]
    folds = [stratified_folds(units.labels(codes), 2, random) for _ in range(-(-n_samples // 2))]
    return [np.flatnonzero(units.spread(fold) == half) for fold in folds for half in (0, 1)]


def _patterns(samples: Sequence[_Sample], own: Sequence[str]) -> tuple[PatternRecurrence, ...]:
    """Return the patterns of all samples, most frequent first."""
    times: Counter[str] = Counter(text for sample in samples for text in sample.patterns)
    known = set(own)
    order = sorted(times, key=lambda text: (-times[text], text))
    return tuple(
        PatternRecurrence(text, times[text] / len(samples), text in known) for text in order
    )


def _columns(
    samples: Sequence[_Sample], names: Sequence[str], q: int, threshold: float, *, bounded: bool
) -> tuple[ColumnRecurrence, ...]:
    """Return the shares and scores of all columns, highest score first."""
    place = {name: j for j, name in enumerate(names)}
    used, among = np.zeros(len(names)), np.zeros((len(names), q))
    for sample in samples:
        used[[place[name] for name in sample.order]] += 1
        for rank, name in enumerate(sample.order[:q]):
            among[place[name], rank:] += 1
    used, among = used / len(samples), among / len(samples)
    scores = path_scores(among)
    false = path_bound(scores, q, len(names)) if bounded else np.full(len(names), np.nan)
    columns = [
        ColumnRecurrence(
            name,
            float(used[j]),
            float(among[j, -1]),
            bool(among[j, -1] >= threshold * (1 - 1e-12)),
            float(scores[j]),
            float(false[j]),
        )
        for j, name in enumerate(names)
    ]
    return tuple(sorted(columns, key=lambda c: (-c.score, -c.first, -c.used, place[c.name])))
