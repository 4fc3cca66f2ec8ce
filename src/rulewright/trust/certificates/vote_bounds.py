"""Certificates of votes: PAC-Bayes and held-out bounds, from counts and weights alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

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
from rulewright.html import lines, view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.kernels import BoolArray

SAME_ROWS = "the values and intervals that the prior counts were taken from the same rows"
WEIGHTED = "rows count by their weights, so they are no independent sample"


@dataclass(frozen=True)
class VoteCertificate:
    """PAC-Bayes bounds of the vote, and what they are made of.

    Parameters
    ----------
    prior : str
        Name of the prior of the rule sets.
    labels : tuple of str
        The classes that have rule sets.
    losses : tuple of float
        Mean loss of a rule set of each of them, drawn by weight, on the rows of the bound.
    divergences : tuple of float
        KL(Q||P) of each class.
    effective_sizes : tuple of float
        Effective number of rule sets of each class, 1 / sum of squared weights.
    gibbs : tuple of Bound
        Bound of the true loss of a rule set of each class, drawn by weight (B9).
    vote, vote_mcallester : Bound
        Error of the vote without abstention (B10), from B9 and as in the thesis from B8.
    abstaining, abstaining_mcallester : Bound
        Probability to predict and be wrong (B11), from B9 and from B8.
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
    """Bounds from rows that played no part in learning; each fails with probability delta.

    `error` is of all rows, abstained or not; `among_predicted` of those with a prediction;
    `joint` is the probability to predict and be wrong.
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
    """State the bounds; each class has an equal part of delta.

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
    """State the exact bounds of held-out rows, given which are wrong and which get a prediction."""
    n, n_predicted, n_joint = len(wrong), int(predicted.sum()), int((wrong & predicted).sum())
    return HeldOutCertificate(
        held_out_bound(int(wrong.sum()), n, delta),
        selective_held_out_bound(n_joint, n_predicted, n, delta),
        replace(held_out_bound(n_joint, n, delta), quantity="probability to predict and be wrong"),
    )
