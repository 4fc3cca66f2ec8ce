"""The search for compact rules: add a rule, refit all, and improve others.

The objective is the loss in nats plus a charge for each condition, a share of the logarithm of the
number of conditions that there are: what it takes to say which one. Growth proposes rules, on all
rows and on subsamples; they are pruned to the conditions that gain, and kept as candidates for
later rounds. The loss to second order around the current fit (`expansion.py`) decides which rule
to add, which rule to replace and which condition to drop; the best change is fitted and taken if
the objective falls (fully corrective boosting). Lines of numeric columns may be proposed too: each
counts as a rule of one condition.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rulewright.encoding import BinnedColumns, PackedCovers
from rulewright.estimators.compact.members import (
    Candidate,
    LineMember,
    Member,
    ResponseProblem,
    RuleCutter,
    RuleOnRows,
    contradicts,
    cut_interval,
)
from rulewright.kernels import ROW, BoolArray, FloatArray, IntArray, Limits, RowArray
from rulewright.search import FoundRule, RuleGrower

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulewright.estimators.compact.losses import CompactLoss, FittedResponses, Lines
    from rulewright.rules import Head

MANY_HEADS = 4
"""Of more heads than this rules are not grown for each."""

MOST_CANDIDATES = 16
"""Candidates that are kept from round to round."""

MOST_TRIED = 3
"""Changes that are fitted before a search gives up: the approximation may promise too much."""

MOST_MOVES = 4
"""Changes of the rules there are after each one that joins."""

LARGEST_OVERLAP = 0.8
"""Rules that share more of their rows are duplicates to a reader."""

LEAST_GAIN = 1e-6
"""Nats that a change must gain."""


class CompactSearch:
    """A search in progress: `grow` adds a rule and improves the others.

    Parameters
    ----------
    loss : CompactLoss
        The loss to minimise, with its rows.
    binned : BinnedColumns
        The columns.
    limits : Limits
        Limits of growth.
    train : bool array
        The training rows; other rows get answers too.
    charge : float
        Share of the logarithm of the number of possible conditions that each condition costs.
    min_gain : float
        Nats that a rule must gain to come in, and to stay.
    n_subsamples : int
        Random halves of the rows that propose rules, beside all rows.
    random : RandomState
        Source of the subsamples.
    lines : Lines, optional
        Lines to choose from beside rules.
    """

    def __init__(
        self,
        loss: CompactLoss,
        binned: BinnedColumns,
        limits: Limits,
        train: BoolArray,
        charge: float,
        min_gain: float,
        n_subsamples: int,
        random: np.random.RandomState,
        n_threads: int = 1,
        lines: Lines | None = None,
    ) -> None:
        self.min_gain, self.n_subsamples = min_gain, n_subsamples
        self.loss, self.binned, self.limits, self.random = loss, binned, limits, random
        self.train, self.rows = train, np.flatnonzero(train).astype(ROW)
        self.left_out = ~train
        self.n_threads, self.lines = n_threads, lines
        self.last_class = max(head.last for head in loss.heads)
        self.charge = charge * math.log(max(2, int(np.sum(binned.codes.n_bins))))
        self.grower = RuleGrower(binned, "midpoint", n_threads)
        self.many_heads = len(loss.heads) > MANY_HEADS
        self.members: list[Member | LineMember] = []
        self.pool: dict[object, Candidate] = {}
        self.shorter: dict[Member, list[Candidate]] = {}
        self.fitted = loss.fit(ResponseProblem.of([], len(train)), 1e-5)
        self.objective = self.fitted.loss

    def grow(self) -> bool:
        """Add the best rule that is found and improve the others; False if none gains enough."""
        self.loss.look(self.fitted)
        self._propose()
        if not (self.pool and self._add()):
            return False
        for _ in range(MOST_MOVES):
            if not self._change():
                break
        return True

    def _add(self) -> bool:
        """Add the candidate that lowers the objective most."""
        candidates = list(self.pool.values())
        gains = self.loss.expand(self.fitted, candidates).added
        costs = np.array([self._cost(one.member) for one in candidates])
        order = _rank(costs - gains)
        self._forget(candidates, gains)
        tried = 0
        for place in order.tolist():
            member = candidates[place].member
            if gains[place] <= LEAST_GAIN or not self._is_new(member, self.members):
                continue
            if self._take([*self.members, member]):
                return True
            tried += 1
            if tried == MOST_TRIED:
                break
        return False

    def _change(self) -> bool:
        """Replace, shorten or remove a rule if that lowers the objective."""
        shorter = [one for member in self.members for one in self._shorten(member)]
        candidates = [*self.pool.values(), *shorter]
        expansion = self.loss.expand(self.fitted, candidates)
        costs = np.array([self._cost(member) for member in self.members])
        own = np.array([self._cost(one.member) for one in candidates])
        removed = expansion.removed - costs
        swapped = expansion.swapped + own - costs[:, np.newaxis]
        changes = np.concatenate([removed[:, np.newaxis], swapped], axis=1)
        tried = 0
        for flat in _rank(changes.ravel())[: 4 * MOST_TRIED].tolist():
            place, which = divmod(flat, changes.shape[1])
            if changes[place, which] >= -LEAST_GAIN or tried == MOST_TRIED:
                break
            rest = self.members[:place] + self.members[place + 1 :]
            if which:
                member = candidates[which - 1].member
                if not self._is_new(member, rest):
                    continue
                rest.insert(place, member)
            tried += 1
            if self._take(rest):
                return True
        return False

    def _take(self, members: Sequence[Member | LineMember]) -> bool:
        """Fit these members, and keep them if the objective falls."""
        fitted = self._fit(members)
        objective = fitted.loss + sum(self._cost(member) for member in members)
        if objective > self.objective - LEAST_GAIN:
            return False
        self.fitted, self.members, self.objective = fitted, list(members), objective
        return True

    def _cost(self, member: Member | LineMember) -> float:
        """Return the required gain of a rule: `min_gain` plus a charge per further condition."""
        return max(self.min_gain, LEAST_GAIN) + self.charge * (member.n_conditions - 1)

    def _fit(self, members: Sequence[Member | LineMember]) -> FittedResponses:
        problem = ResponseProblem.of(members, len(self.train))
        return self.loss.fit(problem, 1e-7, self._start(members))

    def _start(self, members: Sequence[Member | LineMember]) -> FloatArray:
        """Return the points that these members have in the current fit, and its intercepts."""
        known = dict(zip(self.members, self.fitted.responses.tolist(), strict=True))
        responses = [known.get(member, 0.0) for member in members]
        return np.concatenate([responses, self.fitted.intercepts[1:]])

    def _forget(self, candidates: Sequence[Candidate], gains: FloatArray) -> None:
        """Keep the most promising candidates."""
        if len(candidates) > MOST_CANDIDATES:
            kept = set(_rank(-gains)[:MOST_CANDIDATES].tolist())
            keys = list(self.pool)
            self.pool = {keys[k]: one for k, one in enumerate(candidates) if k in kept}

    def _is_new(self, member: Member | LineMember, others: Sequence[Member | LineMember]) -> bool:
        """Return whether a candidate differs from all other members."""
        if isinstance(member, LineMember):
            same = ((o.term.column, o.head) for o in others if isinstance(o, LineMember))
            return (member.term.column, member.head) not in same
        if any(isinstance(o, Member) and contradicts(member.found, member.head, o) for o in others):
            return False
        return self._nearest(member, others) <= LARGEST_OVERLAP

    def _shorten(self, member: Member | LineMember) -> list[Candidate]:
        """Return the rules that lack one of the conditions; they are kept with the rule."""
        if isinstance(member, LineMember):
            return []
        if member not in self.shorter:
            self.shorter[member] = [
                self._candidate(found, member.head) for found in self._without_one(member.found)
            ]
        return self.shorter[member]

    def _candidate(self, found: FoundRule, head: Head) -> Candidate:
        covered = found.cover(self.binned.codes, self.n_threads)
        mask = np.zeros((1, len(self.train)), dtype=np.bool_)
        mask[0, covered] = True
        rows = covered[self.train[covered]]
        member = Member(found, head, PackedCovers.pack(mask))
        return Candidate(member, rows, None, self.loss.hits(rows, head, None))

    def _line_candidate(self, line: LineMember) -> Candidate:
        values = line.values[self.rows]
        return Candidate(line, self.rows, values, self.loss.hits(self.rows, line.head, values))

    @cached_property
    def line_heads(self) -> tuple[Head, ...]:
        """Heads of lines: a falling line votes for the opposite of its head."""
        heads = self.loss.heads
        return tuple(h for h in heads if not any(h < o and self._opposite(h, o) for o in heads))

    def _nearest(self, member: Member, others: Sequence[Member | LineMember]) -> float:
        """Return the largest overlap with a similar rule: shared weight over joint weight.

        A rule for all other classes is similar on the rest of the rows.
        """
        rules = [one for one in others if isinstance(one, Member)]
        rules = [one for one in rules if self._says_the_same(one.head, member.head)]
        if not rules:
            return 0.0
        own, weights, largest = member.cover.row_mask(), self.loss.weights, 0.0
        for other in rules:
            theirs = other.cover.row_mask()
            if other.head != member.head:
                theirs = ~theirs
            either = float(weights[own | theirs].sum())
            if either > 0:
                largest = max(largest, float(weights[own & theirs].sum()) / either)
        return largest

    def _says_the_same(self, one: Head, other: Head) -> bool:
        return one == other or self._opposite(one, other)

    def _opposite(self, one: Head, other: Head) -> bool:
        """Return whether two heads divide all classes between them."""
        below, above = sorted((one, other))
        return below.first == 0 and below.last + 1 == above.first and above.last == self.last_class

    def _propose(self) -> None:
        """Grow rules for each head on all rows, and for any on subsamples; cut them back."""
        draws: list[tuple[RowArray, Head | None]]
        draws = [(self.rows, head) for head in ((None,) if self.many_heads else self.loss.heads)]
        for _ in range(self.n_subsamples):
            drawn = self.random.random_sample(len(self.rows)) < 0.5
            draws.append((self.rows[drawn], None))
        for rows, wanted in draws:
            score = self.loss.score(wanted)
            found = self.grower.grow(self.binned.codes, rows, self.loss.stats, score, self.limits)
            if found is None:
                continue
            head = self.loss.head_of(score, found.vote)
            rule = RuleOnRows(found.test_array, head, self.binned.codes, self.left_out)
            cutter = RuleCutter(found, rule, self.loss, self.limits, self.charge)
            for one, gain in (cutter.whole(), cutter.cut_back()):
                key = one.test_array.tobytes(), head
                if gain > -math.inf and key not in self.pool:
                    self.pool[key] = self._candidate(one, head)
                    self._propose_intervals(one, head)
        if self.lines is not None:
            line = self.lines.best(self.loss, self.line_heads, self.members)
            if line is not None:
                self.pool[line.term.column, line.head] = self._line_candidate(line)

    def _propose_intervals(self, found: FoundRule, head: Head) -> None:
        """Propose an interval in place of a threshold that contradicts one of the model."""
        for other in self.members:
            if isinstance(other, Member) and contradicts(found, head, other):
                interval = cut_interval(found, other.found)
                if interval is not None and self.limits.allows(interval.grown):
                    key = interval.test_array.tobytes(), head
                    self.pool.setdefault(key, self._candidate(interval, head))

    def _without_one(self, found: FoundRule) -> list[FoundRule]:
        """Return the rules that lack one of the conditions, but none that is required."""
        if len(found.tests) == 1:
            return []
        shorter = [found.without(place) for place in range(len(found.tests))]
        return [one for one in shorter if self.limits.allows(one.grown)]


def _rank(changes: FloatArray) -> IntArray:
    """Order changes of the objective; what differs by rounding only keeps its order."""
    with np.errstate(over="ignore"):  # enormous weights
        rounded = np.round(changes / LEAST_GAIN)
    return np.argsort(rounded, kind="stable").astype(np.int32)
