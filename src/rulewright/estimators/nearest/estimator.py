"""RISE: rule induction from single rows (Domingos, Machine Learning 24, 1996)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from rulewright import kernels
from rulewright.estimators.contract.parameters import Integer, Parameter, Real
from rulewright.estimators.contract.progress import progress_bar
from rulewright.estimators.contract.work import check_work
from rulewright.estimators.folds.precision import CheckedClassifier
from rulewright.estimators.lists.assembly import with_head_on_top
from rulewright.estimators.nearest.examples import Examples
from rulewright.model import NearestRules
from rulewright.programs import Distance, NumberDistance, distance_columns
from rulewright.rules import Condition, Conjunction, Coverage, Labels, Presence, Range, Rule, Says
from rulewright.search import Slices

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from rulewright.data import TrainingSet
    from rulewright.kernels import FloatArray, RiseState

SMOOTHING = 10.0
"""Number of rows, at the accuracy of the nearest neighbour, added to the rows won by a rule: rules
were chosen for the rows they won (the value minimises log-loss on data of scikit-learn)."""

MANY_ROWS = 10_000
"""Number of rows beyond which a fit warns: its time is quadratic in them."""


class RISEClassifier(CheckedClassifier[NearestRules]):
    """Rules that start as the training rows and are generalised; the nearest rule decides.

    Each rule in turn is generalised just enough to cover the nearest uncovered row of its class:
    different labels are dropped, intervals extended. The change is kept if the leave-one-out
    accuracy of all rules does not drop. Passes over the rules end with a pass without gain. Without
    any generalisation this is the nearest-neighbour classifier.

    Time is quadratic in the number of distinct rows: split more than 10,000 rows into parts.

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

    def _learn(self, rows: TrainingSet) -> NearestRules:
        check_random_state(self.random_state)  # validated, but not used
        # Class weights are not repetitions: a row with a large class weight is still one row.
        examples = Examples.of(rows, repeat=self.class_weight is None)
        self.accuracy_, self.n_passes_, summary = 1.0, 0, self._summary(rows)
        if len(np.unique(examples.rows.labels)) == 1:
            return make_single_class_model(examples, summary)
        distances = examples.distances(self.q)
        check_work(
            self,
            float(len(examples.rows)) ** 2 * len(distances),
            "comparisons of values (distinct rows x distinct rows x columns)",
            "Use AveragedRulesClassifier('rise'), which learns from parts, or a sample of the rows",
        )
        if len(examples.rows) > MANY_ROWS:
            self._warn(len(examples.rows))
        search = self._search(examples, distances)
        self.accuracy_ = search.accuracy / int(examples.weights.sum())
        self.n_passes_ = search.n_passes
        first = examples.smoothed_share(search.first_accuracy)
        summary |= {
            "accuracy": self.accuracy_,
            "first_accuracy": first,
            "n_passes": self.n_passes_,
            "n_examples": len(examples.rows),
        }
        return make_nearest_rules(examples, distances, search.state(), first, summary)

    def _search(self, examples: Examples, distances: tuple[Distance, ...]) -> kernels.RiseSearch:
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
        slices, n_rows, show = Slices(None, None), len(examples.rows), bool(self.verbose)
        with progress_bar("generalising rules", 3 * n_rows, show) as advance:
            while search.advance(slices.size, self._n_threads):
                for _ in range(slices.size if show else 0):
                    advance()
                slices.go_on(0, lambda: 0.0)
        return search

    def _warn(self, n_rows: int) -> None:
        warnings.warn(
            f"RISE compares every rule with every row, so its time is quadratic in the {n_rows} "
            "distinct rows. Use AveragedRulesClassifier('rise'), which learns from parts, "
            f"or a sample of at most {MANY_ROWS} rows.",
            UserWarning,
            stacklevel=4,
        )


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
    for i in _by_preference(examples, state).tolist():
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


def _by_preference(examples: Examples, state: RiseState) -> NDArray[np.intp]:
    """Sort rules by Laplace accuracy on covered rows, then by class frequency, then by age."""
    covered, correct = state.covered[state.places], state.correct[state.places]
    laplace = (correct + examples.unit) / (covered + len(examples.ranks) * examples.unit)
    ranks = examples.ranks[examples.rows.labels[state.places]]
    return np.lexsort((state.places, ranks, -laplace))


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
