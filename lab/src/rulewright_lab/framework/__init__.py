"""The framework of section 6.3: queries, levels of information, and learners made of components."""

from rulewright_lab.framework.bias_file import dump_bias, load_bias
from rulewright_lab.framework.data import DataSpec
from rulewright_lab.framework.filters import Best, Constant, Duplicate, MinSupport, Order
from rulewright_lab.framework.from_bias import FromBias
from rulewright_lab.framework.generators import (
    ROUND,
    Bottom,
    Given,
    Grown,
    Mined,
    Refined,
)
from rulewright_lab.framework.levels import Context, InformationLeakError, Needs, level
from rulewright_lab.framework.model import QueryRules, load_query_rules
from rulewright_lab.framework.pattern_statements import Occurs, RefinedTrees, Subgraphs
from rulewright_lab.framework.pipeline import Pipeline
from rulewright_lab.framework.presets import PRESETS, preset
from rulewright_lab.framework.query import Goal, Occurrence, Query, Related
from rulewright_lab.framework.statements import Goals, Operator, Sql
from rulewright_lab.framework.validation import CrossValidation, cross_validate

__all__ = [
    "PRESETS",
    "ROUND",
    "Best",
    "Bottom",
    "Constant",
    "Context",
    "CrossValidation",
    "DataSpec",
    "Duplicate",
    "FromBias",
    "Given",
    "Goal",
    "Goals",
    "Grown",
    "InformationLeakError",
    "MinSupport",
    "Mined",
    "Needs",
    "Occurrence",
    "Occurs",
    "Operator",
    "Order",
    "Pipeline",
    "Query",
    "QueryRules",
    "Refined",
    "RefinedTrees",
    "Related",
    "Sql",
    "Subgraphs",
    "cross_validate",
    "dump_bias",
    "level",
    "load_bias",
    "load_query_rules",
    "preset",
]
