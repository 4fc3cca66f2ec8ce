"""Counterfactuals: the smallest changes that flip a prediction, with as few columns as possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from markupsafe import Markup

from rulewright.data import DataError, Table, label_of, offer_names, read_like
from rulewright.explain.counterfactuals.goals import ChangeGoal, goal_of
from rulewright.explain.counterfactuals.moves import Direction, moves_of, to_table_value
from rulewright.explain.counterfactuals.search import (
    ChangeSearchResult,
    Choice,
    Trials,
    find_changes,
    refine_choice,
    sharpen_trials,
)
from rulewright.explain.evaluated_rows import model_of
from rulewright.html import bold, note, table, view
from rulewright.model import ClassModel, RuleModel, escape_line, to_frame, write_count
from rulewright.rules import write_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


MAX_NODES = 100_000
"""Default maximum number of predictions of a search."""


@dataclass(frozen=True)
class Change:
    """One changed column: its value before and after, and the size of the change."""

    column: str
    before: Any
    after: Any
    size: float

    def __str__(self) -> str:
        before = self.before
        if isinstance(before, float) and float(f"{before:.6g}") != self.after:
            before = float(f"{before:.6g}")
        return f"{escape_line(self.column)}: {_write_value(before)} -> {_write_value(self.after)}"


@dataclass(frozen=True)
class Counterfactual:
    """Changes that lead to another prediction.

    Parameters
    ----------
    changes : tuple of Change
        The changed columns, in the order of the model's columns.
    answer : object
        The new prediction: a class label or a number.
    probability : float, optional
        Its probability, for classification.
    """

    changes: tuple[Change, ...]
    answer: Any
    probability: float | None

    @property
    def size(self) -> float:
        """Sum of the sizes of all changes."""
        return sum(change.size for change in self.changes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that change."""
        return tuple(change.column for change in self.changes)

    def __str__(self) -> str:
        changes = ", ".join(map(str, self.changes))
        return f"{changes}: then {answer_text(self.answer, self.probability)}"


@dataclass(frozen=True, eq=False)
class Counterfactuals:
    """The changes that flip a prediction on one row, fewest columns first.

    Parameters
    ----------
    answer : object
        The prediction for the original row.
    probability : float, optional
        Its probability, for classification.
    goal : str
        The goal of the search, as text.
    found : tuple of Counterfactual
        The solutions; each differs from the others in its columns or directions.
    fewest : bool
        Whether no solution uses fewer columns (proven).
    smallest : bool
        Whether no solution with as many columns is smaller than the first (proven).
    n_tried : int
        Number of changes that were checked.
    reason : str
        Why there is no solution, if there is none.
    """

    answer: Any
    probability: float | None
    goal: str
    found: tuple[Counterfactual, ...]
    fewest: bool
    smallest: bool
    n_tried: int
    reason: str = ""

    def __len__(self) -> int:
        return len(self.found)

    def __iter__(self) -> Any:
        return iter(self.found)

    def __getitem__(self, key: int) -> Counterfactual:
        return self.found[key]

    def __str__(self) -> str:
        return self.text()

    def text(self, row_name: object = None) -> str:
        """Format the solutions, one per line, and the proof status."""
        title = "row" if row_name is None else f"row {row_name}"
        lines = [f"{title}: {answer_text(self.answer, self.probability)}; to get {self.goal}:"]
        lines += [f"  {i}. {one}" for i, one in enumerate(self.found, 1)]
        return "\n".join([*lines, f"  ({self.note})"])

    @property
    def note(self) -> str:
        """The proof status, or the reason why there is no solution."""
        if not self.found:
            return self.reason
        checked = f"{self.n_tried:,} changes checked"
        if not self.fewest:
            return f"a solution with fewer columns may exist; {checked}"
        first = ", and the first change is the smallest" if self.smallest else ""
        return f"proven: no solution has fewer columns{first}; {checked}"

    def to_table(self) -> dict[str, list[Any]]:
        """Return a dict of columns with a line for each change of each solution."""
        lines = [(i, one, change) for i, one in enumerate(self.found) for change in one.changes]
        return {
            "answer": [i for i, _, _ in lines],
            "column": [change.column for _, _, change in lines],
            "before": [_cell(change.before) for _, _, change in lines],
            "after": [_cell(change.after) for _, _, change in lines],
            "size": [change.size for _, _, change in lines],
            "prediction": [one.answer for _, one, _ in lines],
            "probability": [one.probability for _, one, _ in lines],
        }

    def to_frame(self, backend: str | None = None) -> Any:
        """Return a dataframe with a row for each change of each solution; values are text."""
        return to_frame(self.to_table(), backend)

    def _repr_html_(self) -> str:
        head = f"{answer_text(self.answer, self.probability)}; to get {self.goal}:"
        lines = [
            (Markup("<br>").join(map(str, one.changes)), answer_text(one.answer, one.probability))
            for one in self.found
        ]
        listed = table([("change", "then")], lines, text={0, 1}) if lines else None
        return view(bold(head), listed, note(self.note))


def counterfactual(
    model: Any,
    row: Any,
    target_class: Any = None,
    *,
    target_range: tuple[float | None, float | None] | None = None,
    X: Any = None,
    immutable: Sequence[str] = (),
    only: Sequence[str] | None = None,
    monotone: Mapping[str, Direction] | None = None,
    n: int = 3,
    max_changes: int | None = None,
    max_nodes: int = MAX_NODES,
) -> Counterfactuals:
    """Find the smallest changes of a row that flip the prediction, with as few columns as possible.

    The conditions of the model cut every column into cells in which no condition changes. The
    search tries values of all cells, first of one column, then of two, and so on; fewer columns
    come before smaller changes. The result describes the model, not the world: the model does not
    know whether a change is feasible, or what else it would change.

    Parameters
    ----------
    model : RuleModel or fitted estimator
        A model of any form, also a loaded one.
    row : table or mapping
        One row: a table with one row, or a mapping of columns to values.
    target_class : object, optional
        The class to reach; by default any class other than the predicted one.
    target_range : tuple of two floats, optional
        For regression, the minimum and maximum to reach; None leaves a side open.
    X : table, optional
        Rows that define the scale of changes: the size of a numeric change is relative to the
        distance between their 5 % and 95 % quantiles. They also determine which columns hold
        integers, and which labels are common. Without them the thresholds of the model are used.
    immutable : sequence of str
        Columns that must keep their values.
    only : sequence of str, optional
        Columns that may change; by default all.
    monotone : mapping of str to {"increasing", "decreasing"}, optional
        Columns whose values may only increase, or only decrease.
    n : int
        Maximum number of solutions. They differ in their columns, or else in directions or labels.
    max_changes : int, optional
        Maximum number of columns per solution.
    max_nodes : int
        Maximum number of predictions. While all changes of one column, of two columns and so on
        fit into this budget, the first solution provably has the fewest columns; then a beam
        search follows.

    Returns
    -------
    Counterfactuals
        The solutions, each verified by predicting the printed values, with what is proven about
        them; or the reason why there are none.

    Notes
    -----
    A change of a label has size 1, as has filling in a missing value. No value becomes missing, and
    no label is proposed that was not seen in training. With linear terms or distances to rules,
    predictions also change within cells: some values inside are tried and the best is refined, so
    that `smallest` is not proven.
    """
    model = model_of(model, "counterfactual")
    checked = {"n": n, "max_nodes": max_nodes, "max_changes": max_changes}
    for name, value in checked.items():
        if value is not None and (type(value) is not int or value < 1):
            raise ValueError(f"{name}={value!r} must be an integer >= 1")
    changed = _one_row(model, row)
    spread = None if X is None else read_like(X, model.schema, _needed(model))
    goal = goal_of(model, changed, target_class, target_range)
    allowed = _find_allowed_columns(model, immutable, only, monotone or {})
    moves = moves_of(model.program, changed, spread, allowed, monotone or {})
    trials = Trials(model, changed, moves, goal.tell)
    if not goal.ends_suffice:
        trials = sharpen_trials(trials)
    most = min(max_changes or len(moves), len(moves))
    found = find_changes(trials, n, most, max_nodes)
    chosen = [refine_choice(trials, choice) for choice in _diverse(trials, found.choices, n)]
    answers = [_verify_change(trials, goal, change) for change in chosen]
    kept = sorted(filter(None, answers), key=lambda one: (len(one.changes), one.size))
    smooth, least = any(one.smooth for one in moves), len(kept[0].changes) if kept else 0
    complete = found.complete if goal.ends_suffice or not smooth else 0
    return Counterfactuals(
        *_answer_row(model, changed),
        goal.words,
        tuple(kept),
        fewest=0 < least <= complete + 1,
        smallest=0 < least <= complete and not smooth,
        n_tried=trials.nodes,
        reason="" if kept else _reason(trials, found, goal.words, most, smooth=smooth),
    )


def _one_row(model: RuleModel, row: Any) -> Table:
    """Read one row: a table, a mapping of columns to values, or a list of values."""
    if getattr(row, "ndim", None) == 1 and hasattr(row, "to_dict"):  # a row of a dataframe
        row = row.to_dict()
    if isinstance(row, dict):
        row = {name: _to_list(value) for name, value in row.items()}
    elif isinstance(row, list | tuple | np.ndarray) and np.ndim(np.array(row, object)) == 1:
        row = [list(row)]
    table = read_like(row, model.schema, _needed(model))
    if len(table) != 1:
        raise DataError(f"row must be one row, not {len(table)}: pass one, such as X.iloc[[0]].")
    return table


def _needed(model: RuleModel) -> set[str]:
    """Return the columns to read: parts of dates change with their dates."""
    return {*model.columns, *model.inputs}


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, str) or not hasattr(value, "__len__") else value


def _find_allowed_columns(
    model: RuleModel,
    immutable: Sequence[str],
    only: Sequence[str] | None,
    monotone: Mapping[str, Direction],
) -> list[str]:
    """Return the columns that may change; check all names and directions."""
    given = {column.name: column for column in model.schema.given}
    named = {"immutable": immutable, "only": only or (), "monotone": monotone}
    for option, names in named.items():
        if isinstance(names, str):
            raise ValueError(f"{option}={names!r} must be a list of columns: [{names!r}]")
        for name in names:
            if name not in given:
                offer = offer_names(str(name), list(given))
                raise DataError(f"{option}: the model has no column {name!r}. {offer}")
    for name, direction in monotone.items():
        if direction not in get_args(Direction):
            raise ValueError(
                f"monotone: {name!r} must be 'increasing' or 'decreasing', not {direction!r}"
            )
        if not given[name].type.ordered:
            raise DataError(f"monotone: the labels of column {name!r} are not ordered.")
    allowed = model.inputs if only is None else [name for name in model.inputs if name in only]
    return [name for name in allowed if name not in immutable]


def _diverse(trials: Trials, choices: Sequence[Choice], n: int) -> list[Choice]:
    """Choose the smallest solution, then the smallest ones with other columns or values."""
    order = sorted(choices, key=lambda choice: (len(choice), trials.cost(choice), choice))
    chosen: list[Choice] = []
    for choice in order:
        own = trials.columns(choice)
        if len(chosen) < n and not any(trials.columns(other) <= own for other in chosen):
            chosen.append(choice)
    known = {_directions(trials, choice) for choice in chosen}
    for choice in order:
        way = _directions(trials, choice)
        wider = any(trials.columns(other) < trials.columns(choice) for other in chosen)
        if len(chosen) < n and way not in known and not wider:
            known.add(way)
            chosen.append(choice)
    return chosen


def _directions(trials: Trials, choice: Choice) -> frozenset[tuple[int, float]]:
    """Return which columns increase (also from missing), decrease, or change to a label."""
    ways = set()
    for at, value in trials.change(choice).items():
        one = trials.moves[at]
        ways.add((at, float(not value < one.start) if one.schema.type.ordered else value))
    return frozenset(ways)


def _verify_change(
    trials: Trials, goal: ChangeGoal, change: Mapping[int, float]
) -> Counterfactual | None:
    """Predict the row from the printed values; return None if it misses the goal."""
    model, row = trials.model, trials.row
    values: dict[str, list[Any]] = {column.name: [None] for column in model.schema.given}
    values |= {
        column.schema.name: [to_table_value(column.schema, column.values[0])]
        for column in row.columns
        if column.schema.part is None
    }
    changes = []
    for at in sorted(change):
        one = trials.moves[at]
        name, after = one.schema.name, to_table_value(one.schema, change[at])
        size = one.cost(change[at]) if one.schema.type.ordered else 1.0
        changes.append(Change(name, values[name][0], after, size))
        values[name] = [after]
    table = read_like(values, model.schema, _needed(model))
    reached, _ = goal.tell(model.scores(table))
    return Counterfactual(tuple(changes), *_answer_row(model, table)) if reached[0] else None


def _answer_row(model: RuleModel, table: Table) -> tuple[Any, float | None]:
    """Return the prediction for a row, and its probability."""
    scores = model.scores(table)
    if not isinstance(model, ClassModel):
        return float(scores[0]), None
    k = int(model.decide(scores)[0])
    return model.classes[k], float(model.probabilities(scores)[0, k])


def _reason(
    trials: Trials, found: ChangeSearchResult, goal: str, most: int, *, smooth: bool
) -> str:
    checked = f"{trials.nodes:,}"
    if not trials.model.columns:
        return "the model has no conditions, so no change has an effect"
    if not trials.moves:
        return "the rules use none of the columns that may change"
    if found.complete < most or smooth:
        return f"no solution found in {checked} checked changes; raise max_nodes to search further"
    if most < len(trials.moves):
        columns = write_count(most, "column")
        return f"no allowed change of at most {columns} gives {goal} (all {checked} were checked)"
    return f"no allowed change gives {goal} (all {checked} were checked)"


def _write_value(value: Any) -> str:
    if value is None:
        return "missing"
    return (
        repr(value).removesuffix(".0") if isinstance(value, float) else escape_line(label_of(value))
    )


def _cell(value: Any) -> str | None:
    return None if value is None else _write_value(value)


def answer_text(answer: Any, probability: float | None) -> str:
    """Format a class with its probability, or a number."""
    if probability is None:
        return write_number(float(answer), digits=6)
    return f"{escape_line(label_of(answer))} ({probability:.2f})"
