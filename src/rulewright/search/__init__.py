"""Find rules: greedy growth with any score."""

from rulewright.search.growth import FoundRule, RuleGrower
from rulewright.search.limits import SearchLimits
from rulewright.search.sampling import Subsampler, split_rows

__all__ = ["FoundRule", "RuleGrower", "SearchLimits", "Subsampler", "split_rows"]
