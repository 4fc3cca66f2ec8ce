"""Explainable boosting machine of interpret: additive terms, its own bins for missing values.

A value it did not see when learning adds nothing to the term; here it arrives as a missing one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier

from rulewright_lab.rivals.prepare import Rival, Rows


class Adapter(Rival):
    """EBM, all defaults; a number of rules means nothing to it."""

    name = "ebm"
    package = "interpret-core"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        self._options = {"n_jobs": n_jobs, "random_state": 0, **settings}

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        nominal = set(self._columns.nominal)
        kinds = ["nominal" if c in nominal else "continuous" for c in self._columns.names]
        self._model = ExplainableBoostingClassifier(feature_types=kinds, **self._options)
        self._model.fit(X, codes)

    def _shares(self, X: Rows) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X))

    def describe(self) -> dict[str, float]:
        return {"terms": float(len(self._model.term_names_))}
