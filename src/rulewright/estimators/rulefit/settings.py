"""Parameters and candidate terms shared by the rule ensembles for classification and regression."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import numpy as np

from rulewright.data import ModelWarning, TrainingSet
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
from rulewright.estimators.contract.warn import warn_caller
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.rulefit.left_out import PenaltySearch
from rulewright.estimators.rulefit.penalty import STRIDE
from rulewright.estimators.rulefit.terms import CandidateTerms, FoldTerms
from rulewright.model import RuleModel
from rulewright.rules import Conjunction
from rulewright.search import (
    Generation,
    SearchLimits,
    clean_rules,
    generate_rules,
)
from rulewright.weighting import (
    FPC,
    N_PENALTIES,
    SPGL1,
    CoordinateDescent,
    PathBuild,
    Solver,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray

    from rulewright.data import LearningRows
    from rulewright.estimators.folds.folds import Folds
    from rulewright.search import GenerationLoss, TreeRules
    from rulewright.weighting import RuleScale

SOLVERS: dict[str, Callable[..., Solver]] = {
    "coordinate": partial(CoordinateDescent, tolerance=1e-4),
    "pathbuild": PathBuild,
    "spgl1": SPGL1,
    "fpc": FPC,
}
"""The solvers by name; held-out losses do not need the precision of the solver's default."""

SOLVER = Named(SOLVERS, Solver)

FEWEST_ROWS = 40
"""Minimum effective number of rows for growing trees."""

FEW = (
    "{}: {:.0f} effective rows (fewer where a class is rare) are too few to grow trees (at least "
    f"{FEWEST_ROWS}): only linear terms are fitted. linear=False grows trees on any number of rows."
)

FEW_ROWS = 100
"""Below this number of rows there is no subsampling, and weights are solved exactly. With fewer
than `LEAST_ROWS`, which are not parted for the penalty, integer weights equal repeated rows."""

Model = TypeVar("Model", bound=RuleModel)


class Penalty(Named):
    """The penalty strength: chosen by cross-validation ("min", "1se", an object), or a number."""

    def accepts(self, value: object) -> bool:
        """Return whether the value is allowed."""
        return super().accepts(value) or Real(0, above=True).accepts(value)

    def parse(self, text: str) -> object:
        """Parse a value from the command line."""
        return super().parse(text) if "(" in text or text in self.makers else float(text)

    def __str__(self) -> str:
        return "min, 1se, a PenaltySearch or a number > 0"


PENALTY = Penalty(
    {
        "min": partial(PenaltySearch, "min"),
        "1se": PenaltySearch,
        "search": PenaltySearch,
    },
    PenaltySearch,
)


class CandidateSettings(TableEstimator):
    """Parameters of the candidates: rules of many small trees, and linear terms."""

    max_candidates: int = Parameter(Integer(0), "Maximum number of candidate rules.", default=2000)
    tree_size: float = Parameter(
        Real(2),
        "Mean size of the trees: a tree has 2 + floor(u) leaves, with u exponential of mean "
        "tree_size - 2 (3.5 leaves on average for 4). 2 gives rules with one condition.",
        default=4.0,
    )
    learning_rate: float = Parameter(
        Real(0, 1),
        "Shrinkage of each tree for the trees after it; 0 is bagging.",
        default=0.01,
    )
    subsample: float | None = Parameter(
        Real(0, 1, above=True, optional=True),
        "Share of the rows that each tree is grown on. By default the share of min(N / 2, 100 + 6 "
        "sqrt(N)) rows.",
        default=None,
    )
    inter_supp: float = Parameter(
        Real(1),
        "Factor of the split scores of columns already used on the path to a node; more than 1 "
        "suppresses interactions.",
        default=1.0,
    )
    rules: Any = Parameter(
        CheckedByFit("list of Conjunction or None"),
        "Candidate rules that replace the internally grown trees, such as the rules that "
        "`rules_from(model, schema)` extracts from trees of other packages.",
        default=None,
    )
    linear: bool = Parameter(
        Flag(), "Whether to add straight lines for numeric columns.", default=True
    )
    rule_scale: RuleScale = Parameter(
        Choice(("none", "support")),
        'How terms are scaled under the penalty. "support" divides rules by their standard '
        "deviation, so that the penalty does not depend on their support.",
        default="none",
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Maximum number of bins per numeric column. By default one per value up to 2,048 rows, "
        "255 beyond.",
        default=255,
    )

    def _warn_of_rows(self, rows: LearningRows[Any]) -> None:
        """Warn of columns with too many labels, if trees are grown on them."""
        if self.rules is None and self.max_candidates > 0:
            warn_of_many_labels(rows, type(self).__name__, POOLED)

    def _candidates(
        self, rows: LearningRows[Any], loss: GenerationLoss, seed: int, n_threads: int
    ) -> CandidateTerms:
        """Grow trees, or use the given rules, and add linear terms."""
        rules = self._rules(rows, loss, seed, n_threads)
        return CandidateTerms.of(rules, rows, 0.025 if self.linear else None)

    def _rules(
        self,
        rows: LearningRows[Any],
        loss: GenerationLoss,
        seed: int,
        n_threads: int,
        quiet: bool = False,
    ) -> TreeRules:
        given = () if self.max_candidates == 0 else self._given_rules()
        effective, subsample = count_balanced_rows(rows), self.subsample
        if subsample is None and count_effective_rows(rows.weights) < FEW_ROWS:
            subsample = 1.0
        if given is not None:
            return clean_rules(given, rows.table, rows.weights, n_threads)
        binned = bin_table(rows.table, self.max_bins, n_threads)
        if effective < FEWEST_ROWS and self.linear:
            if not (quiet or self._is_nested) and any(len(bins) > 1 for bins in binned.bins):
                warn_caller(FEW.format(type(self).__name__, effective), ModelWarning)
            return clean_rules((), rows.table, rows.weights, n_threads)
        generation = Generation(
            max_rules=self.max_candidates,
            mean_leaves=self.tree_size,
            learning_rate=self.learning_rate,
            subsample=subsample,
            inter_supp=self.inter_supp,
            limits=SearchLimits(),
        )
        random = np.random.RandomState(seed)
        return generate_rules(binned, rows.weights, loss, generation, random, n_threads, rows.units)

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


def count_balanced_rows(rows: LearningRows[Any]) -> float:
    """Return the effective number of rows, fewer where classes are rare.

    With a share q of positives the factor is 4 q (1 - q), with more classes the Gini impurity as a
    share of its maximum. Classes without weight do not count.
    """
    effective = count_effective_rows(rows.weights)
    if not isinstance(rows, TrainingSet) or (n := np.count_nonzero(rows.class_weights)) < 2:
        return effective
    shares = rows.class_weights / rows.total_weight
    return effective * float(1 - (shares**2).sum()) * n / (n - 1)


class RuleFit(CandidateSettings, RuleEstimator[Model], Generic[Model]):
    """Rules of many small trees and linear terms, weighted under an L1 penalty."""

    max_rules: int | None = Parameter(
        Integer(1, optional=True),
        "Maximum number of rules and lines; with more than two classes, per class.",
        default=None,
        kw_only=False,
    )
    solver: Any = Parameter(
        SOLVER,
        'How the weights are computed, such as "coordinate"; an object has its own settings, such '
        "as `PathBuild(tau=0.2)`.",
        default="coordinate",
    )
    penalty: Any = Parameter(
        PENALTY,
        'Strength of the L1 penalty. "min" minimises the cross-validated loss; "1se" is the '
        "largest penalty within one standard error of the minimum, which offsets the optimism of "
        "rules grown on all rows. A `PenaltySearch` minimises the share of errors or one minus "
        "the area under the ROC curve, or grows rules in each fold. A number is the factor of the "
        "sum of absolute weights in the mean loss.",
        default="1se",
    )
    cv: Any = Parameter(
        Splitting(),
        "Folds that choose the penalty, with the rules fixed: a number or a splitter.",
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
        """Create a progress bar: a step for the rules, and one for each part of each path."""
        n_parts = 1 if folds is None else N_PENALTIES // STRIDE
        n_parts *= len(SOLVER.make(self.solver).variants)
        return progress_bar("weighting rules", n_scores * (1 + n_parts), bool(self.verbose))

    def _made_solver(self, rows: LearningRows[Any]) -> Solver:
        solver: Solver = SOLVER.make(self.solver)
        if isinstance(solver, CoordinateDescent) and count_effective_rows(rows.weights) < FEW_ROWS:
            return replace(solver, tolerance=min(solver.tolerance, 1e-10))
        return solver

    @property
    def _search(self) -> PenaltySearch | None:
        """How the penalty is chosen; None if it is given."""
        made = PENALTY.make(self.penalty)
        return made if isinstance(made, PenaltySearch) else None

    def _grow_in_folds(
        self,
        rows: LearningRows[Any],
        folds: Folds | None,
        loss_of: Callable[[NDArray[np.intp]], GenerationLoss],
        seed: int,
    ) -> list[FoldTerms] | None:
        """Grow rules without the held-out rows of each fold, if the penalty is chosen by them."""
        if folds is None or self._search is None or not self._search.regrow:
            return None
        found = []
        for fold in range(len(folds)):
            places = folds.train_rows(fold)
            part, held = rows.take(places), rows.take(folds.held_out_rows(fold))
            rules = self._rules(part, loss_of(places), seed, self._n_threads, quiet=True)
            terms = CandidateTerms.of(rules, part, 0.025 if self.linear else None)
            columns = terms.hold_out(held, self._n_threads)
            found.append(FoldTerms(terms, places, part.weights, columns))
        return found
