"""Averages of rule sets learned on parts of the rows (Domingos, 1996 and 1997)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.averaging.average import average_models, log_densities, logs_to_json
from rulewright.estimators.averaging.parts import (
    PART_SIZE,
    count_elsewhere,
    models_of,
    parts_by_value,
    reweighted,
)
from rulewright.estimators.averaging.regions import ESTIMATES, WIN_COUNTS, Regions
from rulewright.estimators.compact.classifier import CompactRulesClassifier
from rulewright.estimators.contract.base import RuleClassifier
from rulewright.estimators.contract.parameters import Choice, Integer, Named, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.folds.folds import MOST_ROWS
from rulewright.estimators.lists.c45rules.estimator import C45RulesClassifier
from rulewright.estimators.lists.cn2.estimator import CN2Classifier
from rulewright.estimators.lists.part.estimator import PARTClassifier
from rulewright.estimators.lists.ripper.estimator import RipperClassifier
from rulewright.estimators.mlrules.estimator import MLRulesClassifier
from rulewright.estimators.nearest.estimator import RISEClassifier
from rulewright.estimators.rulefit.classifier import RuleFitClassifier
from rulewright.estimators.sl2.estimator import SL2Classifier
from rulewright.estimators.slipper.estimator import SlipperClassifier
from rulewright.model import AveragedModel, ClassModel, Combine
from rulewright.weighting import (
    beta_by_log_loss,
    combination_weights,
    log_posterior,
    pseudo_bma_weights,
    stacking_weights,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray

BASES: Mapping[str, type[RuleClassifier[Any]]] = {
    "rise": RISEClassifier,
    "cn2": CN2Classifier,
    "ripper": RipperClassifier,
    "c45rules": C45RulesClassifier,
    "part": PARTClassifier,
    "mlrules": MLRulesClassifier,
    "slipper": SlipperClassifier,
    "compact": CompactRulesClassifier,
    "rulefit": RuleFitClassifier,
    "sl2": SL2Classifier,
}
"""Learners of the parts, by name."""
COMBINE = ("vote", "mean", "bma", "tempered", "stacking", "pseudo_bma_plus", "bmc", "bootstrap")
EQUAL = ("vote", "mean", "bootstrap")
"""Combinations with equal weights."""


class AveragedRulesClassifier(RuleClassifier[AveragedModel]):
    r"""Models learned on small parts of the rows, combined by a vote or by weights.

    The rows are shuffled and split into parts of about `part_size`; one model is learned on each.
    This takes time linear in the number of rows for any learner. Bayes' theorem gives model h the
    weight :math:`P(h|D) \propto \prod_i P(c_i|x_i, h)`, which is exponential in small differences:
    one model often gets nearly all the weight. The vote of the paper, and weights chosen on rows
    that a model was not learned from, spread the weight over more models.

    Attributes
    ----------
    model_ : AveragedModel
        The models with their weights: prints, predicts, explains, saves and exports. Its summary
        has the log evidence (if any) and the diagnostics of the weights.
    classes_ : ndarray
        Class labels.
    n_parts_ : int
        Number of models.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import AveragedRulesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = AveragedRulesClassifier("slipper", random_state=0).fit(X, y)
    >>> est.n_parts_, bool(est.score(X, y) > 0.93)
    (6, True)
    """

    POOLS_LABELS = True

    estimator: Any = Parameter(
        Named(BASES, RuleClassifier),
        "The learner of the parts: a name, or an estimator, which is cloned.",
        default="rise",
        kw_only=False,
    )
    part_size: int = Parameter(
        Integer(2), "Rows per part; equal rows count once.", default=PART_SIZE, kw_only=False
    )
    combine: str = Parameter(
        Choice(COMBINE),
        'How models are weighted: "vote" (each votes for its predicted class with the Laplace '
        "accuracy of the rule that decides, or with the probability if several rules do), "
        '"mean" (equal weights), "bma" (Bayes\' theorem), "tempered" (a power of the likelihood), '
        'or by rows that they were not learned from: "stacking" of densities, "pseudo_bma_plus" '
        '(their bootstrapped product) or "bmc" (mixtures by likelihood). "bootstrap" gives equal '
        "weights to models learned on all rows, with random row weights.",
        default="mean",
    )
    evidence: str = Parameter(
        Choice(("own", "shared")),
        'Rows that "bma" and "tempered" evaluate models on: their "own" part, as in the paper, or '
        'all rows ("shared").',
        default="own",
    )
    estimates: str = Parameter(
        Choice(ESTIMATES),
        "Class probabilities for the evidence: the model's own, or the class shares in each of "
        'its regions: "ml" (as in the paper), smoothed, or "integrated" over all shares. On all '
        'rows "ml" may assign probability 0 to a class. Where single rules decide, these are the '
        "predicted probabilities, too.",
        default="model",
    )
    win_counts: str = Parameter(
        Choice(WIN_COUNTS),
        "How rows that the rules of RISE won are counted, for votes and evidence: with each row "
        'left out in turn ("loo"), or not ("resubstitution"), when rules win rows they grew from.',
        default="loo",
    )
    beta: float | None = Parameter(
        Real(0, optional=True),
        'Power of the likelihood for "tempered"; by default the power with minimum log-loss on '
        "rows that a model was not learned from.",
        default=None,
    )
    n_draws: int = Parameter(
        Integer(1), 'Number of random draws of "pseudo_bma_plus" and "bmc".', default=1000
    )
    n_refits: int = Parameter(Integer(1), 'Number of models of "bootstrap".', default=20)

    PAPER: ClassVar[Mapping[str, Any]] = {
        "combine": "vote",
        "part_size": PART_SIZE,
        "evidence": "own",
        "estimates": "ml",
        "win_counts": "loo",
    }

    def _learn(self, rows: TrainingSet) -> AveragedModel:
        random = check_random_state(self.random_state)
        places, parts = self._learning_rows(rows, random)
        self.n_parts_ = len(parts)
        base = self.DOMAINS["estimator"].make(self.estimator)  # type: ignore[attr-defined]
        with progress_bar("learning parts", len(parts), bool(self.verbose)) as advance:
            learned = models_of(base, parts, random, self._n_threads, advance)
        wins: Any = self.win_counts
        regions = [Regions(h, part, wins) for h, part in zip(learned, parts, strict=True)]
        combine, members = self._members(regions)
        log_weights, notes = self._weigh_members(regions, members, rows, places, random)
        summary = self._summary(rows) | notes
        members = count_elsewhere(members, rows, places)
        return average_models(members, log_weights, rows, combine=combine, summary=summary)

    def _learning_rows(
        self, rows: TrainingSet, random: np.random.RandomState
    ) -> tuple[list[NDArray[np.intp]], list[TrainingSet]]:
        """Return the places of the rows that each model is learned from, and the rows."""
        if self.combine == "bootstrap":
            parts = [reweighted(rows, random) for _ in range(self.n_refits)]
            return [np.arange(rows.n_rows)] * len(parts), parts
        places = parts_by_value(rows, self.part_size, random)
        return places, [rows.take(part) for part in places]

    def _members(self, regions: Sequence[Regions]) -> tuple[Combine, list[ClassModel]]:
        """Return the models as they are combined: with estimated probabilities, or votes."""
        if self.combine != "vote":
            return "mean", [one.with_estimates(self.estimates) for one in regions]  # type: ignore[arg-type]
        how: Combine = "mean" if all(one.decided for one in regions) else "vote"
        return how, [one.with_votes() for one in regions]

    def _weigh_members(
        self,
        regions: Sequence[Regions],
        members: Sequence[ClassModel],
        rows: TrainingSet,
        places: Sequence[NDArray[np.intp]],
        random: np.random.RandomState,
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Return the log weights, and what they were computed from."""
        if len(members) == 1 or self.combine in EQUAL:
            return log_posterior(np.zeros(len(members))), {}
        if self.combine in ("bma", "tempered"):
            logs = self._evidence(regions, rows)
            notes: dict[str, Any] = {"log_evidence": logs_to_json(logs.tolist())}
            if self.combine == "bma":
                return log_posterior(logs), notes
            beta = self.beta
            if beta is None:
                lp, sizes = _score_left_out(members, rows, places, random)
                beta = beta_by_log_loss(logs, lp, row_weights=sizes)
            return log_posterior(logs, beta=beta), notes | {"beta": float(beta)}
        lp, sizes = _score_left_out(members, rows, places, random)
        with np.errstate(divide="ignore"):
            return np.log(self._by_densities(lp, sizes, random)), {}

    def _evidence(self, regions: Sequence[Regions], rows: TrainingSet) -> FloatArray:
        own, how = self.evidence == "own", self.estimates
        return np.array([one.log_evidence(one.rows if own else rows, how) for one in regions])  # type: ignore[arg-type]

    def _by_densities(
        self, lp: FloatArray, sizes: FloatArray, random: np.random.RandomState
    ) -> FloatArray:
        if self.combine == "stacking":
            return stacking_weights(lp, sizes, tolerance=1e-6)
        weigh = pseudo_bma_weights if self.combine == "pseudo_bma_plus" else combination_weights
        return weigh(lp, sizes, n_draws=self.n_draws, random_state=random)


def _score_left_out(
    members: Sequence[ClassModel],
    rows: TrainingSet,
    places: Sequence[NDArray[np.intp]],
    random: np.random.RandomState,
) -> tuple[FloatArray, FloatArray]:
    """Return log densities of rows under models not learned from them, and row weights.

    Large data are sampled, so that the time is linear in the number of rows.
    """
    owners = np.empty(rows.n_rows, dtype=np.intp)
    for k, part in enumerate(places):
        owners[part] = k
    chosen = np.arange(rows.n_rows)
    if rows.n_rows > MOST_ROWS:
        chosen = np.sort(random.permutation(rows.n_rows)[:MOST_ROWS])
    some = rows.take(chosen)
    return log_densities(members, some, owners[chosen]), some.weights
