"""From sampled rule sets to a vote: weights by errors, and the model with its evidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rulewright.encoding import rule_set_conjunctions, term_conjunction
from rulewright.model import RuleSetVotes, VoteEvidence, term_key
from rulewright.weighting import Posterior

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.encoding import BooleanEncoding, CanonicalTerm
    from rulewright.estimators.ruleset_ensemble.rows import EnsembleRows
    from rulewright.estimators.ruleset_ensemble.search import SampledRuleSet
    from rulewright.model import TermKey
    from rulewright.weighting import Weight


def weigh_rule_sets(
    found: Mapping[int, Sequence[SampledRuleSet]],
    alpha: float,
    weight: Weight,
    others: EnsembleRows | None,
) -> dict[int, Posterior]:
    """Weigh the rule sets of each class by their errors.

    With other rows than those searched on, these weights are the prior; errors on the others
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
    """Make the model of weighed rule sets, with what certificates and statistics need.

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
        bool((rows.weights != 1.0).any()),
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
