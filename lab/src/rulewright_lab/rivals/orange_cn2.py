"""CN2 of Orange, ordered (entropy) and unordered (Laplace), all defaults.

The domain says which columns are discrete. Orange's CN2 imputes missing values itself: the mean
or the most frequent value of the training rows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from Orange.classification.rules import CN2Learner, CN2UnorderedLearner
from Orange.data import ContinuousVariable, DiscreteVariable, Domain, Table

from rulewright_lab.rivals.prepare import Rival, Rows


class Cn2(Rival):
    """A CN2 of Orange; it has no parameter for a number of rules."""

    package = "orange3"
    learner: ClassVar[Any]

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        self._learner = self.learner(**settings)

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        values = self._columns.values
        attributes = [
            DiscreteVariable(name, values[name]) if name in values else ContinuousVariable(name)
            for name in self._columns.names
        ]
        classes = DiscreteVariable("class", [f"c{k}" for k in range(len(self.classes_))])
        self._domain = Domain(attributes, classes)
        self._model = self._learner(self._table(X, codes))

    def _shares(self, X: Rows) -> np.ndarray:
        table = self._table(X, np.full(len(X), np.nan))
        return np.asarray(self._model(table, self._model.Probs))

    def _table(self, X: Rows, codes: np.ndarray) -> Table:
        return Table.from_numpy(self._domain, self._columns.codes(X), codes.astype(float))

    def describe(self) -> dict[str, float]:
        lengths = [rule.length for rule in self._model.rule_list if rule.length > 0]
        return {"rules": float(len(lengths)), "conditions": float(np.mean(lengths or [0]))}


class Ordered(Cn2):
    name = "orange-cn2"
    learner = CN2Learner


class Unordered(Cn2):
    name = "orange-cn2-unordered"
    learner = CN2UnorderedLearner
