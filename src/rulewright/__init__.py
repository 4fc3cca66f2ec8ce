"""Statistical rule learning: IF-THEN models that people can read.

Importing the package loads nothing but this file; each name brings its room when it is first used.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rulewright.capacity import Validation, Window
    from rulewright.data import read_table
    from rulewright.estimators import (
        AveragedRulesClassifier,
        C45RulesClassifier,
        CN2Classifier,
        CompactRulesClassifier,
        CompactRulesRegressor,
        FOILClassifier,
        LRIClassifier,
        MLRulesClassifier,
        PARTClassifier,
        RipperClassifier,
        RISEClassifier,
        RuleCombiner,
        RuleFitClassifier,
        RuleFitRegressor,
        RuleSetEnsembleClassifier,
        RumbleClassifier,
        SL2Classifier,
        SlipperClassifier,
        StumpClassifier,
        average_rule_sets,
        calibrate,
        compress,
        interaction_null,
        learn_on_parts,
        rule_stability,
        size_curve,
        with_costs,
    )
    from rulewright.estimators.mlrules.settings import Formulation
    from rulewright.estimators.rulefit.selector import RuleVoteSelector
    from rulewright.estimators.rulefit.voting import Stability, Voting
    from rulewright.model import load_model, model_schema
    from rulewright.plots import (
        plot_calibration,
        plot_confusion,
        plot_dependence,
        plot_explanation,
        plot_importance,
        plot_interactions,
        plot_precision_recall,
        plot_predictions,
        plot_residuals,
        plot_risk_coverage,
        plot_roc,
        plot_rules,
        plot_sizes,
        save_chart,
    )
    from rulewright.report import report_html, write_report
    from rulewright.rules import parse_condition, parse_conjunction
    from rulewright.search import Constraints
    from rulewright.weighting import Isotonic, Platt, Temperature

__version__ = "0.1.0"

__all__ = [
    "AveragedRulesClassifier",
    "C45RulesClassifier",
    "CN2Classifier",
    "CompactRulesClassifier",
    "CompactRulesRegressor",
    "Constraints",
    "FOILClassifier",
    "Formulation",
    "Isotonic",
    "LRIClassifier",
    "MLRulesClassifier",
    "PARTClassifier",
    "Platt",
    "RISEClassifier",
    "RipperClassifier",
    "RuleCombiner",
    "RuleFitClassifier",
    "RuleFitRegressor",
    "RuleSetEnsembleClassifier",
    "RuleVoteSelector",
    "RumbleClassifier",
    "SL2Classifier",
    "SlipperClassifier",
    "Stability",
    "StumpClassifier",
    "Temperature",
    "Validation",
    "Voting",
    "Window",
    "average_rule_sets",
    "calibrate",
    "compress",
    "interaction_null",
    "learn_on_parts",
    "load_model",
    "model_schema",
    "parse_condition",
    "parse_conjunction",
    "plot_calibration",
    "plot_confusion",
    "plot_dependence",
    "plot_explanation",
    "plot_importance",
    "plot_interactions",
    "plot_precision_recall",
    "plot_predictions",
    "plot_residuals",
    "plot_risk_coverage",
    "plot_roc",
    "plot_rules",
    "plot_sizes",
    "read_table",
    "report_html",
    "rule_stability",
    "save_chart",
    "size_curve",
    "with_costs",
    "write_report",
]

_ROOMS = {
    "C45RulesClassifier": "estimators",
    "CN2Classifier": "estimators",
    "LRIClassifier": "estimators",
    "AveragedRulesClassifier": "estimators",
    "Constraints": "search",
    "Formulation": "estimators.mlrules.settings",
    "Isotonic": "weighting",
    "CompactRulesClassifier": "estimators",
    "CompactRulesRegressor": "estimators",
    "FOILClassifier": "estimators",
    "MLRulesClassifier": "estimators",
    "PARTClassifier": "estimators",
    "Platt": "weighting",
    "RipperClassifier": "estimators",
    "RISEClassifier": "estimators",
    "RuleCombiner": "estimators",
    "RuleFitClassifier": "estimators",
    "RuleFitRegressor": "estimators",
    "RuleSetEnsembleClassifier": "estimators",
    "RuleVoteSelector": "estimators.rulefit.selector",
    "RumbleClassifier": "estimators",
    "SL2Classifier": "estimators",
    "SlipperClassifier": "estimators",
    "Stability": "estimators.rulefit.voting",
    "StumpClassifier": "estimators",
    "Temperature": "weighting",
    "Validation": "capacity",
    "Voting": "estimators.rulefit.voting",
    "Window": "capacity",
    "average_rule_sets": "estimators",
    "calibrate": "estimators",
    "compress": "estimators",
    "interaction_null": "estimators",
    "learn_on_parts": "estimators",
    "load_model": "model",
    "model_schema": "model",
    "parse_condition": "rules",
    "parse_conjunction": "rules",
    "plot_calibration": "plots",
    "plot_confusion": "plots",
    "plot_dependence": "plots",
    "plot_explanation": "plots",
    "plot_importance": "plots",
    "plot_interactions": "plots",
    "plot_precision_recall": "plots",
    "plot_predictions": "plots",
    "plot_residuals": "plots",
    "plot_risk_coverage": "plots",
    "plot_roc": "plots",
    "plot_rules": "plots",
    "plot_sizes": "plots",
    "read_table": "data",
    "report_html": "report",
    "save_chart": "plots",
    "rule_stability": "estimators",
    "size_curve": "estimators",
    "with_costs": "estimators",
    "write_report": "report",
}


def __getattr__(name: str) -> object:
    if name not in _ROOMS:
        raise AttributeError(f"module 'rulewright' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rulewright.{_ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
