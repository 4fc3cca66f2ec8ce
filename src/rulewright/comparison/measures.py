"""What is measured of one fit: scores on new rows, size and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.comparison.resources import Cost
from rulewright.evidence import auc, brier, log_loss

if TYPE_CHECKING:
    from rulewright.comparison.learners import Worker
    from rulewright.data import Table
    from rulewright.kernels import FloatArray, IntArray

Figures = dict[str, Any]
"""What is measured of a fit, by name."""
MEGABYTE = 2**20


def score(worker: Worker, train: Table, test: Table) -> Figures:
    """Give error, balanced accuracy, log-loss, Brier score and AUC on new rows, size and cost."""
    rows, asked = worker.prepare(train), worker.prepare(test)
    with Cost() as fit:
        worker.fit(rows)
    with Cost() as predict:
        codes, shares = worker.predict(asked, test)
    return {**judge_answers(test, codes, shares), **_costs(fit, predict), **worker.describe()}


def judge_answers(test: Table, codes: IntArray, shares: FloatArray) -> dict[str, float]:
    """Judge labels and probabilities by the classes of the rows."""
    truth, weights = test.known_target.codes, np.ones(test.n_rows)
    return {
        "error": float(np.mean(codes != truth)),
        "balanced_accuracy": float(
            np.mean([np.mean(codes[truth == k] == k) for k in np.unique(truth)])
        ),
        "log_loss": log_loss(truth, shares, weights),
        "brier": brier(truth, shares, weights),
        "auc": auc(truth, shares, weights),
    }


def _costs(fit: Cost, predict: Cost) -> dict[str, float]:
    return {
        "fit_seconds": fit.cpu,
        "fit_wall_seconds": fit.seconds,
        "predict_seconds": predict.cpu,
        "memory_mb": fit.memory / MEGABYTE,
    }
