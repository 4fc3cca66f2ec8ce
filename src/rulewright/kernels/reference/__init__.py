"""NumPy twins of the native kernels: slow, short, the definition of right.

Sums of statistics are sums of integers, so a twin and its kernel agree to the bit.
"""

from rulewright.kernels.reference.conditions import encode_values
from rulewright.kernels.reference.dnf import DnfSearch
from rulewright.kernels.reference.dnf_partition import find_partition
from rulewright.kernels.reference.model import rule_bits, rule_covers, rule_scores
from rulewright.kernels.reference.search import (
    Growth,
    best_condition,
    candidates,
    column_codes,
    cover_rows,
    criterion,
    draw_rows,
    grow_rule,
    judge,
    prefix_sums,
    random_bits,
    slipper_value,
    split_by_weight,
    used_lanes,
)
from rulewright.kernels.reference.weighting import Exponential, Likelihood, ResponseFit

__all__ = [
    "DnfSearch",
    "Exponential",
    "Growth",
    "Likelihood",
    "ResponseFit",
    "best_condition",
    "candidates",
    "column_codes",
    "cover_rows",
    "criterion",
    "draw_rows",
    "encode_values",
    "find_partition",
    "grow_rule",
    "judge",
    "prefix_sums",
    "random_bits",
    "rule_bits",
    "rule_covers",
    "rule_scores",
    "slipper_value",
    "split_by_weight",
    "used_lanes",
]
