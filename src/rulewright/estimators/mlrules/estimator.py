"""MLRules: maximum likelihood rule ensembles (Dembczynski, Kotlowski, Slowinski, ICML 2008)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import TrainingSet
from rulewright.encoding.binned import MOST_BINS
from rulewright.estimators.common.boosted import BoostedClassifier
from rulewright.estimators.common.compression import compress_table
from rulewright.estimators.common.folds import affordable_folds, left_out_scores, stratified_folds
from rulewright.estimators.common.parameters import (
    CheckedByFit,
    Choice,
    Flag,
    Folds,
    Integer,
    Parameter,
    Real,
)
from rulewright.estimators.common.probabilities import OutOfFold, with_probabilities
from rulewright.estimators.common.progress import progress_bar
from rulewright.estimators.mlrules.boosting import Boosting
from rulewright.model import AdditiveRules
from rulewright.weighting import CALIBRATIONS, DEFAULT_RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import Table
    from rulewright.encoding.binned import Threshold
    from rulewright.search import Constraints

RULES_PER_CLASS = 250
"""Rules learned at most for each class, unless a number is given: 500 for two, as in the paper."""


class MLRulesClassifier(BoostedClassifier):
    r"""Boosted rules that vote for one class each and together minimise the log-loss.

    The model is :math:`f(x) = f_0 + \sum_m \nu\,\alpha_m\,e_{k_m} \Phi_m(x)` with conjunctions
    :math:`\Phi_m`, and :math:`P(k | x) = \exp f_k / \sum_j \exp f_j`. Each rule is grown greedily
    on a random subsample to minimise :math:`g / \sqrt{h + l_2}` (Newton) or :math:`g` (gradient),
    where g and h are the derivatives of the loss along its vote; its response
    :math:`\alpha = -g / (h + l_2)` is computed on all rows and shrunk by :math:`\nu`.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules: prints, predicts, explains, saves and exports.
    classes_ : ndarray
        Class labels.
    trace_ : dict of arrays
        After each rule: training log-loss (mean), validation log-loss, acceptability.
    stopped_by_ : str
        Why learning ended.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulewright import MLRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> est = MLRulesClassifier(n_rules=30, random_state=0).fit(X, y)
    >>> est.predict(X.iloc[[0, 75, 149]])
    array([0, 1, 2])
    """

    n_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Most rules to learn; by default 250 for each class.",
        default=None,
        kw_only=False,
    )
    learning_rate: float = Parameter(
        Real(0, 1, above=True), "Factor of every response, in (0, 1].", default=0.1
    )
    subsample: float = Parameter(
        Real(0, 1, above=True),
        "Share of the rows that each rule is grown on; fewer than 50 rows are always taken whole.",
        default=0.5,
    )
    criterion: str = Parameter(
        Choice(("newton", "gradient")), "What growth minimises.", default="newton"
    )
    l2: float = Parameter(
        Real(0), "Added to h: keeps rules away from single outliers.", default=1.0
    )
    max_conditions: int | None = Parameter(
        Integer(1, optional=True), "Most conditions in a rule.", default=4
    )
    min_weight: float = Parameter(
        Real(0),
        "Least weight that a rule must cover in its subsample, and so its least support.",
        default=0.0,
    )
    min_evidence: float | None = Parameter(
        Real(0, optional=True),
        "Least evidence for a rule on all rows, :math:`-g / \\sqrt{h + l_2}`, in standard "
        'errors. By default 0, but 1 where "auto" stopping finds no rows outside the subsamples'
        " that could test the rules: it keeps such small tables from being learned by heart.",
        default=None,
    )
    class_choice: str = Parameter(
        Choice(("joint", "prefixed")),
        "Whether the class is chosen anew with every condition, or before the rule is grown "
        "(much faster with many classes).",
        default="joint",
    )
    default_rule: str = Parameter(
        Choice(tuple(DEFAULT_RULES)), "Scores to start from.", default="exact"
    )
    backtracking: bool = Parameter(
        Flag(), "Halve a response that would raise the loss.", default=True
    )
    threshold: Threshold = Parameter(
        Choice(("midpoint", "observed")), "Where between two values a cut lies.", default="midpoint"
    )
    missing_conditions: bool = Parameter(
        Flag(), 'Whether "is missing" and "is known" are conditions too.', default=False
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Most bins of a numeric column; by default one per value up to 2,048 rows, 255 beyond.",
        default=None,
    )
    stopping: str = Parameter(
        Choice(("auto", "window", "validation", "none")),
        'When to stop before `n_rules`. "window", the test of the paper: `stop_bad` of the last'
        " `stop_window` rules are no better than guessing on the rows outside their subsample. "
        '"validation": the log-loss of rows kept aside has not improved for so many rules; '
        'the model is then cut back to where it was lowest. "auto" is "window" where there are '
        'rows outside the subsample, and "none" otherwise.',
        default="auto",
    )
    stop_window: int = Parameter(Integer(1), "Size of the window.", default=50)
    stop_bad: int | None = Parameter(
        Integer(1, optional=True),
        "How many bad rules in it end learning; by default as many as a fair coin shows with a "
        "probability of at most 0.05, 32 of 50. The paper takes 8 of 10.",
        default=None,
    )
    acceptability: str = Parameter(
        Choice(("prior", "random")),
        "What guessing means in the window: the share of the class, or 1/K.",
        default="prior",
    )
    validation_fraction: float = Parameter(
        Real(0, 0.9, above=True), 'Share of rows that "validation" keeps aside.', default=0.1
    )
    n_iter_no_change: int = Parameter(
        Integer(1), 'Rules that "validation" waits for an improvement.', default=50
    )
    ordinal: bool = Parameter(
        Flag(),
        "Whether the classes, in the order of their sorted labels, form a scale: rules then "
        'vote for "at least" or "at most" a class.',
        default=False,
    )
    column_subsample: float = Parameter(
        Real(0, 1, above=True),
        "Share of the columns that each rule may use, drawn anew for every rule.",
        default=1.0,
    )
    max_final_rules: int | None = Parameter(
        Integer(1, optional=True),
        "Most rules to keep: the learned ones are thinned out and refitted (see `compress`).",
        default=None,
    )
    cost_matrix: Any = Parameter(
        CheckedByFit('array of shape (classes, classes) or "absolute", optional'),
        "What predicting column j costs where row k is true; `predict` then takes the class of "
        'the least expected cost. "absolute" costs the distance of the classes, which gives the'
        " median.",
        default=None,
    )
    calibration: str | None = Parameter(
        Choice(CALIBRATIONS, optional=True),
        "How scores are turned into better probabilities, fitted to the scores of rows left out"
        " in cross-validation.",
        default=None,
    )
    cv: Any = Parameter(Folds(), "Folds of that cross-validation.", default=5)
    warm_start: bool = Parameter(
        Flag(),
        "Whether `fit` goes on with the rules of the last fit, on the same rows.",
        default=False,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {
        "n_rules": 500,
        "learning_rate": 0.1,
        "subsample": 0.5,
        "criterion": "newton",
        "l2": 0.0,
        "max_conditions": None,
        "min_weight": 0.0,
        "min_evidence": 0.0,
        "class_choice": "joint",
        "default_rule": "newton",
        "backtracking": False,
        "threshold": "observed",
        "max_bins": MOST_BINS,
        "stopping": "none",
        "stop_window": 10,
        "stop_bad": 8,
    }

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        table = replace(rows.table, target=rows.target, weights=rows.weights)
        self.trace_, self.stopped_by_ = {}, "one_class"
        if len(self.classes_) == 1:
            return AdditiveRules(table.schema, self.classes_, (0.0,), (), self._summary(rows))
        if self.ordinal:
            self._check_order(table)
        constraints = self._checked_constraints(
            table, ordered=self.ordinal or len(self.classes_) == 2
        )
        if self.calibration == "isotonic" and constraints.monotone and len(self.classes_) > 2:
            raise ValueError(
                "calibration='isotonic' fits each class by itself and may turn monotone columns: "
                "take 'platt' or 'temperature'"
            )
        random = check_random_state(self.random_state)
        boosting = self._started(table, constraints, random)
        self._last_boosting = None  # a fit that was interrupted cannot be taken up
        with progress_bar("learning rules", self._most_rules, bool(self.verbose)) as advance:
            boosting.run(self._most_rules, advance)
        self._last_boosting = boosting if self.warm_start else None
        self.trace_ = boosting.monitor.trace()
        self.stopped_by_ = boosting.monitor.stopped_by or "n_rules"
        model = self._compact(self._model(boosting), table, random, self.cv)
        if self.cost_matrix is not None:
            model = replace(model, costs=self._checked_costs())
        left_out = self._left_out(table, constraints, random)
        known = boosting.probabilities() if self.max_final_rules is None else None
        return with_probabilities(model, table, self.calibration, left_out, known)

    @property
    def _most_rules(self) -> int:
        return RULES_PER_CLASS * len(self.classes_) if self.n_rules is None else self.n_rules

    def _check_order(self, table: Table) -> None:
        """Refuse a scale that is not the order of the labels, or that rules cannot climb."""
        assert table.target is not None
        declared, found = table.target.declared, tuple(map(str, self.classes_))
        if declared is not None and declared != found:
            raise ValueError(
                f"ordinal=True takes the classes in the order {' < '.join(found)}, but the target "
                f"declares {' < '.join(declared)}: rename the labels so that they sort, such as "
                "'1 low', or take numbers"
            )
        if self.class_choice == "prefixed" and len(self.classes_) > 2:
            raise ValueError(
                "class_choice='prefixed' would vote at one step of the scale only: take 'joint' "
                "with ordinal=True"
            )

    def _started(
        self, table: Table, constraints: Constraints, random: np.random.RandomState
    ) -> Boosting:
        """Begin a fit, or take up the last one."""
        last: Boosting | None = self.__dict__.get("_last_boosting")
        if last is None or not self.warm_start:
            return Boosting(self, table, constraints, random, self._n_threads)
        if not last.learns_from(table):
            raise ValueError(
                "warm_start=True goes on with the rows of the last fit, but these are others: "
                "set warm_start=False to start anew"
            )
        if changed := last.changed_settings(self, constraints):
            raise ValueError(
                f"warm_start=True goes on with the {changed[0]} of the last fit, but it has "
                "changed: set warm_start=False to start anew"
            )
        if self._most_rules < len(last.rules):
            raise ValueError(
                f"n_rules={self._most_rules} is less than the {len(last.rules)} rules that "
                "warm_start=True goes on from: set warm_start=False to start anew"
            )
        return last

    def _model(self, boosting: Boosting) -> AdditiveRules:
        table, monitor = boosting.table, boosting.monitor
        rows = TrainingSet.of(table)
        summary = {
            **self._summary(rows),
            "total_weight": monitor.train.total_weight,
            "bins": boosting.binned.describe(),
            "log_loss": monitor.kept_loss,
            "stopped_by": monitor.stopped_by or "n_rules",
        }
        intercepts = tuple(boosting.intercepts.tolist())
        return AdditiveRules(table.schema, rows.classes, intercepts, boosting.kept_rules(), summary)

    def _compact(
        self, model: AdditiveRules, table: Table, random: np.random.RandomState, cv: Any
    ) -> AdditiveRules:
        """Keep the rules that matter most; the folds show what fewer or more would give."""
        if self.max_final_rules is None:
            return model
        n_threads = self._n_threads if cv else 1
        return compress_table(model, table, self.max_final_rules, cv, random, n_threads)

    def _left_out(
        self, table: Table, constraints: Constraints, random: np.random.RandomState
    ) -> OutOfFold | None:
        """Learn without each fold in turn, to see scores of rows that were left out."""
        if self.calibration is None:
            return None
        assert table.target is not None
        labels = table.target.codes
        n_folds = affordable_folds(labels, self.cv)
        if n_folds < 2:
            raise ValueError(
                f"calibration={self.calibration!r} needs two rows of every class: set "
                "calibration=None"
            )

        def learn(part: Table, seed: int, check: Callable[[], None]) -> AdditiveRules:
            random = np.random.RandomState(seed)
            boosting = Boosting(self, part, constraints, random, n_threads=1)
            boosting.run(self._most_rules, advance, check)
            return self._compact(self._model(boosting), part, random, cv=None)

        folds = stratified_folds(labels, n_folds, random)
        show = bool(self.verbose)
        with progress_bar("cross-validation", n_folds * self._most_rules, show) as advance:
            scores = left_out_scores(learn, table, folds, random, self._n_threads)
        return OutOfFold(scores, folds)

    def __getstate__(self) -> dict[str, Any]:
        # A fit that could go on holds native objects and all rows: it is not worth saving.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_last_boosting"}
