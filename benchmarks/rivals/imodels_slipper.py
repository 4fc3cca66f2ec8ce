"""SLIPPER of imodels: AdaBoost over its rules; `imodels_slipper_facts.py` shows what it does."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from imodels import SlipperClassifier


class Adapter:
    name = "imodels"

    def __init__(self, n_rules: int, n_jobs: int, **settings: Any) -> None:
        self._model = SlipperClassifier(**{"n_estimators": n_rules, "random_state": 0, **settings})

    def fit(self, X: np.ndarray, y: np.ndarray) -> Adapter:
        self._model.fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X))

    def version(self) -> str:
        return version("imodels")

    def describe(self) -> dict[str, float]:
        lengths = [len(weak.rule) for weak in self._model.estimators_]
        return {"rules": float(len(lengths)), "conditions": float(np.mean(lengths))}
