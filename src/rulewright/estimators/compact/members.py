"""What a compact model is made of: rules and lines, as columns that are fitted together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from rulewright import kernels
from rulewright.encoding import PackedCovers
from rulewright.search import SCALE, FoundRule, linear_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.data import Table
    from rulewright.kernels import BoolArray, CodeColumns, FloatArray, IntArray, RowArray
    from rulewright.model import LinearTerm
    from rulewright.rules import Conjunction, Head


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
    """A line of the model: what a column adds to a head as it rises, or takes away.

    Attributes
    ----------
    term : LinearTerm
        The line of slope 1.
    sign : int
        1 for a line that rises, -1 for one that falls.
    values : float64 array
        What the response multiplies in each row: of the deviation `SCALE`, like rules.
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
        """What a response of 1 adds per unit of the column."""
        return self.sign * SCALE / self.term.deviation

    def on(self, table: Table) -> Self:
        """Return the same line with its values in a table."""
        return replace(self, values=self.sign * linear_columns((self.term,), table)[:, 0])


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
    """Return the lines that add something; those of one column are one term."""
    found: dict[str, tuple[LinearTerm, FloatArray]] = {}
    for member, response in zip(members, responses.tolist(), strict=True):
        if isinstance(member, LineMember) and response != 0:
            _, slopes = found.setdefault(member.term.column, (member.term, np.zeros(n_slopes)))
            slopes[member.head.classes if n_slopes > 1 else slice(None)] += (
                unit * response * member.slope
            )
    return tuple(replace(term, slopes=tuple(own.tolist())) for term, own in found.values())
