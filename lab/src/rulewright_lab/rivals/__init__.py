"""One small adapter per learner, all with the same face: name, fit, predict_proba, version."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# The file, and the class in it where the file has several.
MODULES = {
    "rulewright": "rulewright_mlrules",
    "slipper": "rulewright_slipper",
    "rulefit": "rulewright_rulefit",
    "rulewright-learner": "rulewright_classic",
    "lightgbm": "lightgbm",
    "lleaves": "lleaves_trees",
    "xgboost": "xgboost_trees",
    "ydf": "ydf_trees",
    "hgb": "scikit_learn:Boosting",
    "forest": "scikit_learn:Forest",
    "logistic": "scikit_learn:Logistic",
    "tree": "scikit_learn:Tree",
    "ebm": "interpret_ebm",
    "boomer": "boomer",
    "imodels": "imodels_slipper",
    "imodels-rulefit": "imodels_rules:RuleFit",
    "imodels-figs": "imodels_rules:Figs",
    "imodels-boosted": "imodels_rules:Boosted",
    "wittgenstein-ripper": "wittgenstein_ripper",
    "orange-cn2": "orange_cn2:Ordered",
    "orange-cn2-unordered": "orange_cn2:Unordered",
    "weka-jrip": "weka:JRip",
    "weka-part": "weka:Part",
}


class Learner(Protocol):
    """What a benchmark may ask of a learner.

    The rows are a float array or a data frame: `category` columns are nominal, NaN is missing.
    """

    name: str
    classes_: np.ndarray

    def fit(self, X: np.ndarray | pd.DataFrame, y: np.ndarray) -> Learner: ...

    def predict_proba(self, X: np.ndarray | pd.DataFrame) -> np.ndarray: ...

    def version(self) -> str: ...

    def describe(self) -> dict[str, float]: ...


def make(name: str, n_rules: int | None, n_jobs: int, settings: dict[str, Any]) -> Learner:
    """Return a fresh learner; `n_rules=None` asks for its package's own defaults.

    A learner that is not installed raises an ImportError that says how to get it.
    """
    if name not in MODULES:
        raise ValueError(f"unknown learner {name!r}: use one of {', '.join(MODULES)}")
    file, _, kind = MODULES[name].partition(":")
    try:
        module = importlib.import_module(f"rulewright_lab.rivals.{file}")
    except ImportError as error:
        raise ImportError(
            f"{name} cannot run here ({error}): the commands of benchmarks/README.md install it"
        ) from error
    learner: Learner = getattr(module, kind or "Adapter")(n_rules, n_jobs, **settings)
    return learner
