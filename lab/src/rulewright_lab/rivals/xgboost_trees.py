"""XGBoost: histogram trees with its own splits on categories and directions for missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from rulewright_lab.rivals.prepare import Rival, Rows


class Adapter(Rival):
    name = "xgboost"
    package = "xgboost"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options = {"enable_categorical": True, "n_jobs": n_jobs, "random_state": 0}
        if n_rules is not None:
            options["n_estimators"] = n_rules
        self._model = xgboost.XGBClassifier(**{**options, **settings})

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        self._model.fit(X, codes)

    def _shares(self, X: Rows) -> np.ndarray:
        return np.asarray(self._model.predict_proba(X), dtype=float)

    def version(self) -> str:
        return str(xgboost.__version__)

    def describe(self) -> dict[str, float]:
        return {"trees": float(len(self._model.get_booster().get_dump()))}
