"""BOOMER (mlrl-boomer): boosted rules on equal-frequency bins, as many threads as asked."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from mlrl.boosting import BoomerClassifier


def parallel(n_jobs: int) -> str:
    """Return BOOMER's own words for a number of threads."""
    return "false" if n_jobs == 1 else f"true{{num_preferred_threads={n_jobs}}}"


class Adapter:
    name = "boomer"

    def __init__(self, n_rules: int, n_jobs: int, **settings: Any) -> None:
        threads = parallel(n_jobs)
        options = {
            "max_rules": n_rules,
            "feature_binning": "equal-frequency",
            "instance_sampling": "without-replacement{sample_size=0.5}",
            "shrinkage": 0.1,
            "parallel_rule_refinement": threads,
            "parallel_statistic_update": threads,
            "parallel_prediction": threads,
            "random_state": 1,
        }
        self._model = BoomerClassifier(**{**options, **settings})

    def fit(self, X: np.ndarray, y: np.ndarray) -> Adapter:
        # BOOMER learns label columns: one for two classes, one per class beyond.
        self._n_classes = int(y.max()) + 1
        columns = [1] if self._n_classes == 2 else range(self._n_classes)
        self._model.fit(X, np.column_stack([y == k for k in columns]).astype(np.uint8))
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        shares = np.asarray(self._model.predict_proba(X))
        if self._n_classes == 2:
            return np.hstack([1.0 - shares[:, -1:], shares[:, -1:]])
        return shares / np.maximum(shares.sum(axis=1, keepdims=True), 1e-12)

    def version(self) -> str:
        return version("mlrl-boomer")

    def describe(self) -> dict[str, float]:
        return {}
