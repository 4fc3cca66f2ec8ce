"""RIPPER of wittgenstein, all defaults: ten bins, two optimisations, class 1 positive."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from wittgenstein import RIPPER


class Adapter:
    name = "ripper"

    def __init__(self, n_rules: int, n_jobs: int, **settings: Any) -> None:
        self._model = RIPPER(**{"random_state": 0, **settings})

    def fit(self, X: np.ndarray, y: np.ndarray) -> Adapter:
        self._train = X, y
        self._model.fit(X, y, pos_class=1)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the training shares of the rows answered alike; its own shares take minutes."""
        X_train, y_train = self._train
        said = self._answers(X_train)
        shares = [(np.sum(y_train[said == k] == 1) + 1) / (np.sum(said == k) + 2) for k in (0, 1)]
        second = np.array(shares)[self._answers(X)]
        return np.column_stack([1.0 - second, second])

    def _answers(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self._model.predict(X)).astype(int)

    def version(self) -> str:
        return version("wittgenstein")

    def describe(self) -> dict[str, float]:
        lengths = [len(rule.conds) for rule in self._model.ruleset_.rules]
        return {"rules": float(len(lengths)), "conditions": float(np.mean(lengths or [0]))}
