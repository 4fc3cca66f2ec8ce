"""RIPPER of wittgenstein, all defaults: ten bins, two optimisations, class 1 positive.

Nominal columns go in as text; a missing value meets no condition.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from wittgenstein import RIPPER

from rulewright_lab.rivals.prepare import Rival, Rows


class Adapter(Rival):
    name = "wittgenstein-ripper"
    package = "wittgenstein"
    two_classes_only = True

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        self._model = RIPPER(**{"random_state": 0, **settings})

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        X = as_text(X)
        self._train = X, codes
        self._model.fit(X, codes, pos_class=1)

    def _shares(self, X: Rows) -> np.ndarray:
        """Return the training shares of the rows answered alike; its own shares take minutes."""
        X_train, y_train = self._train
        said = self._answers(X_train)
        shares = [(np.sum(y_train[said == k] == 1) + 1) / (np.sum(said == k) + 2) for k in (0, 1)]
        second = np.array(shares)[self._answers(as_text(X))]
        return np.column_stack([1.0 - second, second])

    def _answers(self, X: Rows) -> np.ndarray:
        return np.asarray(self._model.predict(X)).astype(int)

    def describe(self) -> dict[str, float]:
        lengths = [len(rule.conds) for rule in self._model.ruleset_.rules]
        return {"rules": float(len(lengths)), "conditions": float(np.mean(lengths or [0]))}


def as_text(X: Rows) -> Rows:
    """Return nominal columns as plain objects: the package's bins are not made for categories."""
    if not isinstance(X, pd.DataFrame):
        return X
    return X.astype({c: object for c in X.columns if X[c].dtype == "category"})
