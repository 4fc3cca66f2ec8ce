"""A policy on a model as one claim about boxes of cells.

The variables are the columns. A policy about pairs of rows has pairs of cells as the values of the
columns that change; all other columns have the same cell in both rows. A chain of pairs of
neighbouring cells connects any two rows, so neighbours suffice where differences need not be
small but absent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rulewright.data import Column, Table, label_of
from rulewright.governance.policies import (
    AsGoodAs,
    Bounds,
    Equal,
    Monotone,
    Never,
    PointsLimit,
    Policy,
    point_size,
)
from rulewright.governance.proofs.cells import Cells, make_cells
from rulewright.model import AdditiveRules, ClassModel, DecisionList, RegressionRules, RuleModel
from rulewright.rules import Conjunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.rules import Condition

SLACK = 1e-9
"""Values that differ by less are equal: sums of floats are rounded."""
_MOST_PAIRS = 40_000


@dataclass(frozen=True, eq=False)
class Value:
    """The value of a row that a policy is about, as a function of differences of scores.

    It falls when a difference (score of another class minus score of the class) rises.
    """

    model: Any
    how: str  # "number", "probability" or "decision"
    place: int
    sums: FloatArray  # of shape (differences, scores)

    @classmethod
    def of(cls, model: RuleModel, policy: Policy) -> Value:
        """Return the value that a policy is about."""
        n = model.n_classes or 1
        ones = np.eye(n)
        if not isinstance(model, ClassModel):
            return cls(model, "number", 0, -ones)
        place = model.class_names.index(label_of(policy.target_class))
        sums = np.delete(ones, place, axis=0) - ones[place]
        if isinstance(policy, PointsLimit):
            return cls(model, "number", place, sums if n == 2 else -ones[[place]])
        return cls(model, getattr(policy, "outcome", "probability"), place, sums)

    @property
    def slope(self) -> float:
        """How much the value changes at most for a change of 1 of all differences."""
        if self.how == "number":
            return 1.0
        plain = self.how == "probability" and getattr(self.model, "steps", None) is None
        return 0.25 if plain else np.inf

    def at(self, differences: FloatArray) -> FloatArray:
        """Return the value at differences, as an array of shape (rows, differences)."""
        if self.how == "number":
            return -differences[:, 0]
        return self.of_scores(np.insert(differences, self.place, 0.0, axis=1))

    def of_scores(self, scores: FloatArray) -> FloatArray:
        """Return the value of rows with the scores of all classes, or with numbers."""
        if self.how == "number":
            return np.asarray(-(scores.reshape(len(scores), -1) @ self.sums.T)[:, 0])
        if self.how == "decision":
            return np.asarray(self.model.decide(scores) == self.place, dtype=np.float64)
        return np.asarray(self.model.probabilities(scores)[:, self.place])


class Space:
    """The rows, or pairs of rows, that a policy is about: a box of cells.

    ``rows`` maps a row ("a" and, of a pair, "b") to the cell of each value of each variable.
    """

    def __init__(self, model: RuleModel, policy: Policy) -> None:
        self.model, self.policy = model, policy
        self.region = policy.region()
        used = {*model.program.columns, *self.region.columns, *policy.named_columns}
        used = used or {model.schema.names[0]}
        self.names = tuple(name for name in model.schema.names if name in used)
        conditions: dict[str, dict[Condition, None]] = {name: {} for name in self.names}
        bodies = [rule.body for rule in model.rules]
        for body in (*bodies, self.region):
            for condition in body.conditions:
                conditions[condition.column][condition] = None
        self.cells = {name: self._cells(name, [*conditions[name]]) for name in self.names}
        pairs = [self._values(name) for name in self.names]
        for name, (first, _) in zip(self.names, pairs, strict=True):
            if not len(first):
                raise ValueError(f"policy {policy.title!r}: no value of {name!r} is in its rows")
        self.rows = {"a": [first for first, _ in pairs]}
        if policy.pairs:
            self.rows["b"] = [second for _, second in pairs]
        self.changed = frozenset(policy.named_columns if policy.pairs else ())
        self.starts = np.cumsum([0, *(len(first) for first, _ in pairs)])

    @property
    def region_rows(self) -> str:
        """The rows that lie in the region of the policy."""
        return "b" if isinstance(self.policy, AsGoodAs) else "".join(self.rows)

    @property
    def filters(self) -> bool:
        """Whether the region is more than a condition for each column."""
        return not isinstance(self.region, Conjunction)

    def _cells(self, name: str, conditions: list[Condition]) -> Cells:
        policy, schema = self.policy, self.model.schema[name]
        if schema.part is not None:
            raise ValueError(f"prove does not support parts of dates, such as {name!r}")
        apart = (
            [self._fixed(name)] if isinstance(policy, AsGoodAs) and name in policy.values else ()
        )
        return make_cells(schema, conditions, apart, missing=policy.missing, unseen=policy.unseen)

    def _fixed(self, name: str) -> Any:
        """Return the stored value that a row is compared at."""
        assert isinstance(self.policy, AsGoodAs)
        value, schema = self.policy.values[name], self.model.schema[name]
        if schema.type.ordered:
            return schema.type.number(value)
        return schema.label_index[label_of(value)]

    def _values(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the cells of a column in the first and in the second row."""
        policy, cells = self.policy, self.cells[name]
        allowed = np.ones(len(cells), dtype=np.bool_)
        own = [c for c in self.region.conditions if c.column == name]
        if not self.filters:
            for condition in own:
                allowed &= cells.truths(condition)[0]
        if not policy.pairs or name not in policy.named_columns:
            return (np.flatnonzero(allowed),) * 2
        if isinstance(policy, AsGoodAs):
            second = np.flatnonzero(allowed)
            return np.full(len(second), cells.place(self._fixed(name))), second
        if isinstance(policy, Monotone):
            allowed &= ~cells.is_missing
        chain = not (own and self.filters) and not getattr(policy, "tolerance", 0.0)
        return self._related(np.flatnonzero(allowed), chain)

    def _related(
        self, places: NDArray[np.intp], chain: bool
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return pairs of cells: equal ones, and neighbours or all, in the order of the policy."""
        i, j = np.indices((len(places), len(places))).reshape(2, -1)
        near = np.abs(i - j) <= 1 if chain else np.ones(len(i), dtype=np.bool_)
        if isinstance(self.policy, Monotone):
            near &= i <= j if self.policy.direction == "increasing" else j <= i
        if near.sum() > _MOST_PAIRS:
            raise ValueError(
                f"policy {self.policy.title!r}: {near.sum():,} pairs of values to compare, more "
                f"than {_MOST_PAIRS:,}; leave the tolerance out, or narrow the rows by where"
            )
        return places[i[near]], places[j[near]]

    def stored(self, places: NDArray[np.intp], row: str, ends: NDArray[np.intp]) -> dict[str, Any]:
        """Return stored values of rows, given the place of each variable among its values.

        `ends` says for each row and variable which value of an ordered cell to take: -1 for the
        first, 1 for the last, 0 for one with few digits.
        """
        found = {}
        for v, name in enumerate(self.names):
            cells, at = self.cells[name], self.rows[row][v][places[:, v]]
            values = cells.values[at]
            if cells.schema.type.ordered:
                values = np.where(ends[:, v] < 0, cells.low[at], values)
                values = np.where(ends[:, v] > 0, cells.high[at], values)
                if name in self.changed and isinstance(self.policy, AsGoodAs) and row == "a":
                    values = np.full(len(places), self._fixed(name))
            found[name] = values
        return found

    def table(self, stored: dict[str, Any]) -> Table:
        """Return rows of stored values as a table."""
        columns = tuple(Column(self.model.schema[name], stored[name]) for name in self.names)
        n_rows = len(columns[0]) if columns else 1
        return Table(columns, self.model.schema.named, n_rows, choices=self.model.schema.choices)

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """The bounds of the value of a policy about single rows."""
        policy = self.policy
        if isinstance(policy, Never):
            return -np.inf, 0.0
        if isinstance(policy, PointsLimit):
            limit = policy.at_most * point_size(self.model)
            return -limit, limit
        assert isinstance(policy, Bounds)
        low, high = policy.low, policy.high
        return -np.inf if low is None else low, np.inf if high is None else high

    @property
    def tolerance(self) -> float:
        """How much the value of the first row of a pair may exceed the value of the second."""
        return self.policy.tolerance if isinstance(self.policy, Equal) else 0.0

    def excess(self, low: FloatArray, high: FloatArray) -> FloatArray:
        """Return how far a policy may be broken: bounds of single rows, or of a pair.

        Of a pair, `high` is the upper bound of the first row and `low` the lower of the second.
        """
        if self.policy.pairs:
            return high - low - self.tolerance
        return np.maximum(high - self.bounds[1], self.bounds[0] - low)


def model_of_policy(model: RuleModel, policy: Policy) -> RuleModel:
    """Check that a policy fits a model, and return the part of the model that it is about."""
    model = getattr(model, "model_", model)
    if not isinstance(model, AdditiveRules | RegressionRules | DecisionList):
        raise ValueError(
            "prove supports additive rules, regression rules and decision lists, not "
            f"{type(model).__name__}"
        )
    policy.check(model)
    odd = isinstance(model, AdditiveRules) and model.n_classes > 2
    odd = odd and (getattr(model, "decision", None), getattr(model, "steps", None)) != (None,) * 2
    if odd and not isinstance(policy, PointsLimit):
        raise ValueError(
            "prove supports costs, balanced decisions and calibration by steps with two classes "
            "only; use with_decision, or another calibration"
        )
    if not isinstance(policy, PointsLimit):
        return model
    if isinstance(model, DecisionList):
        raise ValueError("a points limit needs a model that adds points, not a decision list")
    group = set(policy.columns)
    rules = tuple(rule for rule in model.rules if group & set(rule.body.columns))
    linear = tuple(line for line in model.linear if line.column in group)
    if isinstance(model, AdditiveRules):
        zeros = (0.0,) * len(model.classes)
        return replace(
            model, rules=rules, linear=linear, intercepts=zeros, steps=None, decision=None
        )
    return replace(model, rules=rules, linear=linear, intercept=0.0)


def lines_of(model: Any) -> Sequence[Any]:
    """Return the lines of a model, if its form has lines."""
    return getattr(model, "linear", ())


def masks_of(space: Space, condition: Condition, row: str) -> tuple[int, BoolArray, BoolArray]:
    """Return the variable of a condition, and where a row makes it true and false."""
    v = space.names.index(condition.column)
    true, false = space.cells[condition.column].truths(condition)
    at = space.rows[row][v]
    return v, true[at], false[at]
