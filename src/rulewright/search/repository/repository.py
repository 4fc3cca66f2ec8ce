"""The repository: rules in the order of their generators, generated on request."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from rulewright.encoding import SignedCovers, SignedStack
from rulewright.rules import Conjunction, Formula
from rulewright.search.repository.blocks import BiasError, RuleBlock, Sources
from rulewright.search.repository.combine import Choose, Combine
from rulewright.search.repository.generators import Base, Generator, where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rulewright.data import Table
    from rulewright.kernels import FloatArray


class BiasTarget(NamedTuple):
    """The target column that a bias was written for, and the positive class."""

    column: str
    positive: str | None = None


@dataclass(frozen=True)
class Bias:
    """Generators in prior order: early rules have a smaller penalty than late ones.

    Parameters
    ----------
    generators : sequence of Generator
        They generate rules one after another, after the constant rule. Generators without an id get
        one by position; `over` of a `Combine` refers to earlier ids.
    target : BiasTarget, optional
        The target that the bias was written for.
    data : dict
        Source of the rows, as in the bias file; empty for one table.
    places : dict of str to str
        File and line of each generator by id (and of the target by ""), for errors.
    """

    generators: Sequence[Generator]
    target: BiasTarget | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        named: dict[str, Generator] = {}
        for place, generator in enumerate(self.generators, 1):
            if not hasattr(generator, "blocks"):
                raise BiasError("", f"{generator!r} is not a generator of rules, such as Base()")
            name = generator.id or f"#{place}"
            if name in named:
                raise BiasError(where(generator), f"the id {name!r} is used twice; rename one")
            changes: dict[str, object] = {"id": name}
            if hasattr(generator, "over"):
                changes["over"] = _earlier(generator, named)
            named[name] = replace(generator, **changes)  # type: ignore[type-var]
        object.__setattr__(self, "generators", tuple(named.values()))

    @property
    def looks_at_rows(self) -> tuple[str, ...]:
        """The generators whose rules depend on the values of rows."""
        return tuple(where(one) for one in self.generators if one.looks_at_rows)

    @property
    def joined(self) -> frozenset[str]:
        """The generators whose rules later ones combine."""
        named = (getattr(one, "over", None) or () for one in self.generators)
        return frozenset(name for names in named for name in names)


def _earlier(combine: Any, named: dict[str, Generator]) -> tuple[str, ...]:
    """Return the ids of the rules that a generator uses, all of them earlier."""
    if combine.over is None:
        return tuple(name for name, generator in named.items() if generator.simple)
    for name in combine.over:
        if name not in named:
            known = ", ".join(map(repr, named)) or "none"
            raise BiasError(
                where(combine),
                f"over names {name!r}, which is not an earlier generator; ids: {known}",
            )
    return tuple(combine.over)


def default_bias(n_bins: int = 4, pairs: str | None = "or", limit: int | None = None) -> Bias:
    """Return labels and intervals of all columns, then their pairs.

    Of the pairs only those with the lowest mutual information are kept, up to a limit.
    """
    base = Base(n_bins=n_bins)
    if pairs is None:
        return Bias([base])
    choose: Choose = "all" if limit is None else "lowest_mutual_information"
    return Bias([base, Combine(how=pairs, choose=choose, limit=limit)])  # type: ignore[arg-type]


class GeneratedRule(NamedTuple):
    """A kept rule: the number of rules generated so far, and its line."""

    number: int
    line: int


class Repository:
    """Rules with values -1, 0 and 1 on training rows; the constant rule is first.

    Rules that are unknown on every row, and rules equal or opposite to an earlier rule on all rows,
    are dropped but counted, because they could have been chosen. Later generators can combine all
    rules, including dropped ones.

    Parameters
    ----------
    bias : Bias
        The generators.
    table : Table
        Rows that the rules are evaluated on.
    making, weights : Table and array, optional
        Rows (and weights) for cutting intervals and choosing pairs; by default the rows of
        `table`.
    """

    def __init__(
        self,
        bias: Bias,
        table: Table,
        making: Table | None = None,
        weights: FloatArray | None = None,
    ) -> None:
        self.bias, self._sources = bias, Sources.of(table, making, weights)
        self._kept = SignedStack(len(table))
        self._numbers: list[int] = []
        self._bodies: list[Callable[[], Formula]] = []
        self._seen: set[bytes] = set()
        self.n_generated, self.n_empty, self.n_repeated = 0, 0, 0
        self.idle: tuple[str, ...] = ()
        """Generators that generated no rule."""
        self._blocks = self._make()

    @property
    def covers(self) -> SignedCovers:
        """The rules kept so far."""
        return self._kept.covers

    def __len__(self) -> int:
        """Return the number of rules kept so far."""
        return len(self._numbers)

    def body(self, line: int) -> Formula:
        """Return the formula of a rule."""
        return self._bodies[line]()

    def __iter__(self) -> Iterator[GeneratedRule]:
        """Yield the rules in order, also for several readers; new ones are generated as needed."""
        line = 0
        while True:
            while line >= len(self._numbers):
                block = next(self._blocks, None)
                if block is None:
                    return
                self._keep(block)
            yield GeneratedRule(self._numbers[line], line)
            line += 1

    def _make(self) -> Iterator[RuleBlock]:
        """Generate the constant rule, then the rules of each generator, up to its limit."""
        n_rows = len(self._sources.table)
        yield RuleBlock(SignedCovers.constant(n_rows), lambda _: Conjunction())
        joined = self.bias.joined
        for generator in self.bias.generators:
            before, left = self.n_generated, generator.limit
            made = self._sources.made.setdefault(generator.id, [])
            for block in generator.blocks(self._sources):
                block = block if left is None else block.first(left)
                if generator.id in joined:
                    made.append(block)
                yield block
                left = None if left is None else left - len(block)
                if left == 0:
                    break
            if self.n_generated == before:
                self.idle += (where(generator),)

    def _keep(self, block: RuleBlock) -> None:
        """Count the rules of a block and keep the new ones."""
        new = []
        for line, key in enumerate(block.covers.keys()):
            self.n_generated += 1
            mark = hashlib.blake2b(key, digest_size=16).digest() if key else b""
            if not key:
                self.n_empty += 1
            elif mark in self._seen:
                self.n_repeated += 1
            else:
                self._seen.add(mark)
                self._numbers.append(self.n_generated)
                self._bodies.append(partial(block.body, line))
                new.append(line)
        if new:
            self._kept.append(block.covers[new])
