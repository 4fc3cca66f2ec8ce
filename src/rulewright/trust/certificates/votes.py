"""Certificates of a vote of rule sets: PAC-Bayes bounds from training, exact ones from new rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.encoding import domain_sizes
from rulewright.trust.abstention import wrong_rows
from rulewright.trust.certificates import vote_bounds as certificates
from rulewright.weighting import PRIORS, Posterior

if TYPE_CHECKING:
    from rulewright.encoding import BooleanEncoding
    from rulewright.model import ClassModel, RuleSetVotes, VoteEvidence
    from rulewright.trust.certificates.vote_bounds import HeldOutCertificate, VoteCertificate

SPLIT = "split"
"""Name of a prior that was learned from half of the rows."""


def certificate(
    model: RuleSetVotes, prior: str | None = None, delta: float = 0.05
) -> VoteCertificate:
    r"""State PAC-Bayes bounds of the vote, with and without abstention.

    The sum over classes of 1 - chi_i(y) c_i(x), where chi_i(y) is 1 for the true class and -1
    else, is never negative and has the mean 2 sum_i l(Q_i). A wrong prediction with a lead of
    theta makes it 2 + theta at least; Markov's inequality gives the bounds, for all theta at
    once. If one class is minus the other, the sum is 2 (1 - chi(y) c(x)).

    Parameters
    ----------
    model : RuleSetVotes
        A vote with its evidence, fitted or loaded.
    prior : {"length", "flat", "split"}, optional
        Short rule sets first, or all of equally many terms alike. Bounds with these priors are no
        strict certificates, because the domains that they count were taken from the training rows;
        for one see `held_out_certificate`. A model that was fitted with ``split_prior=True`` has
        the prior "split", of the first half of the rows, and no other; its bounds are
        certificates. By default "split" if the model has it, else "length".
    delta : float
        Probability that the bound fails.

    Notes
    -----
    With ``split_prior=True`` cut points, searches and prior weights alpha^errors come from a first
    half of the rows; the errors on the second turn the prior into the weights of the vote, and the
    losses of the bound are of the second. So given the first half, only the weights depend on the
    second, and the bound holds for all weights at once. The halves are drawn by the places of the
    rows alone: with equal shares of the classes they would not be independent. (That columns are
    numeric or nominal, and which classes there are, is taken as known.)
    """
    evidence = _evidence(model)
    split = evidence.split_prior is not None
    possible = (SPLIT,) if split else PRIORS
    prior = possible[0] if prior is None else prior
    if prior not in possible:
        raise ValueError(f"prior={prior!r} must be {' or '.join(map(repr, possible))} here")
    figures = vote_figures(model, prior)
    doubts = () if split else (certificates.SAME_ROWS,)
    return certificates.vote_certificate(
        prior,
        [model.class_names[head] for head in posteriors(model)],
        figures["losses"],
        figures["divergences"],
        figures["effective_sizes"],
        int(evidence.total_weight),
        theta=model.abstain,
        delta=delta,
        single=model.opposite is not None,
        doubts=(*doubts, certificates.WEIGHTED) if evidence.weighted else doubts,
    )


def held_out_certificate(
    model: ClassModel, X: Any, y: Any, delta: float = 0.05
) -> HeldOutCertificate:
    """State exact bounds from rows that played no part in learning or choosing the model.

    A model that never abstains predicts every row.
    """
    wrong = wrong_rows(model, X, y)
    abstains = getattr(model, "abstains", None)
    predicted = np.ones(len(wrong), dtype=np.bool_) if abstains is None else ~abstains(X)
    return certificates.certify_held_out(wrong, predicted, delta)


def posteriors(model: RuleSetVotes) -> dict[int, Posterior]:
    """Return the rule sets of each class that has any, in canonical form, with their weights."""
    evidence, found = _evidence(model), {}
    for k, sets in enumerate(model.members):
        if sets:
            found[k] = Posterior(
                tuple(tuple(sorted(evidence.terms[i] for i in s.terms)) for s in sets),
                evidence.errors[k],
                evidence.counts[k],
                tuple(s.weight for s in sets),
                None if evidence.split_prior is None else evidence.split_prior[k],
            )
    return found


def vote_figures(model: RuleSetVotes, prior: str = "length") -> dict[str, list[Any]]:
    """Return size, loss and divergence from the prior of the rule sets of each class."""
    evidence, found = _evidence(model), posteriors(model).values()
    sizes = domain_sizes(evidence.encoding)
    return {
        "rule_sets": [len(p) for p in found],
        "effective_sizes": [p.effective_size for p in found],
        "losses": [p.loss(evidence.total_weight) for p in found],
        "divergences": [p.divergence(sizes, evidence.max_terms, prior) for p in found],
    }


def encoding_of(model: RuleSetVotes) -> BooleanEncoding:
    """Return the values and intervals that the rule sets of a vote are made of."""
    return _evidence(model).encoding


def _evidence(model: RuleSetVotes) -> VoteEvidence:
    evidence: VoteEvidence | None = getattr(model, "evidence", None)
    if evidence is None:
        raise ValueError(
            f"this {type(model).__name__} holds no errors of its rule sets (it was saved by an "
            "older version, its rules were changed, or it is no vote of rule sets): fit it again"
        )
    return evidence
