"""Rule sets learned on parts of the rows and averaged (Domingos, 1996 and 1997)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright.estimators.averaging.average import (
    ESTIMATES,
    average_models,
    evidence_of,
    log_densities,
    logs_to_json,
)
from rulewright.estimators.averaging.parts import (
    PART_SIZE,
    count_elsewhere,
    models_of,
    parts_by_value,
)
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
from rulewright.model import AveragedModel, ClassModel
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
COMBINE = ("vote", "mean", "bma", "tempered", "stacking", "pseudo_bma_plus", "bmc")


class AveragedRulesClassifier(RuleClassifier[AveragedModel]):
    r"""Models learned on small parts of the rows, combined by a vote or by weights.

    The rows are shuffled and cut into parts of about `part_size`; a model is learned on each, which
    takes time in proportion to the rows whatever the learner costs. Bayes' theorem then gives
    model h the weight :math:`P(h|D) \propto \prod_i P(c_i|x_i, h)`, exponential in the smallest
    differences: often one model has nearly all of it, and nothing is averaged. The vote of the
    paper, and the weights that are chosen by rows a model was not learned from, average more.

    Attributes
    ----------
    model_ : AveragedModel
        The models with their weights: print, predict, explain, save and export. Its summary has
        the log evidence (if there is any) and the diagnostics of the weights.
    classes_ : ndarray
        Class labels.
    n_parts_ : int
        How many models there are.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rulewright import AveragedRulesClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> est = AveragedRulesClassifier("slipper", random_state=0).fit(X, y)
    >>> est.n_parts_, bool(est.score(X, y) > 0.93)
    (6, True)
    """

    estimator: Any = Parameter(
        Named(BASES, RuleClassifier),
        "The learner of a part, by name or as an object, which is cloned.",
        default="rise",
        kw_only=False,
    )
    part_size: int = Parameter(
        Integer(2), "Rows of a part; equal rows are one.", default=PART_SIZE, kw_only=False
    )
    combine: str = Parameter(
        Choice(COMBINE),
        'How models count: each "vote"s for the class it predicts with its probability; all '
        'alike ("mean"); by Bayes\' theorem ("bma"), or with the likelihood to a power '
        '("tempered"); or by the rows they were not learned from: "stacking" of densities, '
        'their bootstrapped product ("pseudo_bma_plus"), or mixtures weighed by their '
        'likelihood ("bmc").',
        default="mean",
    )
    evidence: str = Parameter(
        Choice(("own", "shared")),
        '"bma" and "tempered": models are judged by their own part, as in the paper, or by all '
        "rows.",
        default="own",
    )
    estimates: str = Parameter(
        Choice(ESTIMATES),
        "Probabilities they are judged by: what the model says, or what is counted in each of "
        'its regions: shares ("ml", the paper\'s), smoothed ones, or none ("integrated"). Of '
        'all rows "ml" may call a class impossible.',
        default="model",
    )
    beta: float | None = Parameter(
        Real(0, optional=True),
        'Power of the likelihood of "tempered"; by default chosen by the log-loss on rows that '
        "a model was not learned from.",
        default=None,
    )
    n_draws: int = Parameter(
        Integer(1), 'Random draws of "pseudo_bma_plus" and "bmc".', default=1000
    )

    PAPER: ClassVar[Mapping[str, Any]] = {"combine": "vote", "part_size": PART_SIZE}

    def _learn(self, rows: TrainingSet) -> AveragedModel:
        random = check_random_state(self.random_state)
        places = parts_by_value(rows, self.part_size, random)
        parts = [rows.take(part) for part in places]
        self.n_parts_ = len(parts)
        base = self.DOMAINS["estimator"].make(self.estimator)  # type: ignore[attr-defined]
        with progress_bar("learning parts", len(parts), bool(self.verbose)) as advance:
            members = models_of(base, parts, random, self._n_threads, advance)
        log_weights, notes = self._weigh_members(members, rows, parts, places, random)
        combine = "vote" if self.combine == "vote" else "mean"
        summary = self._summary(rows) | notes
        members = count_elsewhere(members, rows, places)
        return average_models(members, log_weights, rows, combine=combine, summary=summary)  # type: ignore[arg-type]

    def _weigh_members(
        self,
        members: Sequence[ClassModel],
        rows: TrainingSet,
        parts: Sequence[TrainingSet],
        places: Sequence[NDArray[np.intp]],
        random: np.random.RandomState,
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Return the logs of the weights, and what they were made of."""
        if len(members) == 1 or self.combine in ("vote", "mean"):
            return log_posterior(np.zeros(len(members))), {}
        logs = np.zeros(0)
        if self.combine in ("bma", "tempered"):
            logs = self._evidence(members, rows, parts)
        if self.combine == "bma":
            return log_posterior(logs), {"log_evidence": logs_to_json(logs.tolist())}
        if self.combine == "tempered":
            beta = self.beta
            if beta is None:
                lp, sizes = _score_left_out(members, rows, places, random)
                beta = beta_by_log_loss(logs, lp, row_weights=sizes)
            notes = {"log_evidence": logs_to_json(logs.tolist()), "beta": float(beta)}
            return log_posterior(logs, beta=beta), notes
        lp, sizes = _score_left_out(members, rows, places, random)
        with np.errstate(divide="ignore"):
            return np.log(self._by_densities(lp, sizes, random)), {}

    def _evidence(
        self, members: Sequence[ClassModel], rows: TrainingSet, parts: Sequence[TrainingSet]
    ) -> FloatArray:
        pairs = zip(members, parts, strict=True)
        own, estimates = self.evidence == "own", self.estimates
        return np.array(
            [evidence_of(h, part if own else rows, part, estimates) for h, part in pairs]  # type: ignore[arg-type]
        )

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
    """Return log densities of rows by models that were not learned from them, and row weights.

    Of very many rows some are drawn, so that the time grows with the rows and not their square.
    """
    owners = np.empty(rows.n_rows, dtype=np.intp)
    for k, part in enumerate(places):
        owners[part] = k
    chosen = np.arange(rows.n_rows)
    if rows.n_rows > MOST_ROWS:
        chosen = np.sort(random.permutation(rows.n_rows)[:MOST_ROWS])
    some = rows.take(chosen)
    return log_densities(members, some, owners[chosen]), some.weights
