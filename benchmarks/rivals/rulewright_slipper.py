"""Rulewright's SlipperClassifier with a given number of rounds (or `n_rounds="cv"`)."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from rulewright import SlipperClassifier


class Adapter:
    name = "slipper"

    def __init__(self, n_rules: int, n_jobs: int, **settings: Any) -> None:
        options = {"n_rounds": n_rules, "n_jobs": n_jobs, "random_state": 0}
        self._model = SlipperClassifier(**{**options, **settings})

    def fit(self, X: np.ndarray, y: np.ndarray) -> Adapter:
        self._model.fit(X, y)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X))

    def version(self) -> str:
        return version("rulewright")

    def describe(self) -> dict[str, float]:
        rules = self._model.model_.rules
        lengths = [len(rule.conjunction) for rule in rules]
        return {"rules": float(len(rules)), "conditions": float(np.mean(lengths or [0]))}
