"""A learner made of components: generator, filters, order, learner."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from rulewright.data import DataError, TrainingSet, read_target
from rulewright.estimators import (
    CheckedByFit,
    Choice,
    Integer,
    OutOfFold,
    Parameter,
    Parameterised,
    RumbleClassifier,
    Splitting,
    assign_folds,
    check_parameters,
    with_probabilities,
)
from rulewright.model import AdditiveRules
from rulewright.relational import GraphRules, Relations
from rulewright.search import LEAST_ROWS, Bias, BiasError
from rulewright.weighting import CALIBRATIONS
from rulewright_lab.framework.bias_file import load_bias
from rulewright_lab.framework.data import DataSpec
from rulewright_lab.framework.filters import Duplicate, Order
from rulewright_lab.framework.from_bias import FromBias
from rulewright_lab.framework.generators import Given
from rulewright_lab.framework.instances import (
    GraphInstances,
    RelatedInstances,
    TableInstances,
)
from rulewright_lab.framework.model import QueryRules
from rulewright_lab.framework.pattern_statements import graph_columns
from rulewright_lab.framework.query import Goal, Occurrence, definitions
from rulewright_lab.framework.running import Components, learn_per_fold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rulewright.data import Target
    from rulewright.kernels import FloatArray
    from rulewright_lab.framework.instances import Instances
    from rulewright_lab.framework.running import LearnedQueries


class Pipeline(
    Parameterised,
    ClassifierMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """A classifier of tables, related tables, graphs or molecules, made of four parts.

    A generator gives queries; filters let some pass; an order sorts those of a batch; a learner
    makes rules of them. Every part declares what it looks at, and cannot look at anything else:
    `signature` tells it in the symbols of the framework. Where probabilities are calibrated, and in
    `cross_validate`, all parts that look at data are rerun for each fold.

    Attributes
    ----------
    model_ : AdditiveRules, GraphRules or QueryRules
        The rules: they print, predict, explain and save.
    queries_ : list of Query
        The queries that the learner was given, in their order.
    n_sent_ : int
        Queries that were generated, each once.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from rulewright_lab.framework import Pipeline
    >>> X = {"age": [20, 30, 40, 50] * 5, "sex": ["f", "f", "m", "m"] * 5}
    >>> y = ["no", "no", "yes", "yes"] * 5
    >>> pipeline = Pipeline(["age > 35", "sex = f"], filters=["duplicate"]).fit(X, y)
    >>> pipeline.signature()
    'g() f_{q,X} order:- learner:mmv(p=2)'
    >>> [str(query) for query in pipeline.queries_]
    ['age > 35', 'sex = f']
    """

    generator: Any = Parameter(
        CheckedByFit("generator of queries, Bias or list of queries"),
        "What gives queries: a generator of `rulewright_lab.framework`, a `Bias`, or a list "
        "of formulas.",
        default=None,
        kw_only=False,
    )
    filters: Any = Parameter(
        CheckedByFit("list of filters"),
        'Filters, one after the other; "duplicate" and "complement" stand for `Duplicate`.',
        default=(),
    )
    order: Any = Parameter(
        CheckedByFit("order, name of an order or None"),
        'Order of the queries of a batch: "size", "balance", "correlation", "chi2" or an object.',
        default=None,
    )
    learner: Any = Parameter(
        CheckedByFit("a classifier of this library or None"),
        "What makes rules: RUMBLE weighs the queries themselves, by default with p = 2 and without "
        "a penalty; others make rules of the columns that the queries ask about.",
        default=None,
    )
    batch_size: Any = Parameter(
        Integer(1, optional=True, words=("round",)),
        'Queries between two updates of the classifier; "round" updates it when the generator ends '
        "a round. None makes one update at the end: propositionalisation.",
        default=None,
    )
    stop: int | None = Parameter(
        Integer(1, optional=True), "Most queries that the learner is given.", default=None
    )
    data: Any = Parameter(
        CheckedByFit("DataSpec or None"),
        "How X becomes instances; by default as it is.",
        default=None,
    )
    calibration: str | None = Parameter(
        Choice(tuple(CALIBRATIONS), optional=True),
        "How scores of additive rules become probabilities, fitted to instances left out; None, or "
        "fewer than 50 instances, leaves it to the learner.",
        default="platt",
    )
    cv: Any = Parameter(Splitting(), "Folds of the calibration; a number or a splitter.", default=5)
    random_state: Any = Parameter(
        CheckedByFit("int, RandomState or None"), "Seed of all random draws.", default=None
    )

    @classmethod
    def from_bias(cls, source: Any, *, allow_code: bool = False, **options: Any) -> Self:
        """Create a pipeline of a bias file; files it names are looked for beside it.

        Parameters
        ----------
        source : path or Bias
            A TOML file, a file in the grammar of RUMBLE, or a bias.
        allow_code : bool
            Whether goals and clauses of Prolog may be run.
        options
            Other parameters; by default queries with the answers of another one are left out.
        """
        bias = source if isinstance(source, Bias) else load_bias(source)
        place = bias.places.get("", "bias")
        columns = graph_columns(bias.generators)
        if len(columns) > 1:
            listed = ", ".join(sorted(map(repr, columns)))
            raise BiasError(place, f"graphs are in one column, not in {listed}")
        spec = DataSpec.of(dict(bias.data), place)
        changes: dict[str, Any] = {"allow_code": allow_code}
        if bias.target is not None:
            changes["target"] = bias.target.column
        if columns:
            changes["column"] = min(columns)
        folder = Path() if isinstance(source, Bias) else Path(source).parent
        if spec.path is not None:
            changes["path"] = str(folder / spec.path)
        if spec.background:
            changes["background"] = _clauses(folder / spec.background, place, allow_code)
        given: dict[str, Any] = {"filters": (Duplicate(complement=True),), **options}
        return cls(FromBias(bias), data=replace(spec, **changes), **given)

    def fit(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Generate queries and learn rules.

        Parameters
        ----------
        X : table, Relations, or sequence of graphs or SMILES texts
            The instances; by default the file that a bias names.
        y : array-like, optional
            Classes; by default the classes of the data.
        sample_weight : array-like, optional
            Weights of the instances.
        """
        instances, target = self.read(X, y, sample_weight)
        random = check_random_state(self.random_state)
        seed = random.randint(2**31 - 1)
        parts = self.components(seed)
        found = parts.run(instances, target, seed)
        rules = self._calibrate(parts, found, instances, target, seed, random)
        self.queries_, self.n_sent_ = found.queries, found.n_sent
        self.n_updates_, self.classes_ = found.n_updates, rules.classes
        self.model_ = self._model(instances, rules, found)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each instance."""
        return np.asarray(self._ask("predict", X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the classes, in the order of `classes_`."""
        return np.asarray(self._ask("predict_proba", X))

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores: second minus first class for two classes, one per class otherwise."""
        return np.asarray(self._ask("decision_function", X))

    def explain(self, X: Any) -> Any:
        """Return which rules fired on each instance and what each added."""
        return self._ask("explain", X)

    def signature(self) -> str:
        """Write what the parts look at, such as "g(q,X) f_{q,X} order:- learner:mmv(p=2)"."""
        return self.components(0).signature()

    @property
    def kind(self) -> str:
        """Whether this is "propositionalisation" or "stepwise refining"."""
        return self.components(0).kind

    def components(self, seed: int) -> Components:
        """Return the parts, with those that names stand for."""
        check_parameters(type(self).__name__, self.get_params(deep=False), self.DOMAINS)
        generator = self.generator
        if isinstance(generator, Bias):
            generator = FromBias(generator)
        if isinstance(generator, list | tuple):
            generator = Given(generator)
        if not hasattr(generator, "generate"):
            raise ValueError(
                f"{type(self).__name__}: generator={generator!r:.80} must be a generator, a Bias "
                "or a list of queries"
            )
        listed = self.filters if isinstance(self.filters, list | tuple) else (self.filters,)
        filters = tuple(_FILTERS[one] if isinstance(one, str) else one for one in listed)
        order: Any = self.order
        if isinstance(order, str):
            order = Order(order)  # type: ignore[arg-type]
        learner = self.learner
        if learner is None:
            learner = RumbleClassifier(norm="l2", capacity=0.0, pairs=None, random_state=seed)
        if self.calibration is not None and "calibration" in learner.get_params(deep=False):
            learner = type(learner)(**{**learner.get_params(deep=False), "calibration": None})
        return Components(generator, filters, order, learner, self.batch_size, self.stop)

    def read(self, X: Any, y: Any, sample_weight: Any) -> tuple[Instances, Target]:
        """Return the instances with weight, and their classes."""
        read = self._spec.read(X, sample_weight, with_target=y is None)
        y = read.y if y is None else y
        if y is None:
            raise DataError(f"{type(self).__name__} needs classes: give y, or name the target.")
        instances = read.instances
        target = read_target(y, len(instances))
        if not instances.weights.all():
            kept = np.flatnonzero(instances.weights > 0)
            instances, target = instances.take(kept), target.take(kept)
        self._check_target(target)
        return instances, target

    def _check_target(self, target: Target) -> None:
        present = target.classes[np.unique(target.codes)].tolist()
        bias = self.generator.bias if isinstance(self.generator, FromBias) else None
        place = None if bias is None else bias.places.get("", "target")
        if len(target.codes) < 2:
            raise DataError(f"Two instances are needed to learn, not {len(target.codes)}.")
        if len(present) < 2:
            text = f"all {len(target.codes)} instances have the class {present[0]!r}"
            raise (
                BiasError(place, f"target: {text}")
                if place
                else DataError(f"{text}: two are needed")
            )
        positive = None if bias is None or bias.target is None else bias.target.positive
        if positive is None or place is None:
            return
        if positive not in map(str, present):
            raise BiasError(place, f"target: positive {positive!r} is none of {present}")
        if len(present) > 2:
            raise BiasError(
                place,
                f"target: {len(present)} classes, but positive = {positive!r} tells two apart",
            )

    def _calibrate(
        self,
        parts: Components,
        found: LearnedQueries,
        instances: Instances,
        target: Target,
        seed: int,
        random: np.random.RandomState,
    ) -> Any:
        """Fit probabilities to instances left out, whose queries were found without them."""
        few = len(instances) < LEAST_ROWS
        if self.calibration is None or few or not isinstance(found.rules, AdditiveRules):
            return found.rules
        folds = assign_folds(target.codes, self.cv, random)
        if folds is None:
            return found.rules
        scores = np.full((len(instances), len(found.rules.classes)), np.nan)
        for inside, learned in learn_per_fold(parts, instances, target, folds, seed):
            held = instances.take(inside).table(learned.queries)
            scores[inside] = learned.rules.scores(held)
        table = replace(instances.table(found.queries), target=target, weights=instances.weights)
        training = TrainingSet.of(table)
        calibration = CALIBRATIONS[self.calibration](n_rows=float(instances.weights.sum()))
        return with_probabilities(
            found.rules, training, calibration, OutOfFold.of(scores, folds, training)
        )

    def _model(self, instances: Instances, rules: Any, found: LearnedQueries) -> Any:
        """Return the model that predicts from the original data."""
        used = set(rules.columns)
        made = tuple(one for one in definitions(found.queries) if one.name in used)
        if isinstance(instances, TableInstances):
            return rules
        if isinstance(instances, RelatedInstances) and not any(isinstance(m, Goal) for m in made):
            return rules
        patterns = tuple(one.pattern for one in made if isinstance(one, Occurrence))
        spec = self._spec
        if isinstance(instances, GraphInstances) and spec.column is None:
            return GraphRules(rules, patterns, spec.reading)
        return QueryRules(rules, made, replace(spec, path=None))  # new data are given

    @property
    def _spec(self) -> DataSpec:
        return DataSpec() if self.data is None else self.data

    def _ask(self, method: str, X: Any) -> Any:
        """Ask the model, in the form of data that it takes."""
        check_is_fitted(self, "model_")
        model, spec = self.model_, self._spec
        if isinstance(model, GraphRules):
            return getattr(model, method)(X, on_error=spec.on_error)
        related = not isinstance(model, QueryRules) and not isinstance(X, Relations)
        if related and (model.schema.recipe is not None or spec.engine in ("duckdb", "prolog")):
            read = spec.read(X, with_target=False).instances
            X = read.relations if isinstance(read, RelatedInstances) else X
        return getattr(model, method)(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


_FILTERS = {"duplicate": Duplicate(), "complement": Duplicate(complement=True)}


def _clauses(path: Path, place: str, allow_code: bool) -> str:
    """Read clauses of Prolog, if they may be run."""
    if not allow_code:
        raise BiasError(place, f"{path.name} is code: set allow_code=True if you trust it")
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise BiasError(place, f"background: {path} cannot be read: {error.strerror}") from None
