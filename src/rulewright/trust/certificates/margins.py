"""Certificates of weighted rules (RUMBLE): bounds on the error from margins on the training rows.

Every bound holds for all weights with L1(w) <= 1 simultaneously, so weights may be scaled, chosen
and rounded in any way; only the choice of the prefix costs something.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright import html
from rulewright.bounds import (
    Bound,
    margin_to_error,
    mmv_to_error,
    pac_bayes_margin_bound,
    pac_bayes_mmv_bound,
    prefix_delta,
    rademacher_margin_bound,
    rademacher_mmv_bound,
    repository_margin_bound,
    repository_mmv_bound,
)
from rulewright.data import DataError, Table, label_of, read_like
from rulewright.encoding import PackedCovers, SignedCovers
from rulewright.explain import RuleTerm, additive_terms
from rulewright.model import AdditiveRules
from rulewright.trust.certificates.votes import WEIGHTED

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from rulewright.kernels import FloatArray


GROUPED = "rows of a group are not independent"
SAME_ROWS = "the rules depend on these rows: their intervals were cut there"


@dataclass(frozen=True)
class MarginCertificate:
    """Bounds on the error of sign(w.x) at the chosen prefix; each fails with probability delta.

    Margins of 0 count as errors.

    Attributes
    ----------
    generated : int
        Number of rules of the prefix, including unused ones.
    mean, variance : float
        Mean and variance of the margins of the weights used for `mmv`.
    l1_norm : float
        L1(w) of these weights: the multiple of the given weights, within L1(w) <= 1, that
        maximises mean minus variance.
    mmv : Bound
        From mean minus variance and the number of rules (B23, B15).
    margin : Bound
        From the mean margin of weights with L1(w) = 1 and the number of rules (B22, B14).
    pac_bayes_mmv, pac_bayes_margin : Bound
        From the divergence of the weights from equal weights of all signed rules (B21, B20).
    rademacher_mmv, rademacher_margin : Bound, optional
        From the fit of the rules to random signs (B19, B18); needs all rules of the prefix.
    """

    generated: int
    mean: float
    variance: float
    l1_norm: float
    mmv: Bound
    margin: Bound
    pac_bayes_mmv: Bound
    pac_bayes_margin: Bound
    rademacher_mmv: Bound | None
    rademacher_margin: Bound | None

    @property
    def bounds(self) -> dict[str, Bound]:
        """The available bounds, by name."""
        return {name: bound for name, bound in vars(self).items() if isinstance(bound, Bound)}

    def doubt(self, *reasons: str) -> MarginCertificate:
        """Return the same figures marked as uncertified, for these additional reasons."""
        changed: dict[str, Any] = {n: b.doubt(*reasons) for n, b in self.bounds.items()}
        return replace(self, **changed)

    def __str__(self) -> str:
        head = f"{self.generated} rules generated; margins have the mean {self.mean:.4g} and the "
        lines = [f"{head}variance {self.variance:.4g} for L1(w) = {self.l1_norm:.4g}"]
        lines += [f"{name.replace('_', ' ')}: {bound}" for name, bound in self.bounds.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return html.view(html.lines(str(self).splitlines()))


def margin_certificates(
    covers: SignedCovers,
    weights: ArrayLike,
    y_signs: ArrayLike,
    generated: int,
    delta: float = 0.05,
    *,
    bins_from_other_rows: bool,
    row_weights: ArrayLike | None = None,
    all_rules: bool = False,
    random_state: int = 0,
    n_draws: int = 1,
) -> MarginCertificate:
    """Bound the error of sign(w.x) by its margins on the rows that the weights were fitted to.

    Parameters
    ----------
    covers : SignedCovers
        Rules on these rows, at least those with nonzero weights.
    weights : list of float
        Their weights, at any scale, not all 0.
    y_signs : list of -1 and 1
        Classes of the rows.
    generated : int
        i, the number of rules of the chosen prefix, including unused ones. Each bound uses
        delta / (i (i + 1)), which allows for choosing the best of all prefixes.
    delta : float
        Failure probability of each bound.
    bins_from_other_rows : bool
        Whether the rules were created without these rows. If not, no bound is a certificate.
    row_weights : list of float, optional
        Row weights; unless they are equal, no bound is a certificate.
    all_rules : bool
        Whether `covers` holds all rules of the prefix, except copies, opposites and empty rules.
    random_state : int
        Seed of the random signs.
    n_draws : int
        Number of sign draws to average complexities over.
    """
    margins = _Margins(covers, weights, y_signs, row_weights)
    spent = prefix_delta(generated, delta)
    doubts = [] if bins_from_other_rows else [SAME_ROWS]
    doubts += [] if margins.equal else [WEIGHTED]

    def error(figure: Bound) -> Bound:
        to_error = mmv_to_error if figure.quantity.startswith("mean minus") else margin_to_error
        bound = to_error(figure)
        terms = {**bound.terms, "prefix_delta": spent}
        return replace(bound, delta=float(delta), terms=terms).doubt(*doubts)

    n, gamma = margins.n, margins.mean - margins.variance
    given = (n, spent)
    kls = [divergence(w, generated) for w in (margins.weights, margins.whole)]
    by_signs = None
    if all_rules:
        signs = np.random.default_rng(random_state).choice([-1, 1], (n_draws, n))
        by_signs = complexities(covers, signs)
    return MarginCertificate(
        generated,
        margins.mean,
        margins.variance,
        float(np.abs(margins.weights).sum()),
        error(repository_mmv_bound(gamma, generated, *given)),
        error(repository_margin_bound(margins.whole_mean, generated, *given)),
        error(pac_bayes_mmv_bound(gamma, kls[0], *given)),
        error(pac_bayes_margin_bound(margins.whole_mean, kls[1], *given)),
        by_signs and error(rademacher_mmv_bound(gamma, *by_signs, *given)),
        by_signs and error(rademacher_margin_bound(margins.whole_mean, by_signs[0], *given)),
    )


class _Margins:
    """Weights in the 1-norm ball, with the mean and variance of their margins.

    `whole` has norm 1 and mean `whole_mean`; `weights` is the multiple that maximises mean minus
    variance.
    """

    def __init__(
        self,
        covers: SignedCovers,
        weights: ArrayLike,
        y_signs: ArrayLike,
        row_weights: ArrayLike | None,
    ) -> None:
        w, y = np.asarray(weights, dtype=np.float64), np.asarray(y_signs, dtype=np.float64)
        self.n, norm = covers.n_rows, float(np.abs(w).sum())
        if w.shape != (len(covers),) or not 0 < norm < math.inf:
            raise ValueError(f"weights must be {len(covers)} numbers, not all 0")
        if y.shape != (self.n,) or not (np.abs(y) == 1).all():
            raise ValueError(f"y_signs must be -1 or 1 for each of the {self.n} rows")
        if self.n < 2:
            raise ValueError("the variance of margins needs two rows at least")
        a = np.ones(self.n) if row_weights is None else np.asarray(row_weights, dtype=np.float64)
        self.equal = bool((a == a[0]).all())
        a = a / a.sum()
        self.whole = w / norm
        margins = y * covers.scores(self.whole)
        self.whole_mean = float(a @ margins)
        variance = float(a @ (margins - self.whole_mean) ** 2) / (1 - float(a @ a))
        scale = best_scale(self.whole_mean, variance)
        self.weights = scale * self.whole
        self.mean, self.variance = scale * self.whole_mean, scale * scale * variance


def best_scale(mean: float, variance: float) -> float:
    """Return the c in [0, 1] that maximises c mean - c^2 variance."""
    if mean <= 0:
        return 0.0
    return min(1.0, mean / (2 * variance)) if variance > 0 else 1.0


def divergence(weights: FloatArray, generated: int) -> float:
    """Return the divergence of weights with L1(w) <= 1 from equal weights of all 2m signed rules.

    The remainder 1 - L1(w) is spread over all signed rules, where it cancels.
    """
    shares = np.abs(weights[weights != 0])
    left, atoms = max(1 - math.fsum(shares), 0.0), 2 * max(generated, 1)
    each, others = left / atoms, max(atoms - len(shares), 0)
    used = shares + each
    entropy = -math.fsum(used * np.log(used)) - (others * each * math.log(each) if each else 0.0)
    return max(math.log(atoms) - entropy, 0.0)


def complexities(covers: SignedCovers, signs: ArrayLike) -> tuple[float, float]:
    """Return means over sign draws: S_X, and an upper value of T_X, of rules in the 1-norm ball.

    Parameters
    ----------
    covers : SignedCovers
        The rules.
    signs : list of lists of -1 and 1
        Random signs of the rows, one list per draw.
    """
    found, m = [], len(covers)
    for rho in np.atleast_2d(np.asarray(signs)):
        turned = SignedCovers.pack(rho[np.newaxis])
        single = np.abs(covers.stack(turned).gram(np.arange(m), [m])).max()
        both = covers.stack(covers.times(turned))
        pairs = np.abs(both.gram(np.arange(m), np.arange(m, 2 * m))).max()
        found.append((single / covers.n_rows, pairs / covers.n_rows))
    return float(np.mean([s for s, _ in found])), float(np.mean([t for _, t in found]))


OTHER_DECISIONS = "predictions follow a decision or steps, not the sign of the scores"


def margin_certificate(
    model: AdditiveRules,
    X: Any,
    y: Any,
    delta: float = 0.05,
    *,
    generated: int | None = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> MarginCertificate:
    """Bound the error of a two-class model by the margins of rules that are 1, 0 or -1 on a row.

    Parameters
    ----------
    model : AdditiveRules
        A two-class model, fitted or loaded, whose rules add a weight where they apply and
        subtract it where they do not.
    X, y : rows and their labels
        The rows that the weights were fitted to.
    delta : float
        Failure probability of each bound.
    generated : int, optional
        Number of rules generated up to the chosen prefix; by default as recorded by the learner.
    sample_weight : list of float, optional
        Row weights; unless they are equal, no bound is a certificate.
    groups : array-like or str, optional
        Group of each row; rows of a group are not independent, so no bound is a certificate.

    Notes
    -----
    Figures with ``certified=False`` list their reasons: intervals were cut on the same rows (avoid
    this by `bias_share`), or rows are weighted. `held_out_certificate` computes a certificate from
    new rows; below a few thousand rows it is the only informative one.
    """
    fitted, weights, rules = _weighted_rules(model)
    if generated is None:
        generated = _read_rule_count(fitted)
    given = {"target": y, "weights": sample_weight, "groups": groups}
    table = read_like(X, fitted.schema, fitted.columns, **given, task="classification")
    doubts = [str(doubt) for doubt in fitted.summary.get("doubts", ())]
    if fitted.decision is not None or fitted.steps is not None:
        doubts.append(OTHER_DECISIONS)
    if table.groups is not None or "n_groups" in fitted.summary:
        doubts.append(GROUPED)
    found = margin_certificates(
        _covers(rules, table),
        weights,
        _signs(fitted, table),
        generated,
        delta,
        bins_from_other_rows=True,  # the learner's notes confirm or doubt it
        row_weights=table.weights,
    )
    return found.doubt(*doubts)


def _weighted_rules(model: Any) -> tuple[AdditiveRules, FloatArray, list[RuleTerm]]:
    """Return the model, the weights of the constant rule and of its rules for the second class."""
    found, terms = additive_terms(model, "margin_certificate")
    if not isinstance(found, AdditiveRules) or len(found.classes) != 2:
        raise ValueError("margin_certificate needs two classes; see held_out_certificate for more")
    rules = [term for term in terms if isinstance(term, RuleTerm)]
    if len(rules) < len(terms) or any(r.amounts[0] != -r.amounts[1] for r in rules):
        raise ValueError(
            "margin_certificate needs rules that subtract where they fail what they add where they "
            "apply, and no linear terms; see held_out_certificate for other models"
        )
    start = found.intercepts[1] - found.intercepts[0]
    weights = [((r.head.last == 1) - (r.head.first == 0)) * r.amounts[0] for r in rules]
    return found, np.array([start, *weights]), rules


def _read_rule_count(model: AdditiveRules) -> int:
    """Return the number of generated rules recorded by the learner."""
    prefixes = model.summary.get("prefixes")
    if not prefixes:
        raise ValueError(
            "the model does not record how many rules were generated: pass `generated`"
        )
    return int(prefixes[0])


def _covers(rules: list[RuleTerm], table: Table) -> SignedCovers:
    """Return where the constant rule and the others apply and fail."""
    n = table.n_rows
    bodies = [term.rule.body for term in rules]
    rest = SignedCovers(
        PackedCovers.pack_lines((body.holds(table) for body in bodies), n),
        PackedCovers.pack_lines((body.fails(table) for body in bodies), n),
    )
    return SignedCovers.constant(n).stack(rest)


def _signs(model: AdditiveRules, table: Table) -> FloatArray:
    """Return 1 for rows of the second class and -1 for rows of the first."""
    names = [label_of(value) for value in model.classes.tolist()]
    target = table.known_target
    labels = [label_of(value) for value in target.classes.tolist()]
    strange = [label for label in labels if label not in names]
    if strange:
        raise DataError(f"y: {strange[0]!r} is not a class of the model ({' and '.join(names)})")
    return np.array([1.0 if label == names[1] else -1.0 for label in labels])[target.codes]
