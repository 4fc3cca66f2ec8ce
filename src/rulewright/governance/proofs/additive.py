"""Policies on models that add points: bounds of differences of scores."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rulewright.governance.policies import Monotone
from rulewright.governance.proofs.bodies import Answers, Body, tests_of
from rulewright.governance.proofs.looks import Claim, Look
from rulewright.governance.proofs.spaces import SLACK, lines_of
from rulewright.governance.proofs.sums import Sums
from rulewright.model import AdditiveRules
from rulewright.rules import Adds

if TYPE_CHECKING:
    from rulewright.kernels import BoolArray, FloatArray
    from rulewright.model import LinearTerm
    from rulewright.rules import Rule


class AdditiveClaim(Claim):
    """A policy on a model that adds points: bounds of differences of scores."""

    def _prepare(self) -> None:
        self.bodies: list[Body] = []
        self.terms: list[FloatArray] = []
        for rule in self.space.model.rules:
            self._add_rule(rule, negated=False)
            assert isinstance(rule.outcome, Adds)
            if rule.outcome.otherwise:
                self._add_rule(rule, negated=True)

    def _add_rule(self, rule: Rule, *, negated: bool) -> None:
        """Add the terms of a rule: for each row, and for what differs between the rows."""
        assert isinstance(rule.outcome, Adds)
        amount = rule.outcome.otherwise if negated else rule.outcome.value
        head = np.zeros(self.value.sums.shape[1])
        head[rule.head.classes] = amount
        adds, none = self.value.sums @ head, np.zeros(len(self.value.sums))
        first = self.tests.body(rule.body, "a", negated=negated)
        if not self.space.policy.pairs:
            self._add(first, -adds, adds)
            return
        touched = self.space.changed & set(rule.body.columns)
        if not touched:
            self._add(first, -adds, adds, none)
            return
        second = self.tests.body(rule.body, "b", negated=negated)
        self._add(first, -adds, none, none)
        self._add(second, none, adds, none)
        plain = type(first) is tuple and type(second) is tuple
        places = [i for i, q in enumerate(first) if plain and q != second[i]]
        if plain and not places:
            return
        if plain and len(places) == 1:
            (i,) = places
            for one, other, sign in ((second, first, 1), (first, second, -1)):
                moved = self.tests.only(cast("int", one[i]), cast("int", other[i]))
                self._add((*first[:i], moved, *first[i + 1 :]), none, none, sign * adds)
            return
        self._add(second, none, none, adds)
        self._add(first, none, none, -adds)

    def _add(self, body: Body, *amounts: FloatArray) -> None:
        self.bodies.append(body)
        self.terms.append(np.concatenate(amounts))

    @cached_property
    def sums(self) -> Sums:
        """The sums: of single rows upper bounds of the value and of its opposite."""
        model: Any = self.space.model
        n = len(self.value.sums)
        blocks = 3 if self.space.policy.pairs else 2
        amounts = np.array(self.terms).reshape(-1, blocks * n).T
        given = model.intercepts if isinstance(model, AdditiveRules) else [model.intercept]
        start = self.value.sums @ np.array(given)
        starts = np.concatenate([-start, start, np.zeros(n)][:blocks])
        return Sums(self.grid, self.bodies, amounts, starts, self._lines)

    @cached_property
    def needed(self) -> list[int]:
        """The sums that matter: a policy with one bound needs one side."""
        n, all_ = len(self.value.sums), range(len(self.sums.amounts))
        if self.space.policy.pairs:
            return [*all_]
        low, high = self.space.bounds
        return [g for g in all_ if (high < np.inf if g < n else low > -np.inf)]

    @property
    def size(self) -> float:
        """The largest size of a sum of points, at least 1."""
        sums = self.sums
        lines = np.add.reduceat(np.abs(sums.lines), self.grid.starts[:-1], axis=1).sum(axis=1)
        return float(
            max(
                1.0,
                (np.abs(sums.starts) + np.abs(sums.amounts).sum(axis=1) + lines).max(initial=0.0),
            )
        )

    @cached_property
    def _slopes(self) -> dict[str, FloatArray]:
        """The slopes of each sum for the value of each variable, by row."""
        n, space = len(self.value.sums), self.space
        slopes = {
            row: np.zeros(((3 if space.policy.pairs else 2) * n, len(space.names)))
            for row in space.rows
        }
        for line in lines_of(space.model):
            v, k = space.names.index(line.column), self.value.sums @ np.array(line.slopes)
            slopes["a"][:n, v] -= k
            if not space.policy.pairs:
                slopes["a"][n:, v] += k
                continue
            slopes["b"][n : 2 * n, v] += k
            if line.column in space.changed:
                slopes["b"][2 * n :, v] += k
                slopes["a"][2 * n :, v] -= k
        return slopes

    @cached_property
    def _lines(self) -> FloatArray:
        """What lines add at most to each sum at each value, as an array (sums, values)."""
        space, n = self.space, len(self.value.sums)
        worth = np.zeros((len(self._slopes["a"]), int(self.grid.starts[-1])))
        for line in lines_of(space.model):
            v = space.names.index(line.column)
            added = np.zeros((len(worth), len(space.rows["a"][v])))
            for row, slopes in self._slopes.items():
                low, high = self._ends(line, row)
                added += np.maximum(slopes[:, [v]] * low, slopes[:, [v]] * high)
            if isinstance(space.policy, Monotone) and line.column == space.policy.column:
                # Within a cell the second row of a pair is never on the wrong side of the first.
                k = self._slopes["b"][2 * n :, [v]]
                k = k if space.policy.direction == "increasing" else -k
                low, high = self._ends(line, "a")
                same = space.rows["a"][v] == space.rows["b"][v]
                added[2 * n :] = np.where(same, np.maximum(k, 0) * (high - low), added[2 * n :])
            worth[:, self.grid.cells(v)] += added
        return worth

    def _ends(self, line: LinearTerm, row: str) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest that a line multiplies, for each value."""
        v = self.space.names.index(line.column)
        cells, at = self.space.cells[line.column], self.space.rows[row][v]
        low, high = (
            np.where(np.isnan(x), 0.0, np.clip(x, line.low, line.high) - line.center)[at]
            for x in (cells.low, cells.high)
        )
        return low, high

    def improve(self, box: BoolArray, seconds: float) -> None:
        """Find the best shares of all sums for a box."""
        answers = self.grid.answers(box[np.newaxis])
        for g in self.needed:
            self.sums.improve(g, box, answers, seconds / len(self.needed))
            self._improved.add(g)

    @cached_property
    def _improved(self) -> set[int]:
        return set()

    def shares(self) -> dict[str, Any]:
        """Return the shares that differ from uniform ones, by sum and term."""
        found: dict[str, Any] = {}
        ends = np.searchsorted(self.sums.term, np.arange(len(self.bodies) + 1))
        for g in sorted(self._improved):
            own = {}
            for t in range(len(self.bodies)):
                some = self.sums.shares[g, ends[t] : ends[t + 1]].tolist()
                if len(some) > 1 and self.sums.amounts[g, t]:
                    own[str(t)] = some
            found[str(g)] = own
        return found

    def _look(self, boxes: BoolArray, answers: Answers) -> Look:
        space, n = self.space, len(self.value.sums)
        truths = self.sums.truths(answers)
        upper = np.full((len(self.sums.amounts), len(boxes)), np.inf)
        candidates = []
        for g in self.needed:
            upper[g], places = self.sums.bound(g, boxes, answers, truths)
            candidates.append((places, self._end_signs(g, len(boxes))))
            if lines_of(space.model):  # where lines differ most may be in the same rows
                ends = {row: np.full(places.shape, g % 2 * 2 - 1) for row in space.rows}
                candidates.append((places, ends))
        shift = 2 * SLACK if self.value.how == "decision" else 0.0
        high = self._at(-upper[:n].T - shift)
        low = self._at(upper[n : 2 * n].T + shift)
        excess = space.excess(low, high)
        open_ = truths[0] & ~truths[1]
        if space.policy.pairs:
            moved = upper[2 * n :].max(axis=0, initial=0.0)
            with np.errstate(invalid="ignore"):
                rise = np.where(moved > 0, self.value.slope * moved, 0.0)
            excess = np.minimum(excess, rise - space.tolerance)
        weights = np.abs(self.sums.amounts[self.needed]).sum(axis=0)
        urgency = (open_ * weights) @ self._members
        decided = ~(open_ & (weights > 0)).any(axis=1) & (not lines_of(space.model))
        if not candidates:
            candidates = [
                (np.zeros((len(boxes), len(space.names)), np.intp), self._plain_ends(len(boxes)))
            ]
        return Look(excess, decided, urgency, candidates)

    def _at(self, differences: FloatArray) -> FloatArray:
        """Return the value at bounds of differences, which may be infinite where not needed."""
        return self.value.at(np.clip(differences, -1e300, 1e300))

    @cached_property
    def _members(self) -> FloatArray:
        """Which tests each term has."""
        found = np.zeros((len(self.bodies), len(self.tests.list)), dtype=np.float64)
        for t, body in enumerate(self.bodies):
            found[t, tests_of(body)] = 1.0
        return found

    def _end_signs(self, g: int, n: int) -> dict[str, Any]:
        """Return the ends of cells at which a sum is largest, by row."""
        signs = {row: np.sign(slopes[g]) for row, slopes in self._slopes.items()}
        both = np.sign(sum(slopes[g] for slopes in self._slopes.values()))
        for v, name in enumerate(self.space.names):
            if name not in self.space.changed:
                for one in signs.values():
                    one[v] = both[v]
        return {row: np.tile(one.astype(np.intp), (n, 1)) for row, one in signs.items()}
