"""NumPy twins of the native kernels: slow, short, the definition of right.

Sums of statistics are sums of integers, so a twin and its kernel agree to the bit.
"""

from reference.beam import grow_beam, likelihood_ratio
from reference.branching import choose_branching
from reference.class_likelihood import ClassLikelihood
from reference.conditions import encode_columns, encode_values
from reference.dnf import DnfSearch
from reference.dnf_partition import find_partition
from reference.elbow import Elbow
from reference.graphs import GraphSet, SubgraphMiner
from reference.grouping import (
    count_at_least,
    count_held,
    group_rows,
    last_values,
    middle_values,
    summarise_groups,
    value_facts,
)
from reference.model import rule_bits, rule_covers, rule_scores
from reference.nearest import RiseSearch, nearest_rules
from reference.partition import BlockSearch
from reference.points import fit_scores, solve_points
from reference.rule_matrix import Quadratic, RuleMatrix, descend_products
from reference.scores import SCORES, empty_criterion
from reference.search import (
    Roots,
    column_codes,
    count_histogram,
    cover_rows,
    draw_rows,
    failure_sums,
    grow_rule,
    judged_sums,
    prefix_sums,
    prune_tests,
    random_bits,
    refine_rows,
    scan_histogram,
    split_by_weight,
    used_lanes,
)
from reference.signed_rules import signed_products, signed_sums
from reference.sorted_covers import count_shared, take_rows
from reference.trees import grow_tree, route_rows
from reference.weighting import Exponential, Likelihood, ResponseFit

__all__ = [
    "SCORES",
    "BlockSearch",
    "ClassLikelihood",
    "DnfSearch",
    "Elbow",
    "Exponential",
    "GraphSet",
    "Likelihood",
    "Quadratic",
    "ResponseFit",
    "RiseSearch",
    "Roots",
    "RuleMatrix",
    "SubgraphMiner",
    "choose_branching",
    "column_codes",
    "count_at_least",
    "count_held",
    "count_histogram",
    "count_shared",
    "cover_rows",
    "descend_products",
    "draw_rows",
    "empty_criterion",
    "encode_columns",
    "encode_values",
    "failure_sums",
    "find_partition",
    "fit_scores",
    "group_rows",
    "grow_beam",
    "grow_rule",
    "grow_tree",
    "judged_sums",
    "last_values",
    "likelihood_ratio",
    "middle_values",
    "nearest_rules",
    "prefix_sums",
    "prune_tests",
    "random_bits",
    "refine_rows",
    "route_rows",
    "rule_bits",
    "rule_covers",
    "rule_scores",
    "scan_histogram",
    "signed_products",
    "signed_sums",
    "solve_points",
    "split_by_weight",
    "summarise_groups",
    "take_rows",
    "used_lanes",
    "value_facts",
]
