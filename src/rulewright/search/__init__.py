"""Find rules: greedy growth with any score."""

from rulewright.search.constraints import Constraints
from rulewright.search.growth import FoundRule, RuleGrower
from rulewright.search.limits import SearchLimits
from rulewright.search.sampling import LEAST_ROWS, Subsampler, split_rows

__all__ = [
    "LEAST_ROWS",
    "Constraints",
    "FoundRule",
    "RuleGrower",
    "SearchLimits",
    "Subsampler",
    "split_rows",
]
