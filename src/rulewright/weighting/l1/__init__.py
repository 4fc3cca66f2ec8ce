"""Sparse weights: one problem of rules, four solvers with paths and certificates; and lines."""

from rulewright.weighting.l1.coordinate import CoordinateDescent
from rulewright.weighting.l1.datafits import Datafit, Huber, Logistic, Ramp, Squared
from rulewright.weighting.l1.design import Design
from rulewright.weighting.l1.fpc import FPC
from rulewright.weighting.l1.lines import LineFit
from rulewright.weighting.l1.multinomial import Multinomial
from rulewright.weighting.l1.pathbuild import PathBuild
from rulewright.weighting.l1.problem import L1Problem, L1Solution
from rulewright.weighting.l1.solver import Path, Solver
from rulewright.weighting.l1.spgl1 import SPGL1, project

__all__ = [
    "FPC",
    "SPGL1",
    "CoordinateDescent",
    "Datafit",
    "Design",
    "Huber",
    "L1Problem",
    "L1Solution",
    "LineFit",
    "Logistic",
    "Multinomial",
    "Path",
    "PathBuild",
    "Ramp",
    "Solver",
    "Squared",
    "project",
]
