"""Rules over what is not one table: graphs and molecules."""

from rulewright.relational.graphs import (
    Graph,
    GraphError,
    GraphRules,
    GraphRulesClassifier,
    Pattern,
    Reading,
    SubgraphFeatures,
    load_graph_rules,
    pattern_bias,
    pattern_columns,
    read_smiles,
    tree_text,
)

__all__ = [
    "Graph",
    "GraphError",
    "GraphRules",
    "GraphRulesClassifier",
    "Pattern",
    "Reading",
    "SubgraphFeatures",
    "load_graph_rules",
    "pattern_bias",
    "pattern_columns",
    "read_smiles",
    "tree_text",
]
