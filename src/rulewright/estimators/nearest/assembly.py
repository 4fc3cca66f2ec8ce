"""From the rules that RISE found to a model: what they won, and what they say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.estimators.lists.assembly import with_head_on_top
from rulewright.model import NearestRules
from rulewright.programs import NumberDistance
from rulewright.rules import Conjunction, Coverage, Labels, Presence, Range, Rule, Says

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from rulewright.estimators.nearest.examples import Examples
    from rulewright.kernels import FloatArray, RiseState
    from rulewright.programs import Distance
    from rulewright.rules import Condition

SMOOTHING = 10.0
"""Rows that are added to what a rule won, with the accuracy of the nearest neighbour: what rules
win while they are chosen for it says little (chosen by log-loss on data of scikit-learn)."""


def make_nearest_rules(
    examples: Examples,
    distances: tuple[Distance, ...],
    state: RiseState,
    accuracy: float,
    summary: dict[str, Any],
) -> NearestRules:
    """Make a model of the rules, in the order in which ties are broken.

    Of rules with the same conditions only the first can decide a row; it gets what all of them won.
    Each says what it won, smoothed by `accuracy`, that of a rule on rows unlike its own.
    """
    rows = examples.rows
    number: dict[Hashable, int] = {}
    found: list[tuple[Conjunction, int]] = []
    place = np.zeros(len(rows), dtype=np.intp)  # in the model, of the rule that grew from each row
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
    """Make the model of a single class, which needs no distance: its rule covers every row."""
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
    """Return the shares of what a rule won, and of `SMOOTHING` more rows of the given accuracy.

    Its class is the most probable one, unless rows of other classes weigh more.
    """
    others = examples.rows.class_weights + 1.0
    others[head] = 0.0
    expected = (1.0 - accuracy) * others / max(others.sum(), 1.0)
    expected[head] = accuracy
    shares = np.array(with_head_on_top(won + SMOOTHING * expected, head)) * examples.class_factors
    return Says(tuple((shares / shares.sum()).tolist()))


def _by_preference(examples: Examples, state: RiseState) -> NDArray[np.intp]:
    """Order rules by Laplace accuracy on what they cover, then by frequent classes, then by age."""
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
