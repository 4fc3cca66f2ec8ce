"""Rules from the trees of fitted models of other packages, none of which is imported."""

from rulewright.search.extraction.extract import node_rules, rules_from

__all__ = ["node_rules", "rules_from"]
