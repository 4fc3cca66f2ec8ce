"""RUMBLE (Rückert's thesis, 2008, chapter 5): weighted rules of an ordered repository."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

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
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.finishing.after_fit import OutOfFold, read_model_rows, with_probabilities
from rulewright.estimators.folds.folds import Folds, assign_folds, keep_splits
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
NO_RULES = "no rule is worth its penalty: the constant rule is taken alone"
SAME_ROWS = "labels, intervals or pairs were taken from the rows that the weights were fitted to"


@dataclass(frozen=True, eq=False)
class LearnedScores:
    """A model before its scores are probabilities, and how it was found."""

    model: AdditiveRules
    prefixes: tuple[Prefix, ...]
    repository: Repository


class RumbleClassifier(CheckedClassifier[AdditiveRules]):
    r"""The best weights for a prefix of rules that are generated, in order, without labels.

    Rules :math:`x_j` are 1 where they hold, -1 where they fail and 0 where a value they need is
    missing. After every new rule the weights of all rules so far maximise a criterion: for
    ``"mmv"`` the mean of the margins :math:`y\, w \cdot x` minus their variance, with
    :math:`\|w\|_p \leq 1`. A penalty grows with the number of rules generated; the prefix with the
    best criterion minus penalty is taken. So the order of the rules is a prior, which `bias`
    describes. Of more than two classes each has a score against all others, over one repository.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.
    trace_ : list of list of TraceStep
        For each score the prefixes with new weights: rules generated, objective, penalty, score and
        number of rules with a weight.
    budget_ : float
        The budget of "svm1".
    weighed_rows_ : ndarray
        Places of the rows that the weights were fitted to: all, unless `bias_share` sets some
        aside.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RumbleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RumbleClassifier(max_candidates=200, random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.9)
    True
    """

    criterion: str = Parameter(
        Choice(tuple(PRACTICAL)),
        'What the weights maximise: mean minus variance of the margins ("mmv"), the mean margin of '
        'balanced classes ("margin"), or minus the hinge loss ("svm1").',
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
        'Most that the sizes of the weights sum to for "svm1"; 1 gives a single rule. "cv" chooses '
        "one of 1, 2, 5, 10, 20 and 50 by five folds, or takes 1 for fewer than 50 rows.",
        default="cv",
    )
    bias: Any = Parameter(
        CheckedByFit("Bias, list of generators, path of a TOML file or None"),
        "The rules and their order; by default labels and intervals of all columns, then their "
        "pairs.",
        default=None,
    )
    max_bins: int = Parameter(
        Integer(2), "Most intervals of a numeric column, without `bias`.", default=4
    )
    pairs: str | None = Parameter(
        Choice(("or", "and", "signed"), optional=True),
        'How pairs of rules are joined, without `bias`; "signed" joins by "or" and by "implies".',
        default="or",
    )
    max_candidates: int | None = Parameter(
        Integer(1, optional=True), "Most rules that are generated.", default=None
    )
    max_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Most rules in the model; of more than two classes, in the score of each class. Of more "
        "rules the smallest weights become 0 one by one, and the others are weighed anew.",
        default=None,
    )
    max_active: int = Parameter(
        Integer(1),
        "Rules in the optimisation; of more, the one with the smallest weight is taken out.",
        default=100,
    )
    capacity: float | None = Parameter(
        Real(0, optional=True),
        'Constant of the penalty; by default 1 for "mmv" and 0.1 for others. 0 charges nothing, so '
        "that no rule is one too many.",
        default=None,
    )
    delta: float = Parameter(
        Real(1e-12, 1 - 1e-12), "Probability of failure in the penalty.", default=0.05
    )
    bias_share: float = Parameter(
        Real(0, 0.9),
        "Share of the rows, drawn by their places alone, that intervals are cut and pairs are "
        "chosen on; the weights are then fitted to the other rows, for which certificates hold.",
        default=0.0,
    )
    calibration: str | None = Parameter(
        Choice(tuple(CALIBRATIONS), optional=True),
        "How scores become probabilities, fitted to the scores of rows left out. None fits a "
        "temperature to the training rows, as for fewer than 50 rows.",
        default="platt",
    )
    cv: Any = Parameter(Splitting(), "Folds of the calibration; a number or a splitter.", default=5)
    time_limit: float | None = Parameter(
        Real(0, above=True, optional=True),
        "Seconds for the whole fit, about; the best prefixes found by then are taken, and another "
        "fit may find others.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {"calibration": None, "precision_cv": None}

    @classmethod
    def paper_relational(cls, **overrides: Any) -> Self:
        """Return the settings of the thesis for related tables and molecules (chapter 6).

        The 2-norm instead of the 1-norm, as related rules share their weight, and no penalty for
        the number of rules; of those generated, 100 at most are weighed.
        """
        return cls.paper(**{"norm": "l2", "capacity": 0.0, "max_active": 100, **overrides})

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        if rows.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} needs two rows or more, n_samples=1 is too few"
            )
        if self.criterion == "margin" and len(np.unique(rows.labels)) == 1:
            text = "there is one class only, which cannot be balanced: it is always predicted"
            warnings.warn(text, UserWarning, stacklevel=4)
        random, bias = check_random_state(self.random_state), self._bias(rows)
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
        """Tell how often each rule is chosen again on bootstrap samples of the rows.

        Parameters
        ----------
        X, y, sample_weight : rows, classes and weights
            What the learner was fitted to; the rules are generated from all of them again.
        n_bootstraps : int
            Samples: of n rows n are drawn with replacement, by their weights.
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

    def _bias(self, rows: TrainingSet) -> Bias:
        """Return the bias that is asked for."""
        if self.bias is None:
            return default_bias(self.max_bins, self.pairs)
        return read_bias(self.bias, rows)

    def _folds(self, rows: TrainingSet, random: np.random.RandomState) -> Folds | None:
        if self.calibration is None or count_effective_rows(rows.weights) < LEAST_ROWS:
            return None
        return assign_folds(rows.labels, keep_splits(self.cv, rows.places), random)

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
        settings = {field.name: getattr(self, field.name) for field in fields(Weighing)}
        return Weighing(**{**settings, "budget": budget, "norm": NORM.make(self.norm)})

    def _budget_folds(self, rows: TrainingSet, random: np.random.RandomState) -> Folds | None:
        """Part the rows to choose a budget by, if there is one to choose."""
        if self.criterion != "svm1" or self.budget != "cv":
            return None
        if count_effective_rows(rows.weights) < LEAST_ROWS:
            return None
        return assign_folds(rows.labels, N_FOLDS, random)

    def _chosen_budget(
        self, learn: Callable[..., LearnedScores], rows: TrainingSet, folds: Folds | None
    ) -> float:
        if folds is None:
            return BUDGETS[0] if self.budget == "cv" else float(self.budget)

        def model(budget: float, part: TrainingSet, check: Callable[[], None]) -> AdditiveRules:
            return learn(budget, part, check).model

        return choose_budget(model, rows, folds, self._n_threads)

    def _figures(self, repository: Repository, prefixes: list[Prefix]) -> dict[str, Any]:
        """Note down how the weights were found."""
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
        """Learn without each fold, unless there is a time to keep."""
        return super()._compare_folds(rows) if self.time_limit is None else iter(())

    def _score_left_out(
        self, learn: Callable[..., LearnedScores], rows: TrainingSet, folds: Folds | None
    ) -> tuple[OutOfFold | None, list[CoverComparison]]:
        """Return the scores of every row by the model that was learned without its fold.

        And what the rules of these models cover on both sides.
        """
        if folds is None:
            return None, []

        def run(fold: int, check: Callable[[], None]) -> tuple[FloatArray, CoverComparison]:
            model = learn(rows.take(folds.train_rows(fold)), check).model
            left_out = rows.take(folds.held_out_rows(fold))
            return model.scores(left_out.table, n_threads=1), CoverComparison.of(model, left_out)

        answers, compared = zip(*folds.run(run, self._n_threads), strict=True)
        return OutOfFold.of(folds.scatter(answers), folds, rows), list(compared)

    def _with_probabilities(
        self, model: AdditiveRules, rows: TrainingSet, left_out: OutOfFold | None
    ) -> AdditiveRules:
        """Turn scores into probabilities, by rows left out or by a temperature of all rows."""
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
        """Warn of generators of a given bias that made no rule."""
        if self.bias is not None and repository.idle:
            names = ", ".join(repository.idle)
            warnings.warn(f"bias: no rules came of {names}", UserWarning, stacklevel=5)


def _count(folds: Folds | None) -> int:
    return 0 if folds is None else len(folds)
