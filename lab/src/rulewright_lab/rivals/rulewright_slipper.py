"""Rulewright's SlipperClassifier with a given number of rounds (or `size="cv"`)."""

from __future__ import annotations

from typing import Any

from rulewright import SlipperClassifier
from rulewright_lab.rivals.rulewright_model import Rulewright


class Adapter(Rulewright):
    name = "slipper"

    def __init__(self, n_rules: int | None, n_jobs: int, **settings: Any) -> None:
        options: dict[str, Any] = {"n_jobs": n_jobs, "random_state": 0}
        if n_rules is not None:
            options |= {"max_rules": n_rules, "size": "max"}
        super().__init__(SlipperClassifier(**{**options, **settings}))
