"""How a model answers: importance, dependence, interaction, overlap, counterfactuals.

These functions need nothing but a model and data, so they work for a loaded model.
"""

from rulewright.explain.counterfactuals.answers import (
    Change,
    Counterfactual,
    Counterfactuals,
    counterfactual,
)
from rulewright.explain.dependence import Dependence, partial_dependence
from rulewright.explain.effects import Effects, local_effects
from rulewright.explain.importances import Importance, importance, local_importance
from rulewright.explain.interaction import Interactions, interactions
from rulewright.explain.null import InteractionNull, NullComparison
from rulewright.explain.overlap import RuleOverlap, rule_overlap

__all__ = [
    "Change",
    "Counterfactual",
    "Counterfactuals",
    "Dependence",
    "Effects",
    "Importance",
    "InteractionNull",
    "Interactions",
    "NullComparison",
    "RuleOverlap",
    "counterfactual",
    "importance",
    "interactions",
    "local_effects",
    "local_importance",
    "partial_dependence",
    "rule_overlap",
]
