"""Ensembles of DNF rule sets (Rückert, thesis of 2008, section 4.4, Algorithm 7)."""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from rulewright.conditions.booleans import encode_booleans
from rulewright.conditions.canonical import canonical_rule_set, rule_set_conjunctions
from rulewright.estimators.base import RuleClassifier
from rulewright.estimators.dnf_rows import BooleanRows
from rulewright.estimators.ensemble_reading import EnsembleReading
from rulewright.estimators.ensemble_rows import ordered_rows
from rulewright.estimators.folds import side_by_side
from rulewright.estimators.parameters import Choice, Domain, Flag, Integer, Real
from rulewright.estimators.progress import progress_bar
from rulewright.model.votes import RuleSetVotes
from rulewright.search.dnf import search_dnf
from rulewright.weighting.posterior import PRIORS, Posterior, alpha_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rulewright.conditions.canonical import RuleSet
    from rulewright.data import Table
    from rulewright.search.boolean_examples import BooleanExamples

ALPHA = 0.9
"""Factor of the weight of a rule set per error, unless one is given."""


class Job(NamedTuple):
    """One search: class, most terms, number of the sample."""

    head: int
    n_terms: int
    sample: int

    @property
    def first(self) -> bool:
        """Whether it is the one search that every class is sure to have."""
        return self.n_terms == 1 and self.sample == 0


class RuleSetEnsembleClassifier(EnsembleReading, RuleClassifier):
    r"""Many small rule sets per class, found by random search, that vote by their errors.

    For each class and each number of terms up to `max_terms`, stochastic local search finds
    `n_samples` rule sets that part the class from all others. A rule set with e training errors
    weighs :math:`Q_i(r) \propto \alpha^e`; the score of class i is
    :math:`c_i(x) = \sum_r Q_i(r) (\pm 1)`, plus where r covers x, and the highest score wins. Where
    its lead over the second is below `abstain`, the model abstains. A PAC-Bayes bound says how far
    the vote can be trusted.

    Parameters
    ----------
    max_terms : int
        Most rules of a rule set.
    n_samples : int
        Searches per class and number of rules.
    alpha : float, optional
        Factor of the weight per training error, above 0 and at most 1; 0.9 if neither it nor `nu`
        is given. It is the odds of a label being wrong by chance.
    nu : float, optional
        The same as a rate of decay: alpha = exp(-nu / n) for n rows.
    max_steps : int
        Steps of one search.
    p_g1, p_g2, p_s : float
        Probabilities of a random term, a random literal to take out, a random literal to add.
    thresholds : bool
        Whether numeric columns also give questions ``x <= t``.
    n_bins : int
        Most intervals of a numeric column.
    abstain : float
        Lead, from 0 to 2, below which the model abstains; 0 never does.
    prior : {"length", "flat"}
        Prior of the bound: short rule sets first, or all of equally many terms alike.
    delta : float
        Probability that the bound fails.
    time_limit : float, optional
        Seconds for the whole fit; the rule sets found by then are the ensemble, and another fit
        may find another one.
    class_weight : dict or "balanced", optional
        Factors of the weights of the classes.
    nominal : list of str or int, optional
        Columns to treat as nominal although they hold numbers.
    random_state : int, RandomState or None
        Seed of the searches.
    n_jobs : int, optional
        Threads; the model does not depend on it.
    verbose : int
        1 draws a progress bar.

    Attributes
    ----------
    model_ : RuleSetVotes
        The rule sets with their weights: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.
    posteriors_ : list of Posterior
        Distinct rule sets of each class in canonical form, with errors, counts and weights.
    encoding_ : BooleanEncoding
        The values and intervals that rule sets are made of.
    n_jobs_done_ : int
        Searches that were finished in time.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RuleSetEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RuleSetEnsembleClassifier(max_terms=2, n_samples=3, max_steps=500, random_state=0)
    >>> bool(est.fit(X, y).score(X, y) > 0.9)
    True
    """

    PARAMETERS: ClassVar[Mapping[str, Domain]] = {
        "max_terms": Integer(1),
        "n_samples": Integer(1),
        "alpha": Real(0, 1, above=True, optional=True),
        "nu": Real(0, optional=True),
        "max_steps": Integer(1),
        "p_g1": Real(0, 1),
        "p_g2": Real(0, 1),
        "p_s": Real(0, 1),
        "thresholds": Flag(),
        "n_bins": Integer(2),
        "abstain": Real(0),
        "prior": Choice(PRIORS),
        "delta": Real(0, 0.5, above=True),
        "time_limit": Real(0, above=True, optional=True),
    }

    def __init__(
        self,
        max_terms: int = 8,
        n_samples: int = 20,
        *,
        alpha: float | None = None,
        nu: float | None = None,
        max_steps: int = 5000,
        p_g1: float = 0.2,
        p_g2: float = 0.1,
        p_s: float = 0.1,
        thresholds: bool = False,
        n_bins: int = 10,
        abstain: float = 0.0,
        prior: str = "length",
        delta: float = 0.05,
        time_limit: float | None = None,
        class_weight: Any = None,
        nominal: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_terms = max_terms
        self.n_samples = n_samples
        self.alpha = alpha
        self.nu = nu
        self.max_steps = max_steps
        self.p_g1 = p_g1
        self.p_g2 = p_g2
        self.p_s = p_s
        self.thresholds = thresholds
        self.n_bins = n_bins
        self.abstain = abstain
        self.prior = prior
        self.delta = delta
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.nominal = nominal
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def paper(cls, **overrides: Any) -> Self:
        """Return the settings published with the thesis, with any of them overridden."""
        return cls(**{"p_g1": 0.1, "p_g2": 0.2, "prior": "flat", **overrides})

    def _learn(self, table: Table) -> RuleSetVotes:
        self._deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        self._check_rows(table)
        assert table.weights is not None
        self.total_weight_ = float(table.weights.sum())
        self.weighted_ = bool((table.weights != 1.0).any())
        alpha = self._alpha(self.total_weight_)
        rows = ordered_rows(table)
        self.encoding_ = encode_booleans(
            rows, missing="value", thresholds=self.thresholds, n_bins=self.n_bins
        )
        sampled = self._sampled(BooleanRows.of(self.encoding_, rows))
        self.posteriors_ = [Posterior.of(found, alpha) for found in sampled]
        self.n_jobs_done_ = sum(map(len, sampled))
        summary = {
            **self._summary(table),
            "alpha": alpha,
            "n_booleans": len(self.encoding_),
            "searches": [self.n_jobs_done_, len(self._jobs())],
            **self._figures(),
        }
        return RuleSetVotes.counted(table, self._members(), abstain=self.abstain, summary=summary)

    def _check_rows(self, table: Table) -> None:
        """Refuse a single row, and warn of classes that are not much more."""
        assert table.target is not None
        if table.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} needs two rows or more, n_samples=1 is too few"
            )
        counts = np.bincount(table.target.codes, minlength=len(self.classes_))
        few = [str(self.classes_[k]) for k in np.flatnonzero((counts > 0) & (counts < 3))]
        if few and len(self.classes_) > 1:
            text = f"a class has a single row or two ({', '.join(few)}), easily learned by heart"
            warnings.warn(text, UserWarning, stacklevel=4)

    def _alpha(self, total: float) -> float:
        """Return the factor per error that `alpha` or `nu` asks for."""
        if self.nu is None:
            return ALPHA if self.alpha is None else float(self.alpha)
        if self.alpha is not None:
            raise ValueError(f"alpha={self.alpha!r} and nu={self.nu!r} say the same: give one")
        return max(alpha_of(self.nu, total), np.finfo(np.float64).tiny)

    def _sampled(self, rows: BooleanRows) -> list[list[tuple[RuleSet, float]]]:
        """Search rule sets of all classes side by side; return canonical ones with their errors."""
        jobs = self._jobs()
        base = int(check_random_state(self.random_state).randint(2**31))
        examples = [rows.examples(head) for head in range(len(self.classes_))]
        with progress_bar("searching rule sets", len(jobs), bool(self.verbose)) as advance:
            tasks = [partial(self._found, examples, base, job, advance) for job in jobs]
            results = side_by_side(tasks, self._n_threads)
        sampled: list[list[tuple[RuleSet, float]]] = [[] for _ in examples]
        for job, result in zip(jobs, results, strict=True):
            if result is not None:
                sampled[job.head].append(result)
        return sampled

    def _jobs(self) -> list[Job]:
        """Return all jobs; a run that is cut off has had about as many of each kind."""
        return [
            Job(head, n_terms, sample)
            for sample in range(self.n_samples)
            for n_terms in range(1, self.max_terms + 1)
            for head in range(len(self.classes_))
        ]

    @property
    def _seconds_left(self) -> float | None:
        return None if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def _found(
        self,
        examples: Sequence[BooleanExamples],
        base: int,
        job: Job,
        advance: Callable[[], None],
        check: Callable[[], None],
    ) -> tuple[RuleSet, float] | None:
        """Run one search; only the first of a class counts when its time was up."""
        check()
        left = self._seconds_left
        if left == 0.0 and not job.first:
            return None
        # Without the class: its place in the order of classes does not matter.
        seed = np.random.SeedSequence((base, *job[1:])).generate_state(1)[0]
        found = search_dnf(
            examples[job.head],
            None,
            job.n_terms,
            max_steps=self.max_steps,
            p_g1=self.p_g1,
            p_g2=self.p_g2,
            p_s=self.p_s,
            time_limit=left,
            random_state=int(seed),
            n_jobs=1,
            progress=lambda steps, cost: check(),
        )
        advance()
        if found.stop_reason == "time" and not job.first:
            return None
        return canonical_rule_set(self.encoding_, found.formula), found.errors

    def _members(self) -> dict[int, list[tuple[Any, float]]]:
        """Write the rule sets of each class as conditions, with their weights."""
        return {
            head: [
                (rule_set_conjunctions(self.encoding_, rule_set), weight)
                for rule_set, weight in zip(posterior.rule_sets, posterior.weights, strict=True)
            ]
            for head, posterior in enumerate(self.posteriors_)
        }
