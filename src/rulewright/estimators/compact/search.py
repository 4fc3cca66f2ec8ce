"""The search of compact rules: add, fit all together, replace, and take out what does not pay.

The objective is the loss in nats plus a charge for each condition, a share of the logarithm of the
number of conditions that there are: what it takes to say which one. Rules that growth proposes, on
all rows and on subsamples, are cut back to the conditions that pay; the best few are fitted
together with the rules so far, and the best of these joins them (fully corrective boosting). Lines
of numeric columns may be proposed too: each counts as a rule of one condition.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rulewright.encoding import BinnedColumns, PackedCovers
from rulewright.estimators.compact.members import (
    LineMember,
    Member,
    ResponseProblem,
    RuleCutter,
    RuleOnRows,
)
from rulewright.kernels import ROW, BoolArray, FloatArray, Limits, RowArray
from rulewright.search import FoundRule, RuleGrower

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rulewright.estimators.compact.losses import CompactLoss, FittedResponses, Lines
    from rulewright.rules import Head

MANY_HEADS = 4
"""Of more heads than this rules are not grown for each, and fits start where the last ended."""

N_TRIED = 5
"""Proposals that are fitted together with the rules so far."""

LARGEST_OVERLAP = 0.8
"""A rule that shares more of its rows with another one says nothing new to a reader."""

LEAST_GAIN = 1e-6
"""Nats that a change must gain."""


class _Extension(NamedTuple):
    """Members with one more, how they fit, and their objective."""

    members: list[Member | LineMember]
    fitted: FittedResponses
    objective: float


class CompactSearch:
    """A search in progress: `grow` adds a rule, `improve` changes those there are.

    Parameters
    ----------
    loss : CompactLoss
        What is minimised, with its rows.
    binned : BinnedColumns
        The columns.
    limits : Limits
        Limits of growth.
    train : bool array
        The rows to learn from; the others get answers too.
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
        self.fitted = loss.fit(ResponseProblem.of([], len(train)), 1e-5)
        self.objective = self.fitted.loss

    def grow(self) -> bool:
        """Add the best rule that is found; return False if none gains enough."""
        best = self._best_with(self.members, self.fitted)
        least = max(self.min_gain, LEAST_GAIN)
        if best is None or best.fitted.loss > self.fitted.loss - least:
            return False
        self._take(best.members)
        return True

    def improve(self) -> None:
        """Take out what does not pay, replace each rule if that helps, and take out again."""
        self._cut()
        for place in range(len(self.members)):
            others = self.members[:place] + self.members[place + 1 :]
            best = self._best_with(others, self._fit(others))
            if best is not None and best.objective < self.objective:
                self._take(best.members)
        self._cut()

    def settle(self) -> None:
        """Fit the responses of the finished rules."""
        self.fitted = self.loss.settle(ResponseProblem.of(self.members, len(self.train)))

    def _take(self, members: Sequence[Member | LineMember]) -> None:
        self.fitted = self._fit(members, 1e-8)
        self.members = list(members)
        self.objective = self._objective(members, self.fitted)

    def _fit(
        self, members: Sequence[Member | LineMember], tolerance: float = 1e-5
    ) -> FittedResponses:
        start = self._start(members) if self.many_heads else None
        return self.loss.fit(ResponseProblem.of(members, len(self.train)), tolerance, start)

    def _start(self, members: Sequence[Member | LineMember]) -> FloatArray:
        """Return what the current fit says of these members, and its intercepts.

        Fits of many heads take many sweeps from nothing.
        """
        known = dict(zip(self.members, self.fitted.responses.tolist(), strict=True))
        responses = [known.get(member, 0.0) for member in members]
        return np.concatenate([responses, self.fitted.intercepts[1:]])

    def _objective(self, members: Sequence[Member | LineMember], fitted: FittedResponses) -> float:
        return fitted.loss + self.charge * sum(member.n_conditions for member in members)

    def _best_with(
        self, members: Sequence[Member | LineMember], fitted: FittedResponses
    ) -> _Extension | None:
        """Return the members with the proposal that lowers the objective most."""
        self.loss.look(fitted)
        best: _Extension | None = None
        for member in self._candidates(members):
            more = [*members, member]
            found_fit = self._fit(more)
            objective = self._objective(more, found_fit)
            if best is None or objective < best.objective:
                best = _Extension(more, found_fit, objective)
        return best

    def _candidates(self, members: Sequence[Member | LineMember]) -> list[Member | LineMember]:
        """Return the most promising rules that say something new, and the best line."""
        tried: list[Member | LineMember] = []
        for found, head in self._proposals():
            if len(tried) == N_TRIED:
                break
            member = self._member(found, head)
            if (
                self._nearest(member, members) > LARGEST_OVERLAP
                or self._nearest(member, tried) == 1
            ):
                continue
            tried.append(member)
        line = None if self.lines is None else self.lines.best(self.loss, self.line_heads, members)
        return tried if line is None else [*tried, line]

    @cached_property
    def line_heads(self) -> tuple[Head, ...]:
        """What lines speak for: one that falls speaks for the opposite of its head."""
        heads = self.loss.heads
        return tuple(h for h in heads if not any(h < o and self._opposite(h, o) for o in heads))

    def _nearest(self, member: Member, others: Sequence[Member | LineMember]) -> float:
        """Return the largest overlap of a rule with one that says the same: shared over all rows.

        A rule for all other classes says the same of the rest of the rows.
        """
        rules = [one for one in others if isinstance(one, Member)]
        rules = [one for one in rules if self._says_the_same(one.head, member.head)]
        if not rules:
            return 0.0
        shared = PackedCovers.all_rows(0, len(self.train)).stack(*(one.cover for one in rules))
        largest = 0.0
        for other, both in zip(rules, (shared & member.cover).count().tolist(), strict=True):
            either = member.n_covered + other.n_covered - both
            if other.head != member.head:  # the rows outside the other rule
                both = member.n_covered - both
                either = len(self.train) - other.n_covered + member.n_covered - both
            largest = max(largest, both / max(1, either))
        return largest

    def _says_the_same(self, one: Head, other: Head) -> bool:
        return one == other or self._opposite(one, other)

    def _opposite(self, one: Head, other: Head) -> bool:
        """Tell whether one head speaks for all classes that the other does not speak for."""
        below, above = sorted((one, other))
        return below.first == 0 and below.last + 1 == above.first and above.last == self.last_class

    def _proposals(self) -> list[tuple[FoundRule, Head]]:
        """Give rules that gain something, the most promising first.

        Grow rules for each head on all rows, and for any on subsamples; cut them back.
        """
        draws: list[tuple[RowArray, Head | None]] = [(self.rows, None)]
        draws += [(self.rows, head) for head in self.loss.heads if not self.many_heads]
        for _ in range(self.n_subsamples):
            drawn = self.random.random_sample(len(self.rows)) < 0.5
            draws.append((self.rows[drawn], None))
        proposed = {}
        for rows, wanted in draws:
            score = self.loss.score(wanted)
            found = self.grower.grow(self.binned.codes, rows, self.loss.stats, score, self.limits)
            if found is None:
                continue
            head = self.loss.head_of(score, found.vote)
            rule = RuleOnRows(found.test_array, head, self.binned.codes, self.left_out)
            cutter = RuleCutter(found, rule, self.loss, self.limits, self.charge)
            for one, gain in (cutter.whole(), cutter.cut_back()):
                proposed[one.test_array.tobytes(), head] = one, gain
        gains = [gain for _, gain in proposed.values()]
        order = np.argsort(-np.array(gains), kind="stable")
        useful = [place for place in order.tolist() if gains[place] > -math.inf]
        listed = [(found, head) for (_, head), (found, _) in proposed.items()]
        return [listed[place] for place in useful]

    def _member(self, found: FoundRule, head: Head) -> Member:
        mask = np.zeros((1, len(self.train)), dtype=np.bool_)
        mask[0, found.cover(self.binned.codes, self.n_threads)] = True
        return Member(found, head, PackedCovers.pack(mask))

    def _cut(self) -> None:
        """Take out conditions that do not pay, and rules that gain too little, one at a time.

        The best comes first; of many heads, whose fits take time, the first that does not pay.
        """
        place = kept = 0
        while kept < len(self.members):
            everywhere = range(len(self.members))
            places = [place % len(self.members)] if self.many_heads else everywhere
            shorter = self._shorter(places)
            if shorter is not None:
                self._take(shorter)
                kept = 0
            else:
                place, kept = place + 1, kept + len(places)

    def _shorter(self, places: Iterable[int]) -> list[Member | LineMember] | None:
        """Return the model without a condition or a rule of some places, if one does not pay."""
        best, least = None, self.objective - LEAST_GAIN
        for place in places:
            member = self.members[place]
            before, after = self.members[:place], self.members[place + 1 :]
            rest = [*before, *after]
            # The conditions of a rule are charged once more, so that its gain alone decides.
            without = self._objective(rest, self._fit(rest)) + self.charge * member.n_conditions
            if without - self.min_gain < least:
                best, least = rest, without - self.min_gain
            if isinstance(member, LineMember):
                continue
            for found in self._without_one(member.found):
                shorter = self._member(found, member.head)
                if self._nearest(shorter, rest) > LARGEST_OVERLAP:
                    continue
                members = [*before, shorter, *after]
                objective = self._objective(members, self._fit(members))
                if objective < least:
                    best, least = members, objective
        return best

    def _without_one(self, found: FoundRule) -> list[FoundRule]:
        """Return the rules that lack one of the conditions, but none that is required."""
        if len(found.tests) == 1:
            return []
        shorter = [found.without(place) for place in range(len(found.tests))]
        return [one for one in shorter if self.limits.allows(one.grown)]
