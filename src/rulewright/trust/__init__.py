"""How far to trust a model: statistics of its rules, certificates, conformal sets, abstention.

These functions need nothing but a model and data, so they work for a loaded model.
"""

from rulewright.trust.abstaining import Abstainer, abstain_at
from rulewright.trust.abstention import (
    choose_abstain,
    predict_or_abstain,
    risk_coverage,
    selective_score,
)
from rulewright.trust.certificates.margins import margin_certificate
from rulewright.trust.certificates.votes import certificate, held_out_certificate
from rulewright.trust.conformal_sets import (
    ConformalIntervals,
    ConformalSets,
    PredictionSets,
    SetCoverage,
    conformal,
)
from rulewright.trust.consensus import Consensus, distil, frequent
from rulewright.trust.probability_intervals import ProbabilityIntervals, VennAbers, venn_abers
from rulewright.trust.recurrence import ColumnRecurrence, PatternRecurrence, Recurrence
from rulewright.trust.rule_table import ClassRuleStatistics, NumberRuleStatistics, RuleStatistics
from rulewright.trust.statistics import rule_statistics
from rulewright.trust.vote_statistics import (
    column_importance,
    literal_importance,
    pair_table,
    term_table,
)

__all__ = [
    "Abstainer",
    "ClassRuleStatistics",
    "ColumnRecurrence",
    "ConformalIntervals",
    "ConformalSets",
    "Consensus",
    "NumberRuleStatistics",
    "PatternRecurrence",
    "PredictionSets",
    "ProbabilityIntervals",
    "Recurrence",
    "RuleStatistics",
    "SetCoverage",
    "VennAbers",
    "abstain_at",
    "certificate",
    "choose_abstain",
    "column_importance",
    "conformal",
    "distil",
    "frequent",
    "held_out_certificate",
    "literal_importance",
    "margin_certificate",
    "pair_table",
    "predict_or_abstain",
    "risk_coverage",
    "rule_statistics",
    "selective_score",
    "term_table",
    "venn_abers",
]
