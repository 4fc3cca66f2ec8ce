"""LightGBM: boosted trees of 8 leaves, the same subsample and shrinkage as the rules."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import lightgbm
import numpy as np


class Adapter:
    name = "lightgbm"

    def __init__(self, n_rules: int, n_jobs: int, **settings: Any) -> None:
        options = {
            "n_estimators": n_rules,
            "num_leaves": 8,
            "learning_rate": 0.1,
            "bagging_fraction": 0.5,
            "bagging_freq": 1,
            "n_jobs": n_jobs,
            "random_state": 0,
            "verbosity": -1,
        }
        self._model = lightgbm.LGBMClassifier(**{**options, **settings})

    def fit(self, X: np.ndarray, y: np.ndarray) -> Adapter:
        self._model.fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X))

    def version(self) -> str:
        return version("lightgbm")

    def describe(self) -> dict[str, float]:
        return {"trees": float(self._model.booster_.num_trees())}
