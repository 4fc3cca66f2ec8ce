"""Rulewright's MLRulesClassifier: Newton rules on half of the rows; `kept` compresses them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from sklearn.metrics import log_loss

from rulewright import Growth, MLRulesClassifier, compress
from rulewright_lab.rivals.rulewright_model import Rulewright

if TYPE_CHECKING:
    import numpy as np


class Adapter(Rulewright):
    name = "rulewright"

    def __init__(
        self, n_rules: int | None, n_jobs: int, kept: int | None = None, **settings: Any
    ) -> None:
        self._kept = kept
        options: dict[str, Any] = {"n_jobs": n_jobs, "random_state": 0}
        if n_rules is not None:
            # As many rounds as the rivals have, with their learning rate, of rules as grown.
            options |= {"max_rules": n_rules, "subsample": 0.5}
            options |= {"learning_rate": 0.1, "max_conditions": 4, "stopping": "window"}
            settings = {"prune": False, **settings}
        grown = {name: settings.pop(name) for name in Growth.DOMAINS if name in settings}
        options["growth"] = Growth(**grown)
        super().__init__(MLRulesClassifier(**{**options, **settings}))

    def fit(self, X: Any, y: np.ndarray) -> Self:
        super().fit(X, y)
        if self._kept is not None:
            model, n_jobs = self._model, self._model.n_jobs
            model.model_ = compress(model, X, y, self._kept, n_jobs=n_jobs)
        return self

    def size_at(self, goal: float, X: Any, y: np.ndarray) -> int | None:
        """Return the first number of rules, in steps of ten, whose log-loss reaches a goal."""
        kept = len(self._model.stages_.rules)
        for size, shares in enumerate(self._model.staged_predict_proba(X)):
            if (size % 10 == 0 or size == kept) and log_loss(
                y, shares, labels=self.classes_
            ) <= goal:
                return size
        return None
