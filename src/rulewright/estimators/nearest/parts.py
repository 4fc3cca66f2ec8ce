"""RISE on parts of many rows: the rules of all parts, and which of them wins each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright import kernels
from rulewright.estimators.folds.folds import stratified_folds
from rulewright.kernels import RiseState
from rulewright.programs import distance_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.estimators.nearest.examples import Examples
    from rulewright.kernels import DistanceColumns
    from rulewright.programs import Distance

MANY_ROWS = 4000
"""Number of distinct rows beyond which rules are generalised on parts of the rows."""


class Generalised(NamedTuple):
    """Rules after the search, the weight of the rows they classify right, and the passes."""

    accuracy: int
    first_accuracy: int
    n_passes: int
    state: RiseState


def split_examples(examples: Examples, size: int | None) -> list[NDArray[np.intp]]:
    """Return the places of each part of about `size` rows: one part unless there are many rows."""
    n = len(examples.rows)
    if size is None or n <= MANY_ROWS:
        return [np.arange(n)]
    # Examples are in the order of their values, so that the parts need no seed.
    parts = stratified_folds(examples.rows.labels, -(-n // size), np.random.RandomState(0))
    return [np.flatnonzero(parts == k) for k in range(parts.max() + 1)]


def join_parts(
    examples: Examples,
    distances: tuple[Distance, ...],
    parts: Sequence[NDArray[np.intp]],
    found: Sequence[Generalised],
    n_threads: int,
) -> Generalised:
    """Put the rules of all parts in one model, in which a row can be won by a rule of any part.

    Within its part a row is left out; the rules of other parts never saw it. Coverage, which
    breaks ties, stays that of the part.
    """
    state = _concatenate(parts, [one.state for one in found])
    winners, far = state.winners.copy(), state.distances.copy()
    order = examples.by_preference(state)
    rank = np.empty(len(winners), dtype=np.intp)
    rank[state.places[order]] = np.arange(len(order))
    values, columns = examples.values(distances), distance_columns(distances, by_label=True)
    for part in parts:
        others = order[~np.isin(state.places[order], part)]
        boxes = _boxes(state, others, columns)
        nearest, gaps = kernels.nearest_rules(values[part], columns, boxes, n_threads)
        rules = state.places[others[nearest]]
        ties = (gaps == far[part]) & (rank[rules] < rank[winners[part]])
        nearer = np.isfinite(gaps) & ((gaps < far[part]) | ties)
        winners[part[nearer]], far[part[nearer]] = rules[nearer], gaps[nearer]
    labels = examples.rows.labels
    right = (winners >= 0) & (labels[winners] == labels)
    return Generalised(
        int(examples.weights[right].sum()),
        sum(one.first_accuracy for one in found),
        max(one.n_passes for one in found),
        state._replace(winners=winners, distances=far),
    )


def _concatenate(parts: Sequence[NDArray[np.intp]], states: Sequence[RiseState]) -> RiseState:
    """Return the states of the parts as one, with the places of all rows."""
    pairs = list(zip(parts, states, strict=True))
    rows = np.argsort(np.concatenate(parts))
    places = np.concatenate([part[one.places] for part, one in pairs])
    rules = np.argsort(places)
    joined = {
        name: np.concatenate([getattr(one, name) for one in states]) for name in RiseState._fields
    }
    winners = [np.where(one.winners >= 0, part[one.winners], -1) for part, one in pairs]
    return RiseState(
        winners=np.concatenate(winners)[rows].astype(np.int32),
        places=places[rules].astype(np.int32),
        **{name: joined[name][rows] for name in ("distances", "covered", "correct")},
        **{name: joined[name][rules] for name in ("lows", "highs")},
    )


def _boxes(state: RiseState, rules: NDArray[np.integer], columns: DistanceColumns) -> kernels.Boxes:
    """Return some rules as conditions."""
    lows, highs = state.lows[rules], state.highs[rules]
    nominal = np.diff(columns.group_starts) > 0
    used = np.where(nominal, lows >= 0, highs < np.inf)
    starts = np.concatenate([[0], np.cumsum(used.sum(axis=1))]).astype(np.int32)
    return kernels.Boxes(starts, np.nonzero(used)[1].astype(np.int32), lows[used], highs[used])
