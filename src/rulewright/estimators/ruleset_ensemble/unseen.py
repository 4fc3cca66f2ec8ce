"""How an ensemble of rule sets votes on rows that the searches for them did not see."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from rulewright.estimators.ruleset_ensemble.certificate import risk_coverage
from rulewright.model.forms.rule_sets import margins_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.encoding.canonical import RuleSet
    from rulewright.estimators.ruleset_ensemble.certificate import RiskCoverage
    from rulewright.estimators.ruleset_ensemble.rows import EnsembleRows
    from rulewright.estimators.ruleset_ensemble.search import Sample
    from rulewright.kernels import BoolArray, FloatArray, IntArray
    from rulewright.model.forms.votes import RuleSetVotes
    from rulewright.weighting.posterior import Weight


def unseen_curve(
    model: RuleSetVotes,
    found: dict[int, list[Sample]],
    searched: EnsembleRows,
    others: EnsembleRows | None,
    alpha: float,
    weight: Weight,
) -> RiskCoverage:
    """Count errors of the vote for each lead, where on a row those vote that were found without it.

    Parameters
    ----------
    model : RuleSetVotes
        The ensemble, which breaks ties.
    found : dict from class to samples
        What the searches of each class found.
    searched, others : EnsembleRows
        The rows to search on, and further ones.
    alpha, weight
        How rule sets are weighed.
    """
    rows = searched if others is None else searched.followed_by(others)
    scores = np.empty((len(rows), len(model.classes)))
    for head, samples in found.items():
        scores[:, head] = unseen_scores(samples, rows, len(searched), head, alpha, weight)
    if model.opposite is not None:
        scores[:, model.opposite] = -scores[:, 1 - model.opposite]
    voted = ~np.isnan(scores).any(axis=1)
    if not voted.any():
        raise ValueError("no row was left out by a search of each class: raise n_samples")
    wrong = model.decide(scores[voted]) != rows.rows.labels[voted]
    return risk_coverage(wrong, margins_of(scores[voted]), rows.rows.weights[voted])


def unseen_scores(
    samples: Sequence[Sample],
    rows: EnsembleRows,
    n_searched: int,
    head: int,
    alpha: float,
    weight: Weight,
) -> FloatArray:
    """Give the score of a class on each row, NaN where all searches saw it.

    Rule sets weigh by their errors on all other rows: neither the search for a rule set that votes
    nor its weight knows the class of the row.
    """
    times: dict[RuleSet, IntArray] = {}
    for sample in samples:
        counts = times.setdefault(sample.rule_set, np.zeros(len(rows), dtype=np.int32))
        counts += _unseen(sample, len(rows), n_searched)
    most = np.full(len(rows), -math.inf)
    for rule_set, counts in times.items():
        log = _log_weights(rows, rule_set, head, counts, alpha, weight)
        np.maximum(most, log, out=most)
    most[np.isneginf(most)] = 0.0
    votes, total = np.zeros(len(rows)), np.zeros(len(rows))
    for rule_set, counts in times.items():
        share = np.exp(_log_weights(rows, rule_set, head, counts, alpha, weight) - most)
        votes += np.where(rows.covered(rule_set), share, -share)
        total += share
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / total)


def _unseen(sample: Sample, n_rows: int, n_searched: int) -> BoolArray:
    """Tell which rows the search left out."""
    unseen = np.ones(n_rows, dtype=np.bool_)
    unseen[:n_searched] = False if sample.seen is None else ~sample.seen
    return unseen


def _log_weights(
    rows: EnsembleRows,
    rule_set: RuleSet,
    head: int,
    counts: IntArray,
    alpha: float,
    weight: Weight,
) -> FloatArray:
    errors = rows.wrong(rule_set, head) * rows.rows.weights
    times = counts if weight == "multiplicity" else np.minimum(counts, 1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(times) + (errors.sum() - errors) * math.log(alpha))
