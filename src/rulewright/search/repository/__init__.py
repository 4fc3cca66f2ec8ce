"""Ordered repositories of rules that are made without looking at labels."""

from rulewright.search.repository.bias_file import dump_bias, load_bias
from rulewright.search.repository.combine import Combine, Modify
from rulewright.search.repository.errors import BiasError
from rulewright.search.repository.generators import (
    Base,
    Formulas,
    FromFunction,
    Generator,
    Missing,
)
from rulewright.search.repository.repository import Bias, Repository, default_bias

__all__ = [
    "Base",
    "Bias",
    "BiasError",
    "Combine",
    "Formulas",
    "FromFunction",
    "Generator",
    "Missing",
    "Modify",
    "Repository",
    "default_bias",
    "dump_bias",
    "load_bias",
]
