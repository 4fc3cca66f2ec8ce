"""LightGBM's trees as machine code: learned by LightGBM, compiled by lleaves, numbers only."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import lleaves
import numpy as np

from rulewright_lab.rivals import lightgbm

if TYPE_CHECKING:
    from rulewright_lab.rivals.prepare import Rows


class Adapter(lightgbm.Adapter):
    name = "lleaves"
    package = "lleaves"

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        super()._learn(X, codes)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trees.txt"
            self._model.booster_.save_model(path)
            self._compiled = lleaves.Model(model_file=str(path))
            self._compiled.compile()

    def _shares(self, X: Rows) -> np.ndarray:
        found = self._compiled.predict(np.asarray(X), n_jobs=self._model.n_jobs)
        return found if found.ndim == 2 else np.column_stack([1 - found, found])
