"""Compact rules for counts: rate ratios of events per unit of exposure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from rulewright.data import CountSet, CountTarget, DataError, read_numbers
from rulewright.estimators.compact.scored import CompactScores
from rulewright.estimators.contract.parameters import Choice, Parameter, Real
from rulewright.evidence import CountAnswers, answer_counts, deviance_explained
from rulewright.model import RateRules
from rulewright.rules import NumberCoverage
from rulewright.weighting import NegativeBinomialLoss, PoissonLoss, ScoreLoss, TweedieLoss

if TYPE_CHECKING:
    from rulewright.data import RegressionSet, Table
    from rulewright.estimators.contract.weights import WeightMeaning
    from rulewright.kernels import BoolArray, FloatArray

LARGEST_COUNT = 1e15
"""Counts and exposures are summed as 64-bit floats, and larger ones are not counts."""


class CompactRulesCounts(
    RegressorMixin,  # type: ignore[misc]
    CompactScores[RateRules],
):
    """Compact rules for counts with exposure: a few rules, each with its rate ratio.

    The expected count of a row is its exposure times a base rate times the factors of the rules
    that apply. See `CompactRulesClassifier` for how rules are chosen.

    Attributes
    ----------
    model_ : RateRules
        The rules. Its summary has `validation`: out-of-fold figures, corrected for the choice of
        the size. `size`: the out-of-fold loss of each number of rules. `dispersion`: of the
        negative binomial and the Tweedie loss.
    size_ : Size
        Number of rules, with the cross-validated losses of other sizes.
    held_out_ : HeldOutRows or None
        Out-of-fold answers of all sizes; None if the model has no rules or there were no folds.

    Examples
    --------
    >>> import numpy as np
    >>> from rulewright import CompactRulesCounts
    >>> rng = np.random.default_rng(0)
    >>> X, years = rng.random((2000, 3)), rng.uniform(0.2, 1, 2000)
    >>> claims = rng.poisson(years * np.where(X[:, 0] > 0.5, 0.6, 0.2))
    >>> est = CompactRulesCounts(random_state=0).fit(X, claims, exposure=years)
    >>> est.predict([[0.9, 0.5, 0.5], [0.1, 0.5, 0.5]]).round(1)
    array([0.6, 0.2])
    """

    TASK = "counts"

    loss: str = Parameter(
        Choice(("poisson", "negative-binomial", "tweedie")),
        "Loss. Counts that vary more than Poisson's need fewer rules with "
        '"negative-binomial", whose dispersion is estimated; "tweedie" is for amounts that are '
        "often 0.",
        default="poisson",
    )
    power: float = Parameter(
        Real(1.01, 1.99), "Power of the mean in the variance of the Tweedie loss.", default=1.5
    )

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        exposure: Any = None,
        groups: Any = None,
        weights: WeightMeaning = "importance",
    ) -> Self:
        """Learn a rule model.

        Parameters
        ----------
        X : array, dataframe, dict of columns, path of a file or Table
            The table; missing values and nominal columns need no preprocessing.
        y : array-like or str, optional
            Counts, a `CountTarget`, or the name of the column of X with the counts; a pair of names
            also gives the column of the exposure.
        sample_weight : array-like or str, optional
            Row weights, or the name of their column. A weight is a number of rows.
        exposure : array-like or str, optional
            What counts are proportional to, or the name of its column in X; 1 by default.
        groups : array-like or str, optional
            Group of each row, or the name of its column; folds keep groups whole.
        weights : {"importance", "counts"}
            Whether a weight of 2 is one observation, or two.

        Returns
        -------
        self
        """
        target = with_exposure(y, exposure)
        return super().fit(X, target, sample_weight, groups=groups, weights=weights)

    def score(
        self, X: Any, y: Any = None, sample_weight: Any = None, exposure: Any = None
    ) -> float:
        """Return the share of the Poisson deviance that is explained (D2); 1 is perfect."""
        rows = self._rows_to_score(X, with_exposure(y, exposure), sample_weight)
        counted = CountSet.of(rows)
        scores = self._get_model().scores(counted.table)
        return deviance_explained(self._answers(counted, "", scores))

    def _training_rows(self, table: Table) -> CountSet:
        rows = CountSet.of(table)
        if max(rows.numbers.max(), rows.counts.exposure.max()) > LARGEST_COUNT:
            raise DataError(
                f"y: the target has counts or exposures beyond {LARGEST_COUNT:g}. Divide them by a "
                "constant."
            )
        if not rows.numbers.any():
            raise DataError("y: all counts are 0, so there is no rate to learn.")
        return rows

    def _learn(self, rows: CountSet) -> RateRules:
        found = self._learn_scores(rows)
        notes = found.notes
        if isinstance(found.loss, NegativeBinomialLoss | TweedieLoss):
            notes = {**notes, "dispersion": found.loss.dispersion}
        return RateRules(rows.schema, found.intercept, found.rules, notes, linear=found.lines)

    def _describe_rows(self, model: RateRules, rows: CountSet) -> dict[str, Any]:
        notes = super()._describe_rows(model, rows)
        notes["training"]["exposure"] = float(rows.weights @ rows.counts.exposure)
        return notes

    def _loss(self, rows: RegressionSet, weights: FloatArray) -> ScoreLoss:
        counts = _counts(rows)
        given = counts.values, weights, counts.exposure
        if self.loss == "tweedie":
            return TweedieLoss(*given, self.power)
        return PoissonLoss(*given) if self.loss == "poisson" else NegativeBinomialLoss(*given)

    def _refined(self, loss: ScoreLoss, scores: FloatArray) -> ScoreLoss:
        is_estimated = isinstance(loss, NegativeBinomialLoss)
        return loss.with_dispersion(scores) if is_estimated else loss  # type: ignore[attr-defined]

    def _signal(self, rows: RegressionSet) -> FloatArray:
        """Return the square roots of the counts, less those that are expected without rules."""
        counts = _counts(rows)
        expected = counts.exposure * counts.average(rows.weights)
        return np.asarray(np.sqrt(counts.values) - np.sqrt(expected))

    def _coverage(self, covered: BoolArray, rows: RegressionSet) -> NumberCoverage:
        own, counts = rows.weights[covered], _counts(rows)
        events, exposure = own @ counts.values[covered], own @ counts.exposure[covered]
        return NumberCoverage.of_rate(float(own.sum()), float(events), float(exposure))

    def _answers(self, rows: RegressionSet, origin: str, scores: FloatArray) -> CountAnswers:
        return answer_counts(rows.target, scores, rows.weights, origin)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags


def _counts(rows: RegressionSet) -> CountTarget:
    assert isinstance(rows.target, CountTarget)
    return rows.target


def with_exposure(y: Any, exposure: Any) -> Any:
    """Return a target with an exposure that is given apart: two names, or a `CountTarget`."""
    if exposure is None:
        return y
    if isinstance(exposure, str):
        if not isinstance(y, str):
            raise DataError(f"exposure={exposure!r} names a column: name that of the counts, too.")
        return y, exposure
    if y is None or isinstance(y, str):
        raise DataError("exposure: give the counts as an array, too, or the names of both columns.")
    return CountTarget(read_numbers(y).values, (), read_numbers(exposure).values)
