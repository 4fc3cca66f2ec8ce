"""Learners of this package, bagged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import BaggingClassifier

from rulewright import __version__
from rulewright.comparison import Learner, RivalWorker

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.comparison import Worker
    from rulewright.kernels import FloatArray


@dataclass(frozen=True)
class BaggedLearner(Learner):
    """A learner that is fitted to each of a number of bootstrap samples."""

    bagged: int = 20

    def start(self, seed: int) -> Worker:
        """Return the bags, ready to fit."""
        bags = BaggingClassifier(self.estimator(seed), self.bagged, random_state=seed)
        return RivalWorker(Bagged(bags))


@dataclass
class Bagged:
    """Scikit-learn's bagging of an estimator of this package, as an adapter."""

    bags: BaggingClassifier

    name = "rulewright"

    def fit(self, X: Any, y: Any) -> None:
        """Fit each member to a bootstrap sample; a column of labels is known by its type."""
        nominal = [i for i, kind in enumerate(X.dtypes) if kind == "category"]
        self.bags.set_params(estimator__categorical_features=nominal)
        self.bags.fit(_objects(X), y)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mean of the members' probabilities."""
        shares: FloatArray = self.bags.predict_proba(_objects(X))
        return shares

    @property
    def classes_(self) -> NDArray[Any]:
        """Class labels."""
        labels: NDArray[Any] = self.bags.classes_
        return labels

    def describe(self) -> dict[str, float]:
        """Count the rules of all members."""
        return {"rules": float(sum(len(each.model_) for each in self.bags.estimators_))}

    def version(self) -> str:
        """Return the version of this package."""
        return __version__


def _objects(frame: Any) -> NDArray[Any]:
    """Return a dataframe as an array of Python objects, as bagging takes mixed columns."""
    return np.asarray(frame.astype(object).where(frame.notna(), None), dtype=object)
