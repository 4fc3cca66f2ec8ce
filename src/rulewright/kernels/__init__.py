"""The only interface to native code.

Every function here has a NumPy twin of the same name in `tests/reference/`, which defines the
correct result.
"""

import os

from rulewright.kernels import _core
from rulewright.kernels._core import ClassLikelihood as ClassLikelihood
from rulewright.kernels._core import Elbow as Elbow
from rulewright.kernels._core import Exponential as Exponential
from rulewright.kernels._core import Likelihood as Likelihood
from rulewright.kernels._core import Quadratic as Quadratic
from rulewright.kernels._core import ResponseFit as ResponseFit
from rulewright.kernels._core import RuleMatrix as RuleMatrix
from rulewright.kernels._core import Workspace as Workspace
from rulewright.kernels._core import count_shared as count_shared
from rulewright.kernels._core import descend_products as descend_products
from rulewright.kernels._core import take_rows as take_rows
from rulewright.kernels.graphs import EDGE as EDGE
from rulewright.kernels.graphs import Code as Code
from rulewright.kernels.graphs import GraphSet as GraphSet
from rulewright.kernels.graphs import SmallGraph as SmallGraph
from rulewright.kernels.graphs import SubgraphMiner as SubgraphMiner
from rulewright.kernels.graphs import canonical_code as canonical_code
from rulewright.kernels.grouping import CoverGroups as CoverGroups
from rulewright.kernels.grouping import Entries as Entries
from rulewright.kernels.grouping import GroupSummary as GroupSummary
from rulewright.kernels.grouping import ValueFacts as ValueFacts
from rulewright.kernels.grouping import count_at_least as count_at_least
from rulewright.kernels.grouping import count_held as count_held
from rulewright.kernels.grouping import group_rows as group_rows
from rulewright.kernels.grouping import last_values as last_values
from rulewright.kernels.grouping import middle_values as middle_values
from rulewright.kernels.grouping import summarise_groups as summarise_groups
from rulewright.kernels.grouping import value_facts as value_facts
from rulewright.kernels.growth import MOST_FAILURES as MOST_FAILURES
from rulewright.kernels.growth import CodeColumns as CodeColumns
from rulewright.kernels.growth import count_histogram as count_histogram
from rulewright.kernels.growth import cover_rows as cover_rows
from rulewright.kernels.growth import draw_rows as draw_rows
from rulewright.kernels.growth import encode_columns as encode_columns
from rulewright.kernels.growth import encode_values as encode_values
from rulewright.kernels.growth import failure_sums as failure_sums
from rulewright.kernels.growth import grow_beam as grow_beam
from rulewright.kernels.growth import grow_rule as grow_rule
from rulewright.kernels.growth import judged_sums as judged_sums
from rulewright.kernels.growth import prefix_sums as prefix_sums
from rulewright.kernels.growth import prune_tests as prune_tests
from rulewright.kernels.growth import rule_bits as rule_bits
from rulewright.kernels.growth import rule_covers as rule_covers
from rulewright.kernels.growth import rule_scores as rule_scores
from rulewright.kernels.growth import scan_histogram as scan_histogram
from rulewright.kernels.growth import score_names as score_names
from rulewright.kernels.growth import signed_products as signed_products
from rulewright.kernels.growth import signed_sums as signed_sums
from rulewright.kernels.growth import split_by_weight as split_by_weight
from rulewright.kernels.growth import usable_cpus as usable_cpus
from rulewright.kernels.points import fit_scores as fit_scores
from rulewright.kernels.points import solve_points as solve_points
from rulewright.kernels.searches import MOST_BITS as MOST_BITS
from rulewright.kernels.searches import BlockSearch as BlockSearch
from rulewright.kernels.searches import DnfSearch as DnfSearch
from rulewright.kernels.searches import Lanes as Lanes
from rulewright.kernels.searches import RiseSearch as RiseSearch
from rulewright.kernels.searches import Roots as Roots
from rulewright.kernels.searches import find_partition as find_partition
from rulewright.kernels.searches import nearest_rules as nearest_rules
from rulewright.kernels.structs import GROUP as GROUP
from rulewright.kernels.structs import MISSING as MISSING
from rulewright.kernels.structs import ROW as ROW
from rulewright.kernels.structs import STAT as STAT
from rulewright.kernels.structs import UNSEEN as UNSEEN
from rulewright.kernels.structs import Beam as Beam
from rulewright.kernels.structs import BoolArray as BoolArray
from rulewright.kernels.structs import Boxes as Boxes
from rulewright.kernels.structs import ByteArray as ByteArray
from rulewright.kernels.structs import CodeArray as CodeArray
from rulewright.kernels.structs import CompiledRules as CompiledRules
from rulewright.kernels.structs import DistanceColumns as DistanceColumns
from rulewright.kernels.structs import DnfBest as DnfBest
from rulewright.kernels.structs import DnfSettings as DnfSettings
from rulewright.kernels.structs import DnfState as DnfState
from rulewright.kernels.structs import FittedScores as FittedScores
from rulewright.kernels.structs import FloatArray as FloatArray
from rulewright.kernels.structs import FoundPoints as FoundPoints
from rulewright.kernels.structs import FoundSubgraphs as FoundSubgraphs
from rulewright.kernels.structs import GraphArrays as GraphArrays
from rulewright.kernels.structs import GrownCondition as GrownCondition
from rulewright.kernels.structs import GrownRule as GrownRule
from rulewright.kernels.structs import IntArray as IntArray
from rulewright.kernels.structs import Limits as Limits
from rulewright.kernels.structs import Op as Op
from rulewright.kernels.structs import PointLimits as PointLimits
from rulewright.kernels.structs import RiseState as RiseState
from rulewright.kernels.structs import RowArray as RowArray
from rulewright.kernels.structs import Score as Score
from rulewright.kernels.structs import SignArray as SignArray
from rulewright.kernels.structs import StatArray as StatArray
from rulewright.kernels.structs import Subsample as Subsample
from rulewright.kernels.structs import WordArray as WordArray
from rulewright.kernels.threads import ThreadPool as ThreadPool
from rulewright.kernels.trees import Branching as Branching
from rulewright.kernels.trees import BranchLimits as BranchLimits
from rulewright.kernels.trees import GrownSplit as GrownSplit
from rulewright.kernels.trees import GrownTree as GrownTree
from rulewright.kernels.trees import Routes as Routes
from rulewright.kernels.trees import TreeShape as TreeShape
from rulewright.kernels.trees import choose_branching as choose_branching
from rulewright.kernels.trees import grow_tree as grow_tree
from rulewright.kernels.trees import route_rows as route_rows
from rulewright.kernels.trees import side_of_codes as side_of_codes

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_core.use_one_thread)
