"""Find rules: greedy growth with any score, nodes of trees, DNF formulas by local search.

Each name brings its module when it is first used.
"""

from typing import TYPE_CHECKING

from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.search.boolean_examples import BooleanExamples
    from rulewright.search.consistency import ConsistencyResult, find_consistent_dnf
    from rulewright.search.constraints import Constraints
    from rulewright.search.dnf import DnfSearchResult, dnf_covers, search_dnf, simplify_dnf
    from rulewright.search.draws import BlockDraws, RowDraws, count_blocks
    from rulewright.search.extraction import rules_from
    from rulewright.search.growth import FoundRule, RuleGrower
    from rulewright.search.limits import SearchLimits
    from rulewright.search.sampling import LEAST_ROWS, Subsampler, split_rows
    from rulewright.search.tree_rules import Generation, TreeRules, clean_rules, generate_rules

__all__ = [
    "LEAST_ROWS",
    "BlockDraws",
    "BooleanExamples",
    "ConsistencyResult",
    "Constraints",
    "DnfSearchResult",
    "FoundRule",
    "Generation",
    "RowDraws",
    "RuleGrower",
    "SearchLimits",
    "Subsampler",
    "TreeRules",
    "clean_rules",
    "count_blocks",
    "dnf_covers",
    "find_consistent_dnf",
    "generate_rules",
    "rules_from",
    "search_dnf",
    "simplify_dnf",
    "split_rows",
]

_PLACES = {
    "BlockDraws": ".draws",
    "BooleanExamples": ".boolean_examples",
    "ConsistencyResult": ".consistency",
    "Constraints": ".constraints",
    "DnfSearchResult": ".dnf",
    "FoundRule": ".growth",
    "Generation": ".tree_rules",
    "LEAST_ROWS": ".sampling",
    "RowDraws": ".draws",
    "RuleGrower": ".growth",
    "SearchLimits": ".limits",
    "Subsampler": ".sampling",
    "TreeRules": ".tree_rules",
    "clean_rules": ".tree_rules",
    "count_blocks": ".draws",
    "dnf_covers": ".dnf",
    "find_consistent_dnf": ".consistency",
    "generate_rules": ".tree_rules",
    "rules_from": ".extraction",
    "search_dnf": ".dnf",
    "simplify_dnf": ".dnf",
    "split_rows": ".sampling",
}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
