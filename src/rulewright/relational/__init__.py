"""Rules over what is not one table: related tables, graphs and molecules."""

from rulewright.relational.estimators import RelationalClassifier, RelationalRegressor
from rulewright.relational.export import relational_sql
from rulewright.relational.foil.estimator import RelationalFOILClassifier
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
from rulewright.relational.relations import Relations
from rulewright.relational.verification import verify_relational_sql

__all__ = [
    "Graph",
    "GraphError",
    "GraphRules",
    "GraphRulesClassifier",
    "Pattern",
    "Reading",
    "RelationalClassifier",
    "RelationalFOILClassifier",
    "RelationalRegressor",
    "Relations",
    "SubgraphFeatures",
    "load_graph_rules",
    "pattern_bias",
    "pattern_columns",
    "read_smiles",
    "relational_sql",
    "tree_text",
    "verify_relational_sql",
]
