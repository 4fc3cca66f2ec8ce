"""Rule ensembles for classification: one L1 problem for two classes, one per class for more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.contract.base import RuleClassifier
from rulewright.estimators.contract.parameters import Choice, Parameter
from rulewright.estimators.contract.weights import count_effective_rows
from rulewright.estimators.finishing.after_fit import OutOfFold, with_probabilities
from rulewright.estimators.folds.folds import Folds, divide_rows
from rulewright.estimators.rulefit.penalty import ChosenPenalty as Chosen
from rulewright.estimators.rulefit.penalty import SolutionSearch, choose_solution
from rulewright.estimators.rulefit.settings import SOLVER, RuleFit
from rulewright.estimators.rulefit.terms import CandidateTerms, class_rules
from rulewright.model import AdditiveRules
from rulewright.rules import Head, Rule
from rulewright.search import LEAST_ROWS
from rulewright.weighting import (
    CALIBRATIONS,
    Calibration,
    Logistic,
    LogisticLoss,
    Ramp,
    RampLoss,
    SoftmaxLoss,
    Squared,
    SquaredLoss,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray

DATAFITS: Mapping[str, Any] = {"logistic": Logistic, "squared": Squared, "ramp": Ramp}
TREE_LOSSES: Mapping[str, Any] = {
    "logistic": LogisticLoss,
    "squared": SquaredLoss,
    "ramp": RampLoss,
}

LOG_ODDS = 2.0
"""Scores of squared and ramp losses are 2 p - 1; times this factor they are log-odds near 0."""


@dataclass(frozen=True, eq=False)
class WeightedTerms:
    """The score of one class: candidate rules and their weights."""

    head: int
    candidates: CandidateTerms
    choice: Chosen


class RuleFitClassifier(RuleFit[AdditiveRules], RuleClassifier[AdditiveRules]):
    r"""Classifier with rules of small trees and linear terms, weighted under an L1 penalty.

    The score is :math:`F(x) = a_0 + \sum_k a_k r_k(x) + \sum_j b_j l_j(x_j)`. The rules
    :math:`r_k` are the nodes of random trees, boosted on the loss; the lines :math:`l_j` run
    between two quantiles of a column (Friedman and Popescu, 2008). The weights minimise the mean
    loss plus an L1 penalty, which makes most of them 0. With more than two classes each class has
    its own score. With two classes and the logistic loss the score is the log-odds; other scores
    become probabilities by Platt scaling on held-out rows.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules and lines: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.
    choices_ : list of Choice
        Path and chosen solution of each score, with its certificate.
    n_candidates_ : list of int
        Number of candidate rules per score.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RuleFitClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RuleFitClassifier(max_candidates=200, random_state=0).fit(X, y)
    >>> est.score(X, y) > 0.95
    True
    """

    loss: str = Parameter(
        Choice(("auto", *DATAFITS)),
        'Loss that the weights minimise. "auto" is "logistic" if the solver supports it, else '
        '"squared".',
        default="auto",
    )
    multiclass: str = Parameter(
        Choice(("shared", "ovr")),
        'With more than two classes: one set of rules for all classes ("shared"), or rules for '
        'each class against the rest ("ovr").',
        default="shared",
    )
    calibration: str | None = Parameter(
        Choice(("auto", *CALIBRATIONS), optional=True),
        'Calibration of the probabilities on held-out scores. "auto" is None if the scores are '
        'log-odds (logistic loss, two classes), else "platt". With fewer than 50 rows there is '
        "no calibration.",
        default="auto",
    )

    PAPER: ClassVar[Mapping[str, Any]] = {**RuleFit.PAPER, "loss": "ramp", "multiclass": "ovr"}

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        loss, n_classes = self._loss_name, len(rows.classes)
        if n_classes == 1:
            self.choices_, self.n_candidates_ = [], []
            return AdditiveRules(rows.schema, rows.classes, (0.0,), (), self._summary(rows))
        random = check_random_state(self.random_state)
        calibration = self._calibration(loss, n_classes)
        folds = self._folds(rows, random, calibration is not None)
        heads = [1] if n_classes == 2 else range(n_classes)
        seeds = random.randint(2**31, size=len(heads)).tolist()
        with self._progress(len(heads), folds) as advance:
            weighted = self._weigh(rows, loss, dict(zip(heads, seeds, strict=True)), folds, advance)
        self.choices_ = [score.choice for score in weighted]
        self.n_candidates_ = [len(score.candidates.rules) for score in weighted]
        model = self._model(rows, weighted)
        known = [choice.out_of_fold for choice in self.choices_ if choice.out_of_fold is not None]
        if folds is None or len(known) < len(self.choices_):
            factor = 1.0 if loss == "logistic" else LOG_ODDS
            return with_probabilities(
                model.scale_scores(factor, [0.0] * n_classes), rows, None, None
            )
        scores = np.column_stack(known)
        if n_classes == 2:
            scores = np.column_stack([np.zeros(rows.n_rows), scores])
        left_out = OutOfFold.of(scores, folds, rows)
        source = "left out of the weighting"
        return with_probabilities(model, rows, calibration, left_out, source=source)

    def _weigh(
        self,
        rows: TrainingSet,
        loss: str,
        seeds: Mapping[int, int],
        folds: Folds | None,
        advance: Callable[[], None],
    ) -> list[WeightedTerms]:
        """Fit the weights of each head: of its own rules, or of the shared ones."""
        found, problem, candidates, grown = [], None, None, None
        shared = len(seeds) > 1 and self.multiclass == "shared"
        solver, threads = self._made_solver(rows), self._n_threads
        penalty = self._search or self.penalty
        how = SolutionSearch(
            solver, penalty, folds, rows.total_weight, self.max_rules, threads, advance
        )
        for head, seed in seeds.items():
            y = np.where(rows.labels == head, 1.0, -1.0)
            if problem is None or candidates is None or not shared:
                loss_of = partial(self._tree_loss, rows, y, loss, shared)
                candidates = self._candidates(rows, loss_of(slice(None)), seed, threads)
                grown = self._grow_in_folds(rows, folds, loss_of, seed)
                advance()
                problem = candidates.problem(
                    y, rows.weights, DATAFITS[loss](), self.rule_scale, threads
                )
            problem = replace(problem, y=y)  # with the same columns
            parts = (
                None
                if grown is None
                else [one.problem(y, problem.datafit, self.rule_scale, threads) for one in grown]
            )
            found.append(WeightedTerms(head, candidates, choose_solution(problem, how, parts)))
        return found

    def _tree_loss(
        self, rows: TrainingSet, y: FloatArray, loss: str, shared: bool, places: Any
    ) -> Any:
        """Return the loss of some rows, whose residuals the trees fit."""
        weights = rows.weights[places]
        if shared:
            return SoftmaxLoss(rows.labels[places], weights, len(rows.classes))
        return TREE_LOSSES[loss](y[places], weights)

    @property
    def _loss_name(self) -> str:
        known = SOLVER.make(self.solver).losses
        if self.loss == "auto":
            return "logistic" if "logistic" in known else "squared"
        if self.loss not in known:
            raise ValueError(
                f"{type(self).__name__}: solver={self.solver!r} has no loss={self.loss!r}. "
                f"Use one of {', '.join(known)}"
            )
        return self.loss

    def _calibration(self, loss: str, n_classes: int) -> Calibration | None:
        kind = self.calibration
        if kind == "auto":
            kind = None if loss == "logistic" and n_classes == 2 else "platt"
        return None if kind is None else CALIBRATIONS[kind]()

    def _folds(
        self, rows: TrainingSet, random: np.random.RandomState, calibrated: bool
    ) -> Folds | None:
        """Split the rows into folds if needed; with few rows a criterion chooses the penalty."""
        if count_effective_rows(rows.weights) < LEAST_ROWS:
            return None
        if not calibrated and self._search is None:
            return None
        return divide_rows(rows, self.cv, random)

    def _model(self, rows: TrainingSet, weighted: Sequence[WeightedTerms]) -> AdditiveRules:
        """Combine the weights of all scores into a model."""
        n_classes, lined = len(rows.classes), weighted[0].candidates
        intercepts = np.zeros(n_classes)
        rules: list[Rule] = []
        slopes = np.zeros((len(lined.linear), n_classes))  # all heads have the same lines
        for score in weighted:
            solution = score.choice.solution
            intercepts[score.head] = solution.intercept
            slopes[:, score.head] = score.candidates.slopes(solution)
            responses = _place_responses(
                score.candidates.responses(solution), score.head, n_classes
            )
            rules += class_rules(score.candidates, rows, responses)
        summary = {
            **self._summary(rows),
            "penalties": [score.choice.solution.penalty for score in weighted],
            "n_candidates": self.n_candidates_,
        }
        starts, lines = tuple(intercepts.tolist()), lined.lines(slopes)
        return AdditiveRules(rows.schema, rows.classes, starts, tuple(rules), summary, linear=lines)


def _place_responses(
    responses: FloatArray, head: int, n_classes: int
) -> list[tuple[int, Head, float]]:
    """Return places, heads and responses; with two classes, one score gives both."""
    placed = []
    for place in np.flatnonzero(responses).tolist():
        response, speaks_for = float(responses[place]), head
        if n_classes == 2 and response < 0:
            response, speaks_for = -response, 1 - head
        placed.append((place, Head(speaks_for, speaks_for), response))
    return placed
