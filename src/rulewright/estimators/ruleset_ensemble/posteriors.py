"""From sampled rule sets to the weights of their vote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulewright.encoding.canonical import rule_set_conjunctions
from rulewright.weighting.posterior import Posterior

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.encoding.booleans import BooleanEncoding
    from rulewright.estimators.ruleset_ensemble.rows import EnsembleRows
    from rulewright.estimators.ruleset_ensemble.search import Sample
    from rulewright.rules import Conjunction
    from rulewright.weighting.posterior import Weight


def weighed(
    found: Mapping[int, Sequence[Sample]],
    alpha: float,
    weight: Weight,
    others: EnsembleRows | None,
) -> list[Posterior]:
    """Weigh the rule sets of each class by their errors.

    With other rows than those searched on, these weights are the prior; errors on the others
    complete them.
    """
    posteriors = []
    for head, samples in found.items():
        posterior = Posterior.of((sample[:2] for sample in samples), alpha, weight)
        if others is not None:
            errors = [others.errors(rule_set, head) for rule_set in posterior.rule_sets]
            posterior = posterior.updated(errors, alpha)
        posteriors.append(posterior)
    return posteriors


def conjunctions(
    encoding: BooleanEncoding, heads: Sequence[int], posteriors: Sequence[Posterior], n_classes: int
) -> dict[int, list[tuple[tuple[Conjunction, ...], float]]]:
    """Write the rule sets of each class, if it has any, as conditions with their weights."""
    members: dict[int, list[tuple[tuple[Conjunction, ...], float]]]
    members = {k: [] for k in range(n_classes)}
    for head, posterior in zip(heads, posteriors, strict=True):
        for rule_set, weight in zip(posterior.rule_sets, posterior.weights, strict=True):
            members[head].append((rule_set_conjunctions(encoding, rule_set), weight))
    return members
