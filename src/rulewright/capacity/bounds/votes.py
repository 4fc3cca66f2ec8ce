"""Bounds on weighted votes, with and without abstention, from the Gibbs losses of their voters.

One posterior Q_i per class i votes c_i(x) in [-1, 1] for or against the class. The sum over classes
of 1 - chi_i(y) c_i(x), where chi_i(y) is 1 for the true class and -1 else, is never negative and
has the mean 2 sum_i l(Q_i). A wrong prediction with a lead of theta makes it 2 + theta at least;
Markov's inequality gives the bounds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

from rulewright.capacity.bounds.checks import checked_delta, checked_errors
from rulewright.capacity.bounds.held_out import held_out_bound
from rulewright.capacity.bounds.pac_bayes import pac_bayes_kl, pac_bayes_mcallester
from rulewright.capacity.bounds.record import Bound, stated

if TYPE_CHECKING:
    from collections.abc import Sequence

Form = Literal["kl", "mcallester"]
_FORMS = {"kl": pac_bayes_kl, "mcallester": pac_bayes_mcallester}


def vote_bound(
    losses: Sequence[float],
    kls: Sequence[float],
    n: int,
    delta: float = 0.05,
    *,
    form: Form = "kl",
) -> Bound:
    """Bound the error of the class with the largest vote, ties counted as errors (B10).

    sum_i Bnd_i(delta / p) over the p classes, Bnd by `pac_bayes_kl` or `pac_bayes_mcallester`.

    Parameters
    ----------
    losses : sequence of float
        Empirical Gibbs loss of each class's posterior, one class against the rest.
    kls : sequence of float
        Divergence of each class's posterior from its prior.
    n : int
        Number of rows.
    delta : float
        Probability of failure, for all classes together.
    form : {"kl", "mcallester"}
        Which bound of the Gibbs loss to take.
    """
    return _summed(losses, kls, n, delta, form, 0.0, "error of the vote")


def abstaining_vote_bound(
    losses: Sequence[float],
    kls: Sequence[float],
    n: int,
    theta: float,
    delta: float = 0.05,
    *,
    form: Form = "kl",
) -> Bound:
    """Bound Pr[predicts and is wrong] of a vote that needs a lead of theta to predict (B11).

    [sum_i Bnd_i(delta / p)] / (1 + theta / 2); beyond theta = 2 the vote never predicts. This is
    not the error among predictions: see `error_given_prediction`. Parameters as in `vote_bound`.
    """
    if not theta >= 0:
        raise ValueError(f"theta must be 0 or more, not {theta}")
    quantity = f"probability to predict, with a lead of {theta:g}, and be wrong"
    return _summed(losses, kls, n, delta, form, float(theta), quantity)


def _summed(
    losses: Sequence[float],
    kls: Sequence[float],
    n: int,
    delta: float,
    form: Form,
    theta: float,
    quantity: str,
) -> Bound:
    """Sum the bounds of the classes, each with its part of delta."""
    if form not in _FORMS:
        raise ValueError(f"form must be kl or mcallester, not {form!r}")
    if len(losses) == 0 or len(losses) != len(kls):
        raise ValueError(f"losses and kls must be one per class, not {len(losses)} and {len(kls)}")
    share = checked_delta(delta) / len(losses)
    bounds = [_FORMS[form](*figures, n, share) for figures in zip(losses, kls, strict=True)]
    certain = 0.0 if theta > 2 else 1.0
    terms = {f"class {i}": certain * b.value / (1 + theta / 2) for i, b in enumerate(bounds)}
    return stated(
        math.fsum(terms.values()),
        terms,
        quantity,
        delta=delta,
        n=bounds[0].n,
        reasons=tuple(dict.fromkeys(reason for b in bounds for reason in b.reasons)),
        assumptions=bounds[0].assumptions,
    )


def single_vote_bound(gibbs: Bound, threshold: float = 0.0) -> Bound:
    """Bound the vote of one posterior on two classes, from the bound of its Gibbs loss.

    2 Bnd / (1 + t) bounds Pr[predicts and is wrong] of the sign of c(x) when |c(x)| < t abstains.
    """
    if not threshold >= 0:
        raise ValueError(f"threshold must be 0 or more, not {threshold}")
    quantity = "error of the vote"
    if threshold > 0:
        quantity = f"probability to predict, with a vote of {threshold:g}, and be wrong"
    raw = 0.0 if threshold > 1 else 2 * gibbs.value / (1 + threshold)
    return stated(
        raw,
        {"gibbs": raw},
        quantity,
        delta=gibbs.delta,
        n=gibbs.n,
        reasons=gibbs.reasons,
        assumptions=gibbs.assumptions,
    )


def error_given_prediction(
    joint: Bound, n_abstained: int, n_held_out: int, delta: float = 0.05
) -> Bound:
    """Bound the error among predictions from a bound on Pr[predicts and is wrong].

    `joint` is divided by a lower bound of the coverage, 1 - B1 of the abstentions among held-out
    rows; `delta` is spent on it in addition to the delta of `joint`.
    """
    k, n = checked_errors(n_abstained, n_held_out)
    coverage = 1 - held_out_bound(k, n, delta).value
    spent = checked_delta(delta + (joint.delta or 0.0), "the sum of both deltas")
    none_known = () if coverage > 0 else ("the held-out rows show no coverage",)
    return stated(
        joint.value / coverage if coverage > 0 else math.inf,
        {"joint": joint.value, "coverage": coverage},
        "error among predictions",
        delta=spent,
        n=joint.n,
        reasons=joint.reasons + none_known,
        assumptions=(*joint.assumptions, f"coverage was counted on {n} held-out rows"),
    )
