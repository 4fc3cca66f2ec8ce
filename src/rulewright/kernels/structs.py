"""The plain records passed between Python and native code."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from enum import IntEnum
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from rulewright.kernels import _core

GROUP = 8
"""Binned columns are stored in groups of this many (`native/base/types.hpp`)."""

MISSING = 65535
"""Code of a missing value at prediction."""

UNSEEN = 65534
"""Code of a label not seen in training."""

ROW = np.uint32
STAT = np.int64

IntArray = npt.NDArray[np.int32]
RowArray = npt.NDArray[np.uint32]
StatArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
ByteArray = npt.NDArray[np.uint8]
SignArray = npt.NDArray[np.int8]
CodeArray = npt.NDArray[np.uint16]
WordArray = npt.NDArray[np.uint64]


class Op(IntEnum):
    """Operators of a grown condition, in the order that breaks ties."""

    LESS_EQUAL = 0
    GREATER_EQUAL = 1
    EQUAL = 2
    NOT_EQUAL = 3
    MISSING = 4
    KNOWN = 5


class Struct:
    """A record that kernels receive as the bound struct with the same name and fields."""

    @cached_property
    def native(self) -> Any:
        """The bound struct, which checks the types of the fields."""
        return getattr(_core, type(self).__name__)(**self.__getstate__())

    def __getstate__(self) -> dict[str, Any]:
        # A bound struct cannot be pickled.
        return {name: value for name, value in vars(self).items() if name != "native"}


@dataclass(frozen=True)
class Score(Struct):
    """The score of a cover, and how it reads the lanes of the row statistics.

    "newton" and "gradient" read pairs (g, h): a negative g votes `up` for the side of the pair, a
    positive g votes `down` against it. "slipper", "foil", "wracc", "laplace" (over `k` classes) and
    "errors" (a missed row costs `k`) read the weights for and against a rule, "entropy" the weights
    of all classes, and vote up. `unit` is the value of one step of the statistics.
    """

    kind: str
    _: KW_ONLY
    unit: float
    n_lanes: int = 2
    first_lane: int = 0
    l2: float = 0.0
    k: float = 1.0
    up: bool = True
    down: bool = False


@dataclass(frozen=True, kw_only=True)
class Beam(Struct):
    """The width of a beam search, and its significance test.

    The statistic ``2 sum o ln(o / E)``, of the covered weights of the lanes against their
    expectation for as many rows, must be at least `significance`.
    """

    width: int = 5
    significance: float = 0.0


class Subsample(NamedTuple):
    """Rows in ascending order, and for every row whether it is in the subsample."""

    rows: RowArray
    drawn: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Limits(Struct):
    """Constraints on the form of a rule.

    `max_conditions` is -1 for no limit; `min_weight` is in fixed-point steps of the last lane, 0
    for no minimum. A condition may use a set of up to `max_labels` labels of a nominal column;
    `label_smoothing`, in steps, is added to the h of a label, and labels with a smaller h are in no
    set. Per column: `up_operators` (`down_operators`) has bit ``1 << Op`` set if a rule that
    votes up (down) may use the operator; a rule must use every `required` column; the columns of a
    rule must have a common bit of `groups`.
    """

    max_conditions: int
    tolerance: float
    min_weight: int
    up_operators: ByteArray
    down_operators: ByteArray
    required: ByteArray
    groups: WordArray
    max_labels: int = 1
    label_smoothing: int = 1

    def only(self, drawn: BoolArray) -> Limits:
        """Exclude the undrawn columns, except required ones."""
        left = drawn | (self.required > 0)
        return self._mask(left, left)

    def allows(self, conditions: tuple[GrownCondition, ...]) -> bool:
        """Return whether a rule with some conditions removed still satisfies the requirements."""
        used = {condition.column for condition in conditions}
        return used >= set(np.flatnonzero(self.required).tolist())

    def swap_sides(self) -> Limits:
        """Return the limits of rules that vote for the other side."""
        return replace(self, up_operators=self.down_operators, down_operators=self.up_operators)

    def after(self, condition: GrownCondition) -> Limits:
        """Return the limits for the conditions that follow this one."""
        j, bit = condition.column, 1 << condition.op
        left = self._mask(self.up_operators[j] & bit > 0, self.down_operators[j] & bit > 0)
        required = np.where(np.arange(len(self.required)) == j, 0, self.required).astype(np.uint8)
        return replace(left, required=required, groups=self.groups & self.groups[j])

    def _mask(self, up: BoolArray | np.bool_, down: BoolArray | np.bool_) -> Limits:
        return replace(
            self, up_operators=self.up_operators * up, down_operators=self.down_operators * down
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PointLimits(Struct):
    """Which integer points a card may have, and how long the search may take.

    The points of each item lie from `lowest` to `highest`; at most `max_items` are not 0, and their
    absolute values sum to at most `max_range` (-1: no limit). `unit` is the value of a point in
    log-odds; 0 fits it. Only cards of a lower loss than `cutoff` are found.
    """

    lowest: IntArray
    highest: IntArray
    max_items: int
    max_range: int = -1
    l2: float = 0.0
    unit: float = 0.0
    max_nodes: int = 100_000
    cutoff: float = float("inf")


class FittedScores(NamedTuple):
    """Real responses of covers, the intercept after them, and the loss with its penalty."""

    responses: FloatArray
    loss: float


class FoundPoints(NamedTuple):
    """Integer points of a card, and a lower bound of the loss of every card that is allowed.

    Without a card that is better than the cutoff all points are 0 and the loss is infinite.
    """

    points: IntArray
    unit: float
    intercept: float
    loss: float
    bound: float
    n_nodes: int


class GrownCondition(NamedTuple):
    """One condition on codes; `beyond` is the nearest covered code on the other side of a cut.

    For a set of labels, `op` is EQUAL (in) or NOT_EQUAL (not in), `labels` are their codes in
    ascending order and `code` is -1.
    """

    column: int
    op: int
    code: int
    beyond: int
    criterion: float
    labels: tuple[int, ...] = ()

    @property
    def key(self) -> tuple[int, ...]:
        """The identity of the condition: everything except the criterion."""
        return self[:4] + self.labels


class GrownRule(NamedTuple):
    """Conditions in the order of growth and the vote: 2 pair, plus 1 if down (-1: no rule)."""

    conditions: list[GrownCondition]
    vote: int

    @classmethod
    def of(cls, found: tuple[list[tuple[int, int, int, int, float, list[int]]], int]) -> GrownRule:
        """Name the fields of a kernel's result."""
        conditions, vote = found
        return cls([GrownCondition(*c[:5], tuple(c[5])) for c in conditions], vote)


class CompiledRules(NamedTuple):
    """Rules as intervals of value codes.

    `intervals` has rows (column, low, high), both ends included; a condition is the union of its
    intervals, a rule the intersection of its conditions.
    """

    intervals: IntArray
    condition_starts: IntArray
    rule_starts: IntArray


class DistanceColumns(NamedTuple):
    """Distances of the values of each column, for rules that win by distance.

    A number has its distance in `widths`: the range of its column, 0 for a constant one. A nominal
    column j has its codes 0, 1, ... in `groups` from ``group_starts[j]`` on; a numeric one has
    none. `tables` has the squared distances of all pairs of groups, column by column, from
    ``table_starts[j]`` on.
    """

    widths: FloatArray
    group_starts: IntArray
    groups: IntArray
    table_starts: IntArray
    tables: FloatArray


class Boxes(NamedTuple):
    """Rules as conditions (column, low, high), with both bounds; codes for nominal columns."""

    starts: IntArray
    columns: IntArray
    lows: FloatArray
    highs: FloatArray


class RiseState(NamedTuple):
    """State of RISE: winner of each row and its distance, coverage of rules, and the rules.

    `correct` is the covered weight of a rule's class. A rule has the place of the row it grew from.
    `lows` and `highs` are its bounds in each column; without a condition they are infinite, or -1
    for a nominal column.
    """

    winners: IntArray
    distances: FloatArray
    covered: StatArray
    correct: StatArray
    places: IntArray
    lows: FloatArray
    highs: FloatArray


class GraphArrays(NamedTuple):
    """Labelled graphs, concatenated: vertices are numbered consecutively over all graphs.

    Graph g has the vertices from ``starts[g]`` on; the edges of vertex v start at
    ``edge_starts[v]``, with their other end and their label. Every edge is stored from both ends.
    """

    starts: IntArray
    labels: IntArray
    edge_starts: IntArray
    ends: IntArray
    edge_labels: IntArray


class FoundSubgraphs(NamedTuple):
    """Concatenated pattern codes, from `starts` on, and their graphs as bits."""

    codes: IntArray
    starts: IntArray
    words: WordArray


@dataclass(frozen=True, kw_only=True)
class DnfSettings(Struct):
    """Settings of the search for a k-term DNF formula.

    A random term is generalised with probability `p_g1`, a random literal is removed with
    probability `p_g2`, and a random literal that rejects the row is added with probability `p_s`.
    `max_literals` is -1 for no limit. A misclassified row costs its weight times the unit of its
    class. A restart stops at a score of at most `target`. `check` recounts every score and is slow.
    """

    n_terms: int
    max_steps: int
    seed: int
    max_literals: int = -1
    p_g1: float = 0.2
    p_g2: float = 0.1
    p_s: float = 0.1
    seeded: bool = True
    focused: bool = False
    positive_unit: int = 1
    negative_unit: int = 1
    target: int = 0
    n_restarts: int = 1
    check: bool = False


class DnfState(NamedTuple):
    """State of a restart: steps, random numbers drawn, full terms met, score, formula."""

    n_steps: int
    n_drawn: int
    n_stuck: int
    score: int
    terms: list[list[int]]


class DnfBest(NamedTuple):
    """The best formula, its origin, and its improvements (step, score, literals)."""

    score: int
    n_literals: int
    restart: int
    terms: list[list[int]]
    trace: list[tuple[int, int, int]]
