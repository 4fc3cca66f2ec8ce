"""What the rule ensembles for classes and for numbers share: parameters and candidate terms."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from rulewright.encoding import bin_table
from rulewright.estimators.contract.base import RuleEstimator, TableEstimator
from rulewright.estimators.contract.many_labels import POOLED, warn_of_many_labels
from rulewright.estimators.contract.parameters import (
    CheckedByFit,
    Choice,
    Flag,
    Integer,
    Named,
    Parameter,
    Real,
    Splitting,
)
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.rulefit.penalty import STRIDE
from rulewright.model import LinearTerm, RuleModel
from rulewright.rules import Adds, Conjunction, Coverage, Head, NumberCoverage, Rule
from rulewright.search import (
    SCALE,
    Generation,
    SearchLimits,
    clean_rules,
    generate_rules,
    linear_columns,
    linear_terms,
)
from rulewright.weighting import (
    FPC,
    N_PENALTIES,
    SPGL1,
    CoordinateDescent,
    L1Problem,
    PathBuild,
    Solver,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager

    from rulewright.data import LearningRows, RegressionSet, TrainingSet
    from rulewright.estimators.folds.folds import Folds
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.search import GenerationLoss, TreeRules
    from rulewright.weighting import Datafit, L1Solution, RuleScale

SOLVERS = {
    "coordinate": CoordinateDescent,
    "pathbuild": PathBuild,
    "spgl1": SPGL1,
    "fpc": FPC,
}
"""The solvers by name."""

SOLVER = Named(SOLVERS, Solver)

FEWEST_ROWS = 40
"""With fewer effective rows trees are not grown."""

FEW_ROWS = 100
"""Fewer rows are not subsampled, and their weights are found exactly: whole weights then mean the
same as repeated rows."""

Model = TypeVar("Model", bound=RuleModel)


@dataclass(frozen=True, eq=False)
class CandidateTerms:
    """Rules and linear terms that a penalty chooses from.

    Attributes
    ----------
    rules : TreeRules
        Distinct rules with their covers of the training rows.
    linear : tuple of LinearTerm
        Linear terms of slope 1.
    columns : float64 array of shape (rows, terms)
        The linear terms, of equal deviation.
    """

    rules: TreeRules
    linear: tuple[LinearTerm, ...]
    columns: FloatArray

    @classmethod
    def of(cls, rules: TreeRules, rows: LearningRows[Any], beta: float | None) -> CandidateTerms:
        """Add linear terms to rules; `beta` is the share of values beyond each of their bounds."""
        terms = () if beta is None else linear_terms(rows.table, rows.weights, beta)
        return cls(rules, terms, linear_columns(terms, rows.table))

    def problem(
        self,
        y: FloatArray,
        weights: FloatArray,
        datafit: Datafit,
        rule_scale: RuleScale,
        n_threads: int,
    ) -> L1Problem:
        """Return the problem of weighting the candidates."""
        return L1Problem.of(
            self.rules.covers,
            y,
            dense=self.columns,
            sample_weight=weights,
            rule_scale=rule_scale,
            datafit=datafit,
            n_threads=n_threads,
        )

    def responses(self, solution: L1Solution) -> FloatArray:
        """Return the coefficients of the rules."""
        return solution.coef[: len(self.rules)]

    def slopes(self, solution: L1Solution) -> FloatArray:
        """Return what one unit of each linear term adds."""
        scales = np.array([SCALE / term.deviation for term in self.linear])
        return np.asarray(solution.coef[len(self.rules) :] * scales)

    def lines(self, slopes: FloatArray) -> tuple[LinearTerm, ...]:
        """Return the linear terms with slopes (terms, scores), without those that add nothing."""
        return tuple(
            replace(term, slopes=tuple(own.tolist()))
            for term, own in zip(self.linear, slopes, strict=True)
            if own.any()
        )

    def cover(self, place: int) -> BoolArray:
        """Return the training rows of a rule."""
        return self.rules.covers[place : place + 1].row_mask()


def number_rules(
    candidates: CandidateTerms, rows: RegressionSet, responses: FloatArray
) -> tuple[Rule, ...]:
    """Return the rules with responses other than 0, with the numbers that they cover."""
    found = []
    for place in np.flatnonzero(responses).tolist():
        cover = candidates.cover(place)
        coverage = NumberCoverage.of(cover, rows.numbers, rows.weights)
        response = float(responses[place])
        found.append(Rule(candidates.rules.rules[place], Adds(Head(0, 0), response), coverage))
    return tuple(found)


def class_rules(
    candidates: CandidateTerms, rows: TrainingSet, responses: Iterable[tuple[int, Head, float]]
) -> tuple[Rule, ...]:
    """Return rules by place, head and response, with the classes that they cover.

    These are counted as far as possible on rows that the tree of a rule was not grown on.
    """
    found = []
    for place, head, response in responses:
        cover, inside = candidates.cover(place), candidates.rules.inside(place)
        weights = rows.weights_by_class(cover)
        if inside is None:
            coverage = Coverage.of(tuple(weights.tolist()))
        else:
            coverage = Coverage.outside(weights, rows.weights_by_class(cover & ~inside))
        found.append(Rule(candidates.rules.rules[place], Adds(head, response), coverage))
    return tuple(found)


class Penalty:
    """How strong the penalty is: chosen by cross-validation ("min", "1se"), or a number."""

    words = ("min", "1se")

    def accepts(self, value: object) -> bool:
        """Tell whether the value is allowed."""
        return value in self.words if isinstance(value, str) else Real(0, above=True).accepts(value)

    def parse(self, text: str) -> object:
        """Read a value from the command line."""
        return text if text in self.words else float(text)

    def __str__(self) -> str:
        return "min, 1se or a number > 0"


class CandidateSettings(TableEstimator):
    """What an L1 penalty chooses from: rules of many small trees, and linear terms."""

    max_candidates: int = Parameter(Integer(0), "Most rules to choose from.", default=2000)
    tree_size: float = Parameter(
        Real(2),
        "Sizes of trees: a tree has 2 + floor(u) leaves, u exponential with the mean tree_size - 2 "
        "(3.5 leaves on average for 4). 2 gives rules of one condition.",
        default=4.0,
    )
    learning_rate: float = Parameter(
        Real(0, 1),
        "Share of each tree that the later ones take into account; 0 is bagging.",
        default=0.01,
    )
    subsample: float | None = Parameter(
        Real(0, 1, above=True, optional=True),
        "Share of the rows that each tree is grown on; by default that of min(N / 2, 100 + 6 "
        "sqrt(N)) rows.",
        default=None,
    )
    inter_supp: float = Parameter(
        Real(1),
        "Factor of the scores of splits on columns that the path to a node already uses; more than "
        "1 suppresses interactions.",
        default=1.0,
    )
    rules: Any = Parameter(
        CheckedByFit("list of Conjunction or None"),
        "Rules to choose from instead of those of our own trees, such as those that "
        "`rules_from(model, schema)` extracts from trees of other packages.",
        default=None,
    )
    linear: bool = Parameter(
        Flag(), "Whether numeric columns may also add a straight line.", default=True
    )
    rule_scale: RuleScale = Parameter(
        Choice(("none", "support")),
        'Whether the penalty of a rule depends on its support; "support" divides rules by their '
        "standard deviation, so that it does not.",
        default="none",
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Most bins of a numeric column; none is one per value up to 2,048 rows, 255 beyond.",
        default=255,
    )

    def _warn_of_rows(self, rows: LearningRows[Any]) -> None:
        """Warn of columns with too many labels, if trees are grown on them."""
        if self.rules is None and self.max_candidates > 0:
            warn_of_many_labels(rows, type(self).__name__, POOLED)

    def _candidates(
        self, rows: LearningRows[Any], loss: GenerationLoss, seed: int, n_threads: int
    ) -> CandidateTerms:
        """Grow trees, or take the given rules, and add linear terms."""
        rules = self._rules(rows, loss, seed, n_threads)
        return CandidateTerms.of(rules, rows, 0.025 if self.linear else None)

    def _rules(
        self, rows: LearningRows[Any], loss: GenerationLoss, seed: int, n_threads: int
    ) -> TreeRules:
        given = () if self.max_candidates == 0 else self._given_rules()
        effective, subsample = count_effective_rows(rows.weights), self.subsample
        if subsample is None and effective < FEW_ROWS:
            subsample = 1.0
        if given is None and effective < FEWEST_ROWS and self.linear:
            warnings.warn(
                f"{type(self).__name__}: {effective:.0f} effective rows are too few for rules of "
                f"trees (fewer than {FEWEST_ROWS}): only linear terms are fitted.",
                stacklevel=4,
            )
            given = ()
        if given is not None:
            return clean_rules(given, rows.table, rows.weights, n_threads)
        generation = Generation(
            max_rules=self.max_candidates,
            mean_leaves=self.tree_size,
            learning_rate=self.learning_rate,
            subsample=subsample,
            inter_supp=self.inter_supp,
            limits=SearchLimits(),
        )
        binned = bin_table(rows.table, self.max_bins, n_threads)
        random = np.random.RandomState(seed)
        return generate_rules(binned, rows.weights, loss, generation, random, n_threads)

    def _given_rules(self) -> tuple[Conjunction, ...] | None:
        if self.rules is None:
            return None
        if isinstance(self.rules, str) or not hasattr(self.rules, "__iter__"):
            name = type(self.rules).__name__
            raise ValueError(f"rules: expected a list of conjunctions, got {name}")
        given = tuple(self.rules)
        for rule in given:
            if not isinstance(rule, Conjunction):
                raise ValueError(f"rules: expected conjunctions, got {type(rule).__name__}")
        return given


class RuleFit(CandidateSettings, RuleEstimator[Model], Generic[Model]):
    """Rules of many small trees and linear terms, weighted by an L1 penalty."""

    max_rules: int | None = Parameter(
        Integer(1, optional=True),
        "Most rules and lines in the model; of more than two classes, in the score of each class.",
        default=None,
        kw_only=False,
    )
    solver: Any = Parameter(
        SOLVER,
        "How the weights are found; an object has settings of its own, such as "
        "`PathBuild(tau=0.2)`.",
        default="coordinate",
    )
    penalty: Any = Parameter(
        Penalty(),
        'Strength of the penalty: "min" has the least loss of rows left out, "1se" is the largest '
        "within one standard error of it, because the rules have seen the rows left out; or a "
        "number, lambda of the mean loss plus lambda times the sum of the sizes of all weights.",
        default="1se",
    )
    cv: Any = Parameter(
        Splitting(),
        "Folds that choose the penalty, with the rules fixed; a number or a splitter.",
        default=5,
    )

    MAIN_EFFECTS: ClassVar[Mapping[str, Any]] = {"tree_size": 2.0, "rules": None}
    PAPER: ClassVar[Mapping[str, Any]] = {
        "max_candidates": 600,
        "tree_size": 20.0,
        "linear": False,
        "solver": "pathbuild",
        "rule_scale": "none",
    }

    def _progress(
        self, n_scores: int, folds: Folds | None
    ) -> AbstractContextManager[Callable[[], None]]:
        """Draw a bar with a step for the rules and one for each part of the path of each score."""
        n_parts = 1 if folds is None else N_PENALTIES // STRIDE
        return progress_bar("weighting rules", n_scores * (1 + n_parts), bool(self.verbose))

    def _made_solver(self, rows: LearningRows[Any]) -> Solver:
        solver: Solver = SOLVER.make(self.solver)
        if isinstance(solver, CoordinateDescent) and count_effective_rows(rows.weights) < FEW_ROWS:
            return replace(solver, tolerance=min(solver.tolerance, 1e-10))
        return solver
