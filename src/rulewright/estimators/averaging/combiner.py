"""Combination of rules that cover the same row: ad hoc, Bayesian, or by predictive performance.

Weights are relative among the rules that cover a row. Log weights are shifted so that the heaviest
rule has weight 1, and clipped at `LEAST`: rows covered by light rules only are still decided by
them, with equal weights below the limit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rulewright.estimators.averaging.average import logs_to_json
from rulewright.estimators.averaging.rule_evidence import (
    CoveredRows,
    beta_of_rules,
    densities_of_rules,
    order_by_false_positives,
)
from rulewright.estimators.finishing.after_fit import read_model_rows
from rulewright.estimators.lists.assembly import decision_list
from rulewright.model import AdditiveRules, ClassModel, UnorderedRules
from rulewright.rules import Adds, Coverage, Rule, Says
from rulewright.weighting import (
    PosteriorReport,
    combination_weights,
    log_rule_weights,
    normalise_by_coverage,
    perplexity,
    pseudo_bma_weights,
    stacking_weights,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray

LEAST = 1e-200
"""Minimum weight of a rule, relative to the heaviest one."""
START = 1e-12
"""Start weight of the classes, relative to the lightest rule: decides only without rules."""
LISTS = ("laplace_best", "c45rules")
BAYES = {"bma1": 1, "bma2": 2, "bma3": 3}
BY_DENSITIES: dict[str, Callable[..., FloatArray]] = {
    "stacking": stacking_weights,
    "pseudo_bma_plus": pseudo_bma_weights,
    "bmc": combination_weights,
}
KINDS = (
    "cn2",
    "vote",
    *LISTS,
    "itrule",
    *BAYES,
    "tempered",
    "coverage_normalised",
    *BY_DENSITIES,
)


@dataclass(eq=False)
class RuleCombiner:
    """Decides rows that several rules of a model cover.

    Parameters
    ----------
    kind : str
        Ad hoc: "cn2" sums the covered rows of each class; "vote" weights rules by their Laplace
        accuracy; "laplace_best" uses the rule with the highest Laplace accuracy; "c45rules" uses
        the first rule of the class whose rules have the fewest false positives; "itrule" is naive
        Bayes with rules independent given the class. Bayesian: "bma1", "bma2" and "bma3" are the
        weightings of Domingos; "tempered" is a power of the first; "coverage_normalised" divides
        its log by a power of the number of covered rows. By leave-one-out predictions of each rule
        and its complement: "stacking", "pseudo_bma_plus", "bmc".
    estimator : {"ml", "laplace"}
        Class probabilities of a rule: shares of the covered rows, or (e + 1) / (n + C).
    beta : float, optional
        Power of "tempered"; by default the power with minimum leave-one-out log-loss.
    gamma : float
        Power of "coverage_normalised", from 0 (same as "bma1") to 1.
    n_draws : int
        Number of random draws of "pseudo_bma_plus" and "bmc".
    random_state : int, RandomState or None
        Random numbers of the draws.

    Attributes
    ----------
    model_ : UnorderedRules, DecisionList or AdditiveRules
        The combined rules, an ordinary model; for kinds with weights, its summary has the log
        weights and their diagnostics.
    log_weights_ : float array or None
        Log weight of each rule of `model_`; None for kinds without weights.
    report_ : PosteriorReport or None
        Diagnostics of the weights of all rules; None for kinds without weights.
    """

    kind: str = "bma3"
    estimator: str = "ml"
    beta: float | None = None
    gamma: float = 0.5
    n_draws: int = 1000
    random_state: Any = None
    model_: ClassModel = field(init=False, repr=False)
    log_weights_: FloatArray | None = field(init=False, default=None, repr=False)
    report_: PosteriorReport | None = field(init=False, default=None, repr=False)

    def fit(self, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Count what the rules of a model cover, and weight or order them.

        Parameters
        ----------
        model : ClassModel or fitted estimator
            Source of the rules, and of the default where no rule applies. A rule that covers no
            row is dropped with a warning.
        X, y : table and classes
            Rows to count, ideally the rows that the rules were learned from.
        sample_weight : array-like or str, optional
            Row weights.
        """
        source = self._check_source(getattr(model, "model_", model))
        rows = read_model_rows(source, X, y, sample_weight, "RuleCombiner", every_column=True)
        covered = CoveredRows.of(source, rows)
        self.log_weights_, notes = self._weigh_rules(covered)
        if self.log_weights_ is not None and len(self.log_weights_):
            self.report_ = PosteriorReport.of(self.log_weights_)
            notes |= {"log_weights": logs_to_json(self.log_weights_.tolist())}
            notes |= {"posterior": self.report_.to_json()}
        summary = {"combiner": self.kind, "estimator": self.estimator, **notes}
        self.model_ = self._combine(covered, source, summary)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row."""
        return self.model_.predict(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes."""
        return self.model_.predict_proba(X)

    def row_diagnostics(self, X: Any) -> dict[str, FloatArray]:
        """Return how concentrated the weights of the rules that cover each row are.

        Returns
        -------
        dict of arrays
            Number of covering rules ``n_rules``, their ``perplexity`` and largest weight
            ``w_max``; NaN for rows without rules.
        """
        if self.log_weights_ is None:
            raise ValueError(f"kind={self.kind!r} has no rule weights to report on")
        covers = self.model_.covers(X)
        spread, most = (np.full(len(covers), np.nan) for _ in range(2))
        for i, held in enumerate(covers):
            if held.any():
                logs = self.log_weights_[held]
                weights = np.exp(logs - logs.max())
                weights /= weights.sum()
                spread[i], most[i] = perplexity(weights), weights.max()
        return {"n_rules": covers.sum(axis=1).astype(float), "perplexity": spread, "w_max": most}

    def _check_source(self, source: Any) -> ClassModel:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.estimator not in ("ml", "laplace"):
            raise ValueError(f"estimator must be ml or laplace, not {self.estimator!r}")
        if not isinstance(source, ClassModel):
            raise ValueError(
                "RuleCombiner needs a classification model or a fitted classifier of this library, "
                f"not {type(source).__name__}"
            )
        return source

    def _weigh_rules(self, covered: CoveredRows) -> tuple[FloatArray | None, dict[str, Any]]:
        """Return the log weights of the rules, and how they were chosen."""
        counts, totals = covered.counts, covered.rows.class_weights
        if self.kind in (*LISTS, "itrule"):
            return None, {}
        if self.kind == "cn2":
            return np.log(counts.sum(axis=1)), {}
        if self.kind == "vote":
            return np.log(covered.accuracies), {}
        if self.kind in BY_DENSITIES:
            lp, sizes = densities_of_rules(covered)
            draws = {"n_draws": self.n_draws, "random_state": self.random_state}
            options = {"tolerance": 1e-6} if self.kind == "stacking" else draws
            if not len(counts):
                return np.zeros(0), {}
            with np.errstate(divide="ignore"):
                return np.log(BY_DENSITIES[self.kind](lp, sizes, **options)), {}
        logs = log_rule_weights(counts, totals, BAYES.get(self.kind, 1))
        if self.kind == "coverage_normalised":
            return normalise_by_coverage(logs, counts.sum(axis=1), self.gamma), {
                "gamma": self.gamma
            }
        if self.kind == "tempered":
            beta = beta_of_rules(covered, logs) if self.beta is None else self.beta
            if not beta >= 0.0:
                raise ValueError(f"beta={beta} must be a number >= 0")
            return beta * logs, {"beta": float(beta)}
        return logs, {}

    def _combine(
        self, covered: CoveredRows, source: ClassModel, summary: dict[str, Any]
    ) -> ClassModel:
        rows, default = covered.rows, covered.default_of(source)
        if self.kind in LISTS:
            order = np.argsort(-covered.accuracies, kind="stable")
            if self.kind == "c45rules":
                order = order_by_false_positives(covered)
            found = [(covered.bodies[i], int(covered.heads[i])) for i in order]
            made = decision_list(rows, found, default=int(np.argmax(default)), summary=summary)
            return replace(made, default=tuple(default.tolist()))
        if self.kind == "itrule":
            return _naive_bayes(covered, summary)
        assert self.log_weights_ is not None
        return self._add_up(covered, self.log_weights_, default, summary)

    def _add_up(
        self,
        covered: CoveredRows,
        log_weights: FloatArray,
        default: FloatArray,
        summary: dict[str, Any],
    ) -> UnorderedRules:
        """Create rules that add up, weighted."""
        weights = relative_weights(log_weights)
        if self.kind == "cn2":
            weights = covered.counts.sum(axis=1)
        says = covered.shares(self.estimator)
        if self.kind == "vote":
            says = np.eye(says.shape[1])[covered.heads]
        rules = [
            Rule(body, Says(tuple(p.tolist()), float(weight)), Coverage.of(tuple(e.tolist())))
            for body, p, weight, e in zip(
                covered.bodies, says, weights, covered.counts, strict=True
            )
        ]
        start = START * float(np.min(weights, initial=1.0)) * default
        rows = covered.rows
        return UnorderedRules(
            rows.schema, rows.classes, tuple(rules), tuple(start.tolist()), summary
        )


def relative_weights(log_weights: FloatArray) -> FloatArray:
    """Return weights with maximum 1, none below `LEAST`."""
    if not len(log_weights):
        return np.zeros(0)
    weights: FloatArray = np.exp(np.maximum(log_weights - log_weights.max(), np.log(LEAST)))
    return weights


def _naive_bayes(covered: CoveredRows, summary: dict[str, Any]) -> AdditiveRules:
    """Add logs of smoothed P(rule | class) where a rule applies, else of its complement.

    Scores are relative to the first class.
    """
    rows = covered.rows
    totals = rows.class_weights
    holds = (covered.counts + 1.0) / (totals + 2.0)
    rules = []
    for body, chances, e in zip(covered.bodies, holds, covered.counts, strict=True):
        for k in range(1, len(totals)):
            says = np.log(chances[k] / chances[0]), np.log((1 - chances[k]) / (1 - chances[0]))
            outcome = Adds(k, float(says[0]), float(says[1]))  # type: ignore[arg-type]
            rules.append(Rule(body, outcome, Coverage.of(tuple(e.tolist()))))
    start = np.log((totals + 1.0) / (totals.sum() + len(totals)))
    return AdditiveRules(rows.schema, rows.classes, tuple(start.tolist()), tuple(rules), summary)
