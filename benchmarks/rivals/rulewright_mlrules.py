"""Rulewright's MLRulesClassifier: Newton rules on half of the rows."""

from __future__ import annotations

from typing import Any

from rivals.rulewright_model import Rulewright
from rulewright import MLRulesClassifier


class Adapter(Rulewright):
    name = "rulewright"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options: dict[str, Any] = {"n_jobs": n_jobs, "random_state": 0}
        if n_rules is not None:
            options |= {"n_rules": n_rules, "criterion": "newton", "subsample": 0.5}
        super().__init__(MLRulesClassifier(**{**options, **settings}))
