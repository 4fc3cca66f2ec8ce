"""Rules combined from earlier ones by Kleene's "or" and "and"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from rulewright.encoding import SignedCovers
from rulewright.search.options import check_whole
from rulewright.search.repository.blocks import (
    BiasError,
    RuleBlock,
    all_body,
    any_body,
    covers_of,
    not_body,
)
from rulewright.search.repository.generators import (
    BLOCK,
    check_generator,
    checked_blocks,
    read_formula,
    where,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rulewright.kernels import FloatArray
    from rulewright.rules import Formula
    from rulewright.search.repository.blocks import Sources

How = Literal["or", "and", "andnot", "signed"]
HOWS: tuple[How, ...] = ("or", "and", "andnot", "signed")
Choose = Literal["all", "lowest_mutual_information"]
_EQUAL = 12
"""Digits for comparing mutual informations; the rest is rounding error."""


@dataclass(frozen=True)
class Combine:
    """Combinations of earlier rules, in lexicographic order.

    Parameters
    ----------
    over : sequence of str, optional
        Ids of the generators whose rules are combined; by default all earlier ones except
        combinations.
    how : {"or", "and", "andnot", "signed"}
        "or": any applies; "and": all apply; "andnot": the first applies and the second does not;
        "signed": for each pair, first "or", then "the first does not apply or the second does".
    size : int
        Number of rules per combination; more than two need "or" or "and".
    within : sequence of sequences of str, optional
        Groups of columns: all columns of a rule must be in one group. Groups are processed in
        order.
    choose : {"all", "lowest_mutual_information"}
        All combinations, or the pairs with the lowest mutual information, in ascending order.
    id : str
        Name of its rules for later generators.
    limit : int, optional
        Maximum number of rules; required for "lowest_mutual_information".
    span : pair of int, optional
        First and last position, from 1, of the rules of `over` to combine.
    """

    over: Sequence[str] | None = None
    how: How = "or"
    size: int = 2
    within: Sequence[Sequence[str]] | None = None
    choose: Choose = "all"
    id: str = ""
    limit: int | None = None
    span: tuple[int, int] | None = None

    simple: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_generator(self)
        check_whole(f"{where(self)}: size", self.size, 2)
        if self.how not in HOWS:
            raise BiasError(where(self), f"how={self.how!r} must be one of {', '.join(HOWS)}")
        if self.choose not in ("all", "lowest_mutual_information"):
            raise BiasError(
                where(self), f"choose={self.choose!r} must be all or lowest_mutual_information"
            )
        if self.size > 2 and (self.how in ("andnot", "signed") or self.choose != "all"):
            raise BiasError(
                where(self), f"size={self.size} needs how 'or' or 'and' and choose 'all'; use 2"
            )
        if self.choose != "all" and self.limit is None:
            raise BiasError(where(self), "lowest_mutual_information needs a limit, such as 200")
        if self.over is not None:
            over = (self.over,) if isinstance(self.over, str) else tuple(self.over)
            object.__setattr__(self, "over", over)
        if self.within is not None:
            object.__setattr__(self, "within", tuple(map(tuple, self.within)))
        if self.span is not None:
            object.__setattr__(self, "span", _checked_span(self.span, where(self)))

    @property
    def looks_at_rows(self) -> bool:
        """Whether rows are needed: mutual information is computed on them."""
        return self.choose != "all"

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Combine the rules."""
        parts = self._take_span(sources.rules(self.over or ()))
        join = _Join(self.how, parts)
        if self.choose == "all":
            for group in self._groups(parts, sources):
                yield from join.all_of(group, self.size)
            return
        pairs = [pair for group in self._groups(parts, sources) for pair in combinations(group, 2)]
        bodies = [parts.body(line) for line in range(len(parts))]
        chosen = lowest_information(pairs, covers_of(bodies, sources.making), sources.weights)
        chosen = chosen[: self.limit]
        for start in range(0, len(chosen), BLOCK):
            yield join.pairs(chosen[start : start + BLOCK])

    def _take_span(self, parts: RuleBlock) -> RuleBlock:
        """Return the rules of the span."""
        if self.span is None:
            return parts
        first, last = self.span
        if last > len(parts):
            raise BiasError(
                where(self),
                f"span requests the rules {first} to {last}, but only {len(parts)} were generated",
            )
        return RuleBlock(parts.covers[first - 1 : last], lambda line: parts.body(first - 1 + line))

    def _groups(self, parts: RuleBlock, sources: Sources) -> Iterator[list[int]]:
        """Yield the lines of the rules that may be combined with each other."""
        if self.within is None:
            yield [*range(len(parts))]
            return
        columns = [set(parts.body(line).columns) for line in range(len(parts))]
        for group in self.within:
            sources.columns(group, where(self))
            yield [line for line, names in enumerate(columns) if names <= set(group)]


def _checked_span(span: Sequence[int], at: str) -> tuple[int, int]:
    whole = all(isinstance(place, int) and not isinstance(place, bool) for place in span)
    if len(span) != 2 or not whole or not 1 <= span[0] <= span[1]:
        raise BiasError(at, f"span={list(span)!r} must be two positions, such as [1, 100]")
    return span[0], span[1]


@dataclass(frozen=True)
class Modify:
    """Earlier rules, each combined with a given formula, or negated.

    Parameters
    ----------
    over : sequence of str
        Ids of the generators whose rules are modified.
    how : {"and", "or", "andnot", "not"}
        How the formula is combined; "not" negates the rules and takes no formula.
    body : str or Formula, optional
        The formula.
    id : str
        Name of its rules for later generators.
    limit : int, optional
        Maximum number of rules.
    """

    over: Sequence[str]
    how: Literal["and", "or", "andnot", "not"] = "and"
    body: str | Formula | None = None
    id: str = ""
    limit: int | None = None

    simple: ClassVar[bool] = True
    looks_at_rows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_generator(self)
        over = (self.over,) if isinstance(self.over, str) else tuple(self.over)
        object.__setattr__(self, "over", over)
        if self.how not in ("and", "or", "andnot", "not"):
            raise BiasError(where(self), f"how={self.how!r} must be one of and, or, andnot, not")
        if (self.body is None) != (self.how == "not"):
            takes = "a rule" if self.body is None else "no rule"
            raise BiasError(where(self), f"how {self.how!r} takes {takes}")
        if self.body is not None:
            object.__setattr__(self, "body", read_formula(self.body, where(self)))

    def blocks(self, sources: Sources) -> Iterator[RuleBlock]:
        """Combine the covers; only the given formula is evaluated."""
        parts = sources.rules(self.over)
        covers = parts.covers.negated()
        if self.body is not None:
            (given,) = checked_blocks([self.body], sources, where(self))
            other = given.covers.negated() if self.how == "andnot" else given.covers
            join = SignedCovers.maximum if self.how == "or" else SignedCovers.minimum
            covers = join(parts.covers, other)
        yield RuleBlock(covers, lambda line: self.modify(parts.body(line)))

    def modify(self, rule: Formula) -> Formula:
        """Return a rule combined with the formula."""
        if self.body is None:
            return not_body(rule)
        assert not isinstance(self.body, str), "texts are read at the start"
        pair = [rule, self.body]
        if self.how == "andnot":
            return _first_only(pair)
        return all_body(pair) if self.how == "and" else any_body(pair)


@dataclass(frozen=True)
class _Join:
    """Combines the rules of a block: covers at once, formulas on request."""

    how: How
    parts: RuleBlock

    def all_of(self, lines: Sequence[int], size: int) -> Iterator[RuleBlock]:
        """Combine every `size` of the rules; the last one varies fastest."""
        covers, places = self.parts.covers, np.array(lines, dtype=np.intp)
        join = SignedCovers.minimum if self.how == "and" else SignedCovers.maximum
        for chosen in combinations(range(len(lines)), size - 1):
            last = places[chosen[-1] + 1 :]
            if len(last):
                first = [lines[place] for place in chosen]
                front = reduce(join, (covers[[line]] for line in first))
                yield self._block([(*first, k) for k in last.tolist()], front, covers[last])

    def pairs(self, pairs: Sequence[tuple[int, int]]) -> RuleBlock:
        """Combine the rules of each pair."""
        first, last = np.array(pairs, dtype=np.intp).T
        return self._block(pairs, self.parts.covers[first], self.parts.covers[last])

    def _block(
        self, places: Sequence[tuple[int, ...]], one: SignedCovers, two: SignedCovers
    ) -> RuleBlock:
        """Combine rules with covers `one` with the last part of each combination."""
        if self.how == "and":
            return RuleBlock(one.minimum(two), self._bodies(places, all_body))
        if self.how == "andnot":
            return RuleBlock(one.minimum(two.negated()), self._bodies(places, _first_only))
        either = RuleBlock(one.maximum(two), self._bodies(places, any_body))
        if self.how == "or":
            return either
        implied = RuleBlock(one.negated().maximum(two), self._bodies(places, _implication))
        return _alternating(either, implied)

    def _bodies(
        self, places: Sequence[tuple[int, ...]], join: Callable[[Sequence[Formula]], Formula]
    ) -> Callable[[int], Formula]:
        body = self.parts.body
        return lambda line: join([body(place) for place in places[line]])


def _first_only(pair: Sequence[Formula]) -> Formula:
    return all_body([pair[0], not_body(pair[1])])


def _implication(pair: Sequence[Formula]) -> Formula:
    return any_body([not_body(pair[0]), pair[1]])


def _alternating(one: RuleBlock, two: RuleBlock) -> RuleBlock:
    """Alternate the rules of two blocks."""
    order = np.arange(2 * len(one)).reshape(2, -1).T.ravel()
    blocks = (one, two)
    return RuleBlock(
        one.covers.stack(two.covers)[order], lambda line: blocks[line % 2].body(line // 2)
    )


def lowest_information(
    pairs: Sequence[tuple[int, int]], covers: SignedCovers, weights: FloatArray
) -> list[tuple[int, int]]:
    """Sort pairs of rules by their mutual information on the rows where both are known."""
    if not pairs:
        return []
    holds, fails = (part.unpack().astype(np.float64) for part in (covers.holds, covers.fails))
    first, last = np.array(pairs, dtype=np.intp).T
    joint = np.array(
        [
            [((one * weights) @ two.T)[first, last] for two in (holds, fails)]
            for one in (holds, fails)
        ]
    )
    order = np.lexsort((last, first, np.round(mutual_information(joint), _EQUAL)))
    return [pairs[place] for place in order.tolist()]


def mutual_information(joint: FloatArray) -> FloatArray:
    """Return the mutual information in nats of 2 x 2 tables of weights; 0 for empty tables."""
    totals = joint.sum(axis=(0, 1))
    shares = joint / np.where(totals > 0, totals, 1.0)
    product = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0, keepdims=True)
    ratio = np.divide(shares, product, out=np.ones_like(shares), where=shares > 0)
    return np.asarray((shares * np.log(ratio)).sum(axis=(0, 1)))
