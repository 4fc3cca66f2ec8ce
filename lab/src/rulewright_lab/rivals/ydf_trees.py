"""YDF (Yggdrasil Decision Forests): gradient boosted trees, predicted by the engine it chooses.

It reads dictionaries of columns; a matrix is a column of several dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import ydf

from rulewright_lab.rivals.prepare import Rival, Rows


class Adapter(Rival):
    name = "ydf"
    package = "ydf"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options: dict[str, Any] = {"num_threads": n_jobs, "random_seed": 0}
        if n_rules is not None:
            options["num_trees"] = n_rules
        self._n_jobs = n_jobs
        self._learner = ydf.GradientBoostedTreesLearner("label", **{**options, **settings})
        ydf.verbose(0)

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        self._model = self._learner.train({**self._data(X), "label": codes})

    def _shares(self, X: Rows) -> np.ndarray:
        found = self._model.predict(self._data(X), num_threads=self._n_jobs)
        return found if found.ndim == 2 else np.column_stack([1 - found, found])

    def describe(self) -> dict[str, float]:
        return {"trees": float(self._model.num_trees())}

    def _data(self, X: Rows) -> dict[str, np.ndarray]:
        if isinstance(X, np.ndarray):
            return {"x": X}
        nominal = self._columns.values
        return {
            name: X[name].astype(object).fillna("").to_numpy(str)
            if name in nominal
            else X[name].to_numpy()
            for name in X
        }
