"""LightGBM: boosted trees of 8 leaves, the same subsample and shrinkage as the rules.

Categories and missing values are its own business: it reads them from the data frame.
"""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np

from rulewright_lab.rivals.prepare import Rival, Rows


class Adapter(Rival):
    name = "lightgbm"
    package = "lightgbm"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options: dict[str, Any] = {"n_jobs": n_jobs, "random_state": 0, "verbosity": -1}
        if n_rules is not None:
            options |= {
                "n_estimators": n_rules,
                "num_leaves": 8,
                "learning_rate": 0.1,
                "bagging_fraction": 0.5,
                "bagging_freq": 1,
            }
        self._model = lightgbm.LGBMClassifier(**{**options, **settings})

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        self._model.fit(X, codes)

    def _shares(self, X: Rows) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X))

    def describe(self) -> dict[str, float]:
        return {"trees": float(self._model.booster_.num_trees())}
