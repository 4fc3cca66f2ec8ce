r"""Posterior weights of sampled rule sets, and their divergence from a prior.

A rule set with e training errors, sampled c times, has weight :math:`Q \propto c\,\alpha^{e}`.
Alpha is the odds :math:`\eta/(1-\eta)` of a label noise rate eta; equivalently
:math:`\alpha = \exp(-\nu/n)` for a decay rate nu in :math:`\exp(-\nu e/n)`. Equal canonical rule
sets must be merged into one entry, or the divergence is too small for a PAC-Bayes bound.

A prior learned from other rows is such a posterior, too: see `Posterior.updated`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import logsumexp

from rulewright.bounds import kl_divergence, kl_to_ln_prior
from rulewright.encoding import CanonicalRuleSet, term_length
from rulewright.weighting.posterior.weights import LEAST_WEIGHT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray

PRIORS = ("length", "flat")
Weight = Literal["multiplicity", "unique"]
WEIGHTS: tuple[Weight, ...] = ("multiplicity", "unique")


@dataclass(frozen=True)
class Posterior:
    """Distinct rule sets with their weights.

    Parameters
    ----------
    rule_sets : tuple of CanonicalRuleSet
        Distinct canonical rule sets.
    errors : tuple of float
        Weighted errors of each rule set.
    counts : tuple of float
        How often each rule set was sampled.
    weights : tuple of float
        Weights, which sum to 1.
    prior : tuple of float, optional
        Weights before the errors were counted, if learned from other rows.
    """

    rule_sets: tuple[CanonicalRuleSet, ...]
    errors: tuple[float, ...]
    counts: tuple[float, ...]
    weights: tuple[float, ...]
    prior: tuple[float, ...] | None = None

    @classmethod
    def of(
        cls,
        sampled: Iterable[tuple[CanonicalRuleSet, float]],
        alpha: float,
        weight: Weight = "multiplicity",
    ) -> Posterior:
        """Merge sampled rule sets, in the order of first appearance, and weight them.

        With `weight` "unique" the number of times a rule set was sampled does not matter.
        """
        errors: dict[CanonicalRuleSet, float] = {}
        counts: dict[CanonicalRuleSet, int] = {}
        for rule_set, n_errors in sampled:
            errors.setdefault(rule_set, n_errors)
            counts[rule_set] = counts.get(rule_set, 0) + 1
        if not errors:
            raise ValueError("sampled must hold at least one rule set")
        times = [n if weight == "multiplicity" else 1 for n in counts.values()]
        weights = posterior_weights(list(errors.values()), times, alpha)
        lines = zip(errors, errors.values(), counts.values(), weights.tolist(), strict=True)
        return cls(*zip(*(line for line in lines if line[3]), strict=True))

    def update(self, errors: Sequence[float], alpha: float) -> Posterior:
        """Weight the rule sets by their errors on further rows; current weights are the prior."""
        weights = posterior_weights(errors, self.weights, alpha)
        lines = zip(
            self.rule_sets, errors, self.counts, weights.tolist(), self.weights, strict=True
        )
        return Posterior(*zip(*(line for line in lines if line[3]), strict=True))

    def __len__(self) -> int:
        return len(self.rule_sets)

    @property
    def effective_size(self) -> float:
        """Effective number of rule sets: 1 / sum Q^2."""
        return 1 / math.fsum(weight * weight for weight in self.weights)

    def loss(self, total: float) -> float:
        """Return the mean loss of a rule set drawn by weight, for rows of this total weight."""
        return math.fsum(map(math.prod, zip(self.weights, self.errors, strict=True))) / total

    def divergence(self, sizes: Sequence[int], max_terms: int, prior: str) -> float:
        """Return KL(Q||P) relative to a prior of rule sets; see `ln_inverse_prior`.

        A prior learned from other rows replaces it.
        """
        if self.prior is not None:
            return kl_divergence(self.weights, self.prior)
        costs = [ln_inverse_prior(r, sizes, max_terms, prior) for r in self.rule_sets]
        return kl_to_ln_prior(self.weights, costs)


def alpha_of(nu: float, n: float) -> float:
    """Return the factor per error for a decay rate nu and n rows: exp(-nu / n)."""
    return math.exp(-nu / n)


def posterior_weights(errors: ArrayLike, counts: ArrayLike, alpha: float) -> FloatArray:
    """Return weights proportional to count * alpha^errors that sum to 1.

    Weights below 1e-300 become 0.
    """
    if not 0 < alpha <= 1:
        raise ValueError(f"alpha must be above 0 and at most 1, not {alpha}")
    costs = np.asarray(errors, dtype=np.float64)
    logs = np.log(np.asarray(counts, dtype=np.float64)) + (costs - costs.min()) * math.log(alpha)
    weights: FloatArray = np.exp(logs - logsumexp(logs))
    weights[weights < LEAST_WEIGHT] = 0.0
    weights /= math.fsum(weights)
    return weights


def ln_inverse_prior(
    rule_set: CanonicalRuleSet, sizes: Sequence[int], max_terms: int, prior: str = "length"
) -> float:
    """Return ln(1 / P) of a rule set with at most `max_terms` terms over domains of these sizes.

    The number of terms is uniform on 0, ..., `max_terms`. Given k, "flat" gives equal probability
    to all sets of k of the T = prod_a (2^d_a - 1) terms. "length" draws k terms one by one: a
    length with probability 2^-(length + 1), then as many literals; short rule sets cost little.
    """
    if prior not in PRIORS:
        raise ValueError(f"prior must be one of {', '.join(PRIORS)}, not {prior!r}")
    k = len(rule_set)
    if k > max_terms:
        raise ValueError(f"the prior is for at most {max_terms} terms, the rule set has {k}")
    ways = math.log(max_terms + 1) - math.lgamma(k + 1)
    if prior == "flat":
        n_terms = math.prod((1 << size) - 1 for size in sizes)  # an integer of any size
        return ways + math.fsum(math.log(n_terms - j) for j in range(k))
    n_literals = sum(2 * (size if size > 2 else size - 1) for size in sizes)  # distinct ones
    lengths = [term_length(sizes, term) for term in rule_set]
    return ways + math.fsum((n + 1) * math.log(2) + _ln_choose(n_literals, n) for n in lengths)


def _ln_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
