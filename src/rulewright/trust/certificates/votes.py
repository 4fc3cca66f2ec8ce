"""Certificates of votes of rule sets: PAC-Bayes bounds, and exact bounds from new rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rulewright.bounds import (
    Bound,
    abstaining_vote_bound,
    held_out_bound,
    pac_bayes_kl,
    pac_bayes_mcallester,
    selective_held_out_bound,
    single_vote_bound,
    vote_bound,
)
from rulewright.data import draw_one_each, read_groups
from rulewright.encoding import domain_sizes
from rulewright.html import lines, view
from rulewright.trust.abstention import wrong_rows
from rulewright.weighting import PRIORS, Posterior

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.encoding import BooleanEncoding
    from rulewright.kernels import BoolArray
    from rulewright.model import ClassModel, RuleSetVotes, VoteEvidence


SAME_ROWS = "the values and intervals that the prior counts were taken from the same rows"
OTHER_DECISION = "predictions follow a decision, not the class of most votes"
WEIGHTED = "rows count by their weights, so they are no independent sample"


@dataclass(frozen=True)
class VoteCertificate:
    """PAC-Bayes bounds of the vote, and their ingredients.

    Parameters
    ----------
    prior : str
        Name of the prior of the rule sets.
    labels : tuple of str
        The classes with rule sets.
    losses : tuple of float
        Mean loss of a rule set of each class, drawn by weight, on the rows of the bound.
    divergences : tuple of float
        KL(Q||P) of each class.
    effective_sizes : tuple of float
        Effective number of rule sets of each class, 1 / sum of squared weights.
    gibbs : tuple of Bound
        Bound on the true loss of a rule set of each class, drawn by weight (B9).
    vote, vote_mcallester : Bound
        Error of the vote without abstention (B10): from B9 and, as in the thesis, from B8.
    abstaining, abstaining_mcallester : Bound
        Probability of a wrong prediction with abstention (B11), from B9 and from B8.
    """

    prior: str
    labels: tuple[str, ...]
    losses: tuple[float, ...]
    divergences: tuple[float, ...]
    effective_sizes: tuple[float, ...]
    gibbs: tuple[Bound, ...]
    vote: Bound
    vote_mcallester: Bound
    abstaining: Bound
    abstaining_mcallester: Bound

    def __str__(self) -> str:
        figures = zip(self.labels, self.losses, self.divergences, self.effective_sizes, strict=True)
        lines = [f"{self.vote}", f"{self.abstaining}", f"prior {self.prior!r}"]
        return "\n".join(
            lines
            + [
                f"class {label}: loss {loss:.4g}, KL {kl:.4g} nats, {size:.3g} rule sets"
                for label, loss, kl, size in figures
            ]
        )

    def _repr_html_(self) -> str:
        return view(lines(str(self).splitlines()))


class HeldOutCertificate(NamedTuple):
    """Bounds from rows not used in learning; each fails with probability delta.

    `error` is the error on all rows, abstained or not; `among_predicted` on rows with a prediction;
    `joint` is the probability of a wrong prediction.
    """

    error: Bound
    among_predicted: Bound
    joint: Bound

    def __str__(self) -> str:
        return "\n".join(map(str, (self.error, self.among_predicted, self.joint)))

    def _repr_html_(self) -> str:
        return view(lines(str(self).splitlines()))


def vote_certificate(
    prior: str,
    labels: Sequence[str],
    losses: Sequence[float],
    divergences: Sequence[float],
    effective_sizes: Sequence[float],
    n: int,
    *,
    theta: float,
    delta: float,
    single: bool,
    doubts: tuple[str, ...],
) -> VoteCertificate:
    """Compute the bounds; each class has an equal part of delta.

    With `single` one class has rule sets, and the other is its opposite.
    """
    figures = list(zip(losses, divergences, strict=True))
    gibbs = [pac_bayes_kl(loss, kl, n, delta / len(figures)) for loss, kl in figures]
    if single:
        forms = gibbs[0], pac_bayes_mcallester(*figures[0], n, delta)
        # The lead over the opposite is twice the vote.
        bounds = [single_vote_bound(form, lead / 2) for lead in (0.0, theta) for form in forms]
    else:
        given = (losses, divergences, n)
        bounds = [
            vote_bound(*given, delta, form="kl"),
            vote_bound(*given, delta, form="mcallester"),
            abstaining_vote_bound(*given, theta, delta, form="kl"),
            abstaining_vote_bound(*given, theta, delta, form="mcallester"),
        ]
    return VoteCertificate(
        prior,
        tuple(labels),
        tuple(losses),
        tuple(divergences),
        tuple(effective_sizes),
        tuple(bound.doubt(*doubts) for bound in gibbs),
        *(bound.doubt(*doubts) for bound in bounds),
    )


def certify_held_out(wrong: BoolArray, predicted: BoolArray, delta: float) -> HeldOutCertificate:
    """Compute exact bounds from held-out rows: which are wrong, and which have a prediction."""
    n, n_predicted, n_joint = len(wrong), int(predicted.sum()), int((wrong & predicted).sum())
    return HeldOutCertificate(
        held_out_bound(int(wrong.sum()), n, delta),
        selective_held_out_bound(n_joint, n_predicted, n, delta),
        replace(held_out_bound(n_joint, n, delta), quantity="probability of a wrong prediction"),
    )


SPLIT = "split"
"""Name of a prior learned on half of the rows."""


def certificate(
    model: RuleSetVotes, prior: str | None = None, delta: float = 0.05
) -> VoteCertificate:
    r"""Compute PAC-Bayes bounds of the vote, with and without abstention.

    The sum over classes of 1 - chi_i(y) c_i(x), where chi_i(y) is 1 for the true class and -1
    otherwise, is nonnegative with mean 2 sum_i l(Q_i). A wrong prediction with a lead of theta
    raises it to at least 2 + theta; Markov's inequality gives the bounds, for all theta at once. If
    one class is the opposite of the other, the sum is 2 (1 - chi(y) c(x)).

    Parameters
    ----------
    model : RuleSetVotes
        A vote with its evidence, fitted or loaded.
    prior : {"length", "flat", "split"}, optional
        "length" favours short rule sets; "flat" treats all rule sets with the same number of
        terms alike. Bounds with these priors are not strict certificates, because their domains
        were derived from the training rows; use `held_out_certificate` instead. A model fitted
        with ``split_prior=True`` has only the prior "split", learned on the first half of the
        rows; its bounds are certificates. By default "split" if the model has it, else "length".
    delta : float
        Failure probability of the bound.

    Notes
    -----
    With ``split_prior=True`` cut points, searches and prior weights alpha^errors use the first half
    of the rows. Errors on the second half turn the prior into the weights of the vote, and the
    losses of the bound are those on the second half. Given the first half, only the weights depend
    on the second, and the bound holds for all weights at once. The halves are drawn by the places
    of the rows only; stratified halves would not be independent. (The kinds of columns and the set
    of classes are taken as known.)
    """
    evidence = _evidence(model)
    split = evidence.split_prior is not None
    possible = (SPLIT,) if split else PRIORS
    prior = possible[0] if prior is None else prior
    if prior not in possible:
        raise ValueError(f"prior={prior!r} must be {' or '.join(map(repr, possible))} here")
    figures = vote_figures(model, prior)
    doubts = [] if split else [SAME_ROWS]
    doubts += [] if model.decision is None else [OTHER_DECISION]
    return vote_certificate(
        prior,
        [model.class_names[head] for head in posteriors(model)],
        figures["losses"],
        figures["divergences"],
        figures["effective_sizes"],
        int(evidence.total_weight),
        theta=model.abstain,
        delta=delta,
        single=model.opposite is not None,
        doubts=(*doubts, WEIGHTED) if evidence.weighted else tuple(doubts),
    )


def held_out_certificate(
    model: ClassModel, X: Any, y: Any, delta: float = 0.05, *, groups: Any = None
) -> HeldOutCertificate:
    """Compute exact bounds from rows not used to learn or choose the model.

    A model that never abstains predicts every row. With `groups`, the group of each row, one row of
    each group is drawn, and the bounds are for a random row of a new group.
    """
    wrong = wrong_rows(model, X, y)
    abstains = getattr(model, "abstains", None)
    predicted = np.ones(len(wrong), dtype=np.bool_) if abstains is None else ~abstains(X)
    groups = getattr(X, "groups", None) if groups is None else read_groups(groups, len(wrong))
    if groups is not None:
        drawn = draw_one_each(groups)
        wrong, predicted = wrong[drawn], predicted[drawn]
    return certify_held_out(wrong, predicted, delta)


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
    """Return the values and intervals that the rule sets of a vote consist of."""
    return _evidence(model).encoding


def _evidence(model: RuleSetVotes) -> VoteEvidence:
    evidence: VoteEvidence | None = getattr(model, "evidence", None)
    if evidence is None:
        raise ValueError(
            f"this {type(model).__name__} has no errors of its rule sets (it was saved by an "
            "older version, its rules were changed, or it is not a vote of rule sets): refit it"
        )
    return evidence
