"""Rules over graphs and molecules: subgraph patterns as derived Boolean columns."""

from rulewright.relational.graphs.classifier import GraphRulesClassifier, pattern_bias
from rulewright.relational.graphs.features import SubgraphFeatures
from rulewright.relational.graphs.free_trees import tree_text
from rulewright.relational.graphs.graph import Graph, GraphError
from rulewright.relational.graphs.model import GraphRules, load_graph_rules, pattern_columns
from rulewright.relational.graphs.molecules import MoleculeReading, read_smiles
from rulewright.relational.graphs.pattern import Pattern

__all__ = [
    "Graph",
    "GraphError",
    "GraphRules",
    "GraphRulesClassifier",
    "MoleculeReading",
    "Pattern",
    "SubgraphFeatures",
    "load_graph_rules",
    "pattern_bias",
    "pattern_columns",
    "read_smiles",
    "tree_text",
]
