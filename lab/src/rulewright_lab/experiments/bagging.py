"""Learners of this package, bagged."""

from __future__ import annotations

from dataclasses import dataclass, field
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
    """Bootstrap samples of scikit-learn's bagging; the members vote, as in the papers."""

    bags: BaggingClassifier
    priors: FloatArray = field(init=False)

    name = "rulewright"

    def fit(self, X: Any, y: Any) -> None:
        """Fit each member to a bootstrap sample; a column of labels is known by its type."""
        nominal = [i for i, kind in enumerate(X.dtypes) if kind == "category"]
        self.bags.set_params(estimator__categorical_features=nominal)
        self.bags.fit(_objects(X), y)
        counts = np.unique(y, return_counts=True)[1]
        self.priors = counts / counts.sum()

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of the votes of each class, with one more vote by the base rates.

        The larger class, then the first one, wins a tie.
        """
        rows, votes = _objects(X), np.tile(self.priors, (len(X), 1))
        for member in self.bags.estimators_:
            places = np.asarray(member.predict(rows)).astype(np.intp)
            votes[np.arange(len(votes)), places] += 1.0
        shares: FloatArray = votes / votes.sum(axis=1, keepdims=True)
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
