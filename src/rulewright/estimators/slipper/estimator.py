"""SLIPPER: confidence-rated boosting of pruned rules (Cohen and Singer, AAAI 1999)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import MOST_BINS, Threshold, bin_table
from rulewright.estimators.contract.base import positive_of_two
from rulewright.estimators.contract.constrained import BoostedClassifier
from rulewright.estimators.contract.parameters import (
    CheckedByFit,
    Choice,
    Flag,
    Integer,
    Parameter,
    Real,
    Splitting,
)
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.finishing.after_fit import OutOfFold, with_probabilities
from rulewright.estimators.folds.folds import Folds, divide_rows
from rulewright.estimators.slipper.fit import (
    BoostedRounds,
    SlipperFit,
    additive_model,
    cost_offsets,
    scores_from_f,
)
from rulewright.estimators.slipper.rounds import every_class, every_cost, make_class_problem
from rulewright.model import AdditiveRules, Costs, class_names, read_costs
from rulewright.search import LEAST_ROWS, Constraints, SearchLimits
from rulewright.weighting import CALIBRATIONS, Calibration, Temperature

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rulewright.data import TrainingSet
    from rulewright.estimators.slipper.rounds import SlipperProblem
    from rulewright.kernels import FloatArray

FEW_ROUNDS = 10
"""Number of rounds if there are too few rows to choose it."""


class SlipperClassifier(BoostedClassifier):
    r"""A few boosted and pruned rules, each of which votes for one class with a confidence.

    The score is :math:`F(x) = \sum_t C_t [x \in R_t]`. With two classes all rules vote for the
    positive class; a default rule that covers everything carries the negative vote; the positive
    class is predicted where :math:`F > 0`. In each round a rule is grown on two thirds of the
    weight to maximise :math:`\sqrt{W_+} - \sqrt{W_-}`, pruned on the rest, and kept if it beats the
    default rule; its confidence is :math:`\frac{1}{2} \ln \frac{W_+ + e}{W_- + e}`. The number of
    rounds is chosen by cross-validation. Responses in the model are :math:`2 C_t` (in units of
    log-odds), calibrated on out-of-fold scores.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.
    n_rounds_ : list of int
        Rounds run per problem: "ovr" has one problem per class, the others have one.
    cv_error_ : array of shape (problems, max_rules)
        Mean cross-validated error after each round; absent if `size="max"`.
    trace_ : dict of arrays
        After each round: `problem`, `head`, `confidence`, `z`, `train_error`, and the `bound` on
        the training error from the product of all Z.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import SlipperClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = SlipperClassifier(max_rules=20, random_state=0).fit(X, y)
    >>> bool(est.score(X, y) > 0.95)
    True
    """

    max_rules: int = Parameter(
        Integer(1),
        'Maximum number of rules: each round of boosting adds one. With `multiclass="ovr"`, per '
        "class.",
        default=100,
        kw_only=False,
    )
    size: str = Parameter(
        Choice(("cv", "max")),
        'Number of rounds: "cv" minimises the cross-validated error (10 rounds with fewer than 50 '
        'rows), "max" runs all `max_rules`.',
        default="cv",
    )
    cv: Any = Parameter(Splitting(), "Folds of the internal cross-validation.", default=5)
    positive_class: Any = Parameter(
        CheckedByFit("label, optional"),
        "Class that rules vote for, of two classes; by default the one with less weight.",
        default=None,
    )
    multiclass: str = Parameter(
        Choice(("auto", "mh", "ovr", "cost")),
        'How more than two classes are handled: all labels at once ("mh"), each class against the '
        'rest ("ovr"), or pairs of labels weighted by `cost_matrix` ("cost"). "auto" is "cost" '
        'with a cost matrix, else "mh".',
        default="auto",
    )
    cost_matrix: Any = Parameter(
        CheckedByFit("array of shape (classes, classes), optional"),
        "Cost of predicting column j when row k is true; 0 on the diagonal. Used for learning the "
        "rules and, unless `decision` is set, for choosing classes.",
        default=None,
    )
    grow_share: float = Parameter(
        Real(0, 1, above=True),
        "Share of the weight that a rule is grown on; the rest prunes it. With fewer than 50 rows "
        "all are used for growing.",
        default=2 / 3,
    )
    stratify: bool = Parameter(Flag(), "Whether to stratify that split by class.", default=True)
    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Maximum number of conditions per rule.", default=None
    )
    min_weight: float = Parameter(
        Real(0), "Minimum weight that a rule must cover in its growing rows.", default=0.0
    )
    allow_not_equal: bool = Parameter(Flag(), "Whether rules may use ``!=``.", default=False)
    missing_conditions: bool = Parameter(
        Flag(), 'Whether rules may use "is missing" and "is known".', default=False
    )
    cut_points: Threshold = Parameter(
        Choice(("short", "observed", "midpoint")),
        'Where a threshold lies between two values: at the covered value ("observed"), at a '
        'shorter number if it has many digits ("short"), or halfway ("midpoint").',
        default="short",
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Maximum number of bins per numeric column. By default one per value up to 2,048 rows, "
        "255 beyond.",
        default=None,
    )
    calibration: str | None = Parameter(
        Choice(("auto", *CALIBRATIONS), optional=True),
        'Calibration of the probabilities, fitted on out-of-fold scores. "auto" is "platt" if '
        "cross-validation chooses the number of rounds, else None: the link function of the "
        "paper.",
        default="auto",
    )

    MAIN_EFFECTS: ClassVar[Mapping[str, Any]] = {"max_conditions": 1}
    PAPER: ClassVar[Mapping[str, Any]] = {
        "max_rules": 100,
        "size": "cv",
        "cv": 5,
        "grow_share": 2 / 3,
        "max_conditions": None,
        "cut_points": "observed",
        "max_bins": MOST_BINS,
        "calibration": None,
    }

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        constraints = self._checked_constraints(rows)
        self.n_rounds_: list[int] = []
        self.trace_: dict[str, FloatArray] = {}
        self.__dict__.pop("cv_error_", None)  # from an earlier fit
        if len(rows.classes) == 1:
            summary = self._summary(rows, constraints)
            return AdditiveRules(rows.schema, rows.classes, (0.0,), (), summary)
        costs = read_costs(self.cost_matrix, class_names(rows.classes), "cost_matrix")
        problems = self._problems(rows, costs)
        random = check_random_state(self.random_state)
        # Drawn first: the rules are the same with and without folds.
        seeds = [int.from_bytes(random.bytes(8), "little") for _ in problems]
        n_rounds, folds = self._plan(rows, random)
        fit = self._fit_of(rows, constraints)
        n_fits = 1 if folds is None else len(folds) + 1
        n_steps = len(problems) * (n_rounds or self.max_rules) * n_fits
        with progress_bar("boosting rules", n_steps, bool(self.verbose)) as advance:
            boosted = [
                fit.run(problem, n_rounds, self.max_rules, folds, seed, advance)
                for problem, seed in zip(problems, seeds, strict=True)
            ]
        self._record(boosted)
        summary = self._summary(rows, constraints)
        model = additive_model(rows, boosted, fit.binned, costs, summary)
        out_of_fold = calibration = None
        if folds is not None:
            out_of_fold = OutOfFold.of(scores_from_f(boosted, costs), folds, rows)
            calibration = self._calibration_of(problems, costs)
        if len(problems[0].heads) > 1 and (
            calibration is None or isinstance(calibration, Temperature)
        ):
            model = model.with_decision("accuracy")  # the scores already include the costs
        return with_probabilities(model, rows, calibration, out_of_fold)

    def _fit_of(self, rows: TrainingSet, constraints: Constraints) -> SlipperFit:
        limits = SearchLimits(
            max_conditions=self.max_conditions,
            min_weight=self.min_weight,
            tolerance=1e-12,
            missing_conditions=self.missing_conditions,
            not_equal=self.allow_not_equal,
            constraints=constraints,
        )
        digits = constraints.digits_by_column(rows.schema)
        binned = bin_table(rows.table, self.max_bins, self._n_threads, digits)
        return SlipperFit(
            binned, limits, self.cut_points, self.grow_share, self.stratify, self._n_threads
        )

    def _problems(self, rows: TrainingSet, costs: Costs | None) -> list[SlipperProblem]:
        """Return the problems to boost: which pairs of row and label are weighted."""
        n_classes = len(rows.classes)
        matrix = None if costs is None else np.array(costs)
        if n_classes == 2 and self.multiclass == "auto":
            if matrix is not None and not (matrix[0, 1] > 0 and matrix[1, 0] > 0):
                raise ValueError("cost_matrix: with two classes, both errors must cost more than 0")
            return [make_class_problem(rows, positive_of_two(self.positive_class, rows), matrix)]
        kind = self.multiclass
        if kind == "auto":
            kind = "mh" if matrix is None else "cost"
        if (kind == "cost") != (matrix is not None):
            raise ValueError(
                f"multiclass={self.multiclass!r}: 'cost' needs a cost_matrix; others exclude it"
            )
        if self.positive_class is not None:
            raise ValueError("positive_class: needs two classes; leave it out")
        if kind == "ovr":
            return [make_class_problem(rows, k) for k in range(n_classes)]
        return [every_class(rows) if matrix is None else every_cost(rows, matrix)]

    def _calibration_of(
        self, problems: Sequence[SlipperProblem], costs: Costs | None
    ) -> Calibration | None:
        """Return the calibration; with two classes the default keeps the boundary at F = 0."""
        kind, n_classes = self.calibration, len(self.classes_)
        if kind == "auto":
            by_slope = "temperature" if n_classes == 2 else "platt"
            kind = by_slope if self.size == "cv" else None
        if kind is None:
            return None
        if kind == "temperature" and len(problems) == 1 and len(problems[0].heads) == 1:
            return Temperature(origin=tuple(cost_offsets(problems[0], costs, n_classes).tolist()))
        return CALIBRATIONS[kind]()

    def _plan(
        self, rows: TrainingSet, random: np.random.RandomState
    ) -> tuple[int | None, Folds | None]:
        """Return the rounds (None: to be chosen) and the folds (None: not needed)."""
        n_rounds = None if self.size == "cv" else int(self.max_rules)
        few = min(FEW_ROUNDS, self.max_rules)
        if rows.n_rows < LEAST_ROWS:
            n_rounds = n_rounds or few
        if n_rounds is not None and self.calibration in ("auto", None):
            return n_rounds, None
        folds = divide_rows(rows, self.cv, random)
        if folds is not None:
            return n_rounds, folds
        warnings.warn(
            "fewer than two classes have two rows or more: too few for cross-validation, so "
            f"probabilities are not calibrated and {n_rounds or few} rounds are run",
            UserWarning,
            stacklevel=4,
        )
        return n_rounds or few, None

    def _record(self, boosted: Sequence[BoostedRounds]) -> None:
        """Store the values recorded in each round."""
        self.n_rounds_ = [len(result.rounds) for result in boosted]
        if any(result.cv_error is not None for result in boosted):
            self.cv_error_ = np.array([result.cv_error for result in boosted])
        rows = [
            (p, result.problem.heads[kept.place], kept.confidence, kept.z, error)
            for p, result in enumerate(boosted)
            for kept, error in zip(result.rounds, result.errors, strict=True)
        ]
        names = ("problem", "head", "confidence", "z", "train_error")
        columns = zip(*rows, strict=True)
        self.trace_ = {name: np.array(c) for name, c in zip(names, columns, strict=True)}
        self.trace_["bound"] = np.concatenate(
            [
                result.problem.bound_factor * np.cumprod([kept.z for kept in result.rounds])
                for result in boosted
            ]
        )
