"""From rules to weights: likelihood, Newton steps, default rules."""

from rulewright.weighting.default_rule import DEFAULT_RULES, default_scores
from rulewright.weighting.likelihood import LogLikelihood

__all__ = ["DEFAULT_RULES", "LogLikelihood", "default_scores"]
