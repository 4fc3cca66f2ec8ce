"""Scikit-learn's own: histogram boosting, random forest, logistic regression, one decision tree.

Boosting reads categories and missing values from the data frame. Forest and tree split on missing
numbers, but need nominal columns one-hot; logistic regression needs one-hot, imputed and scaled.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from rulewright_lab.rivals.prepare import Rival, Rows


class ScikitLearn(Rival):
    """A scikit-learn classifier behind the columns it can take, with a limit on its threads."""

    package = "scikit-learn"
    encoding: ClassVar[dict[str, bool] | None] = None

    def __init__(self, n_jobs: int, model: Any) -> None:
        self._n_jobs = n_jobs
        self._model = model

    def _learn(self, X: Rows, codes: np.ndarray) -> None:
        steps = [] if self.encoding is None else [self._columns.one_hot(**self.encoding)]
        self._pipeline = make_pipeline(*steps, self._model)
        with threadpool_limits(self._n_jobs):
            self._pipeline.fit(X, codes)

    def _shares(self, X: Rows) -> np.ndarray:
        with threadpool_limits(self._n_jobs):
            return np.asarray(self._pipeline.predict_proba(X))


class Boosting(ScikitLearn):
    name = "hgb"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options: dict[str, Any] = {"categorical_features": "from_dtype", "random_state": 0}
        if n_rules is not None:
            options["max_iter"] = n_rules
        super().__init__(n_jobs, HistGradientBoostingClassifier(**{**options, **settings}))

    def describe(self) -> dict[str, float]:
        return {"trees": float(self._model.n_iter_ * self._model.n_trees_per_iteration_)}


class Forest(ScikitLearn):
    name = "forest"
    encoding: ClassVar = {"impute": False}

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options = {"n_jobs": n_jobs, "random_state": 0}
        if n_rules is not None:
            options["n_estimators"] = n_rules
        super().__init__(n_jobs, RandomForestClassifier(**{**options, **settings}))

    def describe(self) -> dict[str, float]:
        return {"trees": float(len(self._model.estimators_))}


class Logistic(ScikitLearn):
    """Logistic regression; a number of rules means nothing to it."""

    name = "logistic"
    encoding: ClassVar = {"scale": True}

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options = {"max_iter": 1000, "random_state": 0}
        super().__init__(n_jobs, LogisticRegression(**{**options, **settings}))

    def describe(self) -> dict[str, float]:
        return {"terms": float(np.count_nonzero(self._model.coef_))}


class Tree(ScikitLearn):
    """One decision tree; a number of rules is its number of leaves."""

    name = "tree"
    encoding: ClassVar = {"impute": False}

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options = {"random_state": 0, "max_leaf_nodes": n_rules}
        super().__init__(n_jobs, DecisionTreeClassifier(**{**options, **settings}))

    def describe(self) -> dict[str, float]:
        tree = self._model.tree_
        depths = np.zeros(tree.node_count)
        # A child is stored after its parent.
        for node in range(tree.node_count):
            for child in (tree.children_left[node], tree.children_right[node]):
                if child >= 0:
                    depths[child] = depths[node] + 1
        leaves = tree.children_left < 0
        return {"rules": float(leaves.sum()), "conditions": float(depths[leaves].mean())}
