"""The framework of section 6.3: queries, levels of information, and learners made of components."""

from rulewright.relational.framework.bias_file import dump_bias, load_bias
from rulewright.relational.framework.data import DataSpec
from rulewright.relational.framework.filters import Best, Constant, Duplicate, MinSupport, Order
from rulewright.relational.framework.from_bias import FromBias
from rulewright.relational.framework.generators import (
    ROUND,
    Bottom,
    Given,
    Grown,
    Mined,
    Refined,
)
from rulewright.relational.framework.levels import Context, InformationLeakError, Needs, level
from rulewright.relational.framework.model import QueryRules, load_query_rules
from rulewright.relational.framework.pattern_statements import Occurs, RefinedTrees, Subgraphs
from rulewright.relational.framework.pipeline import Pipeline
from rulewright.relational.framework.presets import PRESETS, preset
from rulewright.relational.framework.query import Goal, Occurrence, Query, Related
from rulewright.relational.framework.statements import Goals, Operator, Sql
from rulewright.relational.framework.validation import CrossValidation, cross_validate

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
