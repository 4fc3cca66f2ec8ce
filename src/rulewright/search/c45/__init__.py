"""C4.5 trees (Quinlan, 1993): growth by gain ratio, pessimistic pruning, partial trees."""

from rulewright.search.c45.branching import Brancher, Cases, TreeNode
from rulewright.search.c45.growth import grow_c45_tree, walk_leaves
from rulewright.search.c45.partial import find_part
from rulewright.search.c45.pruning import prune_tree

__all__ = [
    "Brancher",
    "Cases",
    "TreeNode",
    "find_part",
    "grow_c45_tree",
    "prune_tree",
    "walk_leaves",
]
