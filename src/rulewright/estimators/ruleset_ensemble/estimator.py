"""Ensembles of DNF rule sets (Rückert, thesis of 2008, section 4.4, Algorithm 7)."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.utils import check_random_state

from rulewright.data import Table, TrainingSet
from rulewright.encoding.booleans import encode_booleans
from rulewright.estimators.common.base import RuleClassifier, positive_of_two
from rulewright.estimators.common.parameters import (
    Choice,
    Flag,
    Integer,
    Parameter,
    Real,
)
from rulewright.estimators.ruleset_ensemble.certificate import chosen_lead
from rulewright.estimators.ruleset_ensemble.posteriors import conjunctions, weighed
from rulewright.estimators.ruleset_ensemble.reading import EnsembleReading
from rulewright.estimators.ruleset_ensemble.rows import EnsembleRows, halves, ordered_rows
from rulewright.estimators.ruleset_ensemble.search import RuleSetSearch
from rulewright.estimators.ruleset_ensemble.unseen import unseen_curve
from rulewright.model.forms.votes import RuleSetVotes
from rulewright.weighting.posterior import PRIORS, WEIGHTS, alpha_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulewright.weighting.posterior import Weight

ALPHA = 0.9
"""Factor of the weight of a rule set per error, unless one is given."""


class RuleSetEnsembleClassifier(EnsembleReading, RuleClassifier[RuleSetVotes]):
    r"""Many small rule sets per class, found by random search, that vote by their errors.

    For each class and each number of terms up to `max_terms`, stochastic local search finds
    `n_samples` rule sets that part the class from all others. A rule set with e training errors
    weighs :math:`Q_i(r) \propto \alpha^e`; the score of class i is
    :math:`c_i(x) = \sum_r Q_i(r) (\pm 1)`, plus where r covers x, and the highest score wins. Where
    its lead over the second is below `abstain`, the model abstains. A PAC-Bayes bound says how far
    the vote can be trusted.

    Attributes
    ----------
    model_ : RuleSetVotes
        The rule sets with their weights: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.
    heads_ : list of int
        The classes that have rule sets: all, or with `single` one.
    posteriors_ : list of Posterior
        Distinct rule sets of those in canonical form, with errors on the rows that the bound is of,
        counts and weights.
    encoding_ : BooleanEncoding
        The values and intervals that rule sets are made of.
    n_jobs_done_ : int
        Searches that were finished in time.
    out_of_bag_ : RiskCoverage or None
        Coverage and errors for each lead, by votes on rows that searches did not see; None without
        `bagging` and `target_error`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RuleSetEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RuleSetEnsembleClassifier(max_terms=2, n_samples=3, max_steps=500, random_state=0)
    >>> bool(est.fit(X, y).score(X, y) > 0.9)
    True
    """

    max_terms: int = Parameter(Integer(1), "Most rules of a rule set.", default=8, kw_only=False)
    n_samples: int = Parameter(
        Integer(1), "Searches per class and number of rules.", default=20, kw_only=False
    )
    alpha: float | None = Parameter(
        Real(0, 1, above=True, optional=True),
        "Factor of the weight per training error, above 0 and at most 1; 0.9 if neither it nor "
        "`nu` is given. It is the odds of a label being wrong by chance.",
        default=None,
    )
    nu: float | None = Parameter(
        Real(0, optional=True),
        "The same as a rate of decay: alpha = exp(-nu / n) for n rows.",
        default=None,
    )
    weight: str = Parameter(
        Choice(WEIGHTS),
        "Whether a rule set that was found several times weighs as many times as much, or once.",
        default="multiplicity",
    )
    single: bool = Parameter(
        Flag(),
        "Of two classes only the one with the smaller weight gets rule sets; the other is "
        "predicted where most of their weight does not vote. Half the searches, and a bound "
        "with one part.",
        default=False,
    )
    max_steps: int = Parameter(Integer(1), "Steps of one search.", default=5000)
    p_g1: float = Parameter(Real(0, 1), "Probability of a random term.", default=0.2)
    p_g2: float = Parameter(Real(0, 1), "Probability of a random literal to take out.", default=0.1)
    p_s: float = Parameter(Real(0, 1), "Probability of a random literal to add.", default=0.1)
    thresholds: bool = Parameter(
        Flag(), "Whether numeric columns also give questions ``x <= t``.", default=False
    )
    n_bins: int = Parameter(Integer(2), "Most intervals of a numeric column.", default=10)
    abstain: float = Parameter(
        Real(0), "Lead, from 0 to 2, below which the model abstains; 0 never does.", default=0.0
    )
    bagging: bool = Parameter(
        Flag(),
        "Whether each search sees a random half of the rows only. The vote of the rule sets "
        "that were found without a row, weighed by their errors on all others, then estimates "
        "the error: `out_of_bag_`.",
        default=False,
    )
    target_error: float | None = Parameter(
        Real(0, 1, optional=True),
        "Choose `abstain`, by such votes, as the smallest lead at which at most this share of "
        "the predictions is wrong: an estimate, no bound. Searches are then bagged.",
        default=None,
    )
    prior: str = Parameter(
        Choice((*PRIORS, "split")),
        "Prior of the bound: short rule sets first, all of equally many terms alike, or learned"
        " from half of the rows, on which alone rule sets are then searched; see `certificate`.",
        default="length",
    )
    delta: float = Parameter(
        Real(0, 0.5, above=True), "Probability that the bound fails.", default=0.05
    )
    time_limit: float | None = Parameter(
        Real(0, above=True, optional=True),
        "Seconds for the whole fit; the rule sets found by then are the ensemble, and another "
        "fit may find another one.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {"p_g1": 0.1, "p_g2": 0.2, "prior": "flat"}

    def _learn(self, rows: TrainingSet) -> RuleSetVotes:
        table = replace(rows.table, target=rows.target, weights=rows.weights)
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        self._check_choices()
        self._check_rows(table)
        random = check_random_state(self.random_state)
        seed, alpha = int(random.randint(2**31)), self._alpha(_total(table))
        first, second = halves(table, random) if self.prior == "split" else (table, None)
        search = self._search(first, seed, deadline)
        found, weight = search.run(self._n_threads, bool(self.verbose)), cast("Weight", self.weight)
        others = None if second is None else EnsembleRows.of(self.encoding_, ordered_rows(second))
        self.posteriors_ = weighed(found, alpha, weight, others)
        self.total_weight_ = _total(table if second is None else second)
        self.weighted_ = bool((cast("Any", table.weights) != 1.0).any())
        self.n_jobs_done_ = sum(map(len, found.values()))
        summary = {
            **self._summary(rows),
            "alpha": alpha,
            "n_booleans": len(self.encoding_),
            "searches": [self.n_jobs_done_, len(search.jobs)],
            **self._figures(),
        }
        members = conjunctions(self.encoding_, self.heads_, self.posteriors_, len(self.classes_))
        model = RuleSetVotes.counted(table, members, abstain=self.abstain, summary=summary)
        if not self._judged:
            self.out_of_bag_ = None
            return model
        self.out_of_bag_ = unseen_curve(model, found, search.rows, others, alpha, weight)
        lead, noted = chosen_lead(self.out_of_bag_, self.abstain, self.target_error)
        return replace(model, abstain=lead, summary=summary | {"out_of_bag": noted})

    @property
    def _judged(self) -> bool:
        """Whether errors on unseen rows are asked for."""
        return self.bagging or self.target_error is not None

    def _check_choices(self) -> None:
        """Refuse settings that do not go together."""
        if self.single and len(self.classes_) > 2:
            raise ValueError(f"single=True is for two classes, not {len(self.classes_)}")
        if self.target_error is not None and self.abstain > 0:
            raise ValueError(
                f"target_error={self.target_error!r} chooses abstain, which is given too as "
                f"{self.abstain!r}: give one"
            )

    def _search(self, table: Table, seed: int, deadline: float | None) -> RuleSetSearch:
        """Encode the rows to search on, and prepare the searches of the classes."""
        rows = ordered_rows(table)
        self.encoding_ = encode_booleans(
            rows, missing="value", thresholds=self.thresholds, n_bins=self.n_bins
        )
        self.heads_ = list(range(len(self.classes_)))
        if self.single and len(self.classes_) == 2:
            self.heads_ = [positive_of_two(None, TrainingSet.of(table))]
        return RuleSetSearch(
            EnsembleRows.of(self.encoding_, rows),
            self.heads_,
            self.max_terms,
            self.n_samples,
            {name: getattr(self, name) for name in ("max_steps", "p_g1", "p_g2", "p_s")},
            seed,
            # The second half of a split was not seen anyway.
            bagging=self.bagging or (self._judged and self.prior != "split"),
            deadline=deadline,
        )

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


def _total(table: Table) -> float:
    assert table.weights is not None
    return float(table.weights.sum())
