"""Ensembles of DNF rule sets (Rückert, thesis of 2008, section 4.4, Algorithm 7)."""

from __future__ import annotations

import warnings
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.utils import check_random_state

from rulewright.encoding import encode_booleans
from rulewright.estimators.contract.base import RuleClassifier, positive_of_two
from rulewright.estimators.contract.deadline import Deadline, warn_of_time_limit
from rulewright.estimators.contract.parameters import Choice, Flag, Integer, Parameter, Real
from rulewright.estimators.contract.work import check_work, count_features
from rulewright.estimators.folds.precision import correct_weighed
from rulewright.estimators.ruleset_ensemble.search import (
    EnsembleRows,
    RuleSetSearch,
    order_rows,
    split_in_halves,
)
from rulewright.estimators.ruleset_ensemble.votes import (
    OutOfBag,
    compare_terms,
    voting_model,
    weigh_rule_sets,
)
from rulewright.estimators.sl2.estimator import NOISE, NOISE_DOC, SL2Classifier
from rulewright.evidence import choose_lead
from rulewright.model import RuleSetVotes
from rulewright.trust import certificate, distil, predict_or_abstain, vote_figures
from rulewright.weighting import WEIGHTS, Weight, alpha_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.search import MergedRows
    from rulewright.trust import Distilled, VoteCertificate

SEARCH_TIME = 0.8
"""Share of the time limit for the search; the rest finds the smoothing and the precision."""

ALPHA = 0.9
"""Default factor of the weight of a rule set per error."""


class RuleSetEnsembleClassifier(RuleClassifier[RuleSetVotes]):
    r"""Many small rule sets per class, found by random search, that vote by their errors.

    For each class and each number of terms up to `max_terms`, stochastic local search finds
    `n_samples` rule sets that separate the class from all others. A rule set with e training errors
    has weight :math:`Q_i(r) \propto \alpha^e`. The score of class i is
    :math:`c_i(x) = \sum_r Q_i(r) (\pm 1)`, plus where r covers x; the highest score wins. If its
    lead over the second is below `abstain`, the model abstains. A PAC-Bayes bound certifies the
    error of the vote.

    Attributes
    ----------
    model_ : RuleSetVotes
        The rule sets with their weights: prints, predicts, explains, saves and exports.
        `rulewright.trust` computes its certificates and statistics.
    classes_ : ndarray
        Class labels.
    out_of_bag_ : RiskCoverage or None
        Coverage and out-of-bag errors for each lead; None without `bagging` and
        `target_error`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import RuleSetEnsembleClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = RuleSetEnsembleClassifier(max_terms=2, n_samples=3, max_steps=500, random_state=0)
    >>> bool(est.fit(X, y).score(X, y) > 0.9)
    True
    """

    POOLS_LABELS = True
    MOST_WORK = 10_000

    max_terms: int = Parameter(
        Integer(1), "Maximum number of rules per rule set.", default=8, kw_only=False
    )
    n_samples: int = Parameter(
        Integer(1), "Number of searches per class and size.", default=20, kw_only=False
    )
    alpha: float | None = Parameter(
        Real(0, 1, above=True, optional=True),
        "Factor of the weight per training error, in (0, 1]; 0.9 if neither it nor `nu` is given. "
        "It is the odds of a random label error.",
        default=None,
    )
    nu: float | None = Parameter(
        Real(0, optional=True),
        "Decay rate, equivalent to alpha = exp(-nu / n) for n rows.",
        default=None,
    )
    vote_weight: str = Parameter(
        Choice(WEIGHTS),
        "Whether a rule set found several times counts several times, or once.",
        default="multiplicity",
    )
    single: bool = Parameter(
        Flag(),
        "Learn rule sets for one of two classes only, the one with less weight; the other is "
        "predicted if most of their weight votes against it. Halves the searches; the bound has "
        "one part.",
        default=False,
    )
    max_steps: int = Parameter(Integer(1), "Maximum number of steps per search.", default=5000)
    noise: Any = Parameter(NOISE, NOISE_DOC, default="usual")
    allow_thresholds: bool = Parameter(
        Flag(), "Whether numeric columns also give thresholds ``x <= t``.", default=False
    )
    max_bins: int = Parameter(
        Integer(2), "Maximum number of intervals per numeric column.", default=10
    )
    abstain: float = Parameter(
        Real(0),
        "Minimum lead, from 0 to 2; below it the model abstains. 0 never does.",
        default=0.0,
    )
    bagging: bool = Parameter(
        Flag(),
        "Whether each search uses a random half of the rows. The error is then estimated out of "
        "bag, by the vote of the rule sets found without a row, weighted by their errors on all "
        "others: see `out_of_bag_`.",
        default=False,
    )
    target_error: float | None = Parameter(
        Real(0, 1, optional=True),
        "Maximum share of wrong predictions: `abstain` is the smallest lead that reaches it out of "
        "bag (an estimate, not a bound). Turns on `bagging`.",
        default=None,
    )
    split_prior: bool = Parameter(
        Flag(),
        "Learn the prior of the bound on half of the rows, and search rule sets on this half only; "
        "the bound becomes a certificate: see `rulewright.trust.certificates.votes`.",
        default=False,
    )
    time_limit: float | None = Parameter(
        Real(0, above=True, optional=True),
        "Time limit for the whole fit, in seconds. The ensemble then has the rule sets found so "
        "far, and another run may find others.",
        default=None,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {"noise": "swapped"}

    def _learn(self, rows: TrainingSet) -> RuleSetVotes:
        deadline = Deadline.of(self.time_limit)
        self._check_choices()
        check_work(
            self,
            count_features(rows.table, self.max_bins),
            "labels and intervals, each a feature",
            "Select columns, as RuleVoteSelector does, or lower max_bins",
        )
        self._check_rows(rows)
        random, alpha = check_random_state(self.random_state), self._alpha(rows.total_weight)
        seeds = [int(random.randint(2**31))]
        first, second = split_in_halves(rows, random) if self.split_prior else (rows, None)
        seeds.append(int(random.randint(2**31)))
        search = self._search(first, seeds[0], Deadline.of(self.time_limit, SEARCH_TIME))
        found, weight = (
            search.run(self._n_threads, bool(self.verbose)),
            cast("Weight", self.vote_weight),
        )
        encoding = search.rows.encoding
        others = None if second is None else EnsembleRows.of(encoding, self._order_rows(second))
        late = [head for head, sets in found.items() if not sets]
        warn_of_time_limit(type(self).__name__, self.time_limit, len(late), len(self.classes_))
        found |= {head: [search.rows.without_rules(head)] for head in late}
        model = voting_model(
            rows,
            encoding,
            weigh_rule_sets(found, alpha, weight, others),
            self.max_terms,
            (rows if second is None else second).total_weight,
        )
        summary = {
            **self._summary(rows),
            "alpha": alpha,
            "n_booleans": len(encoding),
            "searches": [sum(map(len, found.values())), len(search.jobs)],
            **vote_figures(model),
        }
        if not (search.bagging or self.split_prior):
            # All searches used all rows: search again on halves of the rows, for out-of-bag votes.
            bagged = replace(search, n_samples=1, seed=seeds[1], bagging=True, deadline=deadline)
            found = {} if deadline.is_over else bagged.run(self._n_threads, False)
        parts = [search.rows] if others is None else [search.rows, others]
        unseen = OutOfBag.of(found, parts, model.opposite, len(self.classes_), alpha, weight)
        model = correct_weighed(model, compare_terms(found, parts, len(self.classes_)), rows)
        self.out_of_bag_, lead = None, self.abstain
        if self._judged:
            self.out_of_bag_ = unseen.curve(model)
            lead, summary["out_of_bag"] = choose_lead(
                self.out_of_bag_, self.abstain, self.target_error
            )
        return replace(model, abstain=lead, summary=summary, smoothing=unseen.smoothing(model))

    def certificate(self, prior: str | None = None, delta: float = 0.05) -> VoteCertificate:
        """Compute PAC-Bayes bounds of the vote; see `rulewright.trust.certificates.votes`."""
        return certificate(self._get_model(), prior, delta)

    def predict_or_abstain(self, X: Any, abstain_label: Any = None) -> NDArray[Any]:
        """Return labels as objects, with `abstain_label` for rows where the model abstains."""
        return predict_or_abstain(self._get_model(), X, abstain_label)

    def distil(self, X: Any, X_held_out: Any = None, **settings: Any) -> Distilled:
        """Learn one small rule set (per class) from the predictions of the ensemble.

        Parameters
        ----------
        X : table
            Rows to learn from, ideally the training rows, weighted by the lead of their
            prediction.
        X_held_out : table, optional
            Further rows to measure the fidelity on.
        **settings
            Parameters of `SL2Classifier`; `random_state` and `n_jobs` are taken over.
        """
        chosen = {"random_state": self.random_state, "n_jobs": self.n_jobs, **settings}
        return distil(self._get_model(), X, SL2Classifier(**chosen), X_held_out)

    @property
    def _judged(self) -> bool:
        """Whether out-of-bag errors are requested."""
        return self.bagging or self.target_error is not None

    def _check_choices(self) -> None:
        """Reject settings that contradict each other."""
        if self.single and len(self.classes_) > 2:
            raise ValueError(f"single=True needs two classes, not {len(self.classes_)}")
        if self.target_error is not None and self.abstain > 0:
            raise ValueError(
                f"target_error={self.target_error!r} chooses abstain, which is also given as "
                f"{self.abstain!r}: give only one"
            )

    def _order_rows(self, rows: TrainingSet) -> MergedRows:
        # Class weights are not repetitions: a row with a large class weight is still one row.
        return order_rows(rows, repeat=self.class_weight is None)

    def _search(self, rows: TrainingSet, seed: int, deadline: Deadline) -> RuleSetSearch:
        """Encode the search rows, and prepare the searches of the classes."""
        merged = self._order_rows(rows)
        encoding, covers = encode_booleans(
            merged.rows.table,
            weights=merged.rows.weights,
            missing="value",
            thresholds=self.allow_thresholds,
            n_bins=self.max_bins,
        )
        heads = list(range(len(self.classes_)))
        if self.single and len(self.classes_) == 2:
            heads = [positive_of_two(None, rows)]
        return RuleSetSearch(
            EnsembleRows.of(encoding, merged, covers),
            heads,
            self.max_terms,
            self.n_samples,
            {"max_steps": self.max_steps, **asdict(NOISE.make(self.noise))},
            seed,
            # No search uses the second half of a split.
            bagging=self.bagging or (self._judged and not self.split_prior),
            deadline=deadline,
        )

    def _check_rows(self, rows: TrainingSet) -> None:
        """Reject a single row, and warn about classes with one or two rows."""
        if rows.n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} needs two rows or more, n_samples=1 is too few"
            )
        counts = np.bincount(rows.labels, minlength=len(self.classes_))
        few = [str(self.classes_[k]) for k in np.flatnonzero((counts > 0) & (counts < 3))]
        if few and len(self.classes_) > 1:
            text = (
                f"a class has one or two rows ({', '.join(few)}): its rules are easily overfitted"
            )
            warnings.warn(text, UserWarning, stacklevel=4)

    def _alpha(self, total: float) -> float:
        """Return the factor per error from `alpha` or `nu`."""
        if self.nu is None:
            return ALPHA if self.alpha is None else float(self.alpha)
        if self.alpha is not None:
            raise ValueError(f"alpha={self.alpha!r} and nu={self.nu!r} set the same: give only one")
        return max(alpha_of(self.nu, total), np.finfo(np.float64).tiny)
