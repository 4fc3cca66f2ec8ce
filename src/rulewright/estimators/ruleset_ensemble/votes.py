"""From sampled rule sets to a vote: weights, the model, and out-of-bag votes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding import rule_set_conjunctions, term_conjunction
from rulewright.estimators.folds.precision import CoverComparison
from rulewright.evidence import RiskCoverage, count_risk_coverage, log_loss
from rulewright.model import RuleSetVotes, TermKey, VoteEvidence, margins_of, term_key
from rulewright.rules import Head
from rulewright.weighting import Posterior, Weight

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.encoding import BooleanEncoding, CanonicalRuleSet, CanonicalTerm
    from rulewright.estimators.ruleset_ensemble.search import EnsembleRows, SampledRuleSet
    from rulewright.kernels import BoolArray, FloatArray, IntArray

DEFAULT_SMOOTHING = 2.0
"""Default smoothing if no row is out of bag for each class."""

MOST_SMOOTHING = 64.0
"""Probabilities are then the class shares, except for the label."""


@dataclass(frozen=True)
class OutOfBag:
    """Out-of-bag scores of rows, with their classes and weights."""

    scores: FloatArray
    labels: IntArray
    weights: FloatArray

    @classmethod
    def of(
        cls,
        found: Mapping[int, Sequence[SampledRuleSet]],
        parts: Sequence[EnsembleRows],
        opposite: int | None,
        n_classes: int,
        alpha: float,
        weight: Weight,
    ) -> OutOfBag:
        """Sum the votes, on each row, of the rule sets that were found without it.

        Parameters
        ----------
        found : mapping of class to samples
            Results of the searches of each class.
        parts : sequence of EnsembleRows
            The search rows, then any other rows.
        opposite : int or None
            The class without rule sets.
        n_classes : int
            Number of classes.
        alpha, weight
            How rule sets are weighted.
        """
        labels = np.concatenate([part.merged.labels for part in parts])
        weights = np.concatenate([part.merged.weights for part in parts])
        scores = np.full((len(labels), n_classes), np.nan)
        for head, samples in found.items():
            scores[:, head] = unseen_scores(samples, parts, head, alpha, weight)
        if opposite is not None:
            scores[:, opposite] = -scores[:, 1 - opposite]
        voted = ~np.isnan(scores).any(axis=1)
        return cls(scores[voted], labels[voted], weights[voted])

    def curve(self, model: RuleSetVotes) -> RiskCoverage:
        """Return coverage and errors for each lead; the model breaks ties."""
        if not len(self.labels):
            raise ValueError("no row is out of bag for each class: raise n_samples")
        wrong = model.decide(self.scores) != self.labels
        return count_risk_coverage(wrong, margins_of(self.scores), self.weights)

    def smoothing(self, model: RuleSetVotes) -> float:
        """Return the smoothing with minimum log-loss, among powers of two above 1 / rows."""
        if not len(self.labels):
            return DEFAULT_SMOOTHING
        least = math.ceil(-math.log2(len(self.labels)))
        trials = [2.0**power for power in range(least, round(math.log2(MOST_SMOOTHING)) + 1)]
        rows = self._merge_rows()
        losses = [
            log_loss(rows.labels, model.with_smoothing(c).probabilities(rows.scores), rows.weights)
            for c in trials
        ]
        return trials[int(np.argmin(losses))]

    def _merge_rows(self) -> OutOfBag:
        """Merge rows with the same scores and class; a few rows with copies have few of them."""
        keys = np.column_stack([self.scores, self.labels])
        order = np.lexsort(keys.T)
        new = np.r_[True, (keys[order][1:] != keys[order][:-1]).any(axis=1)]
        group = np.empty(len(order), dtype=np.intp)
        group[order] = np.cumsum(new) - 1
        first, weights = order[new], np.bincount(group, self.weights).astype(np.float64)
        return OutOfBag(self.scores[first], self.labels[first], weights)


def compare_terms(
    found: Mapping[int, Sequence[SampledRuleSet]], parts: Sequence[EnsembleRows], n_classes: int
) -> list[CoverComparison]:
    """Count the terms of all rule sets on the rows that their search used, and on the others."""
    compared = []
    for head, samples in found.items():
        for sample in samples:
            first = sample.seen
            sides = [np.zeros((len(sample.rule_set), n_classes)) for _ in range(2)]
            for k, part in enumerate(parts):
                every = np.ones(part.n_copies, dtype=np.bool_)
                seen = (every if first is None else first) if k == 0 else ~every
                for side, copies in zip(sides, (seen, ~seen), strict=True):
                    side += part.term_weights(sample.rule_set, n_classes, copies)
            compared.append(CoverComparison([Head(head, head)] * len(sample.rule_set), *sides))
    return compared


def unseen_scores(
    samples: Sequence[SampledRuleSet],
    parts: Sequence[EnsembleRows],
    head: int,
    alpha: float,
    weight: Weight,
) -> FloatArray:
    """Return the score of a class on each copy of a row; NaN if all searches used it.

    Rule sets are weighted by their errors on all other rows: neither the search for a voting rule
    set nor its weight uses the class of the row.
    """
    n_searched, n_rows = parts[0].n_copies, sum(part.n_copies for part in parts)
    times: dict[CanonicalRuleSet, IntArray] = {}
    for sample in samples:
        counts = times.setdefault(sample.rule_set, np.zeros(n_rows, dtype=np.int32))
        counts += _unseen(sample, n_rows, n_searched)
    most = np.full(n_rows, -math.inf)
    for rule_set, counts in times.items():
        np.maximum(most, _log_weights(parts, rule_set, head, counts, alpha, weight), out=most)
    most[np.isneginf(most)] = 0.0
    votes, total = np.zeros(n_rows), np.zeros(n_rows)
    for rule_set, counts in times.items():
        share = np.exp(_log_weights(parts, rule_set, head, counts, alpha, weight) - most)
        covered = np.concatenate([part.find_covered(rule_set)[part.merged.place] for part in parts])
        votes += np.where(covered, share, -share)
        total += share
    with np.errstate(invalid="ignore"):
        return np.asarray(votes / total)


def _unseen(sample: SampledRuleSet, n_rows: int, n_searched: int) -> BoolArray:
    """Return which copies of rows the search did not use."""
    unseen = np.ones(n_rows, dtype=np.bool_)
    unseen[:n_searched] = False if sample.seen is None else ~sample.seen
    return unseen


def _log_weights(
    parts: Sequence[EnsembleRows],
    rule_set: CanonicalRuleSet,
    head: int,
    counts: IntArray,
    alpha: float,
    weight: Weight,
) -> FloatArray:
    errors = np.concatenate(
        [part.wrong(rule_set, head)[part.merged.place] * part.merged.weights for part in parts]
    )
    times = counts if weight == "multiplicity" else np.minimum(counts, 1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(times) + (errors.sum() - errors) * math.log(alpha))


def weigh_rule_sets(
    found: Mapping[int, Sequence[SampledRuleSet]],
    alpha: float,
    weight: Weight,
    others: EnsembleRows | None,
) -> dict[int, Posterior]:
    """Weight the rule sets of each class by their errors.

    With rows other than the search rows, these weights are the prior; errors on the other rows
    complete them.
    """
    posteriors = {}
    for head, samples in found.items():
        posterior = Posterior.of((sample[:2] for sample in samples), alpha, weight)
        if others is not None:
            errors = [others.errors(rule_set, head) for rule_set in posterior.rule_sets]
            posterior = posterior.update(errors, alpha)
        posteriors[head] = posterior
    return posteriors


def voting_model(
    rows: TrainingSet,
    encoding: BooleanEncoding,
    posteriors: Mapping[int, Posterior],
    max_terms: int,
    bound_weight: float,
) -> RuleSetVotes:
    """Create the model of weighted rule sets, with the inputs of certificates and statistics.

    `bound_weight` is the weight of the rows that the errors of the rule sets were counted on.
    """
    classes = range(len(rows.classes))
    members = {
        k: [
            (rule_set_conjunctions(encoding, rule_set), weight)
            for rule_set, weight in zip(p.rule_sets, p.weights, strict=True)
        ]
        if (p := posteriors.get(k))
        else []
        for k in classes
    }
    table = replace(rows.table, target=rows.target, weights=rows.weights)
    model = RuleSetVotes.from_training(table, members)
    average = rows.total_weight / rows.n_rows
    # A class without rows is rare, not impossible: it counts as one row.
    priors = tuple(weight or average for weight in model.priors)
    canonical = _canonical_terms(encoding, posteriors)
    figures = [posteriors.get(k) for k in classes]
    split = any(p.prior is not None for p in posteriors.values())
    evidence = VoteEvidence(
        encoding,
        tuple(canonical[term_key(r.head.first, r.body)] for r in model.rules),
        tuple(() if p is None else tuple(map(float, p.errors)) for p in figures),
        tuple(() if p is None else tuple(map(float, p.counts)) for p in figures),
        tuple(() if p is None else (p.prior or ()) for p in figures) if split else None,
        max_terms,
        bound_weight,
        rows.groups is not None or bool((rows.weights != 1.0).any()),
    )
    return replace(model, priors=priors, evidence=evidence)


def _canonical_terms(
    encoding: BooleanEncoding, posteriors: Mapping[int, Posterior]
) -> dict[TermKey, CanonicalTerm]:
    """Return the canonical form of each term, by its class and conditions."""
    return {
        term_key(k, term_conjunction(encoding, term)): term
        for k, posterior in posteriors.items()
        for rule_set in posterior.rule_sets
        for term in rule_set
    }
