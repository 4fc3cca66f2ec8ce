"""Twin of `native/search/beam.hpp`: the best conjunction that a beam search finds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reference.scores import empty_criterion, judge
from reference.search import (
    candidates,
    count_histogram,
    open_columns,
    random_bits,
    refine_rows,
    used_lanes,
)
from rulewright.kernels.structs import STAT, GrownCondition, GrownRule, Op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulewright.kernels import CodeColumns
    from rulewright.kernels.structs import Beam, Limits, RowArray, Score, StatArray


class Member(NamedTuple):
    """A conjunction of the beam, its rows, and what is left open to it."""

    conditions: list[GrownCondition]
    rows: RowArray
    limits: Limits


class Found(NamedTuple):
    """A specialisation of a member: `key` orders them, the first two of it say what is better."""

    key: tuple[float, float, int, int, int, int]
    vote: int
    condition: GrownCondition
    sums: tuple[int, ...]

    @property
    def rank(self) -> tuple[float, float]:
        """Value and negative weight: the lower the better."""
        return self.key[:2]


def grow_beam(
    columns: CodeColumns,
    rows: RowArray,
    stats: StatArray,
    score: Score,
    limits: Limits,
    beam: Beam,
    totals: StatArray | None = None,
    n_threads: int = 1,
) -> GrownRule:
    """Specialise the members of the beam by every condition until none promises to be better."""
    lanes = _marked(stats, score, limits)
    covered = lanes[rows].sum(axis=0)
    total = covered[:-1] if totals is None else used_lanes(totals, score, limits)
    best = empty_criterion(score, total) - limits.tolerance, -math.inf
    answer, seen = GrownRule([], -1), {tuple(covered.tolist())}
    members, length = [Member([], rows, limits)] if len(rows) else [], 0
    while members and length != limits.max_conditions:
        found = [
            result
            for place, member in enumerate(members)
            for result in _specialisations(columns, member, place, lanes, score, total)
            if result.sums not in seen
        ]
        for result in sorted(found):
            member = members[result.key[2]]
            complete = not member.limits.after(result.condition).required.any()
            if result.rank < best and complete and _significant(result, total, score, beam):
                best, answer = result.rank, GrownRule(_conditions(members, result), result.vote)
        few = list({result.sums: result for result in sorted(found, reverse=True)}.values())
        few = sorted(few)[: beam.width]
        seen |= {result.sums for result in few}
        members = [
            Member(
                _conditions(members, result),
                refine_rows(columns, members[result.key[2]].rows, result.condition),
                members[result.key[2]].limits.after(result.condition),
            )
            for result in few
            if (hope := _best_part(result, total, score)) < best and hope[0] < result.key[0]
        ]
        length += 1
    return answer


def likelihood_ratio(cover: StatArray, total: StatArray, unit: float) -> float:
    """Return 2 sum o ln(o / E): how far the weights are from those of as many rows at random."""
    n, n_total, ratio = float(sum(cover)), float(sum(total)), 0.0
    for o, share in zip(cover.tolist(), (float(t) / n_total for t in total), strict=True):
        if o > 0:
            ratio += float(o) * math.log((float(o) / n) / share)
    return 2 * unit * ratio


def _marked(stats: StatArray, score: Score, limits: Limits) -> StatArray:
    """Return the lanes that are read and a random mark per row, which tells covers apart."""
    marks = (random_bits(0, len(stats)) >> np.uint64(33)).astype(STAT)
    return np.concatenate([used_lanes(stats, score, limits), marks[:, np.newaxis]], axis=1)


def _specialisations(
    columns: CodeColumns,
    member: Member,
    place: int,
    lanes: StatArray,
    score: Score,
    total: StatArray,
) -> Iterator[Found]:
    """Judge every condition on the rows of a member; numeric ones between different classes."""
    starts = np.concatenate([[0], np.cumsum(columns.n_bins + 1)])
    histogram, limits = count_histogram(columns, member.rows, lanes), member.limits
    for j in open_columns(limits):
        sums = histogram[starts[j] : starts[j + 1]]
        for op, code, beyond, cover, *_ in candidates(sums, bool(columns.nominal[j])):
            up = score.up and bool(limits.up_operators[j] >> op & 1)
            cut = beyond if op == Op.GREATER_EQUAL else code
            if limits.min_weight > 0 and cover[-2] < limits.min_weight:
                continue
            if op in (Op.LESS_EQUAL, Op.GREATER_EQUAL) and _alike(sums[[code, beyond]], score):
                continue
            value, vote = judge(score, (cover, total, total), up, False)
            if vote >= 0:
                weight = int(cover[: score.n_lanes].sum())
                condition = GrownCondition(j, int(op), code, beyond, value)
                key = value, -weight, place, j, cut, int(op)
                yield Found(key, vote, condition, tuple(cover.tolist()))


def _alike(both: StatArray, score: Score) -> bool:
    """Tell whether two codes have weight in one lane only, the same."""
    return bool(np.count_nonzero(both[:, : score.n_lanes].any(axis=0)) == 1)


def _conditions(members: list[Member], found: Found) -> list[GrownCondition]:
    return [*members[found.key[2]].conditions, found.condition]


def _significant(found: Found, total: StatArray, score: Score, beam: Beam) -> bool:
    cover, lanes = np.array(found.sums[: score.n_lanes]), total[: score.n_lanes]
    return beam.significance <= 0 or likelihood_ratio(cover, lanes, score.unit) >= beam.significance


def _best_part(found: Found, total: StatArray, score: Score) -> tuple[float, float]:
    """Return the rank of the part of a cover with all the weight of its vote and no other."""
    part, lane = np.zeros(len(found.sums), dtype=STAT), found.vote // 2
    part[lane] = found.sums[lane]
    return judge(score, (part, total, total), True, False)[0], -int(part[lane])
