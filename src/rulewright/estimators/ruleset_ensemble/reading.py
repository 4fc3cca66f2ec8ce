"""Reading an ensemble of rule sets: certificates, abstention, statistics, one rule set instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rulewright.encoding.canonical import domain_sizes
from rulewright.estimators.ruleset_ensemble.certificate import (
    SAME_ROWS,
    WEIGHTED,
    ensemble_certificate,
    held_out_certificate,
    lead_for_error,
    risk_coverage,
    selective_score,
)
from rulewright.estimators.ruleset_ensemble.consensus import distilled, frequent
from rulewright.estimators.ruleset_ensemble.statistics import (
    attribute_shares,
    attribute_weights,
    literal_weights,
    pair_shares,
    term_table,
)
from rulewright.search.options import check_whole, count_threads

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.encoding.booleans import BooleanEncoding
    from rulewright.estimators.ruleset_ensemble.certificate import (
        EnsembleCertificate,
        HeldOutCertificate,
        RiskCoverage,
        SelectiveScore,
    )
    from rulewright.estimators.ruleset_ensemble.consensus import Consensus, Distilled
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model.forms.votes import RuleSetVotes
    from rulewright.weighting.posterior import Posterior, Prior


class EnsembleReading:
    """What can be read off a fitted ensemble of rule sets."""

    max_terms: int
    prior: str
    delta: float
    random_state: Any
    n_jobs: int | None
    model_: Any
    classes_: NDArray[Any]
    heads_: list[int]
    posteriors_: list[Posterior]
    encoding_: BooleanEncoding
    total_weight_: float
    weighted_: bool

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores; for two classes the second minus the first probability.

        Those rank rows as `predict_proba` does, which the difference of two scores need not.
        """
        votes = self._votes()
        scores = votes.scores(X, n_threads=count_threads(self.n_jobs))
        if len(self.classes_) != 2:
            return np.zeros(len(scores)) if len(self.classes_) == 1 else scores
        first, second = votes.probabilities(scores).T
        return np.asarray(second - first)

    def predict_or_abstain(self, X: Any, abstain_label: Any = None) -> NDArray[Any]:
        """Give labels as objects, `abstain_label` on the rows where the model abstains."""
        votes = self._votes()
        labels = votes.predict(X).astype(object)
        labels[votes.abstains(X)] = abstain_label
        return labels

    def selective_score(self, X: Any, y: Any) -> SelectiveScore:
        """Tell the share of rows predicted, the errors among them, and those among all rows."""
        return selective_score(self._wrong(X, y), ~self._votes().abstains(X))

    def certificate(self) -> EnsembleCertificate:
        """State PAC-Bayes bounds of the vote, with and without abstention.

        The sum over classes of 1 - chi_i(y) c_i(x), where chi_i(y) is 1 for the true class and -1
        else, is never negative and has the mean 2 sum_i l(Q_i). A wrong prediction with a lead of
        theta makes it 2 + theta at least; Markov's inequality gives the bounds, for all theta at
        once. With `single`, one class is minus the other: the sum is 2 (1 - chi(y) c(x)).

        With the priors "length" and "flat" they are no strict certificates, because the domains
        that those count were read off the training rows; for one see `held_out_certificate`.

        With "split" they are. Cut points, searches and prior weights alpha^errors come from a first
        half of the rows; the errors on the second turn the prior into the weights of the vote, and
        the losses of the bound are of the second. So given the first half, only the weights depend
        on the second, and the bound holds for all weights at once. The halves are drawn by the
        places of the rows alone: with equal shares of the classes they would not be independent.
        (That columns are numeric or nominal, and which classes there are, is taken as known.)
        """
        votes, figures = self._votes(), self._figures()
        doubts = [] if self.prior == "split" else [SAME_ROWS]
        return ensemble_certificate(
            self.prior,
            [votes.class_names[head] for head in self.heads_],
            figures["losses"],
            figures["divergences"],
            figures["effective_sizes"],
            int(self.total_weight_),
            theta=votes.abstain,
            delta=self.delta,
            single=votes.opposite is not None,
            doubts=(*doubts, WEIGHTED) if self.weighted_ else tuple(doubts),
        )

    def held_out_certificate(self, X: Any, y: Any) -> HeldOutCertificate:
        """State exact bounds from rows that played no part in learning or choosing the model."""
        votes = self._votes()
        return held_out_certificate(self._wrong(X, y), ~votes.abstains(X), self.delta)

    def risk_coverage(self, X: Any, y: Any) -> RiskCoverage:
        """Tell for each lead that `abstain` could be which share of rows is predicted, how wrong.

        Returns
        -------
        RiskCoverage
            Arrays ``theta`` (leads), ``coverage`` (share of rows predicted), ``error`` (among
            those) and ``joint_error`` (rows predicted and wrong, of all rows).
        """
        return risk_coverage(self._wrong(X, y), self._votes().margins(X))

    def choose_abstain(
        self, X: Any, y: Any, target_error: float, *, delta: float | None = None
    ) -> float:
        """Find the smallest lead at which at most `target_error` of the predictions are wrong.

        ``est.model_.with_abstain(lead)`` is the model that asks for it.

        Parameters
        ----------
        X, y : rows and their labels
            Best rows that were not learned from.
        target_error : float
            Share of wrong predictions that is allowed.
        delta : float, optional
            Also for new rows, but for this probability: the exact bound of the error must be low
            enough, with all leads tried at once.
        """
        curve = self.risk_coverage(X, y)
        return lead_for_error(curve, len(np.asarray(y)), target_error, delta)

    def literal_importance(self) -> dict[str, list[Any]]:
        """Give the mean share of terms with each literal, as a dict of columns."""
        variables = self._encoding().variables
        lines = [
            (label, str(variables[j].literal(positive)), variables[j].condition.column, weight)
            for label, posterior in self._by_class()
            for (j, positive), weight in literal_weights(posterior, self.encoding_).items()
        ]
        return _columns(("class", "literal", "column", "importance"), lines)

    def column_importance(self) -> dict[str, list[Any]]:
        """Give the importance of the literals of each column together, as a dict of columns."""
        attributes = self._encoding().attributes
        lines = [
            (label, attributes[a].column, weight)
            for label, posterior in self._by_class()
            for a, weight in attribute_weights(posterior, self.encoding_).items()
        ]
        return _columns(("class", "column", "importance"), lines)

    def pair_table(self) -> dict[str, list[Any]]:
        """Give the mean share of terms with both of two columns, as a dict of columns.

        ``lift`` is that share divided by the product of the shares of either column: above 1 for
        columns that come together more often than by chance.
        """
        attributes, lines = self._encoding().attributes, []
        for label, posterior in self._by_class():
            alone = attribute_shares(posterior)
            lines += [
                (label, attributes[a].column, attributes[b].column, s, s / (alone[a] * alone[b]))
                for (a, b), s in pair_shares(posterior).items()
            ]
        return _columns(("class", "first", "second", "share", "lift"), lines)

    def term_table(self) -> dict[str, list[Any]]:
        """Give the terms as a dict of columns: weight, support, positives, Laplace, mean size."""
        return term_table(self._votes())

    def distil(self, X: Any, X_held_out: Any = None, **settings: Any) -> Distilled:
        """Learn one small rule set (per class) from the predictions of the ensemble.

        Parameters
        ----------
        X : table
            Rows to learn from, best those of training; each weighs as much as the lead of its
            prediction.
        X_held_out : table, optional
            More rows to tell the fidelity on.
        **settings
            Parameters of `SL2Classifier`; `random_state` and `n_jobs` are taken over.
        """
        chosen = {"random_state": self.random_state, "n_jobs": self.n_jobs, **settings}
        return distilled(self._votes(), X, X_held_out, chosen)

    def frequent(self, X: Any, X_held_out: Any = None, max_terms: int = 8) -> Consensus:
        """Pick a few terms of the ensemble itself that predict as it does.

        Terms are tried by falling weight times Laplace precision. The first that makes more rows
        of `X` agree with the vote is taken, and so on until none does.

        Parameters
        ----------
        X : table
            Rows to agree on, best those of training.
        X_held_out : table, optional
            More rows to tell the fidelity on.
        max_terms : int
            Most terms.
        """
        check_whole("max_terms", max_terms, 1)
        return frequent(self._votes(), X, X_held_out, max_terms)

    def _figures(self) -> dict[str, list[Any]]:
        """Give size, loss and divergence from the prior of the rule sets of each class."""
        sizes, prior = domain_sizes(self.encoding_), cast("Prior", self.prior)
        return {
            "rule_sets": [len(p) for p in self.posteriors_],
            "effective_sizes": [p.effective_size for p in self.posteriors_],
            "losses": [p.loss(self.total_weight_) for p in self.posteriors_],
            "divergences": [p.divergence(sizes, self.max_terms, prior) for p in self.posteriors_],
        }

    def _votes(self) -> RuleSetVotes:
        check_is_fitted(self, "model_")
        return cast("RuleSetVotes", self.model_)

    def _encoding(self) -> BooleanEncoding:
        check_is_fitted(self, "model_")
        return self.encoding_

    def _by_class(self) -> list[tuple[Any, Posterior]]:
        labels = self.classes_.tolist()
        return [(labels[k], p) for k, p in zip(self.heads_, self.posteriors_, strict=True)]

    def _wrong(self, X: Any, y: Any) -> BoolArray:
        """Tell on which rows the label with the highest score is wrong."""
        predicted, labels = self._votes().predict(X), np.asarray(y)
        if labels.shape != predicted.shape:
            raise ValueError(f"y has the shape {labels.shape}, not one label per row of X")
        return np.asarray(predicted != labels, dtype=np.bool_)


def _columns(names: tuple[str, ...], lines: list[tuple[Any, ...]]) -> dict[str, list[Any]]:
    return {name: [line[i] for line in lines] for i, name in enumerate(names)}
