"""Search for changes of a row that reach a goal: all of one column, then of two, and so on.

While all combinations of a number of columns fit into the budget of predictions, they are all
tried, so the first solutions have the fewest columns and the smallest changes. After that, a beam
search extends the changes that come nearest and the changes that make a rule apply; its results
are reduced until nothing can be removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rulewright.data import Column, Table
from rulewright.rules import Conjunction

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from rulewright.explain.counterfactuals.moves import Moves
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import RuleModel

    Lines: TypeAlias = NDArray[np.integer]
    Goal: TypeAlias = Callable[[FloatArray], tuple[BoolArray, FloatArray]]
    """Returns, for scores, which rows reach the goal and how near each one comes to it."""

Choice: TypeAlias = tuple[int, ...]
"""Moves of different columns, by number."""

_BATCH = 8192
_WIDEST = 40
"""Beam width."""
_ROUNDS = 6
"""Number of rounds that the budget of a beam should last."""
_FINER, _REFINED = 32, 3
"""Number of points, and of rounds, to refine a change through a linear term."""
_LONGER = 0.01
"""Maximum growth of a refined change, relative to itself or the unit, to get fewer digits."""
_REDUCED = 30
"""Number of beam results that are reduced."""


class Trials:
    """Rows with changed columns: predicted and counted.

    Parameters
    ----------
    model : RuleModel
        The model.
    row : Table
        The row to change, with the columns of the model.
    moves : sequence of Moves
        The columns that may change, with their candidate values.
    goal : function
        Returns, for scores, which rows reach the goal and how near each one comes to it.
    nodes : int
        Number of earlier predictions.
    """

    def __init__(
        self, model: RuleModel, row: Table, moves: Sequence[Moves], goal: Goal, nodes: int = 0
    ) -> None:
        self.model, self.row, self.moves, self.goal = model, row, moves, goal
        self.sizes = [len(one) for one in moves]
        self.column_of = np.repeat(np.arange(len(moves)), self.sizes)
        self.values = np.concatenate([np.zeros(0), *(one.values for one in moves)])
        self.costs = np.concatenate([np.zeros(0), *(one.costs for one in moves)])
        self.ends = np.cumsum(self.sizes, dtype=np.intp)
        self.nodes = nodes
        self._starts = np.array([float(one.start) for one in moves])

    def choices(self, choices: Lines) -> tuple[BoolArray, FloatArray]:
        """Try choices, as lines with the numbers of moves; -1 for none."""
        places = np.maximum(choices, 0)
        columns = np.where(choices < 0, len(self.moves), self.column_of[places])
        return self._predict_changed(columns, self.values[places])

    def changes(self, changes: Sequence[dict[int, float]]) -> BoolArray:
        """Try changes: stored values by the place of their column."""
        width = max(map(len, changes), default=0)
        columns = np.full((len(changes), width), len(self.moves))
        values = np.zeros((len(changes), width))
        for line, change in enumerate(changes):
            columns[line, : len(change)] = list(change)
            values[line, : len(change)] = list(change.values())
        return self._predict_changed(columns, values)[0]

    def values_of(self, at: int, values: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Try values of one column."""
        return self._predict_changed(np.full((len(values), 1), at), values[:, np.newaxis])

    def cost(self, choice: Choice) -> float:
        """Return the size of a change."""
        return float(self.costs[list(choice)].sum())

    def columns(self, choice: Choice) -> frozenset[int]:
        """Return the columns of a change."""
        return frozenset(self.column_of[list(choice)].tolist())

    def change(self, choice: Choice) -> dict[int, float]:
        """Return the stored values of a change, by the place of their column."""
        return {int(self.column_of[i]): float(self.values[i]) for i in choice}

    def table(self, matrix: FloatArray) -> Table:
        """Create rows from stored values, given as an array (columns that may change, rows)."""
        place = {one.schema.name: i for i, one in enumerate(self.moves)}
        n_rows = matrix.shape[1]
        columns = []
        for column in self.row.columns:
            at = place.get(column.schema.source)
            if at is None:
                columns.append(Column(column.schema, np.repeat(column.values, n_rows)))
                continue
            schema = self.moves[at].schema
            moved = Column(schema, matrix[at].astype(self.moves[at].values.dtype))
            columns.append(moved.take_part(column.schema))
        return Table(tuple(columns), self.row.named, n_rows, choices=self.row.choices)

    def _predict_changed(self, columns: Lines, values: FloatArray) -> tuple[BoolArray, FloatArray]:
        """Predict the row with some columns changed; a place beyond the last changes nothing."""
        self.nodes += len(columns)
        reached, near = np.empty(len(columns), np.bool_), np.empty(len(columns))
        for first in range(0, len(columns), _BATCH):
            part = slice(first, first + _BATCH)
            chosen, new = columns[part], values[part]
            matrix = np.repeat(np.append(self._starts, 0.0)[:, np.newaxis], len(chosen), axis=1)
            for j in range(chosen.shape[1]):
                matrix[chosen[:, j], np.arange(len(chosen))] = new[:, j]
            reached[part], near[part] = self.goal(self.model.scores(self.table(matrix[:-1])))
        return reached, near


@dataclass
class ChangeSearchResult:
    """Result of a search.

    Parameters
    ----------
    choices : list of tuple of int
        Changes that reach the goal.
    complete : int
        Largest number of columns for which all changes were tried.
    """

    choices: list[Choice] = field(default_factory=list)
    complete: int = 0


def find_changes(trials: Trials, n: int, most: int, max_nodes: int) -> ChangeSearchResult:
    """Find changes of few columns that reach the goal.

    Parameters
    ----------
    trials : Trials
        The row, its moves and the goal.
    n : int
        Number of column sets to find.
    most : int
        Maximum number of columns per change.
    max_nodes : int
        Maximum number of predictions, except for the reduction of results.
    """
    found, counts = ChangeSearchResult(), _level_sizes(trials.sizes)
    lines: Lines = np.zeros((1, 0), dtype=np.intp)
    near = np.zeros(1)
    for k in range(1, min(most, len(trials.moves)) + 1):
        if trials.nodes + counts[k] > max_nodes:
            break
        first = not found.choices
        longer = _longer(trials, lines)
        reached, near = trials.choices(longer)
        found.choices += map(tuple, longer[reached].tolist())
        found.complete = k
        # A superset of a solution contains unnecessary changes.
        lines, near = longer[~reached], near[~reached]
        enough = len({trials.columns(choice) for choice in found.choices}) >= n
        if found.choices and (enough or not first):
            return found
    if not found.choices and found.complete < min(most, len(trials.moves)):
        found.choices = _beam(trials, lines[np.argsort(-near, kind="stable")], most, max_nodes)
    return found


def _level_sizes(sizes: Sequence[int]) -> list[int]:
    """Count the changes for each number of columns: elementary symmetric polynomials."""
    counts = [1] + [0] * len(sizes)
    for place, size in enumerate(sizes):
        for k in range(place + 1, 0, -1):
            counts[k] += counts[k - 1] * size
    return counts


def _longer(trials: Trials, lines: Lines) -> Lines:
    """Extend each line by every move of a later column."""
    n_moves = len(trials.values)
    if lines.shape[1]:
        starts = trials.ends[trials.column_of[lines[:, -1]]]
    else:
        starts = np.zeros(len(lines), dtype=np.intp)
    counts = n_moves - starts
    own = np.repeat(np.arange(len(lines)), counts)
    offset = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.column_stack([lines[own], starts[own] + offset])


def _beam(trials: Trials, lines: Lines, most: int, max_nodes: int) -> list[Choice]:
    """Extend the nearest changes, and the changes that make a rule apply."""
    n_moves = len(trials.values)
    by_rule = [choice for choice in _rule_choices(trials) if len(choice) <= most]
    reached, near = trials.choices(_pad_choices(by_rule))
    ends = [choice for choice, there in zip(by_rule, reached.tolist(), strict=True) if there]
    shortest = min(map(len, ends), default=most + 1)
    width = int(np.clip((max_nodes - trials.nodes) // (n_moves * _ROUNDS), 1, _WIDEST))
    order = np.argsort(-near, kind="stable")[:width].tolist()
    beam = [*map(tuple, lines[:width].tolist()), *(by_rule[i] for i in order if not reached[i])]
    for _ in range(1, most):
        longer = _extensions(trials, beam, shortest)
        if not longer or trials.nodes + len(longer) > max_nodes:
            break
        reached, near = trials.choices(_pad_choices(longer))
        if reached.any():
            ends += [longer[i] for i in np.flatnonzero(reached).tolist()]
            break
        beam = [longer[i] for i in np.argsort(-near, kind="stable")[:width].tolist()]
    ends.sort(key=lambda choice: (len(choice), trials.cost(choice), choice))
    return sorted({_reduce_choice(trials, choice) for choice in ends[:_REDUCED]})


def _extensions(trials: Trials, beam: Iterable[Choice], shortest: int) -> list[Choice]:
    """Add one move to each change, if it still has fewer columns than a known solution."""
    longer: dict[Choice, None] = {}
    for choice in beam:
        own = trials.columns(choice)
        if len(choice) + 1 < shortest:
            free = np.flatnonzero(~np.isin(trials.column_of, list(own))).tolist()
            longer.update(dict.fromkeys(tuple(sorted((*choice, move))) for move in free))
    return list(longer)


def _rule_choices(trials: Trials) -> list[Choice]:
    """Return, for each rule, the smallest change that makes its body true, if there is one."""
    place = {one.schema.name: i for i, one in enumerate(trials.moves)}
    first = np.append(0, trials.ends)
    nearest: dict[Any, int | None] = {}  # -1 where the condition is already true
    choices: dict[Choice, None] = {}
    for rule in trials.model.rules:
        if not isinstance(rule.body, Conjunction):
            continue
        for condition in rule.body.conditions:
            if condition in nearest:
                continue
            now = trials.row[condition.column]
            at = place.get(now.schema.source)
            nearest[condition] = -1 if condition.holds(now)[0] else None
            if nearest[condition] is None and at is not None:
                one = trials.moves[at]
                moved = Column(one.schema, one.values)
                holds = condition.holds(moved.take_part(now.schema))
                if holds.any():
                    cheapest = np.argmin(np.where(holds, one.costs, np.inf))
                    nearest[condition] = int(first[at] + cheapest)
        needed = [nearest[condition] for condition in rule.body.conditions]
        moves = sorted(move for move in needed if move is not None and move >= 0)
        if moves and None not in needed:
            choices[tuple(moves)] = None
    return list(choices)


def _pad_choices(choices: Sequence[Choice]) -> Lines:
    width = max(map(len, choices), default=0)
    lines = np.full((len(choices), width), -1, dtype=np.intp)
    for line, choice in enumerate(choices):
        lines[line, : len(choice)] = choice
    return lines


def _reduce_choice(trials: Trials, choice: Choice) -> Choice:
    """Remove unnecessary parts, largest first, and make the rest as small as possible."""
    for move in sorted(choice, key=lambda i: -trials.costs[i]):
        shorter = tuple(i for i in choice if i != move)
        if shorter and trials.choices(_pad_choices([shorter]))[0][0]:
            choice = shorter
    for move in choice:
        at = int(trials.column_of[move])
        last = int(trials.ends[at])
        own = np.arange(last - trials.sizes[at], last)
        smaller = own[trials.costs[own] < trials.costs[move]]
        others = [tuple(sorted({*choice, int(i)} - {move})) for i in smaller]
        reached = trials.choices(_pad_choices(others))[0] if others else np.zeros(0, np.bool_)
        if reached.any():
            ways = [others[i] for i in np.flatnonzero(reached).tolist()]
            choice = min(ways, key=trials.cost)
    return choice


def sharpen_trials(trials: Trials) -> Trials:
    """Add to columns with linear terms the value nearest to the goal, if it reaches it.

    A goal that is reached only inside a cell may lie between the values tried there.
    """
    moves = list(trials.moves)
    for at, one in enumerate(moves):
        if not one.smooth or not one.schema.type.ordered:
            continue
        values = np.sort(one.values)
        for _ in range(_REFINED):
            reached, near = trials.values_of(at, values)
            best = int(np.argmax(near))
            if reached.any() or len(values) < 2:
                break
            low, high = values[max(best - 1, 0)], values[min(best + 1, len(values) - 1)]
            values = np.linspace(low, high, _FINER + 1)
        if reached.any() and not np.isin(values[reached], one.values).all():
            new = values[reached][:1]
            if not one.whole or new[0] % 1 == 0:
                costs = np.append(one.costs, one.cost(float(new[0])))
                moves[at] = replace(one, values=np.append(one.values, new), costs=costs)
    return Trials(trials.model, trials.row, moves, trials.goal, trials.nodes)


def refine_choice(trials: Trials, choice: Choice) -> dict[int, float]:
    """Return the stored values of a change; with linear terms, as small and short as possible."""
    change = trials.change(choice)
    for at in change:
        one = trials.moves[at]
        if not one.smooth or not one.schema.type.ordered or np.isnan(one.start):
            continue
        nearest = one.start
        for _ in range(_REFINED):
            grid = np.linspace(nearest, change[at], _FINER + 1)[1:]
            if one.whole:
                away = np.ceil if change[at] > one.start else np.floor
                grid = np.unique(away(grid))[:: 1 if change[at] > one.start else -1]
            reached = trials.changes([change | {at: value} for value in grid.tolist()])
            first = int(np.argmax(reached))
            nearest = grid[first - 1] if first else nearest
            change[at] = float(grid[first])
        change[at] = _shorten_value(trials, change, at)
    return change


def _shorten_value(trials: Trials, change: dict[int, float], at: int) -> float:
    """Round a value to few digits, slightly farther from the start."""
    one, value = trials.moves[at], change[at]
    if one.whole:
        return value
    away = 1.0 if value > one.start else -1.0
    for step in (_LONGER * abs(value - one.start), _LONGER * one.unit):
        low, high = sorted((value, value + away * step))
        if low < high:
            short = float(one.schema.type.between(low, high, value))
            if trials.changes([change | {at: short}])[0]:
                return short
    return value
