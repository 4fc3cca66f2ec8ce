"""Any classifier of rulewright by its name on the command line, all defaults but `settings`."""

from __future__ import annotations

from typing import Any

from rulewright.estimators import LEARNERS
from rulewright_lab.rivals.rulewright_model import Rulewright


class Adapter(Rulewright):
    def __init__(self, n_rules: int | None, n_jobs: int, learner: str, **settings: Any) -> None:
        self.name = learner
        options = {"n_jobs": n_jobs, "random_state": 0, **settings}
        super().__init__(LEARNERS[learner](**options))
