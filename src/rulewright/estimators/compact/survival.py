"""Compact rules for times until an event: hazard ratios, under proportional hazards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import DataError, SurvivalSet, SurvivalTarget
from rulewright.estimators.compact.scored import CompactScores
from rulewright.estimators.compact.settings import least_gain, ridge
from rulewright.estimators.contract.parameters import Parameter, Reals
from rulewright.evidence import SurvivalAnswers, answer_survival, concordance
from rulewright.model import HazardRules
from rulewright.rules import NumberCoverage
from rulewright.weighting import CoxLoss

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import RegressionSet, Table
    from rulewright.kernels import BoolArray, FloatArray

MOST_STEPS = 1_000
"""Steps of the baseline hazard that a model keeps."""

SHARES = (0.25, 0.5, 0.75)
"""Quantiles of the times of events at which text and exports give the survival by default."""


class CompactRulesSurvival(CompactScores[HazardRules]):
    """Compact rules for times until an event: a few rules, each with its hazard ratio.

    The hazard of a row is a baseline hazard, which may change with time in any way, times the
    factors of the rules that apply. Responses maximise Cox's partial likelihood with Efron's ties
    and a ridge penalty; the baseline is Breslow's. Methods follow scikit-survival. See
    `CompactRulesClassifier` for how rules are chosen.

    Attributes
    ----------
    model_ : HazardRules
        The rules. Its summary has `validation`: out-of-fold figures, and `size`: the out-of-fold
        loss of each number of rules.
    size_ : Size
        Number of rules, with the cross-validated losses of other sizes.
    unique_times_ : ndarray
        Times at which the survival curves change.
    held_out_ : HeldOutRows or None
        Out-of-fold answers of all sizes; None if the model has no rules or there were no folds.

    Examples
    --------
    >>> import numpy as np
    >>> from rulewright import CompactRulesSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((500, 3))
    >>> times = rng.exponential(np.where(X[:, 0] > 0.5, 1.0, 4.0))
    >>> est = CompactRulesSurvival(random_state=0).fit(X, (np.minimum(times, 3), times < 3))
    >>> est.predict_survival_function([[0.9, 0.5, 0.5]], return_array=True).shape[0]
    1
    >>> bool(est.score(X, (np.minimum(times, 3), times < 3)) > 0.6)
    True
    """

    TASK = "survival"

    l2: float = ridge(default=10.0)
    min_gain: float = least_gain(default=1.0)
    times: Any = Parameter(
        Reals(0),
        "Times at which text and exports give the survival; by default quartiles of the times of "
        "events.",
        default=None,
    )

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return the risk of each row: the logarithm of its hazard ratio."""
        return self._get_model().predict(X, n_threads=self._n_threads)

    def predict_survival_function(self, X: Any, return_array: bool = False) -> NDArray[Any]:
        """Return the survival curve of each row, or an array with a column for each unique time."""
        model = self._get_model()
        if return_array:
            return model.predict_survival(X, self.unique_times_)
        return model.survival_functions(X)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False
    ) -> NDArray[Any]:
        """Return the cumulative hazard of each row, as functions or as an array."""
        found = self._get_model().hazard_functions(X)
        return np.array([one.y for one in found]) if return_array else found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the concordance of times and risks; X, y and sample_weight as in `fit`."""
        rows = SurvivalSet.of(self._rows_to_score(X, y, sample_weight))
        risks = self._get_model().scores(rows.table)
        return concordance(rows.numbers, rows.survival.events, risks, rows.weights)

    def _training_rows(self, table: Table) -> SurvivalSet:
        rows = SurvivalSet.of(table)
        if not rows.survival.events.any():
            raise DataError("y: no row has an event, so there is no hazard to learn.")
        return rows

    def _learn(self, rows: SurvivalSet) -> HazardRules:
        found = self._learn_scores(rows)
        assert isinstance(found.loss, CoxLoss)
        x, hazard = _thin(*found.loss.baseline(found.scores))
        self.unique_times_ = x
        own = rows.numbers[rows.survival.events]
        times = np.quantile(own, SHARES) if self.times is None else [*self.times]
        return HazardRules(
            rows.schema,
            found.intercept,
            found.rules,
            found.notes,
            baseline=tuple(zip(x.tolist(), hazard.tolist(), strict=True)),
            times=tuple(np.unique(times).tolist()),
            linear=found.lines,
        )

    def _describe_rows(self, model: HazardRules, rows: SurvivalSet) -> dict[str, Any]:
        notes = super()._describe_rows(model, rows)
        notes["training"]["exposure"] = float(rows.weights @ rows.survival.times_at_risk)
        return notes

    def _loss(self, rows: RegressionSet, weights: FloatArray) -> CoxLoss:
        target = _survival(rows)
        return CoxLoss(target.values, target.events, weights, target.entries)

    def _signal(self, rows: RegressionSet) -> FloatArray:
        """Return the martingale residuals without rules, whose sums are log-rank statistics."""
        g, _ = self._loss(rows, rows.weights).derivatives(np.zeros(rows.n_rows))
        return -g / rows.weights

    def _coverage(self, covered: BoolArray, rows: RegressionSet) -> NumberCoverage:
        own, target = rows.weights[covered], _survival(rows)
        events, at_risk = own @ target.events[covered], own @ target.times_at_risk[covered]
        return NumberCoverage.of_rate(float(own.sum()), float(events), float(at_risk))

    def _answers(self, rows: RegressionSet, origin: str, scores: FloatArray) -> SurvivalAnswers:
        return answer_survival(_survival(rows), scores, rows.weights, origin)


def _survival(rows: RegressionSet) -> SurvivalTarget:
    assert isinstance(rows.target, SurvivalTarget)
    return rows.target


def _thin(x: FloatArray, hazard: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Keep the steps of a baseline that are evenly spread over the events; the last one stays."""
    if len(x) <= MOST_STEPS:
        return x, hazard
    kept = np.unique(np.linspace(0, len(x) - 1, MOST_STEPS).round().astype(int))
    return x[kept], hazard[kept]
