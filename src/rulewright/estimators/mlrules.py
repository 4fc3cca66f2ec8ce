"""MLRules: maximum likelihood rule ensembles (Dembczynski, Kotlowski, Slowinski, ICML 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from rulewright.capacity import EarlyStopping, WindowTest
from rulewright.conditions.binned import MOST_BINS, bin_table
from rulewright.estimators.base import RuleClassifier
from rulewright.estimators.monitor import Monitor, Sample
from rulewright.estimators.parameters import Choice, Domain, Flag, Integer, Real, plain
from rulewright.estimators.progress import progress_bar
from rulewright.model import AdditiveRules, Rule
from rulewright.search import RuleGrower, SearchLimits, Subsampler, split_rows
from rulewright.weighting import DEFAULT_RULES, LogLikelihood, default_scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rulewright.conditions.binned import BinnedColumns, Threshold
    from rulewright.data import Table
    from rulewright.kernels import FloatArray, Score

MOST_FAILURES = 10
"""Subsamples without a useful rule before the search gives up."""


class MLRulesClassifier(RuleClassifier):
    r"""Boosted rules that vote for one class each and together minimise the log-loss.

    The model is :math:`f(x) = f_0 + \sum_m \nu\,\alpha_m\,e_{k_m} \Phi_m(x)` with conjunctions
    :math:`\Phi_m`, and :math:`P(k | x) = \exp f_k / \sum_j \exp f_j`. Each rule is grown greedily
    on a random subsample to minimise :math:`g / \sqrt{h + l_2}` (Newton) or :math:`g` (gradient),
    where g and h are the derivatives of the loss along its vote; its response
    :math:`\alpha = -g / (h + l_2)` is computed on all rows and shrunk by :math:`\nu`.

    Parameters
    ----------
    n_rules : int
        Most rules to learn.
    shrinkage : float
        Factor of every response, in (0, 1].
    subsample : float
        Share of the rows that each rule is grown on; fewer than 50 rows are always taken whole.
    criterion : {"newton", "gradient"}
        What growth minimises.
    l2 : float
        Added to h: keeps rules away from single outliers.
    max_conditions : int, optional
        Most conditions in a rule.
    min_weight : float
        Least weight that a rule must cover in its subsample.
    min_evidence : float
        Least evidence for a rule on all rows, :math:`-g / \sqrt{h + l_2}`, in standard errors:
        keeps small tables from being learned by heart.
    class_choice : {"joint", "prefixed"}
        Whether the class is chosen anew with every condition, or before the rule is grown (much
        faster with many classes).
    default_rule : {"exact", "newton", "newton_shrunk", "prior", "none"}
        Scores to start from.
    backtracking : bool
        Halve a response that would raise the loss.
    threshold : {"midpoint", "observed"}
        Where between two values a cut lies.
    missing_conditions : bool
        Whether "is missing" and "is known" are conditions too.
    max_bins : int, optional
        Most bins of a numeric column; by default one per value up to 2,048 rows, 255 beyond.
    stopping : {"auto", "window", "validation", "none"}
        When to stop before `n_rules`. "window", the test of the paper: `stop_bad` of the last
        `stop_window` rules are no better than guessing on the rows outside their subsample.
        "validation": the log-loss of rows kept aside has not improved for `patience` rules; the
        model is then cut back to where it was lowest. "auto" is "window" where there are rows
        outside the subsample, and "none" otherwise.
    stop_window, stop_bad : int
        Size of the window, and how many bad rules in it end learning.
    acceptability : {"prior", "random"}
        What guessing means in the window: the share of the class, or 1/K.
    validation_fraction : float
        Share of rows that "validation" keeps aside.
    patience : int
        Rules that "validation" waits for an improvement.
    nominal : list of str or int, optional
        Columns to treat as nominal although they hold numbers.
    random_state : int, RandomState or None
        Seed of the subsamples.
    n_jobs : int, optional
        Threads; the model does not depend on it.
    verbose : int
        1 draws a progress bar.

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

    PARAMETERS: ClassVar[Mapping[str, Domain]] = {
        "n_rules": Integer(0),
        "shrinkage": Real(0, 1, above=True),
        "subsample": Real(0, 1, above=True),
        "criterion": Choice(("newton", "gradient")),
        "l2": Real(0),
        "max_conditions": Integer(1, optional=True),
        "min_weight": Real(0),
        "min_evidence": Real(0),
        "class_choice": Choice(("joint", "prefixed")),
        "default_rule": Choice(tuple(DEFAULT_RULES)),
        "backtracking": Flag(),
        "threshold": Choice(("midpoint", "observed")),
        "missing_conditions": Flag(),
        "max_bins": Integer(2, optional=True),
        "stopping": Choice(("auto", "window", "validation", "none")),
        "stop_window": Integer(1),
        "stop_bad": Integer(1),
        "acceptability": Choice(("prior", "random")),
        "validation_fraction": Real(0, 0.9, above=True),
        "patience": Integer(1),
    }

    def __init__(
        self,
        n_rules: int = 500,
        *,
        shrinkage: float = 0.1,
        subsample: float = 0.5,
        criterion: str = "newton",
        l2: float = 1.0,
        max_conditions: int | None = 4,
        min_weight: float = 0.0,
        min_evidence: float = 1.0,
        class_choice: str = "joint",
        default_rule: str = "exact",
        backtracking: bool = True,
        threshold: Threshold = "midpoint",
        missing_conditions: bool = False,
        max_bins: int | None = None,
        stopping: str = "auto",
        stop_window: int = 10,
        stop_bad: int = 8,
        acceptability: str = "prior",
        validation_fraction: float = 0.1,
        patience: int = 50,
        nominal: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_rules = n_rules
        self.shrinkage = shrinkage
        self.subsample = subsample
        self.criterion = criterion
        self.l2 = l2
        self.max_conditions = max_conditions
        self.min_weight = min_weight
        self.min_evidence = min_evidence
        self.class_choice = class_choice
        self.default_rule = default_rule
        self.backtracking = backtracking
        self.threshold = threshold
        self.missing_conditions = missing_conditions
        self.max_bins = max_bins
        self.stopping = stopping
        self.stop_window = stop_window
        self.stop_bad = stop_bad
        self.acceptability = acceptability
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.nominal = nominal
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """Return the settings published with the paper, with any of them overridden."""
        published = {
            "n_rules": 500,
            "shrinkage": 0.1,
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
        }
        return cls(**{**published, **overrides})

    def _learn(self, table: Table) -> AdditiveRules:
        assert table.target is not None
        intercepts = self._default_scores(table)
        self.trace_, self.stopped_by_ = {}, "one_class"
        if len(intercepts) == 1:
            summary = {"learner": type(self).__name__, "n_rows": table.n_rows}
            return AdditiveRules(table.schema, table.target.classes, (0.0,), (), summary)
        random = check_random_state(self.random_state)
        binned = bin_table(table, self.max_bins, self._n_threads)
        monitor = self._monitor(table, binned, intercepts, random)
        rules = self._boost(binned, monitor, random)
        self.trace_, self.stopped_by_ = monitor.trace(), monitor.stopped_by
        summary = self._summary(table, binned, monitor)
        return AdditiveRules(
            table.schema, table.target.classes, tuple(intercepts.tolist()), rules, summary
        )

    def _boost(
        self, binned: BinnedColumns, monitor: Monitor, random: np.random.RandomState
    ) -> tuple[Rule, ...]:
        """Run the algorithm of the paper; the rest of the file prepares and reports."""
        codes, likelihood = monitor.train.codes, monitor.train.likelihood
        limits = self._limits().compile(binned.schema, likelihood.unit)
        n_threads = self._n_threads
        grower = RuleGrower(binned, limits, self.threshold, n_threads)
        subsampler = Subsampler(codes.n_rows, self.subsample, random)
        most_failures = 1 if subsampler.takes_all else MOST_FAILURES
        rules: list[Rule] = []
        failures = 0
        with progress_bar("learning rules", self.n_rules, bool(self.verbose)) as advance:
            while len(rules) < self.n_rules and failures < most_failures:
                failures += 1  # until a rule is added
                subsample = subsampler.draw()
                score = self._score(likelihood)
                found = grower.grow(codes, subsample.rows, likelihood.stats, score)
                if found is None:
                    continue
                cover = found.cover(codes, n_threads)
                step = likelihood.newton_step(
                    cover, found.vote, self.l2, self.backtracking, self.min_evidence
                )
                if step <= 0:  # helps on the subsample, not (enough) on all rows
                    continue
                failures = 0
                response = self.shrinkage * step
                likelihood.add(cover, found.vote, response)
                rules.append(found.rule(response, likelihood.class_weights(cover)))
                advance()
                if monitor.stop_after(found, response, cover, subsample):
                    break
        if failures:
            monitor.stopped_by = "no_rule"
        return tuple(rules[: monitor.n_kept])

    def _default_scores(self, table: Table) -> FloatArray:
        assert table.target is not None
        classes, labels = table.target.classes, table.target.codes
        if len(classes) == 1:
            return np.zeros(1)
        shares = np.bincount(labels, table.weights, len(classes)).astype(np.float64)
        return default_scores(self.default_rule, shares, table.n_rows, self.l2, self.shrinkage)

    def _score(self, likelihood: LogLikelihood) -> Score:
        """Describe what growth minimises; a prefixed class is chosen on all rows."""
        vote = None
        if self.class_choice == "prefixed":
            vote = likelihood.best_vote(self.criterion, self.l2)
        return likelihood.score(self.criterion, self.l2, vote)

    def _limits(self) -> SearchLimits:
        return SearchLimits(
            max_conditions=self.max_conditions,
            min_weight=self.min_weight,
            missing_conditions=self.missing_conditions,
        )

    def _monitor(
        self,
        table: Table,
        binned: BinnedColumns,
        intercepts: FloatArray,
        random: np.random.RandomState,
    ) -> Monitor:
        """Give the training rows and the stopping rule that watches over them."""
        assert table.target is not None
        assert table.weights is not None
        labels, weights = table.target.codes, table.weights

        def sample(rows: NDArray[np.intp] | slice) -> Sample:
            codes = binned.codes if isinstance(rows, slice) else binned.codes.take(rows)
            likelihood = LogLikelihood(
                labels[rows],
                weights[rows],
                intercepts,
                weigh_rows=self.min_weight > 0,
                n_threads=self._n_threads,
            )
            return Sample(codes, likelihood, float(weights[rows].sum()))

        if self.stopping == "validation":
            train, aside = split_rows(labels, self.validation_fraction, random)
            validation = sample(aside)
            stopping = EarlyStopping(self.patience, validation.mean_loss)
            return Monitor(sample(train), validation=validation, early_stopping=stopping)
        window = self._window()
        prior = np.bincount(labels, weights, len(intercepts)) / weights.sum()
        guess = prior if self.acceptability == "prior" else np.full(len(prior), 1 / len(prior))
        return Monitor(sample(slice(None)), window=window, guess=guess)

    def _window(self) -> WindowTest | None:
        if self.stopping == "none" or (self.stopping == "auto" and self.subsample == 1):
            return None
        if self.stop_bad > self.stop_window:
            raise ValueError(
                f"stop_bad={self.stop_bad} must be at most stop_window={self.stop_window}: "
                "a window cannot hold more bad rules than rules"
            )
        if self.subsample == 1:
            raise ValueError(
                "stopping='window' needs rows outside the subsample to judge rules by: "
                "set subsample < 1, or another stopping"
            )
        return WindowTest(self.stop_window, self.stop_bad)

    def _summary(self, table: Table, binned: BinnedColumns, monitor: Monitor) -> dict[str, Any]:
        settings = self.get_params(deep=False)
        return {
            "learner": type(self).__name__,
            "settings": {name: plain(settings[name]) for name in self.PARAMETERS},
            "n_rows": table.n_rows,
            "total_weight": monitor.train.total_weight,
            "bins": binned.describe(),
            "log_loss": monitor.kept_loss,
            "stopped_by": monitor.stopped_by,
        }
