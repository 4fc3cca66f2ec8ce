"""One small adapter per learner, all with the same face: name, fit, predict_proba, version."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

MODULES = {
    "rulewright": "rulewright_mlrules",
    "slipper": "rulewright_slipper",
    "lightgbm": "lightgbm",
    "boomer": "boomer",
    "imodels": "imodels_slipper",
    "ripper": "wittgenstein_ripper",
}


class Learner(Protocol):
    """What a benchmark may ask of a learner."""

    name: str

    def fit(self, X: np.ndarray, y: np.ndarray) -> Learner: ...

    def predict_proba(self, X: np.ndarray) -> np.ndarray: ...

    def version(self) -> str: ...

    def describe(self) -> dict[str, float]: ...


def make(name: str, n_rules: int, n_jobs: int, settings: dict[str, Any]) -> Learner:
    """Return a fresh learner; a learner that is not installed raises its own import error."""
    module = importlib.import_module(f"rivals.{MODULES[name]}")
    learner: Learner = module.Adapter(n_rules, n_jobs, **settings)
    return learner
