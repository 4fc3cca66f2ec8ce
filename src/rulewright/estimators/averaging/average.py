"""Averages of given models, weighted by evidence or by held-out log densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from rulewright.estimators.averaging.regions import (
    ESTIMATES,
    WIN_COUNTS,
    Estimates,
    Regions,
    WinCounts,
)
from rulewright.estimators.finishing.after_fit import read_model_rows
from rulewright.model import AveragedModel, ClassModel, Combine
from rulewright.weighting import PosteriorReport, log_posterior, weights_from_logs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray

Evidence: TypeAlias = Literal["own", "shared", "heldout"]
EVIDENCE: tuple[Evidence, ...] = get_args(Evidence)
LEAST_PROBABILITY = 1e-12
"""Minimum probability of a class when models are evaluated on held-out rows."""

MOST_ROWS = 2000
"""Maximum number of rows to compare the average with its heaviest model."""


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
    win_counts: WinCounts = "loo",
    sample_weight: Any = None,
) -> AveragedModel:
    r"""Average models by their posterior probabilities :math:`w_h \propto prior_h L_h^\beta`.

    Parameters
    ----------
    models : sequence of ClassModel or fitted estimators
        Models with the same columns, labels and classes (see `learn_on_parts`).
    X, y : table and classes
        Rows to evaluate the models on; y may be the name of a column of X.
    evidence : {"shared", "own", "heldout"}
        Rows that each model is evaluated on: all rows; the rows it was learned from, as in the
        paper (evidence on different rows is not strictly comparable); or rows that no model was
        learned from.
    estimator : {"model", "ml", "laplace", "m", "integrated"}
        Class probabilities: the model's; or, in each region of rows with equal scores, the
        class share, (e + 1) / (n + C), (e + m p) / (n + m), or the likelihood integrated over all
        shares. Lists and nearest rules then predict with these probabilities, too.
    parts : sequence, optional
        The rows that each model was learned from: places in X, or pairs (X, y). With "own" the
        models are evaluated on them; otherwise they give the shares of regions. Without them,
        shares come from the evaluated rows.
    prior : array-like, optional
        Prior weights of the models; equal by default.
    beta : float
        Power of the likelihood: 0 gives the plain average, 1 Bayes' theorem.
    m : float
        Weight of the prior of the m-estimate, in rows.
    win_counts : {"loo", "resubstitution"}
        How nearest rules count the rows of their part: each row by the rule that wins it when the
        row is left out, as RISE does, or by the nearest rule, which often grew from the row
        itself. Other models only know the latter.
    sample_weight : array-like or str, optional
        Row weights.

    Returns
    -------
    AveragedModel
        Its ``weights`` are the posterior; its summary has ``log_evidence``, ``log_weights`` (None
        for minus infinity), ``beta`` and ``posterior``, the diagnostics of `PosteriorReport`.
    """
    members = _check_models(models, evidence, estimator, win_counts)
    rows = read_model_rows(members[0], X, y, sample_weight, "average_rule_sets", every_column=True)
    own = _own_rows(members[0], rows, parts, len(members), evidence)
    regions = [
        Regions(model, rows, "resubstitution")
        if learned is None
        else Regions(model, learned, win_counts)
        for model, learned in zip(members, own, strict=True)
    ]
    logs = [
        one.log_evidence(one.rows if evidence == "own" else rows, estimator, m) for one in regions
    ]
    summary = {"evidence": evidence, "estimator": estimator, "beta": float(beta)}
    return average_models(
        [one.with_estimates(estimator, m) for one in regions],
        log_posterior(np.array(logs), prior, beta),
        rows,
        summary=summary | {"log_evidence": logs_to_json(logs)},
    )


def average_models(
    members: Sequence[ClassModel],
    log_weights: FloatArray,
    rows: TrainingSet,
    *,
    combine: Combine = "mean",
    summary: dict[str, Any],
) -> AveragedModel:
    """Average models with given weights, and record how concentrated the weights are."""
    weights = tuple(weights_from_logs(log_weights).tolist())
    model = AveragedModel(rows.schema, rows.classes, tuple(members), weights, combine)
    best = members[int(np.argmax(log_weights))]
    if rows.n_rows > MOST_ROWS:  # every model predicts every row
        rows = rows.take(np.linspace(0, rows.n_rows - 1, MOST_ROWS).astype(np.intp))
    same = model.decide(model.scores(rows.table)) == best.decide(best.scores(rows.table))
    report = PosteriorReport.of(log_weights, float(np.average(same, weights=rows.weights)))
    notes = {"log_weights": logs_to_json(log_weights.tolist()), "posterior": report.to_json()}
    return model.with_summary(summary | notes)


def logs_to_json(logs: Sequence[float]) -> list[float | None]:
    """Convert logs to JSON data, with None for minus infinity."""
    return [float(value) if np.isfinite(value) else None for value in logs]


def _check_models(
    models: Sequence[Any], evidence: str, estimator: str, win_counts: str
) -> list[ClassModel]:
    for name, given, known in (
        ("evidence", evidence, EVIDENCE),
        ("estimator", estimator, ESTIMATES),
        ("win_counts", win_counts, WIN_COUNTS),
    ):
        if given not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, not {given!r}")
    members = [getattr(model, "model_", model) for model in models]
    if not members:
        raise ValueError("models: give at least one model")
    for k, member in enumerate(members):
        if not isinstance(member, ClassModel):
            raise ValueError(
                f"models[{k}] must be a classification model or a fitted classifier of this "
                f"library, not {type(member).__name__}"
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
    """Return the rows that each model was learned from, if they are given."""
    if parts is None:
        if evidence == "own":
            raise ValueError(
                "evidence='own' needs parts: the rows that each model was learned from"
            )
        return [None] * n_models
    if len(parts) != n_models:
        raise ValueError(f"parts: expected {n_models}, one per model, not {len(parts)}")
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


def log_densities(
    models: Sequence[ClassModel], rows: TrainingSet, owners: NDArray[np.intp] | None = None
) -> FloatArray:
    """Return the log probability of the class of each row under each model: (rows, models).

    A row is not evidence about the model learned from it (`owners`, -1 for none). There the mean
    of the other models is used, which neither favours nor penalises the model.
    """
    place = np.arange(rows.n_rows)
    chances = np.column_stack(
        [np.maximum(model.predict_proba(rows.table)[place, rows.labels], 0.0) for model in models]
    )
    chances = np.maximum(chances, LEAST_PROBABILITY)
    if owners is not None and len(models) > 1:
        owned = owners >= 0
        others = chances.sum(axis=1) - chances[place, np.maximum(owners, 0)]
        chances[place[owned], owners[owned]] = others[owned] / (len(models) - 1)
    return np.asarray(np.log(chances))
