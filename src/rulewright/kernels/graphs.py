"""The door to kernels for subgraphs of many graphs."""

from rulewright.kernels.reference.graphs import GraphSet, SubgraphMiner

__all__ = ["GraphSet", "SubgraphMiner"]
