"""Rules over what is not one table: graphs and molecules."""

from rulewright.relational.graphs import (
    Graph,
    GraphError,
    GraphRules,
    GraphRulesClassifier,
    Pattern,
    SubgraphFeatures,
    load_graph_rules,
    read_smiles,
)

__all__ = [
    "Graph",
    "GraphError",
    "GraphRules",
    "GraphRulesClassifier",
    "Pattern",
    "SubgraphFeatures",
    "load_graph_rules",
    "read_smiles",
]
