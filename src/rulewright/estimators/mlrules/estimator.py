"""MLRules: maximum likelihood rule ensembles (Dembczynski, Kotlowski, Slowinski, ICML 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import MOST_BINS
from rulewright.estimators.contract.base import ORDINAL
from rulewright.estimators.contract.constrained import BoostedClassifier
from rulewright.estimators.contract.parameters import (
    Flag,
    Integer,
    Named,
    OrderDomain,
    Parameter,
    Real,
)
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.finishing.after_fit import OutOfFold, with_probabilities
from rulewright.estimators.folds.folds import divide_rows, out_of_fold_scores
from rulewright.estimators.mlrules.memory import MemoryRows, start_boosting
from rulewright.estimators.mlrules.settings import (
    FORMULATIONS,
    GROWTHS,
    Automatic,
    BoostingSettings,
    Formulation,
    Growth,
    RuleSettings,
)
from rulewright.model import AdditiveRules
from rulewright.search import LEAST_ROWS, Constraints, SearchLimits
from rulewright.stopping import STOPPING, Stopping, Window
from rulewright.weighting import CALIBRATIONS, LARGEST_STEP, Calibration, Isotonic

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulewright.data import DescribedRows, TrainingSet
    from rulewright.estimators.mlrules.boosting import Boosting

PAPER_WINDOW = Window(size=10, most_bad=8, chance="uniform")
"""The stopping rule of the paper."""

FORMULATION = Named(FORMULATIONS, Formulation)
GROWTH = Named(GROWTHS, Growth)
STOPPING_RULE = Named(STOPPING, Stopping, words=("auto",))
PRUNE = {True: "conditions", False: None, "prefix": "prefix"}
CALIBRATED = Named(CALIBRATIONS, Calibration, optional=True)


class MLRulesClassifier(BoostedClassifier):
    r"""Boosted rules, each of which votes for one class; together they minimise the log-loss.

    The model is :math:`f(x) = f_0 + \sum_m \nu\,\alpha_m\,e_{k_m} \Phi_m(x)` with conjunctions
    :math:`\Phi_m`, and :math:`P(k | x) = \exp f_k / \sum_j \exp f_j`. Each rule is grown greedily
    on a random subsample to minimise :math:`g / \sqrt{h + l_2}` (Newton) or :math:`g` (gradient),
    where g and h are the derivatives of the loss along its vote; its response
    :math:`\alpha = -g / (h + l_2)` is computed on all rows and shrunk by :math:`\nu`.

    Attributes
    ----------
    model_ : AdditiveRules
        The rules, equal ones merged: prints, predicts, explains, saves and exports.
    stages_ : AdditiveRules
        The same model with the rules in the order of learning; `trace_` and
        `staged_predict` refer to it.
    classes_ : ndarray
        Class labels.
    trace_ : dict of arrays
        After each round, which adds a rule for one class or for several: mean training log-loss,
        validation log-loss, acceptability.
    stopped_by_ : str
        Why learning stopped.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulewright import MLRulesClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> est = MLRulesClassifier(max_rules=30, random_state=0).fit(X, y)
    >>> est.predict(X.iloc[[0, 75, 149]])
    array([0, 1, 2])
    """

    max_rules: int | None = Parameter(
        Integer(0, optional=True),
        "Maximum number of rules. By default 250 per class, at most 7,500; beyond 10,000 rows at "
        "least 1,000. Beyond 10,000 rows: 750 per class with three to nine classes, and 350 per "
        "class, at most 10,500, with ten or more.",
        default=None,
        kw_only=False,
    )
    learning_rate: float | str = Parameter(
        Real(0, 1, above=True, words=("auto",)),
        'Factor of every response, in (0, 1]. "auto" is 0.1 up to 10,000 rows and 0.3 beyond: on '
        "large tables, larger steps overfit less and need fewer rules.",
        default="auto",
    )
    subsample: float | str = Parameter(
        Real(0, 1, above=True, words=("auto",)),
        "Share of the rows that each rule is grown on. With fewer than 50 rows all are used. "
        '"auto" is 0.5, or 0.8 beyond 10,000 rows with ten classes or more.',
        default="auto",
    )
    l2: float | str = Parameter(
        Real(0, words=("auto",)),
        'Regularisation added to the second derivative h; damps rules that cover few rows. "auto" '
        "is 1, or 0.3 beyond 10,000 rows with ten classes or more.",
        default="auto",
    )
    max_conditions: int | str | None = Parameter(
        Integer(1, optional=True, words=("auto",)),
        'Maximum number of conditions per rule. "auto" is 4, or 8 beyond 10,000 rows with ten '
        "classes or more.",
        default="auto",
    )
    min_weight: float = Parameter(
        Real(0),
        "Minimum weight that a rule must cover in its subsample.",
        default=0.0,
    )
    growth: Any = Parameter(
        GROWTH,
        'How rules are grown: "auto" (depends on the numbers of rows and classes), "published" (as '
        "in the paper), or a `Growth` object that sets criterion, pruning, choice of class, column "
        "subsampling, label sets and minimum evidence.",
        default="auto",
    )
    formulation: Any = Parameter(
        FORMULATION,
        'Variant of default rule, backtracking and cut points: "corrected", "published", or a '
        "`Formulation` object that sets each.",
        default="corrected",
    )
    missing_conditions: bool = Parameter(
        Flag(), 'Whether rules may use "is missing" and "is known".', default=False
    )
    max_bins: int | None = Parameter(
        Integer(2, optional=True),
        "Maximum number of bins per numeric column. By default one per value up to 2,048 rows, "
        "255 beyond.",
        default=None,
    )
    stopping: Any = Parameter(
        STOPPING_RULE,
        'When to stop before `max_rules`. "window" (from the paper): stop when too many of the '
        'last rules are no better than chance on the rows outside their subsample. "validation": '
        "stop when the log-loss on validation rows does not improve, and keep the best model. A "
        '`Window` or `Validation` object has further settings. "auto" is "validation" beyond '
        '10,000 rows with fewer than ten classes, else "window" if there are rows outside the '
        'subsample, else "none".',
        default="auto",
    )
    ordinal: Any = Parameter(OrderDomain(), ORDINAL, default=False)
    linear: bool = Parameter(
        Flag(),
        "Whether to add straight lines for numeric columns. Lines that lower the loss are fitted "
        "first; the rules then learn the remainder.",
        default=False,
    )
    calibration: Any = Parameter(
        CALIBRATED,
        "Calibration of the probabilities, fitted on out-of-fold scores. A `Temperature`, `Platt` "
        "or `Isotonic` object also sets the folds (5 by default).",
        default=None,
    )
    warm_start: bool = Parameter(
        Flag(),
        "Whether `fit` continues with the rules of the last fit, on the same rows.",
        default=False,
    )

    MAIN_EFFECTS: ClassVar[Mapping[str, Any]] = {"max_conditions": 1}
    PAPER: ClassVar[Mapping[str, Any]] = {
        "max_rules": 500,
        "learning_rate": 0.1,
        "subsample": 0.5,
        "l2": 0.0,
        "max_conditions": None,
        "min_weight": 0.0,
        "growth": "published",
        "formulation": "published",
        "max_bins": MOST_BINS,
        "stopping": "none",
    }

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """Return an estimator with the published settings, except for the given ones."""
        if overrides.get("stopping") == "window":
            overrides["stopping"] = PAPER_WINDOW
        return super().paper(**overrides)

    def _learn(self, rows: TrainingSet) -> AdditiveRules:
        constraints = self._checked_constraints(rows, self._is_ordinal)
        self.trace_, self.stopped_by_ = {}, "one_class"
        if len(rows.classes) == 1:
            summary = self._summary(rows, constraints)
            self.stages_ = AdditiveRules(rows.schema, rows.classes, (0.0,), (), summary)
            return self.stages_
        settings, n_rules = self._settings(rows, constraints), self._most_rules(rows)
        calibration = self._checked_calibration(rows, constraints)
        random = check_random_state(self.random_state)
        boosting = self._start_fit(settings, rows, random)
        self._last_boosting = None  # a fit that was interrupted cannot be continued
        with progress_bar("learning rules", n_rules, bool(self.verbose)) as advance:
            boosting.run(n_rules, advance)
        self._last_boosting = boosting if self.warm_start else None
        self.trace_ = boosting.monitor.trace()
        self.stopped_by_ = boosting.monitor.stopped_by or "max_rules"
        out_of_fold = None
        if calibration is not None:
            out_of_fold = self._out_of_fold(settings, rows, calibration, random)
        model, scored = self._model(boosting), boosting.rows.scored
        del boosting  # its codes make room
        known = None if scored is None else scored.probabilities()
        del scored
        self.stages_ = with_probabilities(model, rows, calibration, out_of_fold, known)
        return self.stages_.merge_rules()

    def _most_rules(self, rows: DescribedRows) -> int:
        return self._automatic(rows).max_rules if self.max_rules is None else self.max_rules

    def _automatic(self, rows: DescribedRows) -> Automatic:
        return Automatic(rows.n_rows, len(rows.classes), self._is_ordinal)

    def _settings(self, rows: DescribedRows, constraints: Constraints) -> BoostingSettings:
        """Resolve the settings that depend on the rows."""
        auto, growth = self._automatic(rows), self._growth
        if self._is_ordinal and growth.class_choice == "prefixed" and len(rows.classes) > 2:
            raise ValueError(
                "class_choice='prefixed' would vote at a single step of the scale. Use 'joint' "
                "with ordinal=True."
            )
        asked = growth.min_evidence
        untested = float(self.stopping == "auto")
        prefixed = _resolve_auto(growth.class_choice, auto.prefixed) in (True, "prefixed")
        rule = RuleSettings(
            learning_rate=_resolve_auto(self.learning_rate, auto.learning_rate),
            largest_step=auto.largest_step if prefixed else LARGEST_STEP,
            criterion=growth.criterion,
            l2=_resolve_auto(self.l2, auto.l2),
            min_evidence=0.0 if asked is None else asked,
            untested_evidence=untested if asked is None else asked,
            prefixed=prefixed,
            other_classes=self._votes_for_others(rows, prefixed),
        )
        limits = SearchLimits(
            max_conditions=_resolve_auto(self.max_conditions, auto.max_conditions),
            min_weight=self.min_weight,
            missing_conditions=self.missing_conditions,
            label_sets=_resolve_auto(growth.label_sets, auto.label_sets),
            constraints=constraints,
        )
        return BoostingSettings(
            rule=rule,
            limits=limits,
            subsample=_resolve_auto(self.subsample, auto.subsample),
            column_subsample=_resolve_auto(growth.column_subsample, auto.column_subsample),
            prune=PRUNE.get(growth.prune, auto.prune),
            formulation=FORMULATION.make(self.formulation),
            max_bins=self.max_bins,
            stopping=self._stopping(rows, auto),
            ordinal=self._is_ordinal,
            linear=self.linear,
        )

    def _votes_for_others(self, rows: DescribedRows, prefixed: bool) -> bool:
        """Return whether a rule also votes for or against other classes."""
        asked, auto = self._growth.other_classes, self._automatic(rows)
        obstacles = {
            "class_choice='prefixed'": prefixed,
            "ordinal=True": self._is_ordinal,
        }
        found = [name for name, holds in obstacles.items() if holds]
        if asked is True and found and len(rows.classes) > 2:
            raise ValueError(f"growth with other_classes=True cannot be used with {found[0]}")
        if len(rows.classes) < 3 or found:
            return False
        return _resolve_auto(asked, auto.several) is True

    def _stopping(self, rows: DescribedRows, auto: Automatic) -> Stopping:
        """Return the stopping rule; raise an error if it needs rows outside the subsample."""
        subsample = _resolve_auto(self.subsample, auto.subsample)
        outside = subsample < 1 and rows.n_rows >= LEAST_ROWS
        if self.stopping == "auto":
            return auto.stopping(outside)
        stopping: Stopping = STOPPING_RULE.make(self.stopping)
        if stopping.needs_outside and not outside:
            raise ValueError(
                f"stopping={self.stopping!r} needs rows outside the subsample to test rules on, "
                f"but subsample={subsample:g} of {rows.n_rows} rows leaves none (fewer than "
                f"{LEAST_ROWS} rows are always taken whole): set subsample < 1, give more rows or "
                "choose another stopping"
            )
        return stopping

    @property
    def _growth(self) -> Growth:
        growth: Growth = GROWTH.make(self.growth)
        return growth

    @property
    def _is_ordinal(self) -> bool:
        return self.ordinal is not False

    def _checked_calibration(
        self, rows: TrainingSet, constraints: Constraints
    ) -> Calibration | None:
        calibration: Calibration | None = CALIBRATED.make(self.calibration)
        if isinstance(calibration, Isotonic) and constraints.monotone and len(rows.classes) > 2:
            raise ValueError(
                "calibration='isotonic' calibrates each class separately and can break monotone "
                "constraints: use 'platt' or 'temperature'"
            )
        return calibration

    def _start_fit(
        self, settings: BoostingSettings, rows: TrainingSet, random: np.random.RandomState
    ) -> Boosting[MemoryRows]:
        """Start a fit, or continue the last one."""
        last: Boosting[MemoryRows] | None = self.__dict__.get("_last_boosting")
        if last is None or not self.warm_start:
            return start_boosting(settings, rows, random, self._n_threads)
        if not last.rows.are_those_of(rows):
            raise ValueError(
                "warm_start=True continues with the rows of the last fit, but these rows differ: "
                "set warm_start=False to start again"
            )
        if changed := settings.fixed_by_start(last.settings):
            raise ValueError(
                f"warm_start=True continues with the {changed[0]} of the last fit, but it has "
                "changed: set warm_start=False to start again"
            )
        n_rules = self._most_rules(rows)
        if n_rules < last.n_rules:
            raise ValueError(
                f"max_rules={n_rules} is less than the {last.n_rules} rules that "
                "warm_start=True continues from: set warm_start=False to start again"
            )
        last.settings = settings
        return last

    def _model(self, boosting: Boosting[MemoryRows]) -> AdditiveRules:
        rows, monitor = boosting.rows, boosting.monitor
        training, start = rows.training, rows.start
        summary = {
            **self._summary(training, boosting.settings.constraints),
            "total_weight": rows.train.total_weight,
            "bins": rows.binned.describe(),
            "log_loss": monitor.kept_loss,
            "stopped_by": monitor.stopped_by or "max_rules",
        }
        intercepts, rules = tuple(start.intercepts.tolist()), boosting.kept_rules()
        return AdditiveRules(
            rows.schema, training.classes, intercepts, rules, summary, linear=start.linear
        )

    def _out_of_fold(
        self,
        settings: BoostingSettings,
        rows: TrainingSet,
        calibration: Calibration,
        random: np.random.RandomState,
    ) -> OutOfFold:
        """Return out-of-fold scores from a fit without each fold."""
        folds = divide_rows(rows, calibration.cv, random)
        if folds is None:
            raise ValueError(
                f"calibration={self.calibration!r} needs two rows or more of two classes or more: "
                "set calibration=None"
            )
        n_rules = self._most_rules(rows)

        def learn(part: TrainingSet, seed: int, check: Callable[[], None]) -> AdditiveRules:
            boosting = start_boosting(settings, part, np.random.RandomState(seed), n_threads=1)
            boosting.run(n_rules, advance, check)
            return self._model(boosting)

        n_steps, show = len(folds) * n_rules, bool(self.verbose)
        with progress_bar("cross-validation", n_steps, show) as advance:
            scores = out_of_fold_scores(learn, rows, folds, random, self._n_threads)
        return OutOfFold.of(scores, folds, rows)

    def __getstate__(self) -> dict[str, Any]:
        # A fit to continue holds native objects and all rows, which are too large to save.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_last_boosting"}


def _resolve_auto(value: Any, automatic: Any) -> Any:
    """Return the value, or the automatic one for "auto"."""
    return automatic if value == "auto" else value
