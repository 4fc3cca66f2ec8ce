"""Averages of given models by their evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.averaging.judging import (
    ESTIMATES,
    EVIDENCE,
    Estimates,
    Evidence,
    evidence_of,
)
from rulewright.estimators.finishing.after_fit import read_model_rows
from rulewright.model import AveragedModel, ClassModel
from rulewright.weighting import PosteriorReport, log_posterior, weights_from_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray
    from rulewright.model import Combine

MOST_ROWS = 2000
"""Rows at most on which the average is compared with its heaviest model."""


def average_rule_sets(
    models: Sequence[Any],
    X: Any,
    y: Any = None,
    *,
    evidence: Evidence = "shared",
    estimator: Estimates = "model",
    parts: Sequence[Any] | None = None,
    prior: Any = None,
    beta: float = 1.0,
    m: float = 2.0,
    sample_weight: Any = None,
) -> AveragedModel:
    r"""Average models by their posterior probabilities :math:`w_h \propto prior_h L_h^\beta`.

    Parameters
    ----------
    models : sequence of ClassModel or fitted estimators
        The models; all have the same columns, labels and classes (see `learn_on_parts`).
    X, y : table and classes
        The rows to judge by; y may be the name of a column of X.
    evidence : {"shared", "own", "heldout"}
        Each model is judged by all rows; by those it was learned from, as in the paper (then models
        are judged by different rows, and their evidence is not strictly comparable); or by rows
        that none was learned from.
    estimator : {"model", "ml", "laplace", "m", "integrated"}
        The probability of a class: what the model says; or, in each region of rows to which it
        gives the same scores, the share of the class, (e + 1) / (n + C), (e + m p) / (n + m), or
        the likelihood integrated over all shares.
    parts : sequence, optional
        The rows that each model was learned from: places in X, or pairs (X, y). "own" judges by
        them; the others estimate the shares of regions from them. Without them shares are those
        of the judged rows.
    prior : array-like, optional
        Weights of the models before any row is seen; all alike by default.
    beta : float
        Power of the likelihood: 0 is the plain average, 1 Bayes.
    m : float
        Rows that the prior of the m-estimate counts as.
    sample_weight : array-like or str, optional
        Row weights.

    Returns
    -------
    AveragedModel
        Its ``weights`` are the posterior; its summary has ``log_evidence``, ``log_weights`` (None
        for minus infinity), ``beta`` and ``posterior``, the diagnostics of `PosteriorReport`.
    """
    members = _check_models(models, evidence, estimator)
    rows = read_model_rows(members[0], X, y, sample_weight, "average_rule_sets", every_column=True)
    own = _own_rows(members[0], rows, parts, len(members), evidence)
    logs = [
        evidence_of(
            model, learned if evidence == "own" and learned else rows, learned, estimator, m
        )
        for model, learned in zip(members, own, strict=True)
    ]
    summary = {"evidence": evidence, "estimator": estimator, "beta": float(beta)}
    log_weights = log_posterior(np.array(logs), prior, beta)
    return average_models(
        members, log_weights, rows, summary=summary | {"log_evidence": logs_to_json(logs)}
    )


def average_models(
    members: Sequence[ClassModel],
    log_weights: FloatArray,
    rows: TrainingSet,
    *,
    combine: Combine = "mean",
    summary: dict[str, Any],
) -> AveragedModel:
    """Make the average of models with given weights, and note down how concentrated these are."""
    weights = tuple(weights_from_logs(log_weights).tolist())
    model = AveragedModel(rows.schema, rows.classes, tuple(members), weights, combine)
    best = members[int(np.argmax(log_weights))]
    if rows.n_rows > MOST_ROWS:  # each model answers for each row
        rows = rows.take(np.linspace(0, rows.n_rows - 1, MOST_ROWS).astype(np.intp))
    same = model.decide(model.scores(rows.table)) == best.decide(best.scores(rows.table))
    report = PosteriorReport.of(log_weights, float(np.average(same, weights=rows.weights)))
    notes = {"log_weights": logs_to_json(log_weights.tolist()), "posterior": report.to_json()}
    return model.with_summary(summary | notes)


def logs_to_json(logs: Sequence[float]) -> list[float | None]:
    """Return logs as JSON data, in which minus infinity is None."""
    return [float(value) if np.isfinite(value) else None for value in logs]


def _check_models(models: Sequence[Any], evidence: str, estimator: str) -> list[ClassModel]:
    if evidence not in EVIDENCE:
        raise ValueError(f"evidence must be one of {', '.join(EVIDENCE)}, not {evidence!r}")
    if estimator not in ESTIMATES:
        raise ValueError(f"estimator must be one of {', '.join(ESTIMATES)}, not {estimator!r}")
    members = [getattr(model, "model_", model) for model in models]
    if not members:
        raise ValueError("models: there must be at least one to average")
    for k, member in enumerate(members):
        if not isinstance(member, ClassModel):
            raise ValueError(
                f"models[{k}] must be a model of classes or a fitted classifier of this library, "
                f"not {type(member).__name__}"
            )
        same = member.classes.tolist() == members[0].classes.tolist()
        if not same or member.schema != members[0].schema:
            what = "columns or labels" if same else "classes"
            raise ValueError(
                f"models[{k}] has other {what} than models[0]: learn them from tables with the "
                "same declared categories, or with learn_on_parts"
            )
    return members


def _own_rows(
    model: ClassModel,
    rows: TrainingSet,
    parts: Sequence[Any] | None,
    n_models: int,
    evidence: Evidence,
) -> list[TrainingSet | None]:
    """Return the rows that each model was learned from, as far as they are given."""
    if parts is None:
        if evidence == "own":
            raise ValueError(
                "evidence='own' needs parts: the rows that each model was learned from"
            )
        return [None] * n_models
    if len(parts) != n_models:
        raise ValueError(f"parts: {n_models} models need as many, not {len(parts)}")
    return [_part(model, rows, part, k, evidence) for k, part in enumerate(parts)]


def _part(
    model: ClassModel, rows: TrainingSet, part: Any, k: int, evidence: Evidence
) -> TrainingSet:
    if isinstance(part, tuple) and len(part) == 2:
        found = read_model_rows(model, *part, None, f"parts[{k}]", every_column=True)
    else:
        if evidence == "heldout":
            raise ValueError("evidence='heldout': rows of X that a model was learned from are not")
        found = rows.take(np.flatnonzero(np.isin(rows.places, np.asarray(part))))
    if not found.n_rows:
        raise ValueError(f"parts[{k}] has no rows")
    return found
