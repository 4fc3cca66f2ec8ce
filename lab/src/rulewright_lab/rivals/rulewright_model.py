"""What the adapters of our own learners share: they accept any table and any labels unchanged."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any, Self

import numpy as np


class Rulewright:
    """A rulewright classifier, given the rows and labels untouched."""

    classes_: np.ndarray

    def __init__(self, model: Any) -> None:
        self._model = model

    def fit(self, X: Any, y: np.ndarray) -> Self:
        self._model.fit(X, y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X))

    def version(self) -> str:
        return version("rulewright")

    def describe(self) -> dict[str, float]:
        rules = self._model.model_.rules
        lengths = [len(rule.body) for rule in rules]
        return {"rules": float(len(rules)), "conditions": float(np.mean(lengths or [0]))}
