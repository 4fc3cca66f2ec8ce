"""Find rules: greedy growth with any score, DNF formulas by local search and random partitions."""

from rulewright.search.boolean_examples import BooleanExamples
from rulewright.search.consistency import ConsistencyResult, find_consistent_dnf
from rulewright.search.constraints import Constraints
from rulewright.search.dnf import DnfSearchResult, dnf_covers, search_dnf, simplify_dnf
from rulewright.search.growth import FoundRule, RuleGrower
from rulewright.search.limits import SearchLimits
from rulewright.search.sampling import LEAST_ROWS, Subsampler, split_rows

__all__ = [
    "LEAST_ROWS",
    "BooleanExamples",
    "ConsistencyResult",
    "Constraints",
    "DnfSearchResult",
    "FoundRule",
    "RuleGrower",
    "SearchLimits",
    "Subsampler",
    "dnf_covers",
    "find_consistent_dnf",
    "search_dnf",
    "simplify_dnf",
    "split_rows",
]
