"""Statistical rule learning: IF-THEN models that people can read.

Importing the package loads nothing but this file; each name brings its room when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.data import read_table
    from rulewright.estimators import (
        MLRulesClassifier,
        RuleSetEnsembleClassifier,
        SL2Classifier,
        SlipperClassifier,
        compress,
        size_curve,
    )
    from rulewright.model import load_model
    from rulewright.rules import parse_condition, parse_conjunction
    from rulewright.search import Constraints

__version__ = "0.1.0"

__all__ = [
    "Constraints",
    "MLRulesClassifier",
    "RuleSetEnsembleClassifier",
    "SL2Classifier",
    "SlipperClassifier",
    "compress",
    "load_model",
    "parse_condition",
    "parse_conjunction",
    "read_table",
    "size_curve",
]

_ROOMS = {
    "Constraints": "search",
    "MLRulesClassifier": "estimators",
    "RuleSetEnsembleClassifier": "estimators",
    "SL2Classifier": "estimators",
    "SlipperClassifier": "estimators",
    "compress": "estimators",
    "load_model": "model",
    "parse_condition": "rules",
    "parse_conjunction": "rules",
    "read_table": "data",
    "size_curve": "estimators",
}


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module 'rulewright' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rulewright.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
