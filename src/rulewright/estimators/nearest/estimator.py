"""RISE: rule induction from single rows (Domingos, Machine Learning 24, 1996)."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.estimators.contract.parameters import Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.contract.work import check_work
from rulewright.estimators.folds.folds import run_parallel
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import with_head_on_top
from rulewright.estimators.nearest.examples import Examples
from rulewright.estimators.nearest.parts import (
    MANY_ROWS,
    Generalised,
    join_parts,
    split_examples,
)
from rulewright.model import NearestRules
from rulewright.programs import Distance, NumberDistance, distance_columns
from rulewright.rules import Condition, Conjunction, Coverage, Labels, Presence, Range, Rule, Says
from rulewright.search import Slices

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray, RiseState

SMOOTHING = 10.0
"""Number of rows, at the accuracy of the nearest neighbour, added to the rows won by a rule: rules
were chosen for the rows they won (the value minimises log-loss on data of scikit-learn)."""


class RISEClassifier(CheckedClassifier[NearestRules]):
    """Rules that start as the training rows and are generalised; the nearest rule decides.

    Each rule in turn is generalised just enough to cover the nearest uncovered row of its class:
    different labels are dropped, intervals extended. The change is kept if the leave-one-out
    accuracy of all rules does not drop. Passes over the rules end with a pass without gain. Without
    any generalisation this is the nearest-neighbour classifier.

    Time is at least quadratic in the number of rows that are generalised together. More than 4,000
    distinct rows are therefore split into parts of `part_size` rows: rules are generalised within
    their part, and the rules of all parts form the model. The fit warns, and
    ``summary["n_parts"]`` is the number of parts.

    Attributes
    ----------
    model_ : NearestRules
        The rules: print, predict, explain, save and export.
    classes_ : ndarray
        Class labels.
    accuracy_ : float
        Leave-one-out accuracy on the training rows.
    n_passes_ : int
        Number of passes over all rules.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulewright import RISEClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> bool(RISEClassifier().fit(X, y).score(X, y) > 0.9)
    True
    """

    POOLS_LABELS = True
    MOST_WORK = 2e10

    q: float = Parameter(
        Real(1),
        "Power of the differences of class shares; their sum is the distance of two labels.",
        default=1.0,
    )
    max_passes: int | None = Parameter(
        Integer(0, optional=True),
        "Maximum number of passes over all rules; 0 gives the nearest-neighbour classifier.",
        default=None,
    )

    part_size: int | None = Parameter(
        Integer(2, optional=True),
        "Number of distinct rows per part if there are more than 4,000; None: no parts.",
        default=250,
    )

    PAPER: ClassVar[Mapping[str, Any]] = {"part_size": None, "precision_cv": None}

    def _warn_of_rows(self, rows: TrainingSet) -> None:
        """Warn that the rows are split into parts."""
        if self.part_size is None or rows.n_rows <= MANY_ROWS:
            return
        examples = Examples.of(rows, repeat=self.class_weight is None)
        if (n_parts := len(split_examples(examples, self.part_size))) > 1:
            warnings.warn(
                f"RISE generalises the {len(examples.rows)} distinct rows in {n_parts} parts, "
                "because its time is quadratic in the rows of a part: part_size sets their size, "
                "part_size=None generalises all rows together",
                UserWarning,
                stacklevel=4,
            )

    def _learn(self, rows: TrainingSet) -> NearestRules:
        check_random_state(self.random_state)  # validated, but not used
        # Class weights are not repetitions: a row with a large class weight is still one row.
        examples = Examples.of(rows, repeat=self.class_weight is None)
        self.accuracy_, self.n_passes_, summary = 1.0, 0, self._summary(rows)
        if len(np.unique(examples.rows.labels)) == 1:
            return make_single_class_model(examples, summary)
        distances, parts = examples.distances(self.q), split_examples(examples, self.part_size)
        check_work(
            self,
            float(len(examples.rows)) ** 2 * len(distances),
            "comparisons of values (distinct rows x distinct rows x columns)",
            "Use AveragedRulesClassifier('rise'), which learns from parts, or a sample of the rows",
        )
        search = self._generalise(examples, distances, parts)
        self.accuracy_ = search.accuracy / int(examples.weights.sum())
        self.n_passes_ = search.n_passes
        first = examples.smoothed_share(search.first_accuracy)
        summary |= {
            "accuracy": self.accuracy_,
            "first_accuracy": first,
            "n_passes": self.n_passes_,
            "n_examples": len(examples.rows),
            "n_parts": len(parts),
        }
        return make_nearest_rules(examples, distances, search.state, first, summary)

    def _generalise(
        self,
        examples: Examples,
        distances: tuple[Distance, ...],
        parts: list[NDArray[np.intp]],
    ) -> Generalised:
        """Generalise the rules of each part, and join them."""
        show, n_steps = bool(self.verbose), 3 * len(examples.rows)
        with progress_bar("generalising rules", n_steps, show) as advance:
            search = partial(self._search, distances, advance if show else None)
            if len(parts) == 1:
                return search(examples, self._n_threads, lambda: None)
            tasks = [partial(search, examples.take(part), 1) for part in parts]
            found = run_parallel(tasks, self._n_threads)
        return join_parts(examples, distances, parts, found, self._n_threads)

    def _search(
        self,
        distances: tuple[Distance, ...],
        advance: Callable[[], None] | None,
        examples: Examples,
        n_threads: int,
        check: Callable[[], None],
    ) -> Generalised:
        """Run the search in slices, so that Ctrl-C works."""
        search = kernels.RiseSearch(
            examples.values(distances),
            distance_columns(distances, by_label=True),
            examples.rows.labels,
            examples.weights,
            examples.alone,
            examples.ranks,
            examples.unit,
            -1 if self.max_passes is None else self.max_passes,
        )
        slices = Slices(None, None)
        while search.advance(slices.size, n_threads):
            check()
            if advance is not None:
                for _ in range(slices.size):
                    advance()
            slices.go_on(0, lambda: 0.0)
        return Generalised(search.accuracy, search.first_accuracy, search.n_passes, search.state())


def make_nearest_rules(
    examples: Examples,
    distances: tuple[Distance, ...],
    state: RiseState,
    accuracy: float,
    summary: dict[str, Any],
) -> NearestRules:
    """Create a model of the rules, in the order that breaks ties.

    Of rules with the same conditions only the first can decide a row; it gets the rows that all of
    them won. Rows won are smoothed by `accuracy`, a rule's accuracy on unfamiliar rows.
    """
    rows = examples.rows
    number: dict[Hashable, int] = {}
    found: list[tuple[Conjunction, int]] = []
    place = np.zeros(len(rows), dtype=np.intp)  # place in the model of each row's rule
    for i in examples.by_preference(state).tolist():
        body = _body(examples, distances, state.lows[i], state.highs[i])
        if body.key not in number:
            number[body.key] = len(found)
            found.append((body, int(rows.labels[state.places[i]])))
        place[state.places[i]] = number[body.key]
    won = state.winners >= 0
    places = place[state.winners[won]], rows.labels[won]
    counts, weights = np.zeros((2, len(found), len(rows.classes)))
    np.add.at(counts, places, examples.copies[won])
    np.add.at(weights, places, rows.weights[won])
    rules = [
        Rule(body, _says(examples, counts[i], head, accuracy), _coverage(weights[i]))
        for i, (body, head) in enumerate(found)
    ]
    return _model(examples, rules, distances, summary)


def make_single_class_model(examples: Examples, summary: dict[str, Any]) -> NearestRules:
    """Create the model of a single class, which needs no distance: its rule covers every row."""
    weights, head = examples.rows.class_weights, int(examples.rows.labels[0])
    says = _says(examples, weights, head, examples.smoothed_share(int(examples.weights.sum())))
    return _model(examples, [Rule(Conjunction(), says, _coverage(weights))], (), summary)


def _model(
    examples: Examples,
    rules: list[Rule],
    distances: tuple[Distance, ...],
    summary: dict[str, Any],
) -> NearestRules:
    rows, weights = examples.rows, tuple(examples.rows.class_weights.tolist())
    return NearestRules(rows.schema, rows.classes, tuple(rules), distances, weights, summary)


def _coverage(won: FloatArray) -> Coverage:
    return Coverage.of(tuple(won.tolist()), "left out")


def _says(examples: Examples, won: FloatArray, head: int, accuracy: float) -> Says:
    """Return the class shares of the rows won, smoothed by `SMOOTHING` rows of given accuracy.

    The class of the rule is the most probable one, unless rows of other classes weigh more.
    """
    others = examples.rows.class_weights + 1.0
    others[head] = 0.0
    expected = (1.0 - accuracy) * others / max(others.sum(), 1.0)
    expected[head] = accuracy
    shares = np.array(with_head_on_top(won + SMOOTHING * expected, head)) * examples.class_factors
    return Says(tuple((shares / shares.sum()).tolist()))


def _body(
    examples: Examples, distances: tuple[Distance, ...], lows: FloatArray, highs: FloatArray
) -> Conjunction:
    found: list[Condition] = []
    for distance, low, high in zip(distances, lows.tolist(), highs.tolist(), strict=True):
        schema = examples.rows.schema[distance.column]
        if isinstance(distance, NumberDistance):
            if high < np.inf:
                scale = distance.scale
                found.append(Range(schema.name, low / scale, high / scale, kind=schema.kind))
        elif 0 <= low < len(schema.labels):
            found.append(Labels(schema.name, (schema.labels[int(low)],)))
        elif low > 0:
            found.append(Presence(schema.name, missing=True))
    return Conjunction(tuple(found))
