"""Certificates of weighted rules (RUMBLE): bounds from margins on the rows of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, label_of, read_like
from rulewright.encoding import PackedCovers, SignedCovers
from rulewright.explain import RuleTerm, additive_terms
from rulewright.model import AdditiveRules
from rulewright.trust.certificates import margin_bounds as certificates

if TYPE_CHECKING:
    from rulewright.data import Table
    from rulewright.kernels import FloatArray
    from rulewright.trust.certificates.margin_bounds import MarginCertificate

OTHER_DECISIONS = "predictions follow costs or steps, not the sign of the scores"


def margin_certificate(
    model: AdditiveRules,
    X: Any,
    y: Any,
    delta: float = 0.05,
    *,
    generated: int | None = None,
    sample_weight: Any = None,
) -> MarginCertificate:
    """Bound the error of two classes by the margins of rules that are 1, 0 or -1 on a row.

    Parameters
    ----------
    model : AdditiveRules
        A model of two classes whose rules add a weight where they hold and take it where they fail,
        fitted or loaded.
    X, y : rows and their labels
        The rows that the weights were fitted to.
    delta : float
        Probability that a bound fails; of several, each has its own.
    generated : int, optional
        Rules generated up to the chosen prefix, by default what the learner noted down.
    sample_weight : list of float, optional
        Weights of the rows; if they are not equal, no bound is a certificate.

    Notes
    -----
    Figures with ``certified=False`` name their reasons: the learner cut intervals on the same rows
    (`bias_share` sets rows aside for that), or rows are weighted. For a certificate from new rows
    see `held_out_certificate`; below some thousand rows it is the only one that says something.
    """
    fitted, weights, rules = _weighted_rules(model)
    if generated is None:
        generated = _read_rule_count(fitted)
    given = {"target": y, "weights": sample_weight}
    table = read_like(X, fitted.schema, fitted.columns, **given, task="classification")
    doubts = [str(doubt) for doubt in fitted.summary.get("doubts", ())]
    if fitted.costs is not None or fitted.steps is not None:
        doubts.append(OTHER_DECISIONS)
    found = certificates.margin_certificates(
        _covers(rules, table),
        weights,
        _signs(fitted, table),
        generated,
        delta,
        bins_from_other_rows=True,  # what the learner noted down says so, or is a doubt
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
            "margin_certificate needs rules that take where they fail what they add where they "
            "hold, and no linear terms; see held_out_certificate for other models"
        )
    start = found.intercepts[1] - found.intercepts[0]
    weights = [((r.head.last == 1) - (r.head.first == 0)) * r.amounts[0] for r in rules]
    return found, np.array([start, *weights]), rules


def _read_rule_count(model: AdditiveRules) -> int:
    """Return the number of rules generated that the learner noted down."""
    prefixes = model.summary.get("prefixes")
    if not prefixes:
        raise ValueError("the model does not say how many rules were generated: give `generated`")
    return int(prefixes[0])


def _covers(rules: list[RuleTerm], table: Table) -> SignedCovers:
    """Return where the constant rule and the others hold and fail."""
    n = table.n_rows
    bodies = [term.rule.body for term in rules]
    rest = SignedCovers(
        PackedCovers.pack_lines((body.holds(table) for body in bodies), n),
        PackedCovers.pack_lines((body.fails(table) for body in bodies), n),
    )
    return SignedCovers.constant(n).stack(rest)


def _signs(model: AdditiveRules, table: Table) -> FloatArray:
    """Return 1 for rows of the second class and -1 for those of the first."""
    names = [label_of(value) for value in model.classes.tolist()]
    target = table.known_target
    labels = [label_of(value) for value in target.classes.tolist()]
    strange = [label for label in labels if label not in names]
    if strange:
        raise DataError(f"y: {strange[0]!r} is no class of the model, only {' and '.join(names)}")
    return np.array([1.0 if label == names[1] else -1.0 for label in labels])[target.codes]
