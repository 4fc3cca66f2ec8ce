"""Functions of a model and data: importance, dependence, certificates, statistics of rules.

They need nothing but a model, so they work for a model that was loaded from a file.
"""

from rulewright.explain.abstaining import Abstainer, abstain_at
from rulewright.explain.abstention import (
    choose_abstain,
    predict_or_abstain,
    risk_coverage,
    selective_score,
)
from rulewright.explain.certificate import certificate, held_out_certificate
from rulewright.explain.conformal import (
    ConformalIntervals,
    ConformalSets,
    PredictionSets,
    SetCoverage,
    conformal,
)
from rulewright.explain.consensus import Consensus, distil, frequent
from rulewright.explain.counterfactual import (
    Change,
    Counterfactual,
    Counterfactuals,
    counterfactual,
)
from rulewright.explain.dependence import Dependence, partial_dependence
from rulewright.explain.effects import Effects, local_effects
from rulewright.explain.importance import Importance, importance, local_importance
from rulewright.explain.interaction import Interactions, interactions
from rulewright.explain.margin_certificate import margin_certificate
from rulewright.explain.null import InteractionNull, NullComparison
from rulewright.explain.overlap import RuleOverlap, rule_overlap
from rulewright.explain.probability_intervals import (
    ProbabilityIntervals,
    VennAbers,
    venn_abers,
)
from rulewright.explain.recurrence import ColumnRecurrence, PatternRecurrence, Recurrence
from rulewright.explain.rule_statistics import rule_statistics
from rulewright.explain.rule_table import (
    ClassRuleStatistics,
    NumberRuleStatistics,
    RuleStatistics,
)
from rulewright.explain.vote_statistics import (
    column_importance,
    literal_importance,
    pair_table,
    term_table,
)

__all__ = [
    "Abstainer",
    "Change",
    "ClassRuleStatistics",
    "ColumnRecurrence",
    "ConformalIntervals",
    "ConformalSets",
    "Consensus",
    "Counterfactual",
    "Counterfactuals",
    "Dependence",
    "Effects",
    "Importance",
    "InteractionNull",
    "Interactions",
    "NullComparison",
    "NumberRuleStatistics",
    "PatternRecurrence",
    "PredictionSets",
    "ProbabilityIntervals",
    "Recurrence",
    "RuleOverlap",
    "RuleStatistics",
    "SetCoverage",
    "VennAbers",
    "abstain_at",
    "certificate",
    "choose_abstain",
    "column_importance",
    "conformal",
    "counterfactual",
    "distil",
    "frequent",
    "held_out_certificate",
    "importance",
    "interactions",
    "literal_importance",
    "local_effects",
    "local_importance",
    "margin_certificate",
    "pair_table",
    "partial_dependence",
    "predict_or_abstain",
    "risk_coverage",
    "rule_overlap",
    "rule_statistics",
    "selective_score",
    "term_table",
    "venn_abers",
]
