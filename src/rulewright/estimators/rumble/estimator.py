"""RUMBLE (Rückert's thesis, 2008, chapter 5): weighted rules of an ordered repository."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import ModelWarning
from rulewright.estimators.contract.parameters import (
    CheckedByFit,
    Choice,
    Integer,
    Named,
    Parameter,
    Real,
    Splitting,
)
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.contract.warn import warn_caller
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.contract.work import check_work, count_features
from rulewright.estimators.finishing.after_fit import OutOfFold, read_model_rows, with_probabilities
from rulewright.estimators.folds.folds import Folds, divide_rows
from rulewright.estimators.folds.precision import (
    CheckedClassifier,
    CoverComparison,
    correct_precision,
)
from rulewright.estimators.rumble.preparing import (
    BUDGETS,
    N_FOLDS,
    Budget,
    choose_budget,
    read_bias,
    set_aside,
)
from rulewright.estimators.rumble.stability import RuleStability, bootstrap_stability
from rulewright.estimators.rumble.weighing import (
    DRAWN,
    NORMS,
    PRACTICAL,
    Prefix,
    Weighing,
    WeightNorm,
    collect_class_scores,
    rule_model,
)
from rulewright.model import AdditiveRules
from rulewright.search import LEAST_ROWS, Bias, Repository, default_bias
from rulewright.weighting import CALIBRATIONS, Temperature

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray

NORM = Named(NORMS, WeightNorm)
NO_RULES = "no rule improves the score by more than its penalty: only the constant rule is used"
SAME_ROWS = "labels, intervals or pairs come from the same rows as the weights"


@dataclass(frozen=True, eq=False)
class LearnedScores:
    """A model before its scores become probabilities, and how it was found."""

    model: AdditiveRules
    prefixes: tuple[Prefix, ...]
    repository: Repository


class RumbleClassifier(CheckedClassifier[AdditiveRules]):
    r"""Weights for the best prefix of rules that are generated, in prior order, without labels.

    Rules :math:`x_j` are 1 where they apply, -1 where they do not, and 0 if a value they need is
    missing. After every new rule the weights of all rules so far maximise a criterion: for
    ``"mmv"`` the mean of the margins :math:`y\, w \cdot x` minus their variance, with
    :math:`\|w\|_p \leq 1`. A penalty grows with the number of generated rules; the prefix with the
    best criterion minus penalty is used. So the order of the rules is a prior, which `bias`
    describes. With more than two classes each has a score against all others, over one repository.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.
    trace_ : list of list of TraceStep
        For each score, the prefixes with new weights: number of generated rules, objective,
        penalty, score, and number of rules with nonzero weights.
    budget_ : float
        The budget for "svm1".
    seed_ : int
        Seed of the rows that balance the classes, for "margin_subsample".
    weighed_rows_ : ndarray
        Places of the rows that the weights were fitted to: all, unless `bias_share` holds some
        out.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RumbleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RumbleClassifier(max_candidates=200, random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.9)
    True
    """

    POOLS_LABELS = True
    MOST_WORK = 30_000
    MOST_PAIRS: ClassVar[int] = 20_000
    """Maximum number of pairs, without `bias` and `max_candidates`; a fit warns of more."""

    criterion: str = Parameter(
        Choice(tuple(PRACTICAL)),
        'Criterion of the weights: mean minus variance of the margins ("mmv"), the mean margin '
        'with balanced classes, by weights ("margin") or by drawing rows of the larger class '
        '("margin_subsample"), or minus the hinge loss ("svm1").',
        default="mmv",
        kw_only=False,
    )
    norm: Any = Parameter(
        NORM,
        'Norm of the weights for "mmv", at most 1; "l1" gives few rules. A `WeightNorm` has any p, '
        "a radius and a shape.",
        default="l1",
    )
    budget: Any = Parameter(
        Budget(),
        'Maximum sum of absolute weights for "svm1"; 1 gives a single rule. "cv" chooses one of '
        "1, 2, 5, 10, 20 and 50 by five folds (1 with fewer than 50 rows).",
        default="cv",
    )
    bias: Any = Parameter(
        CheckedByFit("Bias, list of generators, path of a TOML file or None"),
        "The rules and their order; by default labels and intervals of all columns, then their "
        "pairs.",
        default=None,
    )
    max_bins: int = Parameter(
        Integer(2), "Maximum number of intervals per numeric column, without `bias`.", default=4
    )
    pairs: str | None = Parameter(
        Choice(("or", "and", "signed"), optional=True),
        'How pairs of rules are combined, without `bias`; "signed" uses "or" and "implies".',
        default="or",
    )
    max_candidates: int | None = Parameter(
        Integer(1, optional=True), "Maximum number of generated rules.", default=None
    )
    max_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Maximum number of rules; with more than two classes, per class. In larger models the "
        "smallest weights are set to 0 one by one, and the others are refitted.",
        default=None,
    )
    max_active: int = Parameter(
        Integer(1),
        "Maximum number of rules in the optimisation; beyond it, the smallest weight is dropped.",
        default=100,
    )
    capacity: float | None = Parameter(
        Real(0, optional=True),
        'Factor of the penalty for generated rules; by default 1 for "mmv" and 0.1 otherwise. 0 '
        "turns the penalty off.",
        default=None,
    )
    delta: float = Parameter(
        Real(1e-12, 1 - 1e-12), "Failure probability in the penalty.", default=0.05
    )
    bias_share: float = Parameter(
        Real(0, 0.9),
        "Share of the rows, drawn by their places only, for cutting intervals and choosing pairs; "
        "the weights are then fitted to the other rows, for which certificates are valid.",
        default=0.0,
    )
    calibration: str | None = Parameter(
        Choice(tuple(CALIBRATIONS), optional=True),
        "Calibration of the probabilities, fitted on out-of-fold scores. None fits a temperature "
        "on the training rows, as with fewer than 50 rows.",
        default="platt",
    )
    cv: Any = Parameter(Splitting(), "Folds of the calibration: a number or a splitter.", default=5)
    time_limit: float | None = Parameter(
        Real(0, above=True, optional=True),
        "Approximate time limit for the whole fit, in seconds. The best prefixes found so far are "
        "then used, and another run may find others.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "calibration": None,
        "precision_cv": None,
    }

    @classmethod
    def paper_relational(cls, **overrides: Any) -> Self:
        """Return the settings of the thesis for related tables and molecules (chapter 6).

        They use the 2-norm instead of the 1-norm, because related rules share their weight, no
        penalty for the number of rules, and at most 100 rules with a weight.
        """
        return cls.paper(**{"norm": "l2", "capacity": 0.0, "max_active": 100, **overrides})

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        if rows.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} needs two rows or more, n_samples=1 is too few"
            )
        self._check_features(rows)
        if self.criterion in ("margin", DRAWN) and len(np.unique(rows.labels)) == 1:
            text = "there is only one class, which cannot be balanced: it is always predicted"
            warnings.warn(text, UserWarning, stacklevel=4)
        random, bias = check_random_state(self.random_state), self._bias(rows)
        self.seed_ = random.randint(2**31) if self._draws else 0
        making, weighed = set_aside(rows, self.bias_share, random)
        parts = self._budget_folds(weighed, random)
        folds = self._folds(weighed, random)
        n_fits = 1 + _count(folds) + len(BUDGETS) * _count(parts)
        seconds = None if self.time_limit is None else self.time_limit / n_fits
        with progress_bar("weighing rules", n_fits, bool(self.verbose)) as advance:
            learn = partial(self._weigh, bias, making, seconds, advance)
            budget = self._chosen_budget(learn, weighed, parts)
            learn = partial(learn, budget)
            learned = learn(weighed, lambda: None)
            left_out, compared = self._score_left_out(learn, weighed, folds)
        model = self._with_probabilities(learned.model, weighed, left_out)
        if self.precision_cv is not None:
            model = correct_precision(model, compared, weighed)
        self._warn_of_idle(learned.repository)
        self.budget_, self.weighed_rows_ = budget, weighed.places
        self.trace_ = [list(prefix.trace) for prefix in learned.prefixes]
        return model

    def stability(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        n_bootstraps: int = 50,
        random_state: Any = 0,
    ) -> RuleStability:
        """Measure how often each rule is chosen on bootstrap samples of the rows.

        Parameters
        ----------
        X, y, sample_weight : rows, classes and weights
            The training data; the rules are regenerated from all of them.
        n_bootstraps : int
            Number of samples: n of n rows, drawn with replacement by weight.
        random_state : int, RandomState or None
            Seed of the samples.
        """
        model = self._get_model()
        rows = read_model_rows(model, X, y, sample_weight, "stability", every_column=True)
        kept = np.isin(rows.places, self.weighed_rows_)
        weighed, aside = (rows.take(np.flatnonzero(part)) for part in (kept, ~kept))
        source = aside if aside.n_rows else weighed
        repository = Repository(self._bias(rows), weighed.table, source.table, source.weights)
        random = check_random_state(random_state)
        weighing = self._weighing(self.budget_)
        return bootstrap_stability(model, weighing, repository, weighed, n_bootstraps, random)

    def _check_features(self, rows: TrainingSet) -> None:
        """Refuse more features than the limit, and warn of pairs beyond the budget."""
        if self.bias is not None or self.max_candidates is not None:
            return
        n_features = count_features(rows.table, self.max_bins)
        what = "labels and intervals, each a feature"
        remedy = "Select columns, as RuleVoteSelector does, or set max_candidates"
        check_work(self, n_features, what, remedy)
        if self._most_pairs(rows) is not None and not self._is_nested:
            name = type(self).__name__
            warn_caller(
                f"{name}: {n_features} labels and intervals have more pairs than "
                f"{name}.MOST_PAIRS = {self.MOST_PAIRS:,}: only those with the least mutual "
                "information are used. Select columns, or raise the limit, if memory and time are "
                "no problem.",
                ModelWarning,
            )

    def _most_pairs(self, rows: TrainingSet) -> int | None:
        """Return the maximum number of pairs if there would be more."""
        if self.pairs is None or self.max_candidates is not None:
            return None
        n = count_features(rows.table, self.max_bins)
        n_pairs = n * (n - 1) // (1 if self.pairs == "signed" else 2)
        return self.MOST_PAIRS if n_pairs > self.MOST_PAIRS else None

    def _bias(self, rows: TrainingSet) -> Bias:
        """Return the requested bias."""
        if self.bias is None:
            return default_bias(self.max_bins, self.pairs, self._most_pairs(rows))
        return read_bias(self.bias, rows)

    @property
    def _draws(self) -> bool:
        """Whether rows are drawn to balance the classes."""
        return self.criterion == DRAWN

    def _folds(self, rows: TrainingSet, random: np.random.RandomState) -> Folds | None:
        if self.calibration is None or count_effective_rows(rows.weights) < LEAST_ROWS:
            return None
        return divide_rows(rows, self.cv, random)

    def _weigh(
        self,
        bias: Bias,
        making: TrainingSet | None,
        seconds: float | None,
        advance: Callable[[], None],
        budget: float,
        rows: TrainingSet,
        check: Callable[[], None],
    ) -> LearnedScores:
        """Find the best prefix of each score, over one repository."""
        source = rows if making is None else making
        repository = Repository(bias, rows.table, source.table, source.weights)
        prefixes = self._weighing(budget).prefixes(
            repository, rows.labels, rows.weights, len(rows.classes), check, seconds
        )
        summary = {**self._summary(rows), **self._figures(repository, prefixes)}
        advance()
        scores = collect_class_scores(prefixes)
        return LearnedScores(
            rule_model(scores, repository, rows, summary), tuple(prefixes), repository
        )

    def _weighing(self, budget: float) -> Weighing:
        names = {field.name for field in fields(Weighing)} - {"seed"}
        settings = {name: getattr(self, name) for name in names}
        own = {"budget": budget, "norm": NORM.make(self.norm), "seed": self.seed_}
        return Weighing(**{**settings, **own})

    def _budget_folds(self, rows: TrainingSet, random: np.random.RandomState) -> Folds | None:
        """Split the rows to choose a budget, if there is one to choose."""
        if self.criterion != "svm1" or self.budget != "cv":
            return None
        if count_effective_rows(rows.weights) < LEAST_ROWS:
            return None
        return divide_rows(rows, N_FOLDS, random)

    def _chosen_budget(
        self, learn: Callable[..., LearnedScores], rows: TrainingSet, folds: Folds | None
    ) -> float:
        if folds is None:
            return BUDGETS[0] if self.budget == "cv" else float(self.budget)

        def model(budget: float, part: TrainingSet, check: Callable[[], None]) -> AdditiveRules:
            return learn(budget, part, check).model

        return choose_budget(model, rows, folds, self._n_threads)

    def _figures(self, repository: Repository, prefixes: list[Prefix]) -> dict[str, Any]:
        """Record how the weights were found."""
        doubts = [SAME_ROWS] if self.bias_share == 0 and repository.bias.looks_at_rows else []
        alone = all(prefix.n_generated == 1 for prefix in prefixes)
        return {
            "n_generated": repository.n_generated,
            "prefixes": [prefix.n_generated for prefix in prefixes],
            "objectives": [prefix.solution.value for prefix in prefixes],
            "gaps": [prefix.solution.gap for prefix in prefixes],
            "constraint_active": [prefix.solution.constraint_active for prefix in prefixes],
            "stop_reasons": [prefix.stop_reason for prefix in prefixes],
            "bias": [repr(generator) for generator in repository.bias.generators],
            "doubts": doubts,
            **({"note": NO_RULES} if alone else {}),
        }

    def _compare_folds(self, rows: TrainingSet) -> Iterator[CoverComparison]:
        """Learn without each fold, unless there is a time limit."""
        return super()._compare_folds(rows) if self.time_limit is None else iter(())

    def _score_left_out(
        self, learn: Callable[..., LearnedScores], rows: TrainingSet, folds: Folds | None
    ) -> tuple[OutOfFold | None, list[CoverComparison]]:
        """Return the out-of-fold scores of all rows, and the coverage of the folds' rules.

        The coverage is counted on training and on held-out rows.
        """
        if folds is None:
            return None, []

        def run(fold: int, check: Callable[[], None]) -> tuple[FloatArray, CoverComparison]:
            train, left_out = (
                rows.take(part) for part in (folds.train_rows(fold), folds.held_out_rows(fold))
            )
            model = learn(train, check).model
            compared = CoverComparison.of(model, train, left_out)
            return model.scores(left_out.table, n_threads=1), compared

        answers, compared = zip(*folds.run(run, self._n_threads), strict=True)
        return OutOfFold.of(folds.scatter(answers), folds, rows), list(compared)

    def _with_probabilities(
        self, model: AdditiveRules, rows: TrainingSet, left_out: OutOfFold | None
    ) -> AdditiveRules:
        """Convert scores to probabilities: by held-out rows, or by a temperature on all rows."""
        if self.calibration is not None and left_out is not None:
            calibration = CALIBRATIONS[self.calibration](
                n_rows=count_effective_rows(left_out.weights)
            )
            return with_probabilities(model, rows, calibration, left_out)
        scores = model.scores(rows.table, n_threads=self._n_threads)
        warmed = (
            Temperature(n_rows=count_effective_rows(rows.weights))
            .fit(scores, rows.labels, rows.weights)
            .apply(model)
        )
        return with_probabilities(warmed, rows, None, None)

    def _warn_of_idle(self, repository: Repository) -> None:
        """Warn about generators of a given bias that created no rule."""
        if self.bias is not None and repository.idle:
            names = ", ".join(repository.idle)
            warnings.warn(f"bias: {names} created no rules", UserWarning, stacklevel=5)


def _count(folds: Folds | None) -> int:
    return 0 if folds is None else len(folds)
