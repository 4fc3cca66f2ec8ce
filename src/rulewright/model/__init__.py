"""Models made of rules: they predict, print, explain, save and export.

Each name brings its module when it is first used.
"""

from typing import TYPE_CHECKING

from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.model.class_model import ClassModel
    from rulewright.model.document import ModelFileError
    from rulewright.model.explanation import Explanation
    from rulewright.model.file_schema import model_schema
    from rulewright.model.forms.additive import AdditiveRules
    from rulewright.model.forms.average import AveragedModel
    from rulewright.model.forms.decision_list import DecisionList
    from rulewright.model.forms.dnf import DnfModel
    from rulewright.model.forms.nearest import NearestRules
    from rulewright.model.forms.regression import RegressionRules
    from rulewright.model.forms.rule_sets import RuleSet
    from rulewright.model.forms.unordered import UnorderedRules
    from rulewright.model.forms.votes import RuleSetVotes
    from rulewright.model.rule_model import RuleModel
    from rulewright.model.steps import IsotonicSteps
    from rulewright.model.storage import load_model
    from rulewright.programs.parity import ExportReport, ParityError
    from rulewright.rules import Head, Rule

__all__ = [
    "AdditiveRules",
    "AveragedModel",
    "ClassExplanation",
    "ClassModel",
    "DecisionList",
    "DnfModel",
    "Explanation",
    "ExportReport",
    "Head",
    "IsotonicSteps",
    "ModelFileError",
    "NearestRules",
    "ParityError",
    "RegressionRules",
    "Rule",
    "RuleModel",
    "RuleSet",
    "RuleSetVotes",
    "UnorderedRules",
    "load_model",
    "model_schema",
]

_PLACES = {
    "AdditiveRules": ".forms.additive",
    "AveragedModel": ".forms.average",
    "ClassExplanation": ".class_explanation",
    "ClassModel": ".class_model",
    "DecisionList": ".forms.decision_list",
    "DnfModel": ".forms.dnf",
    "Explanation": ".explanation",
    "ExportReport": "rulewright.programs.parity",
    "Head": "rulewright.rules",
    "IsotonicSteps": ".steps",
    "ModelFileError": ".document",
    "NearestRules": ".forms.nearest",
    "ParityError": "rulewright.programs.parity",
    "RegressionRules": ".forms.regression",
    "Rule": "rulewright.rules",
    "RuleModel": ".rule_model",
    "RuleSet": ".forms.rule_sets",
    "RuleSetVotes": ".forms.votes",
    "UnorderedRules": ".forms.unordered",
    "load_model": ".storage",
    "model_schema": ".file_schema",
}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
