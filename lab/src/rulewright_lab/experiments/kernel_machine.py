"""The support vector machine of the thesis: WEKA's, with a radial kernel and its defaults."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

from rulewright.comparison import Learner, RivalWorker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.comparison import Worker
    from rulewright.kernels import FloatArray


@dataclass(frozen=True)
class RadialMachine(Learner):
    """A machine on one-hot labels; WEKA has a cost of 1 and a kernel width of 0.01."""

    cost: float = 1.0
    gamma: float = 0.01

    def start(self, seed: int) -> Worker:
        """Return the machine, ready to fit."""
        return RivalWorker(Machine(SVC(C=self.cost, gamma=self.gamma)))


class Machine:
    """Labels as one-hot columns, and the predicted class with probability one."""

    name = "scikit-learn"

    def __init__(self, machine: SVC) -> None:
        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        self._pipeline = make_pipeline(encoder, machine)

    def fit(self, X: Any, y: NDArray[Any]) -> None:
        """Fit the machine."""
        self.classes_ = np.unique(y)
        self._pipeline.fit(X.astype(str), y)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return one for the predicted class."""
        predicted = self._pipeline.predict(X.astype(str))
        shares: FloatArray = np.asarray(predicted[:, None] == self.classes_, dtype=np.float64)
        return shares

    def describe(self) -> dict[str, float]:
        """Return no sizes: a machine has no rules."""
        return {}

    def version(self) -> str:
        """Return the version of scikit-learn."""
        return version("scikit-learn")
