"""Rule models of imodels: RuleFit, FIGS and boosted rules; SLIPPER has a file of its own.

None takes missing values, so all get one-hot columns and imputed medians.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from imodels import BoostedRulesClassifier, FIGSClassifier, RuleFitClassifier

from rulewright_lab.rivals.prepare import Rival, Rows


class Imodels(Rival):
    """A classifier of imodels behind one-hot columns; `size` is its word for `n_rules`."""

    package = "imodels"
    model: ClassVar[Any]
    size: ClassVar[str]

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options = {"random_state": 0}
        if n_rules is not None:
            options[self.size] = n_rules
        self._model = self.model(**{**options, **settings})

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        self._encoder = self._columns.one_hot()
        self._model.fit(self._encoder.fit_transform(X), codes)

    def _shares(self, X: Rows) -> np.ndarray:
        return np.asarray(self._model.predict_proba(self._encoder.transform(X)))


class RuleFit(Imodels):
    """RuleFit; its shares are the sigmoid of 2f - 1 where its linear model means that of f."""

    name = "imodels-rulefit"
    two_classes_only = True
    model = RuleFitClassifier
    size = "max_rules"

    def describe(self) -> dict[str, float]:
        rules = self._model.rules_
        lengths = [len(rule.agg_dict) for rule in rules]
        n_linear = np.count_nonzero(self._model.coef) - len(rules)
        return {
            "rules": float(len(rules)),
            "conditions": float(np.mean(lengths or [0])),
            "linear terms": float(n_linear),
        }


class Figs(Imodels):
    """Sums of small trees; its shares are a softmax of sums that already resemble shares."""

    name = "imodels-figs"
    model = FIGSClassifier
    size = "max_rules"

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        # It keeps its random_state to itself: its stumps break ties by NumPy's global generator.
        np.random.seed(self._model.random_state)  # noqa: NPY002
        super()._learn(X, codes)

    def describe(self) -> dict[str, float]:
        return {"trees": float(len(self._model.trees_)), "splits": float(self._model.complexity_)}


class Boosted(Imodels):
    """AdaBoost over single splits, which is scikit-learn's and knows several classes."""

    name = "imodels-boosted"
    model = BoostedRulesClassifier
    size = "n_estimators"

    def describe(self) -> dict[str, float]:
        return {"rules": float(len(self._model.estimators_)), "conditions": 1.0}
