"""Rules over what is not one table: related tables, graphs and molecules.

Names are loaded when they are first used, because the command line needs few of them.
"""

from typing import TYPE_CHECKING

from rulewright.lazy import lazy_names

if TYPE_CHECKING:
    from rulewright.relational.estimators import RelationalClassifier, RelationalRegressor
    from rulewright.relational.export import relational_sql
    from rulewright.relational.foil.estimator import RelationalFOILClassifier
    from rulewright.relational.graphs import (
        Graph,
        GraphError,
        GraphRules,
        GraphRulesClassifier,
        MoleculeReading,
        Pattern,
        SubgraphFeatures,
        load_graph_rules,
        pattern_bias,
        pattern_columns,
        read_smiles,
        tree_text,
    )
    from rulewright.relational.opening import open_tables
    from rulewright.relational.relations import Relations
    from rulewright.relational.verification import verify_relational_sql

__all__ = [
    "Graph",
    "GraphError",
    "GraphRules",
    "GraphRulesClassifier",
    "MoleculeReading",
    "Pattern",
    "RelationalClassifier",
    "RelationalFOILClassifier",
    "RelationalRegressor",
    "Relations",
    "SubgraphFeatures",
    "load_graph_rules",
    "open_tables",
    "pattern_bias",
    "pattern_columns",
    "read_smiles",
    "relational_sql",
    "tree_text",
    "verify_relational_sql",
]

_PLACES = {
    **dict.fromkeys(__all__, ".graphs"),
    **dict.fromkeys(("RelationalClassifier", "RelationalRegressor"), ".estimators"),
    "RelationalFOILClassifier": ".foil.estimator",
    "Relations": ".relations",
    "open_tables": ".opening",
    "relational_sql": ".export",
    "verify_relational_sql": ".verification",
}

__getattr__, __dir__ = lazy_names(__name__, _PLACES)
