"""Members of compact models: pruned rules and lines, all fitted together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from rulewright import kernels
from rulewright.encoding import PackedCovers
from rulewright.kernels import Op
from rulewright.search import SCALE, FoundRule, linear_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.estimators.compact.losses import CompactLoss
    from rulewright.kernels import BoolArray, CodeColumns, FloatArray, IntArray, Limits, RowArray
    from rulewright.model import LinearTerm
    from rulewright.rules import Conjunction, Head


Places = tuple[int, ...]
"""Some of the conditions of a rule, in the order of growth."""


@dataclass(frozen=True, eq=False)
class Member:
    """A rule of the model: conditions, head and the rows it covers."""

    found: FoundRule
    head: Head
    cover: PackedCovers

    @property
    def body(self) -> Conjunction:
        """The conditions on values."""
        return self.found.body

    @property
    def n_conditions(self) -> int:
        """Number of conditions."""
        return len(self.found.tests)

    @cached_property
    def n_covered(self) -> int:
        """Number of rows it covers."""
        return int(self.cover.count()[0])

    def on(self, table: Table) -> Self:
        """Return the same rule with the rows of a table that it covers."""
        return replace(self, cover=PackedCovers.pack(self.body.holds(table)[np.newaxis]))


@dataclass(frozen=True, eq=False)
class LineMember:
    """A line of the model: raises or lowers the score of a head as a column rises.

    Attributes
    ----------
    term : LinearTerm
        The line of slope 1.
    sign : int
        1 for a line that rises, -1 for one that falls.
    values : float64 array
        Values that the response multiplies, with the deviation `SCALE`, like rules.
    """

    term: LinearTerm
    head: Head
    sign: int
    values: FloatArray

    n_conditions = 1

    @property
    def cover(self) -> PackedCovers:
        """All rows."""
        return PackedCovers.all_rows(1, len(self.values))

    @property
    def slope(self) -> float:
        """Slope per unit of the column at a response of 1."""
        return self.sign * SCALE / self.term.deviation

    def on(self, table: Table) -> Self:
        """Return the same line with its values in a table."""
        return replace(self, values=self.sign * linear_columns((self.term,), table)[:, 0])


def contradicts(found: FoundRule, head: Head, other: Member) -> bool:
    """Return whether two rules cut off the same end of one column, for different heads.

    A single interval says the same, and nothing has to be subtracted.
    """
    if not (len(found.grown) == other.n_conditions == 1) or head == other.head:
        return False
    (mine,), (theirs,) = found.grown, other.found.grown
    is_cut = mine.op in (Op.LESS_EQUAL, Op.GREATER_EQUAL)
    return is_cut and (mine.column, mine.op) == (theirs.column, theirs.op)


def cut_interval(found: FoundRule, other: FoundRule) -> FoundRule | None:
    """Return the rows of one of two such rules that the other does not cover, if there are any."""
    (mine,), (theirs,) = found.grown, other.grown
    is_less = mine.op == Op.LESS_EQUAL
    if theirs.code >= mine.code if is_less else theirs.code <= mine.code:
        return None
    op = Op.GREATER_EQUAL if is_less else Op.LESS_EQUAL
    rest = theirs._replace(op=int(op), code=theirs.beyond, beyond=theirs.code)
    test = found.binned.test(rest, found.threshold)
    return replace(found, grown=(*found.grown, rest), tests=(*found.tests, test))


class Candidate(NamedTuple):
    """A rule or line that may join the model, with values that the search reuses.

    `rows` are the training rows that it covers, `values` the values of a line there, and `hits` the
    constant part of the derivative along it (see `CompactLoss.hits`).
    """

    member: Member | LineMember
    rows: RowArray
    values: FloatArray | None
    hits: float

    @property
    def head(self) -> Head:
        """The head that it adds to."""
        return self.member.head


class RuleOnRows(NamedTuple):
    """Tests of a rule, its head, and the rows to learn from: all but some that are left out."""

    tests: IntArray
    head: Head
    codes: CodeColumns
    left_out: BoolArray

    def find_covered(self, places: Sequence[int]) -> RowArray:
        """Find the rows to learn from that pass some of the tests."""
        rows = kernels.cover_rows(self.codes, self.tests[list(places)])
        covered: RowArray = rows[~self.left_out[rows]]
        return covered


class ResponseProblem(NamedTuple):
    """Rules and lines to fit: covers and heads of all, and the values of the lines by place."""

    covers: PackedCovers
    heads: list[Head]
    lines: dict[int, FloatArray]

    @classmethod
    def of(cls, members: Sequence[Member | LineMember], n_rows: int) -> Self:
        """Put the columns of all members together."""
        none = PackedCovers.all_rows(0, n_rows)
        lines = {k: one.values for k, one in enumerate(members) if isinstance(one, LineMember)}
        covers = none.stack(*(member.cover for member in members))
        return cls(covers, [member.head for member in members], lines)

    @property
    def columns(self) -> FloatArray:
        """The values that the response of each rule or line multiplies in each row."""
        columns = self.covers.unpack().astype(np.float64)
        for place, values in self.lines.items():
            columns[place] = values
        return columns

    def group_rows(self, weights: FloatArray, shares: FloatArray) -> GroupedProblem:
        """Put rows together that the same rules cover: they have the same probabilities.

        A fit to few groups costs less than one to all rows, and is the same. A line has a value
        of its own in each row.
        """
        n_rows = self.covers.n_rows
        if self.lines:
            return GroupedProblem(self, np.arange(n_rows, dtype=np.int32), weights, shares)
        # Sums of weighted shares: a weight of two adds what a row twice does.
        groups, words, total, sums = self.covers.group_rows(weights, shares)
        means = np.divide(sums, total[:, np.newaxis], out=sums, where=total[:, np.newaxis] > 0)
        problem = self._replace(covers=PackedCovers(words, len(total)))
        return GroupedProblem(problem, groups, total, np.clip(means, 0, 1))


class GroupedProblem(NamedTuple):
    """A problem of groups of rows: the group of each row, and weights and shares of the groups."""

    problem: ResponseProblem
    groups: IntArray
    weights: FloatArray
    shares: FloatArray


def n_lines(members: Sequence[Member | LineMember]) -> int:
    """Count the lines."""
    return sum(isinstance(member, LineMember) for member in members)


def fitted_lines(
    members: Sequence[Member | LineMember], responses: FloatArray, n_slopes: int, unit: float = 1.0
) -> tuple[LinearTerm, ...]:
    """Return the lines that add something, merged by column."""
    found: dict[str, tuple[LinearTerm, FloatArray]] = {}
    for member, response in zip(members, responses.tolist(), strict=True):
        if isinstance(member, LineMember) and response != 0:
            _, slopes = found.setdefault(member.term.column, (member.term, np.zeros(n_slopes)))
            slopes[member.head.classes if n_slopes > 1 else slice(None)] += (
                unit * response * member.slope
            )
    return tuple(replace(term, slopes=tuple(own.tolist())) for term, own in found.values())


class RuleCutter:
    """Prunes a rule to the conditions that improve the score.

    Parameters
    ----------
    found : FoundRule
        The rule.
    rule : RuleOnRows
        Its tests and head, and the rows to learn from.
    loss : CompactLoss
        Computes the gain of rules.
    limits : Limits
        What rules may look like.
    charge : float
        What a condition costs.
    """

    def __init__(
        self, found: FoundRule, rule: RuleOnRows, loss: CompactLoss, limits: Limits, charge: float
    ) -> None:
        self.found, self.rule, self.loss, self.limits = found, rule, loss, limits
        self.charge, self.prefix_gains = charge, loss.prefix_gains(rule).tolist()

    def whole(self) -> tuple[FoundRule, float]:
        """Return the unchanged rule and its gain minus its charge."""
        return self.found, self._charge(self.prefix_gains[-1], len(self.prefix_gains))

    def cut_back(self) -> tuple[FoundRule, float]:
        """Take out conditions that do not gain their charge, the least useful first.

        The rule starts as the best of its prefixes; of equals the first wins.
        """
        ends = [tuple(range(n)) for n in range(1, len(self.prefix_gains) + 1)]
        gains = {
            p: self._charge(self.prefix_gains[len(p) - 1], len(p)) for p in self._find_allowed(ends)
        }
        best = max(gains, key=gains.__getitem__)
        gain, part_gains = gains[best], self._part_gains(len(best))
        while shorter := self._shorter(best):
            gains = {p: self._part_gain(p, part_gains) for p in shorter}
            found = max(gains, key=gains.__getitem__)
            if gains[found] < gain:
                break
            best, gain = found, gains[found]
        return self.found.only(list(best)), gain

    def _part_gains(self, n_tests: int) -> list[float] | None:
        found = self.loss.part_gains(self.rule._replace(tests=self.rule.tests[:n_tests]))
        return None if found is None else found.tolist()

    def _part_gain(self, places: Places, part_gains: list[float] | None) -> float:
        if part_gains is None:
            gain = self.loss.gain(self.rule.find_covered(places), self.rule.head)
        else:
            gain = part_gains[sum(1 << place for place in places)]
        return self._charge(gain, len(places))

    def _charge(self, gain: float, n_conditions: int) -> float:
        return gain - self.charge * n_conditions if gain > 0 else -math.inf

    def _shorter(self, places: Places) -> list[Places]:
        """Return what lacks one of the conditions, but none that is required."""
        if len(places) == 1:
            return []
        return self._find_allowed([places[:i] + places[i + 1 :] for i in range(len(places))])

    def _find_allowed(self, parts: list[Places]) -> list[Places]:
        grown = self.found.grown
        return [part for part in parts if self.limits.allows(tuple(grown[i] for i in part))]
