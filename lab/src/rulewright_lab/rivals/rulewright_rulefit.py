"""Rulewright's RuleFitClassifier with a given number of rules to choose from."""

from __future__ import annotations

from typing import Any

from rulewright import RuleFitClassifier
from rulewright_lab.rivals.rulewright_model import Rulewright


class Adapter(Rulewright):
    name = "rulefit"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options: dict[str, Any] = {"n_jobs": n_jobs, "random_state": 0}
        if n_rules is not None:
            options["max_candidates"] = n_rules
        super().__init__(RuleFitClassifier(**{**options, **settings}))

    def describe(self) -> dict[str, float]:
        return {**super().describe(), "linear terms": float(len(self._model.model_.linear))}
