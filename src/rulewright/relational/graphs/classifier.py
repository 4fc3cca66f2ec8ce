"""Rules over patterns of graphs or molecules, as a classifier."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from rulewright.data import TrainingSet, read_table
from rulewright.estimators import (
    CheckedByFit,
    Choice,
    Folds,
    OutOfFold,
    Parameter,
    RumbleClassifier,
    Splitting,
    assign_folds,
    check_parameters,
    with_probabilities,
)
from rulewright.model import AdditiveRules, ClassModel
from rulewright.relational.fitted import FittedClasses
from rulewright.relational.graphs.features import SubgraphFeatures
from rulewright.relational.graphs.graph import Graph, GraphError
from rulewright.relational.graphs.model import PRESENT, GraphRules, pattern_columns
from rulewright.relational.graphs.molecules import MoleculeReading, descriptor_columns, descriptors
from rulewright.rules import Conjunction, Labels
from rulewright.search import LEAST_ROWS, Bias, Formulas, count_threads
from rulewright.weighting import CALIBRATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import FloatArray


class GraphRulesClassifier(FittedClasses):
    """Classifier of graphs or molecules, with rules such as ``IF "c:c-N" = present THEN active``.

    Patterns are found on the training graphs and become Boolean columns, from which any learner
    creates rules. The default is RUMBLE as its thesis uses it on molecules: the weights of the
    patterns maximise mean minus variance of the margins within the 2-norm, without a penalty for
    the number of patterns. In cross-validation patterns are found again in every fold, including
    the folds of the calibration.

    Attributes
    ----------
    model_ : GraphRules
        Rules and patterns: prints, draws, predicts, explains and saves.
    features_ : SubgraphFeatures
        The patterns that the rules were learned from.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from rulewright.relational import Graph, GraphRulesClassifier
    >>> ring = Graph("aaa", [(0, 1), (1, 2), (0, 2)])
    >>> path = Graph("aaa", [(0, 1), (1, 2)])
    >>> est = GraphRulesClassifier().fit([ring, path] * 5, ["ring", "path"] * 5)
    >>> est.predict([ring, path]).tolist()
    ['ring', 'path']
    """

    features: Any = Parameter(
        CheckedByFit("SubgraphFeatures or None"),
        "How patterns are found; by default the smallest 100 in at least 6 % of the graphs.",
        default=None,
        kw_only=False,
    )
    estimator: Any = Parameter(
        CheckedByFit("a classifier of this library or None"),
        'Learner of the rules on pattern columns, which are "present" or "absent"; by default '
        "RUMBLE with p = 2 and without a penalty.",
        default=None,
    )
    descriptors: bool = Parameter(
        CheckedByFit("bool"),
        "Whether rules may use descriptors of whole molecules, such as logP, and counts of "
        "functional groups, computed by RDKit; needs a learner that handles numbers.",
        default=False,
    )
    calibration: str | None = Parameter(
        Choice(tuple(CALIBRATIONS), optional=True),
        "Calibration of additive rules on held-out graphs. None, or fewer than 50 graphs, leaves "
        "it to the learner.",
        default="platt",
    )
    cv: Any = Parameter(Splitting(), "Folds of the calibration: a number or a splitter.", default=5)
    random_state: Any = Parameter(
        CheckedByFit("int, RandomState or None"), "Random seed.", default=None
    )
    n_jobs: int | None = Parameter(
        CheckedByFit("int or None"), "Number of threads; does not change the model.", default=None
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find patterns and learn rules.

        Parameters
        ----------
        X : sequence
            NetworkX graphs, graphs, SMILES texts or molecules of RDKit.
        y : array-like
            Class labels.
        sample_weight : array-like, optional
            Row weights.
        """
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        features = self._features()
        rows = features.read(X)
        graphs, places = list(rows.values()), np.array(list(rows), dtype=np.intp)
        classes, weights = _of_rows(X, y, sample_weight, places)
        random = check_random_state(self.random_state)
        features = features.set_params(random_state=random.randint(2**31 - 1))
        names = tuple(descriptors()) if self.descriptors else ()
        if names and self.estimator is None:
            raise ValueError(
                f"{type(self).__name__}: descriptors are numbers, which the default learner "
                "cannot use: set estimator=RuleFitClassifier(), for example"
            )
        learn = partial(_learn_rules, features, self._learner(random), names)
        found, model = learn(graphs, classes, weights)
        model = self._calibrate(learn, model, found, names, (graphs, classes, weights), random)
        used = [one for one in found.patterns_ if one.text in set(model.columns)]
        self.features_, self.classes_ = found, model.classes
        patterns = tuple(used or found.patterns_[:1])
        asked = tuple(name for name in names if name in set(model.columns))
        self.model_ = GraphRules(model, patterns, features.reading or MoleculeReading(), asked)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: second minus first class for two classes, one per class otherwise."""
        return self._fitted().decision_function(X, **self._reading())  # type: ignore[no-any-return]

    def _features(self) -> SubgraphFeatures:
        if self.features is None:
            return SubgraphFeatures(n_jobs=self.n_jobs)
        if not isinstance(self.features, SubgraphFeatures):
            raise ValueError(
                f"{type(self).__name__}: features={self.features!r} must be SubgraphFeatures(...)"
            )
        copy: SubgraphFeatures = clone(self.features)
        return copy if copy.n_jobs is not None else copy.set_params(n_jobs=self.n_jobs)

    def _learner(self, random: np.random.RandomState) -> Any:
        """Return the learner; it does not calibrate if folds of graphs do."""
        if self.estimator is None:
            return RumbleClassifier(norm="l2", capacity=0.0, pairs=None, calibration=None)
        learner = clone(self.estimator)
        known = learner.get_params(deep=False)
        changes: dict[str, Any] = {}
        if "random_state" in known and known["random_state"] is None:
            changes["random_state"] = random.randint(2**31 - 1)
        if "calibration" in known and self.calibration is not None:
            changes["calibration"] = None
        return learner.set_params(**changes)

    def _calibrate(
        self,
        learn: Callable[..., tuple[SubgraphFeatures, ClassModel]],
        model: ClassModel,
        found: SubgraphFeatures,
        names: tuple[str, ...],
        rows: tuple[list[Graph | None], NDArray[Any], FloatArray],
        random: np.random.RandomState,
    ) -> ClassModel:
        """Fit probabilities on held-out graphs, with patterns found without them."""
        graphs, classes, weights = rows
        few = len(graphs) < LEAST_ROWS
        if self.calibration is None or few or not isinstance(model, AdditiveRules):
            return model
        columns = _columns(found, names, graphs)
        training = TrainingSet.of(read_table(columns, target=classes, weights=weights))
        folds = assign_folds(training.labels, self.cv, random)
        if folds is None:
            return model
        scores = _score_left_out(
            learn, names, rows, folds, len(model.classes), count_threads(self.n_jobs)
        )
        calibration = CALIBRATIONS[self.calibration](n_rows=float(weights.sum()))
        return with_probabilities(
            model, training, calibration, OutOfFold.of(scores, folds, training)
        )

    def _reading(self) -> dict[str, Any]:
        return {"on_error": "raise" if self.features is None else str(self.features.on_error)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def _of_rows(
    X: Any, y: Any, sample_weight: Any, places: NDArray[np.intp]
) -> tuple[NDArray[Any], FloatArray]:
    """Return classes and weights of the kept rows."""
    classes, n_rows = np.asarray(y), len(X)
    if classes.shape != (n_rows,):
        raise GraphError(f"y has the shape {classes.shape}, but there are {n_rows} graphs")
    weights = np.ones(n_rows) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if weights.shape != (n_rows,):
        raise GraphError(f"sample_weight has the shape {weights.shape}, not ({n_rows},)")
    if len(set(classes[places].tolist())) < 2:
        raise GraphError("all graphs have the same class: there is nothing to learn")
    return classes[places], weights[places]


def _learn_rules(
    features: SubgraphFeatures,
    learner: Any,
    names: tuple[str, ...],
    graphs: Sequence[Graph | None],
    classes: NDArray[Any],
    weights: FloatArray,
    check: Callable[[], None] = lambda: None,
) -> tuple[SubgraphFeatures, ClassModel]:
    """Find patterns on graphs and learn rules from them."""
    found: SubgraphFeatures = clone(features).fit_graphs(graphs, classes, check)
    columns = _columns(found, names, graphs)
    learner = clone(learner)
    if isinstance(learner, RumbleClassifier) and learner.bias is None and learner.pairs is None:
        learner.set_params(bias=pattern_bias(columns))
    learner.fit(columns, classes, sample_weight=weights)
    return found, learner.model_


def _columns(
    found: SubgraphFeatures, names: Sequence[str], graphs: Sequence[Graph | None]
) -> dict[str, Any]:
    """Return the columns of patterns and descriptors."""
    return {**pattern_columns(found.patterns_, graphs), **descriptor_columns(names, graphs)}


def pattern_bias(columns: Iterable[str]) -> Bias:
    """Return one rule per pattern (that it occurs), in the order of the patterns."""
    return Bias([Formulas([Conjunction((Labels(name, (PRESENT,)),)) for name in columns])])


def _score_left_out(
    learn: Callable[..., tuple[SubgraphFeatures, ClassModel]],
    names: tuple[str, ...],
    rows: tuple[list[Graph | None], NDArray[Any], FloatArray],
    folds: Folds,
    n_classes: int,
    n_threads: int,
) -> FloatArray:
    """Return the out-of-fold scores of all graphs."""
    graphs, classes, weights = rows

    def run(fold: int, check: Callable[[], None]) -> FloatArray:
        inside, outside = folds.held_out_rows(fold), folds.train_rows(fold)
        rest = [graphs[i] for i in outside]
        found, model = learn(rest, classes[outside], weights[outside], check)
        held = _columns(found, names, [graphs[i] for i in inside])
        return model.scores(held, n_threads=1)

    scores = np.full((len(graphs), n_classes), np.nan)
    for fold, found in enumerate(folds.run(run, n_threads)):
        scores[folds.held_out_mask(fold)] = found
    return scores
