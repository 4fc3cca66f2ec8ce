"""Nearest rules: the rule with the least distance to a row decides, whether it covers it or not.

A rule is a box: an interval in numeric columns, one label (or "is missing") in nominal ones, and
nothing in columns that do not matter to it. Its distance to a row is the sum over its conditions of
squared distances (``programs/distances.py``), 0 where it covers the row. Of equally near rules the
first one decides, so rules are kept in the order in which ties are broken. A rule says a
distribution over the classes, and its own class is the most probable.

The coverage of a rule counts what it won: the training rows to which it is the nearest rule, each
of them held out in turn.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rulewright.data import CLASS_WEIGHTS, Fields, Schema, Table, list_of, read_like
from rulewright.encoding import PackedCovers
from rulewright.model.class_model import ClassModel, checked_weights
from rulewright.model.explanation import Explanation, Reason, RowReasons, plain_reasons, value_text
from rulewright.model.forms.lists import distribution_of
from rulewright.model.text import escape_line
from rulewright.programs import (
    DISTANCE,
    ClassProgram,
    Constant,
    FirstThat,
    LabelDistance,
    Lookup,
    Nearest,
    NumberDistance,
    check_body,
    distance_from_json,
    recipes,
)
from rulewright.rules import Condition, Conjunction, Outcome, Range, Rule, Says

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.model.class_explanation import ClassExplanation
    from rulewright.programs import Distance, Node


@dataclass(frozen=True, eq=False, repr=False)
class NearestRules(ClassModel):
    """Rules of which the nearest one decides.

    Parameters
    ----------
    schema : Schema
        Columns of the training table.
    classes : array-like
        Class labels: all strings, all integers, all floats or all booleans.
    rules : tuple of Rule
        Conjunctions of closed intervals, single labels and "is missing" of nominal columns; the
        first rule wins a tie.
    distances : tuple of NumberDistance and LabelDistance
        The distances of every column that rules have conditions on.
    class_weights : tuple of float
        Training weight of each class: the prediction if there is no rule.
    summary : dict
        Notes of the learner, as JSON data.
    """

    form: ClassVar[str] = "nearest"
    outcome: ClassVar[type[Outcome]] = Says
    fields: ClassVar[Fields] = Fields(
        {"distances": list_of(DISTANCE), "class_weights": CLASS_WEIGHTS},
        about="The nearest rule decides.",
    )

    schema: Schema
    classes: NDArray[Any]
    rules: tuple[Rule, ...]
    distances: tuple[Distance, ...]
    class_weights: tuple[float, ...]
    summary: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        vars(self).update(distances=_checked_distances(self.distances, self.schema))
        self._check_common()
        vars(self).update(class_weights=checked_weights(self.class_weights, len(self.classes)))

    @cached_property
    def base_program(self) -> ClassProgram:
        """The distribution of the nearest rule, and its most probable class."""
        said: Node = FirstThat(Constant(self.shares), ())
        if self.rules:
            said = Lookup(self.nearest, tuple(distribution_of(rule) for rule in self.rules))
        chosen = recipes.prefer_first(said, tuple(range(len(self.classes))))
        return ClassProgram(self.schema, said, tuple(self.classes.tolist()), said, chosen)

    @cached_property
    def nearest(self) -> Nearest:
        """The node that finds the nearest rule."""
        return self._nearest_of(self.rules)

    @cached_property
    def shares(self) -> tuple[float, ...]:
        """The shares of the classes in the training rows, with one more row of each."""
        weights = np.array(self.class_weights) + 1.0
        shares: tuple[float, ...] = tuple((weights / weights.sum()).tolist())
        return shares

    def deciders(self, X: object, *, n_threads: int | None = None) -> NDArray[np.intp]:
        """Return the place of the rule that decides each row: the first of the nearest ones.

        Without rules it is 0, the number of rules.
        """
        rows = self._rows(X, n_threads)
        if not self.rules:
            return np.zeros(len(rows), dtype=np.intp)
        return rows.value(self.nearest)

    def decided_bits(self, X: object, *, n_threads: int | None = None) -> NDArray[np.uint64]:
        """Return which rows each rule decides: it is the nearest rule to them."""
        deciders = self.deciders(X, n_threads=n_threads)
        places = np.arange(len(self.rules))[:, np.newaxis]
        return PackedCovers.pack_lines((deciders == place for place in places), len(deciders)).words

    def decided_weights(
        self, X: object, y: Any, sample_weight: Any = None, *, n_threads: int | None = None
    ) -> NDArray[np.float64]:
        """Count the rows that each rule decides, by class, as an array of shape (rules, classes).

        Parameters
        ----------
        X : table
            Rows to count.
        y : array-like or str
            Their classes, or the name of the column that holds them.
        sample_weight : array-like or str, optional
            Their weights; 1 by default.

        Returns
        -------
        float array of shape (rules, classes)
            On the training rows these are the counts by resubstitution; the coverage of rules
            counts held-out rows.
        """
        table = read_like(X, self.schema, self.columns, target=y, weights=sample_weight)
        target = table.known_target
        known = {label: k for k, label in enumerate(self.classes.tolist())}
        if strange := [label for label in target.classes.tolist() if label not in known]:
            raise ValueError(f"y: the model has no class {strange[0]!r}")
        place = np.array([known[label] for label in target.classes.tolist()], dtype=np.intp)
        counts = np.zeros((len(self.rules), len(self.classes)))
        if self.rules:
            weights = np.ones(len(table)) if table.weights is None else table.weights
            deciders = self.deciders(table, n_threads=n_threads)
            np.add.at(counts, (deciders, place[target.codes]), weights)
        return counts

    @property
    def decides(self) -> bool:
        """True: the nearest rule decides."""
        return True

    def preamble(self) -> str:
        """Describe how rules decide, and what their counts are."""
        if self.rules:
            return (
                "The nearest rule decides, whether it covers the row or not.\n"
                "Counts are of training rows that it decides when each row is held out in turn."
            )
        k = int(np.argmax(self.shares))
        return f"always: {self.shown_names[k]} with probability {self.shares[k]:.3f}"

    def form_fields(self) -> dict[str, Any]:
        """Return the distances and the training weights."""
        return super().form_fields() | {"distances": [one.to_json() for one in self.distances]}

    @classmethod
    def read_fields(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Read the distances and the training weights."""
        fields = super().read_fields(content)
        return fields | {"distances": tuple(map(distance_from_json, fields["distances"]))}

    def _check_rules(self, rules: Sequence[Rule]) -> None:
        super()._check_rules(rules)
        distances = {distance.column: distance for distance in self.distances}
        for i, rule in enumerate(rules):
            try:
                check_body(rule.body, distances)
            except ValueError as error:
                raise ValueError(f"rule {i}: {error}") from None

    def _explain_form(self, scores: NDArray[np.float64], table: Table) -> dict[str, Any]:
        """Return the nearest rule of each row, and the nearest one of another class."""
        n = len(table)
        nearest, rivals = (np.full(n, -1), np.full(n, np.inf)), (np.full(n, -1), np.full(n, np.inf))
        heads = np.array([rule.head.first for rule in self.rules], dtype=np.intp)
        if len(heads):
            nearest = self.nearest.evaluate(table, 1)
        for k in np.unique(heads).tolist():
            others, rows = np.flatnonzero(heads != k), np.flatnonzero(heads[nearest[0]] == k)
            if len(others) and len(rows):
                node = self._nearest_of([self.rules[i] for i in others.tolist()])
                places, sums = node.evaluate(table.take(rows), 1)
                rivals[0][rows], rivals[1][rows] = others[places], sums
        return {"evidence": {"nearest": nearest, "rival": rivals}}

    def deciding_rules(self, found: Explanation, row: int) -> list[int]:
        """Return the rule that decides a row, if there is any rule."""
        return [int(found.evidence["nearest"][0][row])] if self.rules else []

    def explained_fields(self, found: Explanation, row: int) -> dict[str, Any]:
        """Return the nearest rule and the nearest rule of another class, with distances."""
        return {
            name: {"id": int(places[row]), "distance": float(sums[row])}
            for name, (places, sums) in found.evidence.items()
            if places[row] >= 0
        }

    def reasons_for(self, found: ClassExplanation, row: int, max_reasons: int | None) -> RowReasons:
        """Return the nearest rule and the nearest rule of another class: always both."""
        titles = {"nearest": "nearest", "rival": "nearest of another class"}
        reasons = plain_reasons(
            [
                f"{titles[name]} is {self._rule_at(found, row, **place)}"
                for name, place in self.explained_fields(found, row).items()
            ]
        )
        start = [] if reasons.reasons else [Reason("", "always: there is no rule")]
        return reasons._replace(start=start)

    def _rule_at(self, found: ClassExplanation, row: int, id: int, distance: float) -> str:
        """Write a rule, and what keeps it from covering a row."""
        rule, table = self.rules[id], found.table
        where = "covers the row"
        if not found.fired[row, id]:
            failed = [c for c in rule.body.conditions if not c.holds(table[c.column])[row]]
            gaps = ", ".join(_gap(c, table, row) for c in failed)
            where = f"distance {distance:.3g}: {gaps}"
        head = escape_line(rule.head.text(self.class_names))
        return f"rule {self.numbers[id]} for {head} ({where}): {rule.body}"

    def _nearest_of(self, rules: Sequence[Rule]) -> Nearest:
        bodies = [rule.body for rule in rules]
        assert all(isinstance(body, Conjunction) for body in bodies)
        return Nearest(self.schema, tuple(bodies), self.distances)  # type: ignore[arg-type]


def _checked_distances(distances: object, schema: object) -> tuple[Distance, ...]:
    """Return the distances in the order of the columns, or raise a ValueError."""
    if not isinstance(schema, Schema):
        raise ValueError(f"schema must be a Schema, not {type(schema).__name__}")
    if not isinstance(distances, tuple | list):
        raise ValueError("distances must be a tuple of NumberDistance and LabelDistance")
    seen: dict[str, Distance] = {}
    for distance in distances:
        if not isinstance(distance, NumberDistance | LabelDistance):
            raise ValueError(
                f"{type(distance).__name__} is neither a NumberDistance nor a LabelDistance"
            )
        if distance.column not in schema or not distance.fits(schema[distance.column]):
            raise ValueError(f"the distances of column {distance.column!r} do not fit the schema")
        if distance.column in seen:
            raise ValueError(f"column {distance.column!r} has two distances")
        seen[distance.column] = distance
    return tuple(seen[name] for name in schema.names if name in seen)


def _gap(condition: Condition, table: Table, row: int) -> str:
    """Write how a value differs from what a condition wants."""
    name, column = escape_line(condition.column), table[condition.column]
    if column.is_missing[row] or not isinstance(condition, Range):
        return value_text(table, condition.column, row)
    if not column.schema.type.arithmetic:
        return value_text(table, condition.column, row)
    value = float(column.values[row])
    if value < condition.low:
        return f"{name} is {condition.low - value:.4g} below"
    return f"{name} is {value - condition.high:.4g} above"
